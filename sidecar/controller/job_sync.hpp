// SPDX-License-Identifier: Apache-2.0
// Keeps the picture of our Slurm jobs fresh at the least cost to slurmctld: single look-ups after
// hints about a job, a listing only when somebody waits for news or hints may have been lost, slow
// polling where prep/k8s does not report at all.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "loop.hpp"
#include "protocol.hpp"
#include "slurm/client.hpp"

namespace controller {

class JobSync {
public:
  using Clock = std::chrono::steady_clock;

  struct Hooks {
    std::function<void(const slurm::Job &)> seen;  ///< the latest word about one job
    std::function<void(slurm::JobId)> unknown;     ///< slurmctld does not know that id
    /// The job was never ours, and is gone.
    std::function<void(slurm::JobId, const slurm::Error &)> disowned;
    /// A full listing that began at the given time.
    std::function<void(const std::vector<slurm::Job> &, Clock::time_point)> listed;
    std::function<void()> nodes_changed;
    std::function<void()> rules_changed;  ///< or may have: what was refused is worth another try
    std::function<void()> slurmctld_restarted;
    std::function<bool()> wants_news;  ///< some job waits or is being ended
    /// Our running jobs, next after `id` and then round again; none if there is none.
    std::function<std::optional<slurm::JobId>(slurm::JobId)> next_running;
    std::function<std::size_t()> count_running;
    /// Hints name every job of the cluster; only those that may be ours are worth a look-up.
    std::function<bool(const protocol::Hint &)> cares;
  };

  JobSync(slurm::Client &slurm, Timers &timers, std::chrono::milliseconds poll_interval,
          Hooks hooks);

  /// Lists until slurmctld answers, then calls `ready`; hints count from then on.
  void start(std::function<void()> ready);
  void stop();

  void receive(const protocol::Batch &batch);
  /// Looks a job up now, or after the look-up that is under way.
  void look(slurm::JobId id);
  /// A full listing that begins after this call.
  void list();

  bool polling() const { return polling_; }
  std::uint64_t lost_hints() const { return lost_hints_; }

private:
  void list_now(bool if_changed);
  void listed(const slurm::Error &error, const std::optional<std::vector<slurm::Job>> &jobs,
              Clock::time_point begun);
  void refresh();
  void survey();
  void survey_some();
  void looked_up(slurm::JobId id, const slurm::Error &error, const slurm::Job &job);
  void tick();
  void watch_order(const protocol::Batch &batch);
  void apply(const protocol::Hint &hint);

  slurm::Client &slurm_;
  Timers &timers_;
  std::chrono::milliseconds poll_interval_;
  Hooks hooks_;
  std::function<void()> ready_;

  bool stopped_ = false;
  bool listing_ = false;
  bool list_again_ = false;  // somebody asked for a listing that begins later
  bool polling_ = true;      // no hints yet
  bool said_polling_ = false;
  int failures_ = 0;
  Clock::time_point last_batch_{}, last_listing_{}, started_{};
  std::chrono::milliseconds last_duration_{0};
  Timers::Id refresh_timer_ = 0, tick_timer_ = 0, retry_timer_ = 0, survey_timer_ = 0;
  slurm::JobId surveyed_ = 0;    // the last one that a survey looked at
  std::size_t survey_left_ = 0;  // look-ups until the survey has seen all

  std::set<slurm::JobId> looking_, look_again_;
  bool have_epoch_ = false;
  std::uint64_t epoch_ = 0, next_seq_ = 0, lost_hints_ = 0;
};

}  // namespace controller
