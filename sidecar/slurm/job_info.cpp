// SPDX-License-Identifier: Apache-2.0
#include "slurm/job_info.hpp"

#include <algorithm>
#include <cstdlib>

namespace slurm {
namespace {

std::string text(const char *value) { return value ? value : ""; }

bool has_nodes(const slurm_job_info_t &info)
{
  const auto base = info.job_state & JOB_STATE_BASE;
  return (base == JOB_RUNNING || base == JOB_SUSPENDED) && info.nodes && info.nodes[0] != '\0';
}

}  // namespace

std::vector<std::string> expand(const char *node_list)
{
  std::vector<std::string> names;
  auto list = slurm_hostlist_create(node_list);
  while (char *name = slurm_hostlist_shift(list)) {
    names.emplace_back(name);
    std::free(name);  // the one string that libslurm does not allocate itself
  }
  slurm_hostlist_destroy(list);
  return names;
}

std::optional<Job> to_job(const slurm_job_info_t &info, const std::string &cluster)
{
  if (!info.admin_comment || !protocol::looks_like_tag(info.admin_comment))
    return std::nullopt;
  auto tag = protocol::parse_tag(info.admin_comment);
  if (!tag || tag->cluster != cluster)
    return std::nullopt;
  Job job;
  job.id = slurm_compat::job_id_of(info);
  job.tag = std::move(*tag);
  const auto base = info.job_state & JOB_STATE_BASE;
  job.state = static_cast<JobState>(std::min<std::uint32_t>(base, JOB_OOM));
  job.configuring = (info.job_state & (JOB_CONFIGURING | JOB_POWER_UP_NODE)) != 0;
  if (info.state_reason != WAIT_NO_REASON)
    job.reason = text(slurm_compat::reason_string(info.state_reason));
  job.description = text(info.state_desc);
  job.start = info.start_time;
  job.tasks = info.num_tasks;
  if (info.cpus_per_task > 0 && info.cpus_per_task != NO_VAL16)
    job.cpus_per_task = info.cpus_per_task;
  if (has_nodes(info)) {
    const std::vector<std::string> names = expand(info.nodes);
    const auto share =
        static_cast<std::uint32_t>(info.num_cpus / std::max<std::size_t>(1, names.size()));
    for (const std::string &name : names)
      job.nodes.push_back({name, std::max(share, job.cpus_per_task)});
    job.shares_known = names.size() == 1 || job.tasks <= names.size();
  }
  return job;
}

bool is_unseen_claim(const slurm_job_info_t &info, const std::string &cluster)
{
  if (!info.comment || !protocol::looks_like_claim(info.comment))
    return false;
  const auto claim = protocol::parse_claim(info.comment);
  return claim && claim->identity.cluster == cluster;
}

std::vector<NodeShare> shares_of(const resource_allocation_response_msg_t &reply)
{
  std::vector<NodeShare> shares;
  if (!reply.node_list)
    return shares;
  std::uint32_t group = 0, left = reply.num_cpu_groups > 0 ? reply.cpu_count_reps[0] : 0;
  for (const std::string &name : expand(reply.node_list)) {
    while (left == 0 && group + 1 < reply.num_cpu_groups)
      left = reply.cpu_count_reps[++group];
    shares.push_back({name, left > 0 ? reply.cpus_per_node[group] : 0u});
    if (left > 0)
      --left;
  }
  return shares;
}

}  // namespace slurm
