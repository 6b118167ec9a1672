// SPDX-License-Identifier: Apache-2.0
// Which pods belong together, how many of them there will be, and in which order.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "kube/objects.hpp"

namespace workload {

/// Name of the scheduling.x-k8s.io PodGroup (in the pod's namespace) that the pod belongs to,
/// "" if it is on its own.
std::string pod_group_of(const kube::Pod &pod);

/// Order of pods within a gang; ranks follow Slurm's node order.
using Rank = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::string>;

/// The dependency stages of a JobSet: replicated jobs of one stage run at the same time, those of
/// the next one are created only when the stage before is done or ready.
class Stages {
public:
  /// Counts only the replicated jobs whose pods carry the group's label.
  Stages(const kube::JobSet &job_set, const std::string &group_name);

  struct Place {
    std::string stage;          ///< "0", "1", …; "" if there is one only
    std::int64_t expected = 0;  ///< pods of this stage that belong to the group
    std::int64_t order = 0;     ///< position of the replicated job in the JobSet
  };

  /// Where the pods of a replicated job belong; nothing for a name the JobSet does not have.
  std::optional<Place> find(const std::string &replicated_job) const;

private:
  std::map<std::string, Place> places_;
};

/// `order` is the position of the pod's replicated job, 0 without JobSet.
Rank rank_of(const kube::Pod &pod, std::int64_t order);

}  // namespace workload
