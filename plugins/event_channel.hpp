// SPDX-License-Identifier: Apache-2.0
// One receiver of hints: its queue, its thread, and the patience with it.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "hint_queue.hpp"
#include "notifier.hpp"
#include "worker.hpp"

class EventChannel {
public:
  /// `epoch` tells the receiver that numbers begin anew. Throws std::system_error.
  EventChannel(std::uint64_t epoch, const std::string &url, const std::string &token_file,
               const std::string &ca_file);
  /// Returns when the thread has ended: at once, or when the request under way has noticed.
  ~EventChannel();
  EventChannel(const EventChannel &) = delete;
  EventChannel &operator=(const EventChannel &) = delete;

  /// Callable under slurmctld's locks.
  void put(const protocol::Hint &hint) { hints_.put(hint); }
  /// The thread ends soon; for several channels that are to end together.
  void stop() { hints_.stop(); }

private:
  using Clock = std::chrono::steady_clock;

  void run() noexcept;
  void step();
  void failed();

  const std::string url_;
  HintQueue hints_;
  Notifier notifier_;
  Worker worker_;
  Clock::time_point next_beat_{}, next_try_{};
  int failures_ = 0;
};
