// SPDX-License-Identifier: Apache-2.0
// job_submit/k8s: entry points only. Claims become tags, forgeries are refused, verbs are queued.
#include <memory>

#include "guard.hpp"
#include "job_rules.hpp"
#include "policy_file.hpp"
#include "verb_queue.hpp"
#include "verbs.hpp"
#include "wellknown.hpp"
#include "worker.hpp"

namespace {

constexpr std::chrono::milliseconds kPolicyLook{1000};

/// Lives from init to fini; on the heap, so that nothing is destroyed when slurmctld exits.
struct Plugin {
  PolicyFile policy{policy_path()};
  VerbQueue verbs;
  Worker worker;

  void work() noexcept
  {
    auto next_look = std::chrono::steady_clock::now();
    while (!verbs.stopped())
      guard("worker", SLURM_ERROR, [&] {
        if (const auto order = verbs.take(kPolicyLook))
          carry_out(*order, policy.current().get());
        if (const auto now = std::chrono::steady_clock::now(); now >= next_look) {
          next_look = now + kPolicyLook;
          policy.refresh();
        }
        return SLURM_SUCCESS;
      });
  }
};

Plugin *plugin = nullptr;

std::string text(const char *value) { return value ? value : ""; }

int refuse(char **err_msg, const std::string &why)
{
  if (err_msg) {
    slurm_xfree(reinterpret_cast<void **>(err_msg));
    *err_msg = slurm_xstrdup(why.c_str());
  }
  return ESLURM_ACCESS_DENIED;
}

std::optional<std::uint32_t> given(std::uint32_t value)
{
  return value == NO_VAL ? std::nullopt : std::optional(value);
}

std::optional<Share> share_of(std::uint16_t shared)
{
  switch (shared) {
  case NO_VAL16: return std::nullopt;
  case JOB_SHARED_OK: return Share::shared;
  case JOB_SHARED_USER: return Share::user;
  case JOB_SHARED_MCS: return Share::k8s;
  default: return Share::exclusive;
  }
}

AskedJob asked_by(const job_desc_msg_t &job)
{
  AskedJob asked;
  asked.account = text(job.account);
  asked.partition = text(job.partition);
  asked.qos = text(job.qos);
  asked.reservation = text(job.reservation);
  asked.wckey = text(job.wckey);
  asked.licenses = text(job.licenses);
  asked.share = share_of(job.shared);
  asked.min_nodes = given(job.min_nodes);
  asked.max_nodes = given(job.max_nodes);
  asked.time_limit_min = given(job.time_limit);
  asked.priority = given(job.priority);
  if (job.nice != NO_VAL)
    asked.nice = slurm_compat::nice_of(job.nice);
  asked.has_script =
      job.script || job.argc > 0 || job.array_inx || job.container || job.crontab_entry;
  return asked;
}

void set_share(job_desc_msg_t &job, Share share)
{
  switch (share) {
  case Share::exclusive: job.shared = JOB_SHARED_NONE; return;
  case Share::user: job.shared = JOB_SHARED_USER; return;
  case Share::shared: job.shared = NO_VAL16; return;
  case Share::k8s:
    job.shared = JOB_SHARED_MCS;
    slurm_abi::assign(job.mcs_label, wellknown::kComponentName);
    return;
  }
}

void set_granted(job_desc_msg_t &job, const GrantedJob &granted)
{
  job.user_id = granted.user.uid;
  job.group_id = granted.gid;
  slurm_abi::drop_identity(job);
  const auto set = [](char *&field, const std::string &value) {
    if (!value.empty())
      slurm_abi::assign(field, value);
  };
  set(job.account, granted.account);
  set(job.partition, granted.partition);
  set(job.qos, granted.qos);
  set(job.reservation, granted.reservation);
  set(job.wckey, granted.wckey);
  set(job.licenses, granted.licenses);
  set_share(job, granted.share);
  job.max_nodes = granted.max_nodes.value_or(job.max_nodes);
  job.time_limit = granted.time_limit_min.value_or(job.time_limit);
  job.priority = granted.priority.value_or(job.priority);
  if (granted.nice)
    job.nice = slurm_compat::nice_field(*granted.nice);
  if (granted.external)
    job.bitflags |= slurm_compat::kExternalJob;
  slurm_abi::assign(job.admin_comment, granted.tag);
  if (granted.comment.empty())
    slurm_abi::clear(job.comment);
  else
    slurm_abi::assign(job.comment, granted.comment);
  slurm_abi::add_spank_env(job, "SLURM_K8S=" + granted.uid);
}

int take_claim(job_desc_msg_t &job, uid_t sender, char **err_msg)
{
  const auto policy = plugin->policy.current();
  const GrantedJob granted = judge_claim(policy.get(), sender, job.comment, asked_by(job));
  if (!granted.refusal.empty()) {
    slurm_info("k8s: claim of uid %u refused: %s", static_cast<unsigned>(sender),
               protocol::one_line(granted.refusal).c_str());
    return refuse(err_msg, protocol::encode_refusal(granted.uid, granted.refusal));
  }
  set_granted(job, granted);
  return SLURM_SUCCESS;
}

int take_verb(const job_desc_msg_t &job, uid_t sender, char **err_msg)
{
  const auto policy = plugin->policy.current();
  std::string refusal;
  const auto verb = judge_verb(policy.get(), sender, job.comment, refusal);
  if (!verb) {
    slurm_info("k8s: verb of uid %u refused: %s", static_cast<unsigned>(sender),
               protocol::one_line(refusal).c_str());
    refuse(err_msg, "k8s: " + refusal);
    return protocol::kVerbRefused;
  }
  return plugin->verbs.put({*verb, sender}) ? protocol::kVerbAccepted : protocol::kVerbQueueFull;
}

/// True if a text of the request means to be one of ours where nobody but us may put it.
bool forges_tag(const job_desc_msg_t &job)
{
  return job.admin_comment && protocol::looks_like_tag(job.admin_comment);
}

}  // namespace

extern "C" {

extern const char plugin_name[] = "Kubernetes job submit plugin";
extern const char plugin_type[] = "job_submit/k8s";
extern const std::uint32_t plugin_version = SLURM_VERSION_NUMBER;

int init() noexcept
{
  return guard("job_submit/k8s", SLURM_ERROR, [] {
    auto fresh = std::make_unique<Plugin>();
    fresh->policy.refresh();  // jobs may come as soon as we return
    fresh->worker.start("k8s-job-submit", [self = fresh.get()] { self->work(); });
    plugin = fresh.release();
    return SLURM_SUCCESS;
  });
}

void fini() noexcept
{
  guard("job_submit/k8s", SLURM_ERROR, [] {
    if (!plugin)
      return SLURM_SUCCESS;
    plugin->verbs.stop();
    plugin->worker.join();
    delete plugin;
    plugin = nullptr;
    return SLURM_SUCCESS;
  });
}

int job_submit(job_desc_msg_t *job, std::uint32_t sender, char **err_msg) noexcept
{
  return guard("job_submit", ESLURM_INTERNAL, [&] {
    if (forges_tag(*job))
      return refuse(err_msg, "k8s: a tag in the admin comment is not yours to set");
    if (!job->comment)
      return SLURM_SUCCESS;
    if (protocol::looks_like_verb(job->comment))
      return take_verb(*job, sender, err_msg);
    if (protocol::looks_like_claim(job->comment))
      return take_claim(*job, sender, err_msg);
    return SLURM_SUCCESS;
  });
}

// Newer versions pass a fourth argument, err_msg; not all do, so it is left alone.
int job_modify(job_desc_msg_t *job, job_record_t *, std::uint32_t) noexcept
{
  return guard("job_modify", ESLURM_INTERNAL, [&]() -> int {
    const bool claims = job->comment && (protocol::looks_like_claim(job->comment) ||
                                         protocol::looks_like_verb(job->comment));
    return forges_tag(*job) || claims ? ESLURM_ACCESS_DENIED : SLURM_SUCCESS;
  });
}

}  // extern "C"
