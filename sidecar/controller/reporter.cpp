// SPDX-License-Identifier: Apache-2.0
#include "controller/reporter.hpp"

#include <algorithm>
#include <utility>

namespace controller {
namespace {

bool has_condition(const kube::Pod &pod, const std::string &message)
{
  return std::any_of(pod.conditions.begin(), pod.conditions.end(), [&](const kube::Condition &c) {
    return c.type == "PodScheduled" && c.status == "False" && c.message == message;
  });
}

}  // namespace

void Reporter::waits(const kube::Pod &pod, const std::string &cause, const std::string &message)
{
  // After a restart the pod itself remembers what was said last.
  Said &said = said_[pod.meta.uid];
  if (said.message == message)
    return;
  const bool known = said.message.empty() && has_condition(pod, message);
  const bool new_cause = !known && said.cause != cause;
  said.message = message;
  said.cause = cause;
  if (known)
    return;
  const auto ref = ref_of(pod);
  writer_.set_pod_condition(ref, {"PodScheduled", "False", "Unschedulable", message},
                            pod.meta.generation,
                            [this, uid = pod.meta.uid, message](const kube::WriteResult &result) {
                              if (result.outcome == kube::Outcome::failed)
                                unsay(uid, message);
                            });
  if (new_cause)
    writer_.post_event(ref, {true, "FailedScheduling", "Scheduling", message});
}

/// It was not written: the next look says it again, without another Event.
void Reporter::unsay(const std::string &uid, const std::string &message)
{
  const auto found = said_.find(uid);
  if (found != said_.end() && found->second.message == message)
    found->second.message.clear();
}

void Reporter::warn(const kube::Pod &pod, const std::string &reason, const std::string &note)
{
  if (std::exchange(said_[pod.meta.uid].warnings[note], true))
    return;
  writer_.post_event(ref_of(pod), {true, reason, "Scheduling", note});
}

void Reporter::scheduled(const kube::Pod &pod, const std::string &node, slurm::JobId job)
{
  writer_.post_event(ref_of(pod), {false, "Scheduled", "Binding",
                                   "Successfully assigned " + pod.meta.ns + "/" + pod.meta.name +
                                       " to " + node + " by Slurm job " + std::to_string(job)});
}

}  // namespace controller
