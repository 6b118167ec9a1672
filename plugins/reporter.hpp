// SPDX-License-Identifier: Apache-2.0
// What prep/k8s tells, and to whom: hooks put hints in, a thread looks for changes and at the policy.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "change_watch.hpp"
#include "event_channel.hpp"
#include "policy_file.hpp"
#include "worker.hpp"

class Reporter {
public:
  Reporter();

  /// Throws std::system_error.
  void start();
  /// Returns when all threads have ended.
  void stop();
  /// Callable under slurmctld's locks.
  void put(const protocol::Hint &hint);

private:
  using Clock = std::chrono::steady_clock;
  using Channels = std::vector<std::unique_ptr<EventChannel>>;

  void run() noexcept;
  void follow_policy();
  void look_for_changes();

  PolicyFile policy_;
  Worker worker_;
  std::shared_ptr<const Policy> aimed_at_;  // shared with PolicyFile, which may have a newer one
  ChangeWatch jobs_, nodes_, rules_;
  Clock::time_point next_policy_{};
  std::optional<Clock::time_point> tell_policy_;  // when to tell of a new policy

  std::mutex mutex_;  // of what follows; held for moments only
  std::condition_variable woken_;
  bool stopped_ = false;
  Channels channels_;
};
