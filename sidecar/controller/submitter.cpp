// SPDX-License-Identifier: Apache-2.0
#include "controller/submitter.hpp"

#include <algorithm>
#include <chrono>

#include "log.hpp"

namespace controller {
namespace {

using std::chrono::milliseconds;

/// Of changes by sacctmgr nobody tells us, and without hints of none at all.
milliseconds blind_pause(int attempts)
{
  return milliseconds(std::min<std::int64_t>(600'000, 60'000ll << std::min(attempts, 4)));
}

/// How long changes of Slurm's nodes are let pass by, so that a busy cluster is not asked each time.
milliseconds unfit_pause(int attempts)
{
  return milliseconds(std::min<std::int64_t>(600'000, 2'000ll << std::min(attempts, 9)));
}

milliseconds unreachable_pause(int attempts)
{
  return milliseconds(std::min(10'000, 250 << std::min(attempts, 6)));
}

std::string join(const std::vector<std::string> &texts)
{
  std::string all;
  for (const std::string &text : texts)
    all += (all.empty() ? "" : "; ") + text;
  return all;
}

}  // namespace

void Submitter::submit(Gang &gang)
{
  std::vector<const kube::Pod *> pods;
  std::set<std::string> excluded = gang.avoid;
  for (const Member *member : gang.waiting()) {
    pods.push_back(&member->pod);
    excluded.merge(nodes_.excluded_for(member->pod));
  }
  workload::Translation translation = translate(gang, pods);
  for (const Member *member : gang.waiting())
    for (const std::string &warning : translation.warnings)
      reporter_.warn(member->pod, "UnknownAnnotation", warning);
  if (!translation.errors.empty()) {
    refuse(gang, Refusal::by_us, join(translation.errors));
    return;
  }
  translation.request.excluded_nodes.assign(excluded.begin(), excluded.end());
  send(gang, translation.request);
}

void Submitter::reclaim(Gang &gang)
{
  std::vector<const kube::Pod *> pods;
  std::set<std::string> nodes;
  for (const auto &[uid, member] : gang.members)
    if (member.active() && member.bound()) {
      pods.push_back(&member.pod);
      nodes.insert(nodes_.slurm_name_of(member.node));
    }
  workload::Translation translation = translate(gang, pods);
  if (!translation.errors.empty()) {
    refuse(gang, Refusal::by_us, join(translation.errors));
    return;
  }
  translation.request.required_nodes.assign(nodes.begin(), nodes.end());
  send(gang, translation.request);
}

workload::Translation Submitter::translate(const Gang &gang,
                                           const std::vector<const kube::Pod *> &pods) const
{
  return workload::translate(gang.key, pods,
                             {&gang.group_annotations, &namespaces_.options(gang.key.ns)});
}

void Submitter::send(Gang &gang, const workload::JobRequest &request)
{
  gang.submitting = true;
  ++in_flight_;
  logging::info("submitting", {{"gang", name_of(gang.key)},
                               {"kind", gang.key.kind},
                               {"stage", gang.key.stage},
                               {"tasks", request.tasks},
                               {"cpus_per_task", request.shape.cpus},
                               {"memory_mib", request.shape.memory_mib}});
  slurm_.allocate(request,
                  [this, key = gang.key](const slurm::Error &error, const slurm::Job &job) {
                    --in_flight_;
                    if (Gang *found = hooks_.find(key)) {
                      found->submitting = false;
                      answered(*found, error, job);
                      hooks_.changed(key);
                    }
                  });
}

void Submitter::answered(Gang &gang, const slurm::Error &error, const slurm::Job &job)
{
  if (!error) {
    gang.attempts = 0;
    gang.refusal = Refusal::none;
    logging::info("submitted", {{"gang", name_of(gang.key)}, {"job", job.id}});
    for (const auto &[uid, member] : gang.members)
      if (member.active() && member.bound())
        reporter_.warn(member.pod, "JobReplaced",
                       "slurmctld had forgotten this pod's job; Slurm job " +
                           std::to_string(job.id) + " holds its node now");
    hooks_.accepted(gang, job);
    return;
  }
  refused(gang, error);
}

void Submitter::refused(Gang &gang, const slurm::Error &error)
{
  switch (error.cause) {
  case slurm::Cause::unreachable:
    // The request may have arrived all the same: ask again only after a look at the jobs.
    gang.unsure = true;
    logging::warn("slurmctld gave no answer to a submission",
                  {{"gang", name_of(gang.key)}, {"cause", error.message}});
    for (const Member *member : gang.waiting())
      reporter_.waits(member->pod, "Unreachable", "slurmctld does not answer: " + error.message);
    retry_later(gang, unreachable_pause(gang.attempts));
    break;
  case slurm::Cause::unknown_node:
    // Slurm has lost a node since we looked, or we have not looked yet.
    hooks_.load_nodes();
    if (gang.attempts > 0) {
      refuse(gang, Refusal::unfit, "Slurm refused the job: " + error.message);
      break;
    }
    gang.refusal = Refusal::unfit;
    gang.nudged = true;
    retry_later(gang, unreachable_pause(0));
    break;
  case slurm::Cause::unfit:
    refuse(gang, Refusal::unfit, "no nodes of the Slurm cluster can hold it: " + error.message);
    break;
  case slurm::Cause::denied:
    refuse(gang, Refusal::by_policy, "Slurm refused the job: " + error.message);
    break;
  default: refuse(gang, Refusal::by_slurm, "Slurm refused the job: " + error.message); break;
  }
}

void Submitter::refuse(Gang &gang, Refusal refusal, const std::string &message)
{
  gang.refusal = refusal;
  if (gang.refusal_message != message)
    logging::warn("not submitted", {{"gang", name_of(gang.key)}, {"cause", message}});
  gang.refusal_message = message;
  for (const auto &[uid, member] : gang.members)
    if (member.active())
      reporter_.waits(member.pod, message, message);
  gang.nudged = false;
  if (refusal == Refusal::unfit)
    retry_later(gang, unfit_pause(gang.attempts));
  else if (refusal == Refusal::by_slurm || (refusal == Refusal::by_policy && !hooks_.hints_come()))
    retry_later(gang, blind_pause(gang.attempts));
}

void Submitter::retry_later(Gang &gang, milliseconds pause)
{
  ++gang.attempts;
  timers_.cancel(gang.retry_timer);
  gang.retry_timer = timers_.after(pause, [this, key = gang.key] {
    Gang *found = hooks_.find(key);
    if (!found)
      return;
    found->retry_timer = 0;
    if (found->refusal == Refusal::unfit && !found->nudged && hooks_.hints_come())
      return;  // until nudge() or forgive()
    found->refusal = Refusal::none;
    if (found->unsure) {
      found->unsure_since = timers_.now();
      hooks_.list();
    }
    hooks_.changed(key);
  });
}

void Submitter::settle(Gang &gang, std::chrono::steady_clock::time_point begun)
{
  // A listing that began earlier may have missed a request that was still on its way.
  if (gang.unsure && !gang.submitting && gang.retry_timer == 0 && begun >= gang.unsure_since) {
    gang.unsure = false;
    hooks_.changed(gang.key);
  }
}

void Submitter::forgive(Gang &gang)
{
  if (gang.refusal == Refusal::none)
    return;
  gang.refusal = Refusal::none;
  timers_.cancel(gang.retry_timer);
  gang.retry_timer = 0;
  hooks_.changed(gang.key);
}

void Submitter::nudge(Gang &gang)
{
  gang.nudged = gang.refusal == Refusal::unfit;
  if (gang.nudged && gang.retry_timer == 0)
    forgive(gang);
}

}  // namespace controller
