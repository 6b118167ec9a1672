// SPDX-License-Identifier: Apache-2.0
// Takes pods off their nodes after Slurm ended their job: first the DisruptionTarget condition (so
// that a podFailurePolicy can ignore the loss), then the delete, until the pod is gone.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "kube/objects.hpp"
#include "kube/writer.hpp"
#include "loop.hpp"

namespace controller {

class Evictor {
public:
  Evictor(kube::Writer &writer, Timers &timers) : writer_(writer), timers_(timers) {}

  /// `reason` is CamelCase for the condition, `message` is for people. The grace period is the
  /// pod's own, but at most `max_grace_s`.
  void evict(const kube::Pod &pod, const std::string &reason, const std::string &message,
             std::int64_t max_grace_s);
  /// The pod is gone from Kubernetes.
  void forget(const std::string &uid);
  bool idle() const { return pods_.empty(); }

private:
  struct Eviction {
    kube::ObjectRef pod;
    std::int64_t grace_s = 0;
    int attempts = 0;
    Timers::Id timer = 0;
  };

  void remove(const std::string &uid);
  void removed(const std::string &uid, const kube::WriteResult &result);

  kube::Writer &writer_;
  Timers &timers_;
  std::map<std::string, Eviction> pods_;  // by UID
};

}  // namespace controller
