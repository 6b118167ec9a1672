// SPDX-License-Identifier: Apache-2.0
#include "verb_queue.hpp"

bool VerbQueue::put(const Order &order)
{
  const std::lock_guard lock(mutex_);
  if (!orders_.empty() && orders_.back() == order)
    return true;
  if (orders_.size() >= kMaxOrders || stopped_)
    return false;
  orders_.push_back(order);
  changed_.notify_one();
  return true;
}

std::optional<Order> VerbQueue::take(std::chrono::milliseconds time)
{
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, time, [this] { return stopped_ || !orders_.empty(); });
  if (stopped_ || orders_.empty())
    return std::nullopt;
  Order order = std::move(orders_.front());
  orders_.pop_front();
  return order;
}

void VerbQueue::stop()
{
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  changed_.notify_all();
}

bool VerbQueue::stopped() const
{
  const std::lock_guard lock(mutex_);
  return stopped_;
}
