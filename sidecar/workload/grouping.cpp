// SPDX-License-Identifier: Apache-2.0
#include "workload/grouping.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include "wellknown.hpp"

namespace workload {
namespace {

std::string value_of(const std::map<std::string, std::string> &map, const char *key)
{
  const auto found = map.find(key);
  return found == map.end() ? std::string() : found->second;
}

/// Index in a label; pods without one come after those that have one, by name.
std::int64_t index_of(const kube::Pod &pod, const char *key)
{
  const std::string text = value_of(pod.meta.labels, key);
  std::int64_t index = std::numeric_limits<std::int64_t>::max();
  std::from_chars(text.data(), text.data() + text.size(), index);
  return index;
}

/// 0 for a job that waits for nobody, else one more than what it waits for. A JobSet's webhook only
/// lets a job depend on earlier ones; anything else is ignored.
std::map<std::string, int> levels_of(const kube::JobSet &job_set)
{
  std::map<std::string, int> levels;
  for (const kube::ReplicatedJob &job : job_set.replicated_jobs) {
    int level = 0;
    for (const std::string &name : job.depends_on)
      if (const auto before = levels.find(name); before != levels.end())
        level = std::max(level, before->second + 1);
    levels.emplace(job.name, level);
  }
  return levels;
}

std::int64_t pods_of(const kube::ReplicatedJob &job)
{
  return job.replicas * std::min(job.parallelism, job.completions.value_or(job.parallelism));
}

}  // namespace

std::string pod_group_of(const kube::Pod &pod)
{
  return value_of(pod.meta.labels, wellknown::kPodGroupLabel);
}

Stages::Stages(const kube::JobSet &job_set, const std::string &group_name)
{
  std::map<int, std::int64_t> expected;
  std::map<std::string, int> level;
  const std::map<std::string, int> levels = levels_of(job_set);
  for (const kube::ReplicatedJob &job : job_set.replicated_jobs) {
    if (value_of(job.pod_labels, wellknown::kPodGroupLabel) != group_name)
      continue;
    level[job.name] = levels.at(job.name);
    expected[level[job.name]] += pods_of(job);
  }
  std::int64_t order = 0;
  for (const kube::ReplicatedJob &job : job_set.replicated_jobs) {
    if (const auto found = level.find(job.name); found != level.end())
      places_[job.name] = {expected.size() > 1 ? std::to_string(found->second) : std::string(),
                           expected[found->second], order};
    ++order;
  }
}

std::optional<Stages::Place> Stages::find(const std::string &replicated_job) const
{
  const auto found = places_.find(replicated_job);
  return found == places_.end() ? std::nullopt : std::optional(found->second);
}

Rank rank_of(const kube::Pod &pod, std::int64_t order)
{
  return {order, index_of(pod, wellknown::kJobSetJobIndexLabel),
          index_of(pod, wellknown::kCompletionIndexLabel), pod.meta.name};
}

}  // namespace workload
