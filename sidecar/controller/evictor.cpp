// SPDX-License-Identifier: Apache-2.0
#include "controller/evictor.hpp"

#include <algorithm>
#include <chrono>

#include "controller/gang.hpp"
#include "log.hpp"

namespace controller {

void Evictor::evict(const kube::Pod &pod, const std::string &reason, const std::string &message,
                    std::int64_t max_grace_s)
{
  const std::string uid = pod.meta.uid;
  if (pods_.contains(uid))
    return;
  logging::info("deleting pod", {{"pod", pod.meta.ns + "/" + pod.meta.name}, {"cause", message}});
  const kube::ObjectRef ref = ref_of(pod);
  pods_.emplace(uid, Eviction{ref, std::min(pod.termination_grace_s, max_grace_s)});
  writer_.post_event(ref, {true, reason, "Deleting", message});
  writer_.set_pod_condition(ref, {"DisruptionTarget", "True", reason, message}, pod.meta.generation,
                            // A pod must not outlive its allocation because a condition failed.
                            [this, uid](const kube::WriteResult &) { remove(uid); });
}

void Evictor::remove(const std::string &uid)
{
  const auto found = pods_.find(uid);
  if (found == pods_.end())
    return;
  ++found->second.attempts;
  writer_.delete_pod(found->second.pod, found->second.grace_s,
                     [this, uid](const kube::WriteResult &result) { removed(uid, result); });
}

void Evictor::removed(const std::string &uid, const kube::WriteResult &result)
{
  const auto found = pods_.find(uid);
  if (found == pods_.end() || result.outcome == kube::Outcome::done)
    return;  // the watch will tell when it is gone
  if (result.outcome == kube::Outcome::gone) {
    forget(uid);
    return;
  }
  logging::warn(
      "pod could not be deleted",
      {{"pod", found->second.pod.ns + "/" + found->second.pod.name}, {"cause", result.message}});
  const int pause_s = std::min(30, 1 << std::min(found->second.attempts, 5));
  found->second.timer = timers_.after(std::chrono::seconds(pause_s), [this, uid] { remove(uid); });
}

void Evictor::forget(const std::string &uid)
{
  const auto found = pods_.find(uid);
  if (found == pods_.end())
    return;
  timers_.cancel(found->second.timer);
  pods_.erase(found);
}

}  // namespace controller
