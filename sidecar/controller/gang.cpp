// SPDX-License-Identifier: Apache-2.0
#include "controller/gang.hpp"

#include <algorithm>

namespace controller {

std::vector<Member *> Gang::waiting()
{
  std::vector<Member *> found;
  for (auto &[uid, member] : members)
    if (member.waits())
      found.push_back(&member);
  std::sort(found.begin(), found.end(),
            [](const Member *a, const Member *b) { return a->rank < b->rank; });
  return found;
}

std::int64_t Gang::count_active() const
{
  return std::count_if(members.begin(), members.end(), [](const auto &entry) {
    return entry.second.active() && !entry.second.pod.meta.deleting;
  });
}

std::int64_t Gang::count_placed() const
{
  return std::count_if(members.begin(), members.end(), [](const auto &entry) {
    const Member &member = entry.second;
    return member.active() && !member.pod.meta.deleting && (member.bound() || member.waits());
  });
}

bool Gang::has_bound() const
{
  return std::any_of(members.begin(), members.end(), [](const auto &entry) {
    return entry.second.active() && entry.second.bound();
  });
}

}  // namespace controller
