// SPDX-License-Identifier: Apache-2.0
// Verbs that were accepted and wait to be carried out. Hooks put them in, one thread takes them out.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>

#include "verb_rules.hpp"

class VerbQueue {
public:
  static constexpr std::size_t kMaxOrders = 10'000;

  /// False if there is no room. A verb that waits already is not put in again.
  bool put(const Order &order);
  /// The next verb; nothing after `time` or once stop() was called.
  std::optional<Order> take(std::chrono::milliseconds time);
  /// take() returns at once from now on.
  void stop();
  bool stopped() const;

private:
  mutable std::mutex mutex_;  // of all that follows
  std::condition_variable changed_;
  std::deque<Order> orders_;
  bool stopped_ = false;
};
