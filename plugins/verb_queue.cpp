// SPDX-License-Identifier: Apache-2.0
#include "verb_queue.hpp"

bool VerbQueue::put(const protocol::Verb &verb)
{
  const std::lock_guard lock(mutex_);
  if (!verbs_.empty() && verbs_.back().job_id == verb.job_id && verbs_.back().kind == verb.kind)
    return true;
  if (verbs_.size() >= kMaxVerbs || stopped_)
    return false;
  verbs_.push_back(verb);
  changed_.notify_one();
  return true;
}

std::optional<protocol::Verb> VerbQueue::take(std::chrono::milliseconds time)
{
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, time, [this] { return stopped_ || !verbs_.empty(); });
  if (stopped_ || verbs_.empty())
    return std::nullopt;
  protocol::Verb verb = std::move(verbs_.front());
  verbs_.pop_front();
  return verb;
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
