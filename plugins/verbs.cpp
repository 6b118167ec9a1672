// SPDX-License-Identifier: Apache-2.0
#include "verbs.hpp"

#include <csignal>
#include <memory>

#include "slurm_abi.hpp"

namespace {

using protocol::Verb;
using protocol::VerbKind;

struct FreeJobs {
  void operator()(job_info_msg_t *message) const { slurm_free_job_info_msg(message); }
};
struct FreeNodes {
  void operator()(node_info_msg_t *message) const { slurm_free_node_info_msg(message); }
};
using Jobs = std::unique_ptr<job_info_msg_t, FreeJobs>;
using Nodes = std::unique_ptr<node_info_msg_t, FreeNodes>;

std::string text(const char *value) { return value ? value : ""; }

std::string last_error_text() { return slurm_strerror(slurm_compat::last_error()); }

Verdict look_at_job(const Policy *policy, const Verb &verb)
{
  job_info_msg_t *raw = nullptr;
  if (slurm_compat::load_job(&raw, verb.job_id, SHOW_ALL) != SLURM_SUCCESS)
    return {false, last_error_text()};
  const Jobs jobs(raw);
  for (std::uint32_t i = 0; i < jobs->record_count; ++i) {
    const slurm_job_info_t &job = jobs->job_array[i];
    if (slurm_compat::job_id_of(job) != verb.job_id)
      continue;
    const std::uint32_t state = job.job_state & JOB_STATE_BASE;
    return judge_job_verb(
        policy, verb,
        {text(job.admin_comment), state >= JOB_COMPLETE, state == JOB_PENDING, job.time_limit});
  }
  return {false, "Slurm does not know the job"};
}

bool is_down(std::uint32_t state)
{
  return (state & NODE_STATE_BASE) == NODE_STATE_DOWN || (state & NODE_STATE_FAIL) != 0;
}

Verdict look_at_node(const Policy *policy, const Verb &verb)
{
  node_info_msg_t *raw = nullptr;
  std::string name = verb.node;
  if (slurm_load_node_single(&raw, name.data(), SHOW_ALL) != SLURM_SUCCESS)
    return {false, last_error_text()};
  const Nodes nodes(raw);
  for (std::uint32_t i = 0; i < nodes->record_count; ++i) {
    const node_info_t &node = nodes->node_array[i];
    if (text(node.name) == verb.node)
      return judge_node_verb(
          policy, verb,
          {(node.node_state & NODE_STATE_DRAIN) != 0, is_down(node.node_state), text(node.reason)});
  }
  return {false, "Slurm does not know the node"};
}

int update_job(const Verb &verb)
{
  job_desc_msg_t job;
  slurm_init_job_desc_msg(&job);
  slurm_compat::set_job_id(job, verb.job_id);
  std::string nodes = verb.excluded_nodes.value_or("");
  if (verb.excluded_nodes)
    job.exc_nodes = nodes.data();
  job.time_limit = verb.time_limit_min.value_or(job.time_limit);
  if (verb.nice)
    job.nice = slurm_compat::nice_field(*verb.nice);
  return slurm_update_job(&job);
}

/// Undraining, unlike RESUME, does nothing else to a node: one that is down stays down.
int update_node(const Verb &verb)
{
  update_node_msg_t message;
  slurm_init_update_node_msg(&message);
  std::string name = verb.node, reason = verb.reason;
  message.node_names = name.data();
  message.node_state = verb.kind == VerbKind::drain ? NODE_STATE_DRAIN : NODE_STATE_UNDRAIN;
  if (verb.kind == VerbKind::drain)
    message.reason = reason.data();
  return slurm_update_node(&message);
}

int execute(const Verb &verb)
{
  switch (verb.kind) {
  case VerbKind::complete: return slurm_compat::complete_job(verb.job_id, verb.status);
  case VerbKind::cancel: return slurm_compat::kill_job(verb.job_id, SIGKILL, 0);
  case VerbKind::update: return update_job(verb);
  case VerbKind::drain:
  case VerbKind::resume: return update_node(verb);
  }
  return SLURM_ERROR;
}

}  // namespace

void carry_out(const Order &order, const Policy *policy)
{
  const Verb &verb = order.verb;
  const Verdict verdict =
      verb.is_for_node() ? look_at_node(policy, verb) : look_at_job(policy, verb);
  const auto sender = static_cast<unsigned>(order.sender);
  const std::string what = describe(verb);
  const std::string rule = protocol::one_line(verdict.rule);
  if (!verdict.granted)
    slurm_info("k8s: uid %u: %s: not done (%s)", sender, what.c_str(), rule.c_str());
  else if (execute(verb) == SLURM_SUCCESS)
    slurm_info("k8s: uid %u: %s: done (%s)", sender, what.c_str(), rule.c_str());
  else
    slurm_error("k8s: uid %u: %s: failed: %s", sender, what.c_str(), last_error_text().c_str());
}
