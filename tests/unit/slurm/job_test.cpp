// SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"

#include "slurm/job.hpp"

using slurm::JobState;

TEST_CASE("only states from which no job returns count as ends, in Slurm's spelling")
{
  struct Row {
    JobState state;
    const char *name;
    bool end;
  };
  for (const auto &[state, name, end] :
       {Row{JobState::PENDING, "PENDING", false}, Row{JobState::RUNNING, "RUNNING", false},
        Row{JobState::SUSPENDED, "SUSPENDED", false}, Row{JobState::COMPLETED, "COMPLETED", true},
        Row{JobState::CANCELLED, "CANCELLED", true}, Row{JobState::FAILED, "FAILED", true},
        Row{JobState::TIMEOUT, "TIMEOUT", true}, Row{JobState::NODE_FAIL, "NODE_FAIL", true},
        Row{JobState::PREEMPTED, "PREEMPTED", true}, Row{JobState::BOOT_FAIL, "BOOT_FAIL", true},
        Row{JobState::DEADLINE, "DEADLINE", true},
        Row{JobState::OUT_OF_MEMORY, "OUT_OF_MEMORY", true}}) {
    CHECK(std::string(slurm::to_string(state)) == name);
    CHECK(slurm::is_end(state) == end);
  }
}
