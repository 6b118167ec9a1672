// SPDX-License-Identifier: Apache-2.0
// A Slurm job as the controller sees it: plain values, no libslurm types.
#pragma once

#include <cstdint>
#include <ctime>
#include <string>
#include <vector>

#include "protocol.hpp"

namespace slurm {

using JobId = std::uint32_t;

/// Slurm's base job states, in upstream spelling.
enum class JobState : std::uint8_t {
  PENDING,
  RUNNING,
  SUSPENDED,
  COMPLETED,
  CANCELLED,
  FAILED,
  TIMEOUT,
  NODE_FAIL,
  PREEMPTED,
  BOOT_FAIL,
  DEADLINE,
  OUT_OF_MEMORY,
};
const char *to_string(JobState state) noexcept;
/// True for states from which no job returns.
bool is_end(JobState state) noexcept;

/// What one node of a running job gives to it.
struct NodeShare {
  std::string name;  ///< Slurm node name
  std::uint32_t cpus = 0;
};

struct Job {
  JobId id = 0;
  protocol::Identity tag;
  JobState state = JobState::PENDING;
  bool configuring = false;  ///< nodes are known but still booting or in prolog
  std::string reason;        ///< Slurm's pending reason ("Resources"), "" for none
  std::string description;   ///< Slurm's longer words for it, often ""
  std::time_t start = 0;     ///< start, or expected start while pending; 0 = unknown
  std::uint32_t tasks = 0;
  std::uint32_t cpus_per_task = 1;
  std::vector<NodeShare> nodes;  ///< in Slurm's order; empty while pending
  /// False if the CPUs of each node are an average, and which it is matters: a look-up tells.
  bool shares_known = true;
};

}  // namespace slurm
