// SPDX-License-Identifier: Apache-2.0
// Which of a job's nodes each pod goes to.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace workload {

/// A node of the job and how many of the gang's pods it can take.
struct NodeRoom {
  std::string node;
  std::uint32_t pods = 0;
};

/// One node per pod, in rank order: neighbours in rank are neighbours in Slurm's node order, and
/// every node with room gets a pod, because Slurm charges the gang for each of them. Shorter than
/// `pods` when the nodes cannot take them all.
std::vector<std::string> place(const std::vector<NodeRoom> &nodes, std::uint32_t pods);

}  // namespace workload
