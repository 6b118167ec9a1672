// SPDX-License-Identifier: Apache-2.0
// What the controller knows about one gang: its pods on one side, its Slurm job on the other.
// Nothing of it is stored: a restarted sidecar finds it again in Slurm's tags and in the pods.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kube/objects.hpp"
#include "kube/writer.hpp"
#include "loop.hpp"
#include "slurm/job.hpp"
#include "workload/annotations.hpp"
#include "workload/grouping.hpp"
#include "workload/job_request.hpp"

namespace controller {

struct Member {
  kube::Pod pod;
  workload::Rank rank;
  std::string node;          ///< Kubernetes node it is bound to, or being bound to
  kube::ResourceList usage;  ///< what it was counted with there
  bool binding = false;      ///< the Binding was sent and not answered
  bool stuck = false;     ///< the API server will not bind it as it is; wait for the pod to change
  bool doomed = false;    ///< its job ended in Slurm: it is being deleted
  std::string held_node;  ///< where nothing new goes until it is gone, if it is doomed

  bool bound() const { return !node.empty(); }
  /// Needs a place of its own now or keeps one.
  bool active() const { return !pod.finished() && !doomed; }
  /// Wants to be bound and can be.
  bool waits() const { return active() && !bound() && !pod.meta.deleting && !pod.gated && !stuck; }
};

enum class Refusal : std::uint8_t {
  none,
  by_us,      ///< the pods or their annotations cannot be translated
  by_policy,  ///< k8s.conf said no
  by_slurm,   ///< accounts, limits, partitions: Slurm said no
  unfit,      ///< no nodes of the cluster can ever hold it
};

struct Gang {
  workload::GangKey key;
  std::int64_t expected = 1;   ///< pods that must be there before anything is asked
  bool group_missing = false;  ///< its group object was deleted
  workload::Annotations group_annotations;
  std::map<std::string, Member> members;  ///< by pod UID

  std::optional<slurm::Job> job;                      ///< pending or running, never ended
  std::chrono::steady_clock::time_point job_since{};  ///< when the job became known here
  bool job_confirmed = false;      ///< a look-up has shown it: a later absence means something
  bool ending = false;             ///< we asked Slurm to end the job, and wait for its word
  std::vector<std::string> slots;  ///< Kubernetes node per place, once the job runs
  bool submitting = false;
  bool unsure = false;  ///< a submission got no answer: look before asking again
  std::chrono::steady_clock::time_point unsure_since{};  ///< when that look was asked for

  Refusal refusal = Refusal::none;
  std::string refusal_message;
  bool nudged = false;          ///< nodes changed since it was refused as unfit
  int attempts = 0;             ///< submissions without success in a row
  int looks = 0;                ///< look-ups of a job that is not ready yet, in a row
  std::set<std::string> avoid;  ///< Slurm nodes that turned out to have no room
  bool no_room = false;         ///< the job's nodes cannot take its pods
  std::chrono::steady_clock::time_point no_room_since{};
  std::chrono::steady_clock::time_point running_since{};  ///< when its nodes became known here
  bool reported_gathering = false, reported_pending = false;
  std::time_t reported_start = 0;  ///< expected start as the pods were told

  /// How the members ended, for the job's exit status.
  std::optional<int> first_failure;
  std::string first_failure_at;  ///< RFC 3339
  bool member_deleted = false;   ///< a member went away before it had finished

  Timers::Id retry_timer = 0, report_timer = 0, room_timer = 0, look_timer = 0;

  bool pending() const { return job && job->nodes.empty(); }
  std::vector<Member *> waiting();    ///< members that wait, in rank order
  std::int64_t count_active() const;  ///< active members that are not being deleted
  std::int64_t count_placed() const;  ///< those of them that have a node, or wait for one
  bool has_bound() const;             ///< an active member is bound or being bound
};

inline std::string name_of(const workload::GangKey &key) { return key.ns + "/" + key.name; }

inline kube::ObjectRef ref_of(const kube::Pod &pod)
{
  return {"v1", "Pod", pod.meta.ns, pod.meta.name, pod.meta.uid};
}

inline workload::GangKey key_of(const protocol::Identity &tag)
{
  return {tag.ns, tag.kind, tag.name, tag.uid, tag.stage};
}

}  // namespace controller
