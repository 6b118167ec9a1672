// SPDX-License-Identifier: Apache-2.0
#include "slurm/job_desc.hpp"

#include <stdexcept>

#include <unistd.h>

#include "protocol.hpp"

namespace slurm {
namespace {

std::string join(const std::vector<std::string> &names)
{
  std::string all;
  for (const std::string &name : names)
    all += (all.empty() ? "" : ",") + name;
  return all;
}

std::string tres_of(const workload::TaskShape &shape)
{
  std::string all;
  for (const auto &[name, count] : shape.gres)
    all += (all.empty() ? "" : ",") + std::string("gres") + slurm_compat::kGresSeparator + name +
           ":" + std::to_string(count);
  return all;
}

/// What job_submit/k8s makes a decision of; it decides alone where nothing is said.
std::uint16_t shared_of(workload::Sharing sharing)
{
  switch (sharing) {
  case workload::Sharing::exclusive: return JOB_SHARED_NONE;
  case workload::Sharing::user: return JOB_SHARED_USER;
  case workload::Sharing::any: break;
  }
  return JOB_SHARED_OK;
}

std::string claim_of(const workload::JobRequest &request, const std::string &cluster)
{
  const workload::GangKey &gang = request.gang;
  const workload::JobOptions &options = request.options;
  std::string claim =
      protocol::encode_claim({{cluster, gang.ns, gang.kind, gang.name, gang.uid, gang.stage},
                              options.comment.value_or(""),
                              options.user.value_or(""),
                              options.group.value_or(""),
                              request.priority_class,
                              options.priority,
                              options.nice});
  if (claim.size() > protocol::kMaxCommentBytes)
    throw std::length_error("the job comment is too long: Slurm keeps " +
                            std::to_string(protocol::kMaxCommentBytes) +
                            " bytes, of which our own words need " +
                            std::to_string(claim.size() - options.comment.value_or("").size()));
  return claim;
}

}  // namespace

JobDesc::JobDesc(const workload::JobRequest &request, const std::string &cluster)
{
  set_up();
  desc_.comment = keep(claim_of(request, cluster));
  desc_.name = keep(request.options.job_name.value_or(request.gang.name));
  set_size(request);
  set_options(request.options);
  if (!request.excluded_nodes.empty())
    desc_.exc_nodes = keep(join(request.excluded_nodes));
  if (!request.required_nodes.empty())
    desc_.req_nodes = keep(join(request.required_nodes));
}

JobDesc::JobDesc(const std::string &verb)
{
  set_up();
  desc_.comment = keep(verb);
  desc_.name = keep("k8s-verb");
  desc_.min_nodes = 1;
}

void JobDesc::set_up()
{
  slurm_init_job_desc_msg(&desc_);
  desc_.user_id = getuid();
  desc_.group_id = getgid();
  desc_.work_dir = keep("/");
}

char *JobDesc::keep(const std::string &text) { return texts_.emplace_back(text).data(); }

void JobDesc::set_size(const workload::JobRequest &request)
{
  const workload::TaskShape &shape = request.shape;
  desc_.num_tasks = request.tasks;
  desc_.min_cpus = request.tasks * shape.cpus;
  desc_.cpus_per_task = static_cast<std::uint16_t>(shape.cpus);
  desc_.pn_min_cpus = desc_.cpus_per_task;  // what no node has is refused at once
  // Per CPU: per node would not grow with the number of pods that Slurm puts on it.
  desc_.pn_min_memory = ((shape.memory_mib + shape.cpus - 1) / shape.cpus) | MEM_PER_CPU;
  if (const std::string tres = tres_of(shape); !tres.empty())
    desc_.tres_per_task = keep(tres);
}

void JobDesc::set_options(const workload::JobOptions &options)
{
  const auto set = [this](char *&field, const std::optional<std::string> &value) {
    if (value)
      field = keep(*value);
  };
  set(desc_.account, options.account);
  set(desc_.partition, options.partition);
  set(desc_.qos, options.qos);
  set(desc_.reservation, options.reservation);
  set(desc_.wckey, options.wckey);
  set(desc_.licenses, options.licenses);
  set(desc_.features, options.constraints);
  if (options.time_limit_min)
    desc_.time_limit = *options.time_limit_min;
  if (options.min_nodes)
    desc_.min_nodes = *options.min_nodes;
  if (options.max_nodes)
    desc_.max_nodes = *options.max_nodes;
  if (options.sharing)
    desc_.shared = shared_of(*options.sharing);
  set(desc_.dependency, options.dependency);
  desc_.begin_time = options.begin.value_or(desc_.begin_time);
  desc_.deadline = options.deadline.value_or(desc_.deadline);
  if (options.switches) {
    desc_.req_switch = options.switches->count;
    desc_.wait4switch = options.switches->max_wait_s.value_or(desc_.wait4switch);
  }
  if (options.mail_user) {
    desc_.mail_user = keep(*options.mail_user);
    desc_.mail_type = MAIL_JOB_BEGIN | MAIL_JOB_END | MAIL_JOB_FAIL | MAIL_JOB_REQUEUE;
  }
}

}  // namespace slurm
