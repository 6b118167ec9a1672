// SPDX-License-Identifier: Apache-2.0
// What Kubernetes says: pods find their gang, or wait for the object that tells which one it is.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <utility>

#include "controller/controller.hpp"
#include "log.hpp"
#include "wellknown.hpp"

namespace controller {
namespace {

/// A group object usually comes with its pods; only a longer wait is worth a word to the user.
constexpr std::chrono::seconds kPatience{5};

slurm::JobId job_id_of(const kube::Pod &pod)
{
  slurm::JobId id = 0;
  const auto found = pod.meta.labels.find(wellknown::kJobIdLabel);
  if (found != pod.meta.labels.end())
    std::from_chars(found->second.data(), found->second.data() + found->second.size(), id);
  return id;
}

}  // namespace

void Controller::upsert(const kube::Pod &pod)
{
  const std::string &uid = pod.meta.uid;
  if (const auto home = home_.find(uid); home != home_.end()) {
    Gang &gang = gangs_.at(home->second);
    update(gang, gang.members.at(uid), pod);
    mark(gang.key);
    return;
  }
  const auto waiting = homeless_.find(uid);
  settle(pod, waiting == homeless_.end() || waiting->second.patient);
}

void Controller::settle(const kube::Pod &pod, bool patient)
{
  // A job that says it is for this pod alone knows better than the pod's labels.
  const workload::GangKey alone{pod.meta.ns, "Pod", pod.meta.name, pod.meta.uid, ""};
  if (gangs_.contains(alone)) {
    join(pod, {alone, 1, workload::rank_of(pod, 0), {}});
    return;
  }
  // A bound pod stays with its job even if its group object is gone by now. Anybody can write that
  // label: it opens no job of another namespace.
  if (const auto job = by_job_.find(job_id_of(pod));
      job != by_job_.end() && !pod.node_name.empty() && job->second.ns == pod.meta.ns) {
    const Gang &gang = gangs_.at(job->second);
    const Membership::Answer answer = membership_.find(pod, false);
    join(pod,
         {gang.key, std::max<std::int64_t>(gang.expected, gang.job->tasks),
          answer.home ? answer.home->rank : workload::rank_of(pod, 0), gang.group_annotations});
    return;
  }
  const Membership::Answer answer = membership_.find(pod, patient);
  if (answer.home)
    join(pod, *answer.home);
  else
    wait_for(pod, answer, patient);
}

void Controller::join(const kube::Pod &pod, const Membership::Home &home)
{
  leave_waiting_room(pod.meta.uid);
  Gang &gang = gangs_[home.key];
  gang.key = home.key;
  gang.expected = home.expected;
  gang.group_annotations = home.annotations;
  gang.group_missing = false;
  Member &member = gang.members[pod.meta.uid];
  member.rank = home.rank;
  home_[pod.meta.uid] = home.key;
  update(gang, member, pod);
  take_ended_job(gang, member);
  submitter_.forgive(gang);
  mark(home.key);
}

/// Only at start: the pod's job ended while nobody was looking.
void Controller::take_ended_job(Gang &gang, Member &member)
{
  const auto job = ended_.find(job_id_of(member.pod));
  if (job != ended_.end() && key_of(job->second.tag) == gang.key && member.bound() &&
      !member.pod.finished())
    doom_after(member, job->second);
}

void Controller::update(Gang &gang, Member &member, const kube::Pod &pod)
{
  const bool was_finished = member.pod.finished();
  const bool was_known = !member.pod.meta.uid.empty();
  const bool options_changed =
      member.pod.meta.annotations != pod.meta.annotations || member.pod.gated != pod.gated;
  member.pod = pod;
  if (pod.finished()) {
    // A pod that is seen for the first time may have ended in an earlier job of its gang.
    if (!was_finished && (was_known || !gang.job || job_id_of(pod) == gang.job->id))
      note_end(gang, pod);
    stop_holding(member);
    binder_.release(member);
    return;
  }
  binder_.observe(member);
  if (options_changed)
    submitter_.forgive(gang);
}

/// The node of a doomed member may take others again. It is remembered apart: a Binding that fails
/// late takes the member's own away.
void Controller::stop_holding(Member &member)
{
  if (!member.held_node.empty())
    nodes_.release(std::exchange(member.held_node, {}));
}

/// The exit code of the container that failed first becomes the job's.
void Controller::note_end(Gang &gang, const kube::Pod &pod)
{
  if (pod.phase != "Failed")
    return;
  if (pod.meta.deleting)
    return;  // killed, not failed
  int code = 1;
  std::string at;
  for (const kube::ContainerStatus &status : pod.container_statuses)
    if (status.terminated && status.exit_code != 0 && (at.empty() || status.finished_at < at)) {
      code = status.exit_code;
      at = status.finished_at;
    }
  if (!gang.first_failure || (!at.empty() && at < gang.first_failure_at)) {
    gang.first_failure = code;
    gang.first_failure_at = at;
  }
}

void Controller::remove(const kube::Pod &pod)
{
  const std::string uid = pod.meta.uid;
  leave_waiting_room(uid);
  reporter_.forget(uid);
  evictor_.forget(uid);
  const auto home = home_.find(uid);
  if (home == home_.end())
    return;
  Gang &gang = gangs_.at(home->second);
  home_.erase(home);
  Member &member = gang.members.at(uid);
  if (!member.pod.finished()) {
    // The last words of a pod often come with its deletion.
    if (pod.finished())
      note_end(gang, pod);
    if (pod.phase != "Succeeded" && !member.doomed)
      gang.member_deleted = true;
    stop_holding(member);
    binder_.release(member);
  }
  gang.members.erase(uid);
  mark(gang.key);
}

void Controller::wait_for(const kube::Pod &pod, const Membership::Answer &answer, bool patient)
{
  const std::string uid = pod.meta.uid;
  const bool known = homeless_.contains(uid);
  Homeless &entry = homeless_[uid];
  if (known && entry.missing != answer.missing)
    waiting_for_[entry.missing].erase(uid);
  entry.pod = pod;
  entry.missing = answer.missing;
  entry.patient = patient;
  waiting_for_[answer.missing].insert(uid);
  if (!patient && !pod.meta.deleting && !pod.finished())
    reporter_.waits(pod, answer.missing, "waiting: " + answer.message);
  if (known)
    return;
  entry.timer = timers_.after(kPatience, [this, uid] {
    const auto found = homeless_.find(uid);
    if (found == homeless_.end())
      return;
    found->second.timer = 0;
    settle(kube::Pod(found->second.pod), false);
  });
}

void Controller::leave_waiting_room(const std::string &uid)
{
  const auto found = homeless_.find(uid);
  if (found == homeless_.end())
    return;
  timers_.cancel(found->second.timer);
  const auto index = waiting_for_.find(found->second.missing);
  index->second.erase(uid);
  if (index->second.empty())
    waiting_for_.erase(index);
  homeless_.erase(found);
}

void Controller::resettle(const std::string &missing)
{
  const auto index = waiting_for_.find(missing);
  if (index == waiting_for_.end())
    return;
  const std::set<std::string> uids = index->second;
  for (const std::string &uid : uids) {
    const Homeless &entry = homeless_.at(uid);
    settle(kube::Pod(entry.pod), entry.patient);
  }
}

/// The group object changed: its gangs may have another size and other options now.
void Controller::refresh_group(const std::string &group_uid)
{
  for (auto gang = gangs_.lower_bound({"", "", "", group_uid, ""});
       gang != gangs_.end() && gang->first.uid == group_uid; ++gang) {
    if (gang->second.members.empty())
      continue;
    const Membership::Answer answer =
        membership_.find(gang->second.members.begin()->second.pod, false);
    gang->second.group_missing = !answer.home;
    if (answer.home) {
      gang->second.expected = answer.home->expected;
      if (gang->second.group_annotations != answer.home->annotations) {
        gang->second.group_annotations = answer.home->annotations;
        submitter_.forgive(gang->second);
      }
    }
    mark(gang->first);
  }
}

/// A pod too many for its gang's job becomes a gang of its own.
void Controller::split(Gang &gang, const std::string &pod_uid)
{
  const kube::Pod pod = gang.members.at(pod_uid).pod;
  gang.members.erase(pod_uid);
  logging::info("the gang's job has no place for a further pod: it gets a job of its own",
                {{"pod", pod.meta.ns + "/" + pod.meta.name}, {"gang", name_of(gang.key)}});
  join(pod, {{pod.meta.ns, "Pod", pod.meta.name, pod.meta.uid, ""},
             1,
             workload::rank_of(pod, 0),
             gang.group_annotations});
}

void Controller::upsert(const kube::PodGroup &group)
{
  membership_.upsert(group);
  refresh_group(group.meta.uid);
  resettle(Membership::index_key(group));
}

void Controller::upsert(const kube::Namespace &ns)
{
  if (!namespaces_.upsert(ns))
    return;
  for (auto &[key, gang] : gangs_)  // all of them, but namespaces hardly ever change
    if (key.ns == ns.meta.name)
      submitter_.forgive(gang);
}

void Controller::remove(const kube::Namespace &ns) { namespaces_.remove(ns); }

void Controller::remove(const kube::PodGroup &group)
{
  membership_.remove(group);
  refresh_group(group.meta.uid);
}

void Controller::upsert(const kube::JobSet &job_set)
{
  membership_.upsert(job_set);
  resettle(Membership::index_key(job_set));
}

void Controller::remove(const kube::JobSet &job_set) { membership_.remove(job_set); }

void Controller::upsert(const kube::Node &node)
{
  if (nodes_.upsert(node) && begun_)
    kube_nodes_changed();
}

void Controller::remove(const kube::Node &node) { nodes_.remove(node); }

}  // namespace controller
