// SPDX-License-Identifier: Apache-2.0
#include "hint_queue.hpp"

#include <algorithm>

void HintQueue::put(const protocol::Hint &hint)
{
  const std::lock_guard lock(mutex_);
  if (hints_.size() >= kMaxHints) {
    hints_.pop_front();
    ++first_;
  }
  hints_.push_back(hint);
  changed_.notify_one();
}

bool HintQueue::wait(std::chrono::milliseconds time)
{
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, time, [this] { return stopped_ || !hints_.empty(); });
  return !hints_.empty();
}

void HintQueue::rest(std::chrono::milliseconds time)
{
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, time, [this] { return stopped_; });
}

protocol::Batch HintQueue::peek() const
{
  const std::lock_guard lock(mutex_);
  const auto count = static_cast<std::ptrdiff_t>(std::min(hints_.size(), protocol::kMaxBatchHints));
  return {epoch_, first_, {hints_.begin(), hints_.begin() + count}};
}

void HintQueue::sent(const protocol::Batch &batch)
{
  const std::lock_guard lock(mutex_);
  // Some of them may have been dropped meanwhile.
  for (const std::uint64_t end = batch.seq + batch.hints.size(); first_ < end && !hints_.empty();
       ++first_)
    hints_.pop_front();
}

void HintQueue::stop()
{
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  changed_.notify_all();
}

bool HintQueue::stopped() const
{
  const std::lock_guard lock(mutex_);
  return stopped_;
}
