// SPDX-License-Identifier: Apache-2.0
// Client over libslurm: calls run in a pool of threads, their results in the loop's thread.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "loop.hpp"
#include "slurm/client.hpp"
#include "slurm/pool.hpp"

namespace slurm {

struct ClientSettings {
  std::string cluster;  ///< ClusterId
  std::string conf;     ///< slurm.conf, "" for Slurm's own search
  int threads = 4;
  /// Called in the loop after each call with its name, its error and its duration.
  std::function<void(const char *rpc, const Error &, double seconds)> observe =
      [](const char *, const Error &, double) {};
};

/// One per process: libslurm is set up in its constructor and shut down in its destructor.
class LibslurmClient final : public Client {
public:
  LibslurmClient(Loop &loop, ClientSettings settings);
  ~LibslurmClient() override;

  void allocate(const workload::JobRequest &request, std::function<void(Error, Job)> done) override;
  void load_job(JobId id, std::function<void(Error, Job)> done) override;
  void load_jobs(bool if_changed,
                 std::function<void(Error, std::optional<std::vector<Job>>)> done) override;
  void
  load_node_names(std::function<void(Error, std::optional<std::set<std::string>>)> done) override;
  void complete(const Job &job, std::uint32_t wait_status,
                std::function<void(Error)> done) override;
  void cancel(const Job &job, std::function<void(Error)> done) override;

private:
  template <typename Result>
  void call(const char *rpc, Urgency urgency, std::function<Result()> work,
            std::function<void(Result)> done);
  void verb(const protocol::Verb &verb, std::function<void(Error)> done);

  Loop &loop_;
  const ClientSettings settings_;
  std::time_t last_update_ = 0;      // of the last listing that gave jobs
  std::time_t last_partitions_ = 0;  // of the last call that gave names
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // what was posted may outlive us
  std::unique_ptr<Pool> pool_;
};

}  // namespace slurm
