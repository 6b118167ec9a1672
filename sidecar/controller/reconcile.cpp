// SPDX-License-Identifier: Apache-2.0
// What follows for a gang from its pods and its job.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>

#include "controller/controller.hpp"
#include "log.hpp"
#include "wellknown.hpp"

namespace controller {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// The pods of a group come within moments of each other.
constexpr seconds kGatherPatience{5};
/// Most jobs start at once: their pods need not hear that they wait.
constexpr seconds kReportDelay{1};
/// Slurm's estimate of the start moves all the time.
constexpr std::time_t kStartTolerance_s = 300;
/// How long a running job may wait for room on its Kubernetes nodes.
constexpr seconds kRoomPatience{60};
constexpr seconds kRoomLook{1};
/// Pods are killed no later than Slurm would kill processes (KillWait's default).
constexpr std::int64_t kMaxGrace_s = 30;

std::string start_text(std::time_t start)
{
  std::tm utc{};
  gmtime_r(&start, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%MZ", &utc);
  return text;
}

/// What the user should make of a reason that does not go away by waiting; "" for the others.
std::string explain(const std::string &reason)
{
  if (reason == "PartitionConfig")
    return " (the partition's nodes or limits cannot hold it as it is)";
  if (reason == "BadConstraints")
    return " (no node meets its constraints)";
  return {};
}

}  // namespace

void Controller::mark(const workload::GangKey &key)
{
  dirty_.insert(key);
  if (!begun_ || stopped_ || flush_timer_)
    return;
  flush_timer_ = timers_.after(milliseconds(0), [this] {
    flush_timer_ = 0;
    flush();
  });
}

void Controller::flush()
{
  std::set<workload::GangKey> now;
  now.swap(dirty_);
  for (const workload::GangKey &key : now)
    if (Gang *gang = find(key))
      reconcile(*gang);
}

void Controller::reconcile(Gang &gang)
{
  if (gang.job) {
    if (gang.ending)
      return;  // Slurm's word that it ended comes next
    if (gang.members.empty()) {
      end(gang, gang.pending() || (gang.member_deleted && !gang.first_failure),
          gang.first_failure.value_or(0));
      return;
    }
    if (gang.pending())
      tend_pending(gang);
    else
      tend_running(gang);
    return;
  }
  if (gang.submitting || forget_if_empty(gang))
    return;
  gather(gang);
}

bool Controller::forget_if_empty(Gang &gang)
{
  // A submission without an answer may have left a job: a listing has to show it first.
  if (!gang.members.empty() || gang.unsure)
    return false;
  for (const Timers::Id timer :
       {gang.retry_timer, gang.report_timer, gang.room_timer, gang.look_timer})
    timers_.cancel(timer);
  gangs_.erase(workload::GangKey(gang.key));
  return true;
}

/// No job yet: are all pods there?
void Controller::gather(Gang &gang)
{
  if (gang.unsure || gang.refusal != Refusal::none)
    return;
  if (gang.has_bound()) {
    submitter_.reclaim(gang);
    return;
  }
  if (gang.group_missing) {
    move_out(gang);
    return;
  }
  const std::vector<Member *> waiting = gang.waiting();
  if (waiting.empty())
    return;
  const auto done = std::count_if(gang.members.begin(), gang.members.end(), [](const auto &entry) {
    return entry.second.pod.phase == "Succeeded";
  });
  const auto there = static_cast<std::int64_t>(waiting.size()) + done;
  if (there >= gang.expected) {
    timers_.cancel(gang.report_timer);
    gang.report_timer = 0;
    submitter_.submit(gang);
    return;
  }
  if (gang.report_timer == 0)
    gang.report_timer = timers_.after(kGatherPatience, [this, key = gang.key] {
      if (Gang *found = find(key); found && !found->job && !found->submitting)
        report_gathering(*found);
    });
  else if (gang.reported_gathering)
    report_gathering(gang);
}

void Controller::report_gathering(Gang &gang)
{
  gang.reported_gathering = true;
  const std::vector<Member *> waiting = gang.waiting();
  for (const Member *member : waiting)
    reporter_.waits(member->pod, "Gathering",
                    "waiting for all pods of " + gang.key.kind + " " + name_of(gang.key) + ": " +
                        std::to_string(waiting.size()) + " of " + std::to_string(gang.expected) +
                        " are there");
}

/// The group object is gone: its pods belong to whatever has its name now.
void Controller::move_out(Gang &gang)
{
  std::vector<kube::Pod> pods;
  for (const auto &[uid, member] : gang.members)
    if (!member.bound() && member.active())
      pods.push_back(member.pod);
  for (const kube::Pod &pod : pods) {
    gang.members.erase(pod.meta.uid);
    home_.erase(pod.meta.uid);
  }
  forget_if_empty(gang);
  for (const kube::Pod &pod : pods)
    settle(pod, true);
}

void Controller::tend_pending(Gang &gang)
{
  if (gang.count_active() < gang.job->tasks || gang.group_missing) {
    end(gang, true, 0);  // those that remain gather anew
    return;
  }
  split_surplus(gang);
  if (!gang.job_confirmed) {
    sync_.look(gang.job->id);  // it may have started since the reply, and Slurm has a reason by now
    return;
  }
  if (gang.report_timer == 0)
    gang.report_timer = timers_.after(kReportDelay, [this, key = gang.key] {
      if (Gang *found = find(key); found && found->pending() && !found->ending) {
        found->reported_pending = true;
        report_pending(*found);
      }
    });
  else if (gang.reported_pending)
    report_pending(gang);
}

/// Slurm's estimate moves all the time, and goes and comes: only what matters to somebody who waits
/// is said, and the pods of a thousand jobs are not written again with each look at them.
std::string Controller::expected_start(Gang &gang) const
{
  const std::time_t now = std::time(nullptr), estimate = gang.job->start;
  const std::time_t moved = std::abs(estimate - gang.reported_start);
  const std::time_t tolerance = std::max(kStartTolerance_s, (gang.reported_start - now) / 5);
  if (estimate > now && moved > tolerance)
    gang.reported_start = estimate;
  return gang.reported_start + kStartTolerance_s > now
             ? "; expected start " + start_text(gang.reported_start)
             : "";
}

void Controller::report_pending(Gang &gang)
{
  const slurm::Job &job = *gang.job;
  std::string message = "Slurm job " + std::to_string(job.id) + " is pending";
  if (!job.reason.empty() && job.reason != "None")
    message += ": " + job.reason + explain(job.reason);
  if (!job.description.empty() && job.description != job.reason)
    message += " (" + job.description + ")";
  message += expected_start(gang);
  for (const Member *member : gang.waiting())
    reporter_.waits(member->pod, "Queued " + job.reason, message);
}

void Controller::tend_running(Gang &gang)
{
  if (!gang.job_confirmed || gang.job->configuring || !gang.job->shares_known) {
    look_again(gang);
    return;
  }
  gang.looks = 0;
  if (finish(gang))
    return;
  doom_lost(gang);
  if (gang.job->state == slurm::JobState::SUSPENDED) {
    explain_suspension(gang);
    return;
  }
  split_surplus(gang);
  binder_.bind_waiting(gang);
  if (gang.no_room) {
    watch_room(gang);
  } else {
    timers_.cancel(gang.room_timer);
    gang.room_timer = 0;
  }
}

/// More pods than the job has tasks, none of which is about to make room.
void Controller::split_surplus(Gang &gang)
{
  std::int64_t surplus = gang.count_placed() - gang.job->tasks;
  std::vector<Member *> waiting = gang.waiting();
  for (; surplus > 0 && !waiting.empty(); --surplus) {
    split(gang, std::string(waiting.back()->pod.meta.uid));
    waiting.pop_back();
  }
}

void Controller::look_again(Gang &gang)
{
  if (gang.look_timer)
    return;
  // The first look follows at once; nodes that boot or a long prolog are looked at every second.
  const milliseconds pause(gang.looks == 0 ? 0 : std::min(1000, 10 << std::min(gang.looks, 7)));
  ++gang.looks;
  gang.look_timer = timers_.after(pause, [this, key = gang.key] {
    Gang *found = find(key);
    if (!found)
      return;
    found->look_timer = 0;
    if (found->job && !found->ending)
      sync_.look(found->job->id);
  });
}

/// True if nobody of the gang is left to run: the job has done its duty.
bool Controller::finish(Gang &gang)
{
  const bool anybody = std::any_of(gang.members.begin(), gang.members.end(),
                                   [](const auto &entry) { return !entry.second.pod.finished(); });
  if (anybody)
    return false;
  if (gang.first_failure)
    end(gang, false, *gang.first_failure);
  else
    end(gang, gang.member_deleted, 0);
  return true;
}

void Controller::end(Gang &gang, bool cancel, int exit_code)
{
  gang.ending = true;
  if (cancel)
    closer_.cancel(*gang.job);
  else
    closer_.complete(*gang.job, exit_code);
}

void Controller::doom(Member &member, const std::string &reason, const std::string &message)
{
  member.doomed = true;
  if (member.bound() && member.held_node.empty()) {
    member.held_node = member.node;
    nodes_.hold(member.node);
  }
  evictor_.evict(member.pod, reason, message, kMaxGrace_s);
}

/// The job was shrunk: pods whose node it no longer has must go, for others may come.
void Controller::doom_lost(Gang &gang)
{
  const slurm::Job &job = *gang.job;
  const auto has = [&](const std::string &node) {
    return std::any_of(job.nodes.begin(), job.nodes.end(),
                       [&](const slurm::NodeShare &share) { return share.name == node; });
  };
  for (auto &[uid, member] : gang.members) {
    // What was written at the Binding says which node it was by Slurm's name.
    const auto node = member.pod.meta.annotations.find(wellknown::kSlurmNodeAnnotation);
    const auto id = member.pod.meta.labels.find(wellknown::kJobIdLabel);
    const bool known = node != member.pod.meta.annotations.end() &&
                       id != member.pod.meta.labels.end() && id->second == std::to_string(job.id);
    if (!known || !member.active() || !member.bound() || has(node->second))
      continue;
    gang.slots.clear();
    doom(member, "SlurmNodeReleased",
         "Slurm job " + std::to_string(job.id) + " no longer has the node " + node->second);
  }
}

/// Slurm gives a suspended job's CPUs to others, but pods cannot be stopped and continued.
void Controller::explain_suspension(Gang &gang)
{
  const std::string job = "Slurm job " + std::to_string(gang.job->id) + " is suspended";
  for (auto &[uid, member] : gang.members)
    if (member.active() && member.bound())
      reporter_.warn(member.pod, "JobSuspended",
                     job + ", but pods cannot be: this one runs on. Resume the job (scontrol "
                           "resume) or cancel it");
    else if (member.waits())
      reporter_.waits(member.pod, "Suspended", job);
}

/// The job runs but its nodes cannot take its pods. That may pass (the pods before them are still
/// going); if it does not, other nodes are asked for.
void Controller::watch_room(Gang &gang)
{
  if (gang.room_timer == 0)
    gang.no_room_since = timers_.now();
  else
    timers_.cancel(gang.room_timer);
  if (!gang.has_bound() && timers_.now() - gang.no_room_since >= kRoomPatience) {
    logging::warn("no room on the job's nodes: asking for others",
                  {{"job", gang.job->id}, {"gang", name_of(gang.key)}});
    for (const slurm::NodeShare &share : gang.job->nodes) {
      const Nodes::Found found = nodes_.by_slurm_name(share.name);
      const bool fits =
          found.node && nodes_.room(*found.node, gang.members.begin()->second.pod, 1) > 0;
      if (!fits)
        gang.avoid.insert(share.name);
    }
    end(gang, true, 0);
    return;
  }
  gang.room_timer = timers_.after(kRoomLook, [this, key = gang.key] { mark(key); });
}

}  // namespace controller
