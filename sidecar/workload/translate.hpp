// SPDX-License-Identifier: Apache-2.0
// A complete gang of pods becomes one request to Slurm.
#pragma once

#include <string>
#include <vector>

#include "kube/objects.hpp"
#include "workload/annotations.hpp"
#include "workload/job_request.hpp"

namespace workload {

struct Translation {
  JobRequest request;
  std::vector<std::string> errors;    ///< why it cannot be submitted
  std::vector<std::string> warnings;  ///< what has no effect
};

/// `pods` in rank order, at least one. All members get the room that the largest needs: Slurm
/// counts tasks of one size. `farther`: annotations of objects behind the pods, the nearest first.
Translation translate(const GangKey &gang, const std::vector<const kube::Pod *> &pods,
                      const std::vector<const Annotations *> &farther);

}  // namespace workload
