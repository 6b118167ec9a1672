// SPDX-License-Identifier: Apache-2.0
// What Slurm says: jobs find their gang by their tag, start, end, or turn out to be nobody's.
#include <algorithm>

#include "controller/controller.hpp"
#include "log.hpp"

namespace controller {
namespace {

constexpr std::chrono::seconds kNodesPause{1};

std::string disruption_reason(slurm::JobState state)
{
  switch (state) {
  case slurm::JobState::CANCELLED: return "SlurmJobCancelled";
  case slurm::JobState::TIMEOUT:
  case slurm::JobState::DEADLINE: return "SlurmJobTimeout";
  case slurm::JobState::NODE_FAIL:
  case slurm::JobState::BOOT_FAIL: return "SlurmNodeFail";
  case slurm::JobState::PREEMPTED: return "SlurmJobPreempted";
  default: return "SlurmJobEnded";
  }
}

/// Listings do not say how many CPUs each node gives; what a look-up said about the same nodes stays.
void renew(slurm::Job &known, slurm::Job fresh)
{
  const bool same =
      std::equal(known.nodes.begin(), known.nodes.end(), fresh.nodes.begin(), fresh.nodes.end(),
                 [](const auto &a, const auto &b) { return a.name == b.name; });
  if (!fresh.shares_known && known.shares_known && same) {
    fresh.nodes = std::move(known.nodes);
    fresh.shares_known = true;
  }
  known = std::move(fresh);
}

}  // namespace

bool Controller::in_scope(const std::string &ns) const
{
  return settings_.namespaces.empty() ||
         std::find(settings_.namespaces.begin(), settings_.namespaces.end(), ns) !=
             settings_.namespaces.end();
}

void Controller::seen(const slurm::Job &job)
{
  if (job.tag.uid.empty())
    return;  // not ours
  if (!slurm::is_end(job.state)) {
    seen_live(job);
    return;
  }
  closer_.observe(job);
  if (const auto found = by_job_.find(job.id); found != by_job_.end())
    ended(gangs_.at(found->second), job);
  else if (!begun_)
    ended_[job.id] = job;
}

void Controller::seen_live(const slurm::Job &job)
{
  if (const auto known = by_job_.find(job.id); known != by_job_.end()) {
    Gang &gang = gangs_.at(known->second);
    note_start(gang, job);
    renew(*gang.job, job);
    gang.job_confirmed = true;
    mark(gang.key);
    return;
  }
  if (closer_.closing(job.id))
    return;
  const workload::GangKey key = key_of(job.tag);
  Gang *gang = find(key);
  if (gang && gang->submitting)
    return;  // the reply will tell
  if (!begun_ && !gang) {
    gang = &gangs_[key];
    gang->key = key;
  }
  if (gang && !gang->job) {
    adopt(*gang, job);
  } else if (gang) {
    resolve_double(*gang, job);
  } else if (in_scope(job.tag.ns)) {
    logging::warn("no pods for this job: cancelling it",
                  {{"job", job.id}, {"gang", name_of(key)}, {"uid", key.uid}});
    closer_.cancel(job);
  }
}

void Controller::adopt(Gang &gang, const slurm::Job &job)
{
  logging::info("job adopted by its tag", {{"job", job.id}, {"gang", name_of(gang.key)}});
  accepted(gang, job);
  gang.job_confirmed = true;
}

/// Two live jobs with one tag: the running or else the older one stays.
void Controller::resolve_double(Gang &gang, const slurm::Job &job)
{
  const auto rank = [](const slurm::Job &j) {
    return std::pair(j.state == slurm::JobState::PENDING, j.id);
  };
  const bool keep_new = rank(job) < rank(*gang.job) && !gang.has_bound();
  const slurm::Job loser = keep_new ? *gang.job : job;
  logging::warn("two jobs for one gang: cancelling one",
                {{"gang", name_of(gang.key)}, {"job", loser.id}});
  if (keep_new) {
    drop_job(gang);
    adopt(gang, job);
  }
  closer_.cancel(loser);
}

void Controller::accepted(Gang &gang, const slurm::Job &job)
{
  note_start(gang, job);
  gang.job = job;
  gang.job_since = timers_.now();
  gang.unsure = false;
  gang.slots.clear();
  by_job_[job.id] = gang.key;
  mark(gang.key);
}

void Controller::note_start(Gang &gang, const slurm::Job &job)
{
  if (job.nodes.empty() || (gang.job && !gang.pending()))
    return;
  gang.running_since = timers_.now();
  timers_.cancel(gang.report_timer);
  gang.report_timer = 0;
  gang.reported_pending = false;
}

void Controller::unknown(slurm::JobId id)
{
  const auto found = by_job_.find(id);
  if (found == by_job_.end())
    return;
  Gang &gang = gangs_.at(found->second);
  if (gang.job_confirmed) {
    sync_.list();  // one job may be hidden by a restart that is under way; a listing decides
    return;
  }
  if (gang.looks == 0)
    logging::warn(
        "slurmctld does not show us the job it has just given us; is PrivateData=jobs set?",
        {{"job", id}, {"gang", name_of(gang.key)}});
  look_again(gang);
}

void Controller::disowned(slurm::JobId id, const slurm::Error &error)
{
  const auto found = by_job_.find(id);
  if (found == by_job_.end())
    return;
  Gang &gang = gangs_.at(found->second);
  drop_job(gang);
  submitter_.refused(gang, error);
}

void Controller::listed(const std::vector<slurm::Job> &jobs, JobSync::Clock::time_point begun)
{
  std::set<slurm::JobId> ids;
  for (const slurm::Job &job : jobs) {
    ids.insert(job.id);
    seen(job);
  }
  closer_.forget_absent(ids, begun);
  std::vector<workload::GangKey> gone;
  for (const auto &[id, key] : by_job_)
    if (!ids.contains(id))
      gone.push_back(key);
  for (const workload::GangKey &key : gone)
    if (Gang &gang = gangs_.at(key); gang.job_confirmed && gang.job_since < begun)
      lost(gang);
  for (auto &[key, gang] : gangs_)
    if (gang.unsure)
      submitter_.settle(gang, begun);
}

/// Slurm has forgotten the job. That is no proof that it ended: pods that run are left alone.
void Controller::lost(Gang &gang)
{
  logging::warn(
      "Slurm no longer knows the job",
      {{"job", gang.job->id}, {"gang", name_of(gang.key)}, {"pods_run", gang.has_bound()}});
  drop_job(gang);
  mark(gang.key);
}

void Controller::drop_job(Gang &gang)
{
  by_job_.erase(gang.job->id);
  gang.job.reset();
  gang.job_confirmed = gang.ending = gang.no_room = gang.member_deleted = false;
  gang.slots.clear();
  gang.first_failure.reset();
  gang.first_failure_at.clear();
  gang.looks = 0;
  gang.reported_start = 0;
  gang.reported_gathering = gang.reported_pending = false;
  for (Timers::Id *timer : {&gang.report_timer, &gang.room_timer, &gang.look_timer}) {
    timers_.cancel(*timer);
    *timer = 0;
  }
}

void Controller::ended(Gang &gang, const slurm::Job &job)
{
  const bool ours = gang.ending;
  logging::info("job ended", {{"job", job.id},
                              {"gang", name_of(gang.key)},
                              {"state", slurm::to_string(job.state)},
                              {"asked_by_us", ours}});
  drop_job(gang);
  if (!ours)
    for (auto &[uid, member] : gang.members)
      if (member.active() && !member.pod.gated)
        doom_after(member, job);
  mark(gang.key);
}

void Controller::doom_after(Member &member, const slurm::Job &job)
{
  doom(member, disruption_reason(job.state),
       "Slurm job " + std::to_string(job.id) + " ended: " + slurm::to_string(job.state));
}

/// Nodes came, went or changed in Kubernetes: what fitted nowhere may fit now.
void Controller::kube_nodes_changed()
{
  if (nodes_timer_ || stopped_)
    return;
  nodes_timer_ = timers_.after(kNodesPause, [this] {
    nodes_timer_ = 0;
    retry_unfit();
  });
}

void Controller::retry_unfit()
{
  for (auto &[key, gang] : gangs_)
    if (gang.refusal == Refusal::unfit)
      submitter_.forgive(gang);
    else if (gang.no_room)
      mark(key);
}

/// Every job that starts or ends changes nodes, so most of these mean nothing to us.
void Controller::slurm_nodes_changed()
{
  for (auto &[key, gang] : gangs_)
    submitter_.nudge(gang);
}

void Controller::rules_changed()
{
  node_names_.load();
  for (auto &[key, gang] : gangs_)
    submitter_.forgive(gang);
}

/// Slurm has other nodes than before: those that it does not know can be told from the rest.
void Controller::named(std::set<std::string> slurm_names)
{
  if (nodes_.set_slurm_names(std::move(slurm_names)) && begun_)
    retry_unfit();
}

}  // namespace controller
