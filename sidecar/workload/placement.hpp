// SPDX-License-Identifier: Apache-2.0
// Which nodes a pod's own rules allow, and how many such pods a node has room for.
#pragma once

#include <cstdint>

#include "kube/objects.hpp"

namespace workload {

/// nodeSelector, NoSchedule and NoExecute taints, cordon. (Affinity is not looked at.)
bool node_allows(const kube::Node &node, const kube::Pod &pod);

/// How many pods that need `each` fit into what the node offers beyond `used`, at most `limit`.
std::uint32_t room_for(const kube::ResourceList &allocatable, const kube::ResourceList &used,
                       const kube::ResourceList &each, std::uint32_t limit);

}  // namespace workload
