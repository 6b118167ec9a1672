// SPDX-License-Identifier: Apache-2.0
#include "kube/write_queue.hpp"

#include <algorithm>
#include <utility>

namespace kube {
namespace {

std::optional<Write> take_first(std::deque<Write> &queue)
{
  if (queue.empty())
    return std::nullopt;
  Write write = std::move(queue.front());
  queue.pop_front();
  return write;
}

void tell_superseded(const std::optional<Write> &write)
{
  if (write)
    write->done({Outcome::failed, "superseded by a later write"});
}

}  // namespace

void WriteQueue::put(Write write)
{
  if (write.kind != Write::Kind::patch) {
    (write.kind == Write::Kind::event ? events_ : urgent_).push_back(std::move(write));
    return;
  }
  Subject &about = subjects_[write.subject];
  if (!about.next && !about.under_way)
    turns_.push_back(write.subject);
  about.stale = true;
  // Last, because it may call back.
  tell_superseded(std::exchange(about.next, std::move(write)));
}

void WriteQueue::drop(const std::string &subject)
{
  const auto found = subjects_.find(subject);
  if (found == subjects_.end())
    return;
  found->second.stale = true;
  const auto dropped = std::exchange(found->second.next, std::nullopt);
  if (!found->second.under_way)
    subjects_.erase(found);
  tell_superseded(dropped);
}

std::optional<Write> WriteQueue::take()
{
  if (auto write = take_first(urgent_))
    return write;
  while (!turns_.empty()) {
    const auto found = subjects_.find(turns_.front());
    turns_.pop_front();
    if (found == subjects_.end() || !found->second.next || found->second.under_way)
      continue;
    found->second.under_way = true;
    found->second.stale = false;
    return std::exchange(found->second.next, std::nullopt);
  }
  return take_first(events_);
}

void WriteQueue::put_back(Write write)
{
  if (write.kind != Write::Kind::patch) {
    (write.kind == Write::Kind::event ? events_ : urgent_).push_front(std::move(write));
    return;
  }
  turns_.push_front(write.subject);
  Subject &about = subjects_.at(write.subject);
  about.under_way = false;
  about.next = std::move(write);
}

void WriteQueue::end(const Write &write)
{
  if (write.kind != Write::Kind::patch)
    return;
  const auto found = subjects_.find(write.subject);
  found->second.under_way = false;
  if (found->second.next)
    turns_.push_front(write.subject);
  else
    subjects_.erase(found);
}

bool WriteQueue::superseded(const Write &write) const
{
  return write.kind == Write::Kind::patch && subjects_.at(write.subject).stale;
}

std::size_t WriteQueue::size() const
{
  const auto waiting = std::count_if(subjects_.begin(), subjects_.end(), [](const auto &entry) {
    return entry.second.next.has_value();
  });
  return urgent_.size() + events_.size() + static_cast<std::size_t>(waiting);
}

}  // namespace kube
