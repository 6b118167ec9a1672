// SPDX-License-Identifier: Apache-2.0
// The life of prep/k8s's thread: looks for changes, sends hints, signs of life, backs off.
#pragma once

#include <chrono>
#include <ctime>
#include <string>

#include "change_watch.hpp"
#include "hint_queue.hpp"
#include "notifier.hpp"
#include "policy_file.hpp"
#include "worker.hpp"

class Reporter {
public:
  Reporter();

  /// Throws std::system_error.
  void start();
  /// Returns when the thread has ended: at once, or when the request under way has noticed.
  void stop();
  /// Callable under slurmctld's locks.
  void put(const protocol::Hint &hint);

private:
  using Clock = std::chrono::steady_clock;

  void run() noexcept;
  void step();
  void refresh_policy();
  void look_for_changes();
  void send();
  void failed();

  HintQueue hints_;
  PolicyFile policy_;
  Notifier notifier_;
  Worker worker_;
  std::shared_ptr<const Policy> aimed_at_;  // shared with PolicyFile, which may have a newer one
  ChangeWatch jobs_, nodes_;
  Clock::time_point next_policy_{}, next_beat_{}, next_try_{};
  int failures_ = 0;
};
