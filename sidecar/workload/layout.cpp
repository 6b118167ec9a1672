// SPDX-License-Identifier: Apache-2.0
#include "workload/layout.hpp"

#include <algorithm>

namespace workload {

std::vector<std::string> place(const std::vector<NodeRoom> &nodes, std::uint32_t pods)
{
  auto nodes_left = static_cast<std::uint32_t>(
      std::count_if(nodes.begin(), nodes.end(), [](const NodeRoom &n) { return n.pods > 0; }));
  std::vector<std::string> slots;
  for (const NodeRoom &node : nodes) {
    if (node.pods == 0)
      continue;
    --nodes_left;
    const auto left = pods - static_cast<std::uint32_t>(slots.size());
    // Leave one pod for each node that follows, but use every node that is reached.
    const std::uint32_t share = std::max(1u, left > nodes_left ? left - nodes_left : 1u);
    slots.insert(slots.end(), std::min({share, node.pods, left}), node.node);
  }
  return slots;
}

}  // namespace workload
