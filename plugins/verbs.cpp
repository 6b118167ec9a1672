// SPDX-License-Identifier: Apache-2.0
#include "verbs.hpp"

#include <csignal>
#include <memory>

#include "slurm_abi.hpp"

namespace {

struct FreeJobs {
  void operator()(job_info_msg_t *message) const { slurm_free_job_info_msg(message); }
};
using Jobs = std::unique_ptr<job_info_msg_t, FreeJobs>;

/// True if the job is one of the gang that the verb names, and has not ended.
bool is_live_and_ours(const protocol::Verb &verb, const slurm_job_info_t &job)
{
  if (slurm_compat::job_id_of(job) != verb.job_id || !job.admin_comment)
    return false;
  const auto tag = protocol::parse_tag(job.admin_comment);
  return tag && tag->cluster == verb.cluster && tag->uid == verb.uid &&
         (job.job_state & JOB_STATE_BASE) < JOB_COMPLETE;
}

bool may_be_done(const protocol::Verb &verb)
{
  job_info_msg_t *raw = nullptr;
  if (slurm_compat::load_job(&raw, verb.job_id, SHOW_ALL) != SLURM_SUCCESS) {
    if (slurm_compat::last_error() != ESLURM_INVALID_JOB_ID)
      slurm_error("k8s: verb %s: cannot load JobId=%u: %s", protocol::to_string(verb.kind),
                  verb.job_id, slurm_strerror(slurm_compat::last_error()));
    return false;
  }
  const Jobs jobs(raw);
  for (std::uint32_t i = 0; i < jobs->record_count; ++i)
    if (is_live_and_ours(verb, jobs->job_array[i]))
      return true;
  return false;
}

}  // namespace

void carry_out(const protocol::Verb &verb)
{
  // Asked twice, or the job ended by itself: what was wanted is so.
  if (!may_be_done(verb)) {
    slurm_debug("k8s: verb %s: JobId=%u is over, or not of the gang %s",
                protocol::to_string(verb.kind), verb.job_id, verb.uid.c_str());
    return;
  }
  const int rc = verb.kind == protocol::VerbKind::complete
                     ? slurm_compat::complete_job(verb.job_id, verb.status)
                     : slurm_compat::kill_job(verb.job_id, SIGKILL, 0);
  if (rc == SLURM_SUCCESS)
    slurm_info("k8s: %s JobId=%u of gang %s", protocol::to_string(verb.kind), verb.job_id,
               verb.uid.c_str());
  else
    slurm_error("k8s: verb %s: JobId=%u: %s", protocol::to_string(verb.kind), verb.job_id,
                slurm_strerror(slurm_compat::last_error()));
}
