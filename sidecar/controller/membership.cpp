// SPDX-License-Identifier: Apache-2.0
#include "controller/membership.hpp"

#include <algorithm>

#include "wellknown.hpp"

namespace controller {
namespace {

std::string group_key(const std::string &ns, const std::string &name)
{
  return "podgroup/" + ns + "/" + name;
}

std::string job_set_key(const std::string &uid) { return "jobset/" + uid; }

std::string label_of(const kube::Pod &pod, const char *key)
{
  const auto found = pod.meta.labels.find(key);
  return found == pod.meta.labels.end() ? std::string() : found->second;
}

}  // namespace

std::string Membership::index_key(const kube::PodGroup &group)
{
  return group_key(group.meta.ns, group.meta.name);
}

std::string Membership::index_key(const kube::JobSet &job_set)
{
  return job_set_key(job_set.meta.uid);
}

void Membership::upsert(const kube::PodGroup &group) { groups_[index_key(group)] = group; }

void Membership::remove(const kube::PodGroup &group)
{
  const auto found = groups_.find(index_key(group));
  if (found != groups_.end() && found->second.meta.uid == group.meta.uid)
    groups_.erase(found);
}

Membership::Answer Membership::find(const kube::Pod &pod, bool patient) const
{
  const std::string name = workload::pod_group_of(pod);
  if (name.empty()) {
    const workload::GangKey alone{pod.meta.ns, "Pod", pod.meta.name, pod.meta.uid, ""};
    return {Home{alone, 1, workload::rank_of(pod, 0), {}}, {}, {}};
  }
  const auto found = groups_.find(group_key(pod.meta.ns, name));
  if (found == groups_.end())
    return {std::nullopt, group_key(pod.meta.ns, name),
            "the PodGroup " + pod.meta.ns + "/" + name + " does not exist yet"};
  const kube::PodGroup &group = found->second;
  Home home{{pod.meta.ns, "PodGroup", name, group.meta.uid, ""},
            std::max<std::int64_t>(1, group.min_member),
            workload::rank_of(pod, 0),
            group.meta.annotations};

  const std::string job_set_uid = label_of(pod, wellknown::kJobSetUidLabel);
  if (job_set_uid.empty())
    return {home, {}, {}};
  const auto job_set = job_sets_.find(job_set_uid);
  if (job_set == job_sets_.end()) {
    if (!patient || !expects_job_sets_)
      return {home, {}, {}};
    return {std::nullopt, job_set_key(job_set_uid), "its JobSet has not been seen yet"};
  }
  const workload::Stages stages(job_set->second, name);
  if (const auto place = stages.find(label_of(pod, wellknown::kReplicatedJobNameLabel))) {
    home.key.stage = place->stage;
    home.expected = std::max<std::int64_t>(1, std::min(home.expected, place->expected));
    home.rank = workload::rank_of(pod, place->order);
  }
  return {home, {}, {}};
}

}  // namespace controller
