// SPDX-License-Identifier: Apache-2.0
#include "controller/binder.hpp"

#include <algorithm>
#include <chrono>

#include "log.hpp"
#include "wellknown.hpp"
#include "workload/layout.hpp"
#include "workload/pod_shape.hpp"

namespace controller {
namespace {

constexpr std::chrono::seconds kBindRetry{1};
/// What the API server refused may be mended by an administrator (RBAC, a quota, a webhook).
constexpr std::chrono::seconds kStuckRetry{30};

/// The largest need among the members, for the check against what the nodes can give.
const kube::Pod *largest(const Gang &gang)
{
  const kube::Pod *found = nullptr;
  std::int64_t most = -1;
  for (const auto &[uid, member] : gang.members) {
    const kube::ResourceList need = workload::pod_requests(member.pod);
    const auto cpu = need.find("cpu");
    const std::int64_t cpus = cpu == need.end() ? 0 : cpu->second;
    if (cpus > most) {
      most = cpus;
      found = &member.pod;
    }
  }
  return found;
}

std::vector<std::string> free_slots(const Gang &gang)
{
  std::map<std::string, int> taken;
  for (const auto &[uid, member] : gang.members)
    if (member.bound() && member.active())
      ++taken[member.node];
  std::vector<std::string> free;
  for (const std::string &node : gang.slots)
    if (--taken[node] < 0)
      free.push_back(node);
  return free;
}

}  // namespace

/// Turns the job's nodes into places, in rank order. False, with everybody told, while some node is
/// not known in Kubernetes.
bool Binder::lay_out(Gang &gang)
{
  const slurm::Job &job = *gang.job;
  const kube::Pod *pod = largest(gang);
  if (!pod)
    return false;
  std::vector<workload::NodeRoom> rooms;
  std::string problem;
  for (const slurm::NodeShare &share : job.nodes) {
    const Nodes::Found found = nodes_.by_slurm_name(share.name);
    if (!found.node) {
      problem = found.problem;
      continue;
    }
    const std::uint32_t by_cpus =
        share.cpus == 0 ? job.tasks : share.cpus / std::max(1u, job.cpus_per_task);
    // Members that are bound already sit in their own places: count the node as if it were empty.
    const std::uint32_t room = nodes_.capacity(*found.node, *pod, std::min(by_cpus, job.tasks));
    rooms.push_back({found.node->meta.name, room});
  }
  gang.slots = workload::place(rooms, job.tasks);
  if (gang.slots.size() >= job.tasks)
    return true;
  gang.slots.clear();
  if (problem.empty())
    problem = "the nodes of the job have no room for its pods";
  for (Member *member : gang.waiting())
    reporter_.waits(member->pod, "NoRoom",
                    "Slurm job " + std::to_string(job.id) + " runs, but " + problem);
  return false;
}

void Binder::bind_waiting(Gang &gang)
{
  gang.no_room = false;
  std::vector<Member *> waiting = gang.waiting();
  if (waiting.empty())
    return;
  if (gang.slots.empty() && !lay_out(gang)) {
    gang.no_room = true;
    return;
  }
  const std::vector<std::string> free = free_slots(gang);
  auto next = free.begin();
  for (Member *member : waiting) {
    if (next == free.end())
      break;  // a terminating member still has the place of this one
    const Nodes::Found found = nodes_.by_kube_name(*next);
    if (!found.node || nodes_.room(*found.node, member->pod, 1) == 0) {
      gang.no_room = true;
      reporter_.waits(member->pod, "NoRoom",
                      "Slurm job " + std::to_string(gang.job->id) + " runs, but node " + *next +
                          " has no room for the pod yet");
      ++next;
      continue;
    }
    bind(gang, *member, *next++);
  }
}

void Binder::bind(Gang &gang, Member &member, const std::string &node)
{
  occupy(member, node);
  member.binding = true;
  ++in_flight_;
  writer_.bind(ref_of(member.pod), node, {{wellknown::kJobIdLabel, std::to_string(gang.job->id)}},
               {{wellknown::kSlurmNodeAnnotation, nodes_.slurm_name_of(node)}},
               [this, key = gang.key, uid = member.pod.meta.uid](const kube::WriteResult &result) {
                 --in_flight_;
                 answered(key, uid, result);
               });
}

void Binder::answered(const workload::GangKey &key, const std::string &uid,
                      const kube::WriteResult &result)
{
  Gang *gang = hooks_.find(key);
  if (!gang)
    return;
  const auto found = gang->members.find(uid);
  if (found == gang->members.end() || !found->second.binding)
    return;
  Member &member = found->second;
  member.binding = false;
  if (result.outcome != kube::Outcome::done) {
    failed(*gang, member, result);
    return;
  }
  // The watch may bring the pod's new state only after the job has ended here: remember the node.
  member.pod.node_name = member.node;
  logging::info("pod bound", {{"pod", member.pod.meta.ns + "/" + member.pod.meta.name},
                              {"node", member.node},
                              {"job", gang->job ? gang->job->id : 0}});
  reporter_.scheduled(member.pod, member.node, gang->job ? gang->job->id : 0);
  hooks_.bound(*gang);
  hooks_.changed(key);
}

void Binder::failed(Gang &gang, Member &member, const kube::WriteResult &result)
{
  logging::warn("pod could not be bound", {{"pod", member.pod.meta.ns + "/" + member.pod.meta.name},
                                           {"node", member.node},
                                           {"job", gang.job ? gang.job->id : 0},
                                           {"cause", result.message}});
  release(member);
  switch (result.outcome) {
  case kube::Outcome::done: break;
  case kube::Outcome::gone:  // the watch will say so
    member.stuck = true;
    timers_.after(kStuckRetry,
                  [this, key = gang.key, uid = member.pod.meta.uid] { unstick(key, uid); });
    break;
  case kube::Outcome::conflict:
  case kube::Outcome::rejected:
    member.stuck = true;
    reporter_.waits(member.pod, "BindFailed", "the pod could not be bound: " + result.message);
    timers_.after(kStuckRetry,
                  [this, key = gang.key, uid = member.pod.meta.uid] { unstick(key, uid); });
    break;
  case kube::Outcome::failed:
    timers_.after(kBindRetry, [this, key = gang.key] { hooks_.changed(key); });
    return;
  }
  hooks_.changed(gang.key);
}

void Binder::unstick(const workload::GangKey &key, const std::string &uid)
{
  Gang *gang = hooks_.find(key);
  if (!gang)
    return;
  if (const auto found = gang->members.find(uid); found != gang->members.end()) {
    found->second.stuck = false;
    hooks_.changed(key);
  }
}

void Binder::observe(Member &member)
{
  if (member.pod.node_name.empty() || member.node == member.pod.node_name)
    return;
  if (member.bound())
    release(member);
  if (!member.pod.finished())
    occupy(member, member.pod.node_name);
}

void Binder::occupy(Member &member, const std::string &node)
{
  member.node = node;
  member.usage = workload::pod_requests(member.pod);
  nodes_.use(node, member.usage);
}

void Binder::release(Member &member)
{
  if (!member.bound())
    return;
  nodes_.free(member.node, member.usage);
  member.node.clear();
  member.binding = false;
}

}  // namespace controller
