// SPDX-License-Identifier: Apache-2.0
// Hints that wait to be sent. Bounded: the oldest go when it is full, and the gap in the numbers
// tells the receiver. Hooks put them in under slurmctld's locks, so nothing here waits.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>

#include "protocol.hpp"

class HintQueue {
public:
  static constexpr std::size_t kMaxHints = 16'384;

  explicit HintQueue(std::uint64_t epoch) : epoch_(epoch) {}

  void put(const protocol::Hint &hint);
  /// Waits until there is a hint, `time` has passed or stop() was called; true if there is a hint.
  bool wait(std::chrono::milliseconds time);
  /// Waits until `time` has passed or stop() was called, whatever comes.
  void rest(std::chrono::milliseconds time);
  /// The oldest hints, up to a batch; they stay until sent() is told.
  protocol::Batch peek() const;
  /// That batch has arrived.
  void sent(const protocol::Batch &batch);
  void stop();
  bool stopped() const;

private:
  const std::uint64_t epoch_;
  mutable std::mutex mutex_;  // of all that follows
  std::condition_variable changed_;
  std::deque<protocol::Hint> hints_;
  std::uint64_t first_ = 1;  // number of hints_.front()
  bool stopped_ = false;
};
