// SPDX-License-Identifier: Apache-2.0
#include "slurm/job.hpp"

namespace slurm {

const char *to_string(JobState state) noexcept
{
  switch (state) {
  case JobState::PENDING: return "PENDING";
  case JobState::RUNNING: return "RUNNING";
  case JobState::SUSPENDED: return "SUSPENDED";
  case JobState::COMPLETED: return "COMPLETED";
  case JobState::CANCELLED: return "CANCELLED";
  case JobState::FAILED: return "FAILED";
  case JobState::TIMEOUT: return "TIMEOUT";
  case JobState::NODE_FAIL: return "NODE_FAIL";
  case JobState::PREEMPTED: return "PREEMPTED";
  case JobState::BOOT_FAIL: return "BOOT_FAIL";
  case JobState::DEADLINE: return "DEADLINE";
  case JobState::OUT_OF_MEMORY: return "OUT_OF_MEMORY";
  }
  return "UNKNOWN";
}

bool is_end(JobState state) noexcept { return state > JobState::SUSPENDED; }

}  // namespace slurm
