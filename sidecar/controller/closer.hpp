// SPDX-License-Identifier: Apache-2.0
// Ends Slurm jobs that Kubernetes has no more use for, and keeps at it until Slurm says so.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <set>

#include "loop.hpp"
#include "slurm/client.hpp"

namespace controller {

class Closer {
public:
  Closer(slurm::Client &slurm, Timers &timers) : slurm_(slurm), timers_(timers) {}

  void complete(const slurm::Job &job, int exit_code);
  void cancel(const slurm::Job &job);
  bool closing(slurm::JobId id) const { return jobs_.contains(id); }
  bool idle() const { return jobs_.empty(); }
  /// Slurm's latest word about a job that is being ended.
  void observe(const slurm::Job &job);
  /// A full listing that began at `begun` has these jobs; an older request for another one is moot.
  void forget_absent(const std::set<slurm::JobId> &listed,
                     std::chrono::steady_clock::time_point begun);
  /// slurmctld is back: ask at once instead of waiting for the next turn.
  void hurry();

private:
  struct Closing {
    slurm::Job job;
    bool cancel = false;
    std::uint32_t wait_status = 0;
    std::chrono::steady_clock::time_point since{};
    int attempts = 0;
    bool asking = false;
    Timers::Id timer = 0;
  };

  void start(const slurm::Job &job, bool cancel, std::uint32_t wait_status);
  void ask(slurm::JobId id);
  void answered(slurm::JobId id, const slurm::Error &error);
  void look(slurm::JobId id);
  void drop(slurm::JobId id);

  slurm::Client &slurm_;
  Timers &timers_;
  std::map<slurm::JobId, Closing> jobs_;
};

}  // namespace controller
