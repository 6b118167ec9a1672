// SPDX-License-Identifier: Apache-2.0
// Slurm's job records as plain values.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "slurm/job.hpp"
#include "slurm_compat.hpp"

namespace slurm {

struct FreeJobs {
  void operator()(job_info_msg_t *message) const { slurm_free_job_info_msg(message); }
};
using JobsReply = std::unique_ptr<job_info_msg_t, FreeJobs>;

struct FreeAllocation {
  void operator()(resource_allocation_response_msg_t *message) const
  {
    slurm_free_resource_allocation_response_msg(message);
  }
};
using AllocationReply = std::unique_ptr<resource_allocation_response_msg_t, FreeAllocation>;

/// The job, if it carries the tag of that cluster.
std::optional<Job> to_job(const slurm_job_info_t &info, const std::string &cluster);
/// A job that we asked for and that job_submit/k8s never saw: its claim is still where we put it.
bool is_unseen_claim(const slurm_job_info_t &info, const std::string &cluster);
/// The nodes of a list like "gpu[1-3],login", in its order.
std::vector<std::string> expand(const char *node_list);
/// Nodes with the CPUs that the job has on each.
std::vector<NodeShare> shares_of(const resource_allocation_response_msg_t &reply);

}  // namespace slurm
