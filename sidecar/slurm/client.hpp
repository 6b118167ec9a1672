// SPDX-License-Identifier: Apache-2.0
// What the controller asks of slurmctld. Completions run in the loop's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "slurm/job.hpp"
#include "workload/job_request.hpp"

namespace slurm {

enum class Cause : std::uint8_t {
  none,          ///< success
  unreachable,   ///< no answer, or not now: whether it happened is unknown; ask again
  unfit,         ///< no set of nodes can ever satisfy this; try again when nodes change
  unknown_node,  ///< a node that the request names is not (or no longer) one of Slurm's
  denied,        ///< by job_submit/k8s and its k8s.conf; `message` names the rule
  refused,       ///< by Slurm: accounts, limits or bad values; `message` says which
  unknown_job,   ///< slurmctld does not know this job id (which does not mean that it ended)
};

struct Error {
  Cause cause = Cause::none;
  int code = 0;         ///< Slurm's error number
  std::string message;  ///< Slurm's words, the plugin's err_msg first
  explicit operator bool() const { return cause != Cause::none; }
};

class Client {
public:
  virtual ~Client() = default;

  /// Submits an allocation without a script that carries the gang's claim. On success the job has
  /// an id, and nodes if it started at once.
  virtual void allocate(const workload::JobRequest &request,
                        std::function<void(Error, Job)> done) = 0;

  /// State, reason and (if running) nodes of one job, also of a job that ended within MinJobAge.
  /// Cause::refused: slurmctld took the job without looking at its claim; it has been cancelled.
  virtual void load_job(JobId id, std::function<void(Error, Job)> done) = 0;

  /// All jobs that carry our cluster's tag, ended ones within MinJobAge included.
  /// With `if_changed`, nullopt when nothing changed since the last call that gave jobs.
  /// `shares_known` is as the records have it: no look-ups are made.
  virtual void load_jobs(bool if_changed,
                         std::function<void(Error, std::optional<std::vector<Job>>)> done) = 0;

  /// Names of the nodes that are in some partition; nullopt when no partition changed since the
  /// last call that gave names.
  virtual void
  load_node_names(std::function<void(Error, std::optional<std::set<std::string>>)> done) = 0;

  /// Asks job_submit/k8s to end the job as COMPLETED (status 0) or FAILED. Success means accepted.
  virtual void complete(const Job &job, std::uint32_t wait_status,
                        std::function<void(Error)> done) = 0;
  /// Asks job_submit/k8s to cancel the job. Success means accepted.
  virtual void cancel(const Job &job, std::function<void(Error)> done) = 0;
};

}  // namespace slurm
