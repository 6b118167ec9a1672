// SPDX-License-Identifier: Apache-2.0
#include "slurm/libslurm_client.hpp"

#include <chrono>
#include <csignal>
#include <exception>
#include <type_traits>
#include <utility>

#include "slurm/errors.hpp"
#include "slurm/job_desc.hpp"
#include "slurm/job_info.hpp"
#include "slurm_compat.hpp"

namespace slurm {
namespace {

struct JobResult {
  Error error;
  Job job;
};

struct JobsResult {
  Error error;
  std::optional<std::vector<Job>> jobs;
  std::time_t last_update = 0;
};

struct NamesResult {
  Error error;
  std::optional<std::set<std::string>> names;
  std::time_t last_update = 0;
};

struct FreePartitions {
  void operator()(partition_info_msg_t *message) const { slurm_free_partition_info_msg(message); }
};
using PartitionsReply = std::unique_ptr<partition_info_msg_t, FreePartitions>;

const Error &error_of(const Error &error) { return error; }
template <typename Result>
const Error &error_of(const Result &result)
{
  return result.error;
}

template <typename Result>
Result failure(const char *what)
{
  // Nothing of libslurm throws: this is memory, or a value that was never sent.
  Result result;
  const Error error{Cause::refused, 0, what};
  if constexpr (std::is_same_v<Result, Error>)
    result = error;
  else
    result.error = error;
  return result;
}

/// Asks how many CPUs the job has on each of its nodes, where the record does not say it. A job that
/// ends, or is requeued, between the two requests stays unknown: the next look-up tells.
void add_shares(Job &job)
{
  resource_allocation_response_msg_t *raw = nullptr;
  if (slurm_compat::allocation_lookup(job.id, &raw) != SLURM_SUCCESS) {
    // PrivateData hides it for good: an average is better than no pods at all.
    job.shares_known = slurm_compat::last_error() == ESLURM_ACCESS_DENIED;
    return;
  }
  const AllocationReply reply(raw);
  if (auto shares = shares_of(*reply); !shares.empty())
    job.nodes = std::move(shares);
  job.shares_known = true;
}

JobResult allocate_now(const workload::JobRequest &request, const std::string &cluster)
{
  JobDesc desc(request, cluster);
  resource_allocation_response_msg_t *raw = nullptr;
  const int rc = slurm_allocate_resources(desc.get(), &raw);
  const AllocationReply reply(raw);
  if (rc != SLURM_SUCCESS || !reply)
    return {last_error(request.gang.uid), {}};
  if (slurm_compat::job_id_of(*reply) == 0)
    return {{cause_of(static_cast<int>(reply->error_code)), static_cast<int>(reply->error_code),
             slurm_strerror(static_cast<int>(reply->error_code))},
            {}};
  JobResult result;
  const workload::GangKey &gang = request.gang;
  result.job.id = slurm_compat::job_id_of(*reply);
  result.job.tag = {cluster, gang.ns, gang.kind, gang.name, gang.uid, gang.stage};
  result.job.tasks = request.tasks;
  result.job.cpus_per_task = request.shape.cpus;
  result.job.nodes = shares_of(*reply);
  result.job.state = result.job.nodes.empty() ? JobState::PENDING : JobState::RUNNING;
  return result;
}

/// Without the plugin the job is our own account's: nobody's in Kubernetes. We may end it ourselves.
JobResult reject_unseen(JobId id)
{
  slurm_compat::kill_job(id, SIGKILL, 0);
  return {{Cause::refused, 0,
           "slurmctld runs without job_submit/k8s (JobSubmitPlugins=k8s in slurm.conf)"},
          {}};
}

JobResult load_now(JobId id, const std::string &cluster)
{
  job_info_msg_t *raw = nullptr;
  if (slurm_compat::load_job(&raw, id, SHOW_ALL) != SLURM_SUCCESS)
    return {last_error(), {}};
  const JobsReply reply(raw);
  for (std::uint32_t i = 0; i < reply->record_count; ++i) {
    const slurm_job_info_t &info = reply->job_array[i];
    if (slurm_compat::job_id_of(info) != id)
      continue;
    if (std::optional<Job> job = to_job(info, cluster)) {
      if (!job->shares_known)
        add_shares(*job);
      return {{}, std::move(*job)};
    }
    if (is_unseen_claim(info, cluster))
      return reject_unseen(id);
  }
  // The id may be in use again, by a job that is not ours.
  return {{Cause::unknown_job, ESLURM_INVALID_JOB_ID, "no job of this cluster's has that id"}, {}};
}

JobsResult list_now(std::time_t since, const std::string &cluster)
{
  job_info_msg_t *raw = nullptr;
  if (slurm_load_jobs(since, &raw, SHOW_ALL) != SLURM_SUCCESS) {
    const Error error = last_error();
    return error.code == SLURM_NO_CHANGE_IN_DATA ? JobsResult{{}, std::nullopt, since}
                                                 : JobsResult{error, std::nullopt, 0};
  }
  const JobsReply reply(raw);
  JobsResult result{{}, std::vector<Job>{}, reply->last_update};
  for (std::uint32_t i = 0; i < reply->record_count; ++i) {
    if (std::optional<Job> job = to_job(reply->job_array[i], cluster))
      result.jobs->push_back(std::move(*job));
  }
  return result;
}

/// Partitions are few and small where node records are many and large.
NamesResult list_nodes_now(std::time_t since)
{
  partition_info_msg_t *raw = nullptr;
  if (slurm_load_partitions(since, &raw, SHOW_ALL) != SLURM_SUCCESS) {
    const Error error = last_error();
    return error.code == SLURM_NO_CHANGE_IN_DATA ? NamesResult{{}, std::nullopt, since}
                                                 : NamesResult{error, std::nullopt, 0};
  }
  const PartitionsReply reply(raw);
  NamesResult result{{}, std::set<std::string>{}, reply->last_update};
  for (std::uint32_t i = 0; i < reply->record_count; ++i)
    if (const char *nodes = reply->partition_array[i].nodes)
      for (std::string &name : expand(nodes))
        result.names->insert(std::move(name));
  return result;
}

Error ask_now(const protocol::Verb &verb)
{
  JobDesc desc(protocol::encode_verb(verb));
  will_run_response_msg_t *raw = nullptr;
  const int rc = slurm_job_will_run2(desc.get(), &raw);
  if (raw)
    slurm_free_will_run_response_msg(raw);
  if (rc == SLURM_SUCCESS)
    return {Cause::refused, 0,
            "slurmctld took a verb for a job: is job_submit/k8s in JobSubmitPlugins?"};
  Error error = last_error();
  if (error.code == protocol::kVerbAccepted)
    return {};
  if (error.code == protocol::kVerbQueueFull)
    error.cause = Cause::unreachable;
  return error;
}

}  // namespace

LibslurmClient::LibslurmClient(Loop &loop, ClientSettings settings)
    : loop_(loop), settings_(std::move(settings))
{
  slurm_init(settings_.conf.empty() ? nullptr : settings_.conf.c_str());
  capture_log();
  pool_ = std::make_unique<Pool>(settings_.threads);
}

LibslurmClient::~LibslurmClient()
{
  *alive_ = false;
  pool_.reset();
  slurm_fini();
}

template <typename Result>
void LibslurmClient::call(const char *rpc, Urgency urgency, std::function<Result()> work,
                          std::function<void(Result)> done)
{
  pool_->run(urgency,
             [this, rpc, alive = alive_, work = std::move(work), done = std::move(done)]() mutable {
               const auto begun = std::chrono::steady_clock::now();
               Result result;
               try {
                 result = work();
               } catch (const std::exception &error) {
                 result = failure<Result>(error.what());
               }
               const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
               loop_.post([this, rpc, alive, took, result = std::move(result),
                           done = std::move(done)]() mutable {
                 if (!*alive)
                   return;
                 settings_.observe(rpc, error_of(result), took.count());
                 done(std::move(result));
               });
             });
}

void LibslurmClient::allocate(const workload::JobRequest &request,
                              std::function<void(Error, Job)> done)
{
  call<JobResult>(
      "allocate", Urgency::later,
      [request, cluster = settings_.cluster] { return allocate_now(request, cluster); },
      [done = std::move(done)](JobResult result) { done(result.error, std::move(result.job)); });
}

void LibslurmClient::load_job(JobId id, std::function<void(Error, Job)> done)
{
  call<JobResult>(
      "load_job", Urgency::soon,
      [id, cluster = settings_.cluster] { return load_now(id, cluster); },
      [done = std::move(done)](JobResult result) { done(result.error, std::move(result.job)); });
}

void LibslurmClient::load_jobs(bool if_changed,
                               std::function<void(Error, std::optional<std::vector<Job>>)> done)
{
  const std::time_t since = if_changed ? last_update_ : 0;
  call<JobsResult>(
      "load_jobs", Urgency::soon,
      [since, cluster = settings_.cluster] { return list_now(since, cluster); },
      [this, done = std::move(done)](JobsResult result) {
        if (result.jobs)
          last_update_ = result.last_update;
        done(result.error, std::move(result.jobs));
      });
}

void LibslurmClient::load_node_names(
    std::function<void(Error, std::optional<std::set<std::string>>)> done)
{
  call<NamesResult>(
      "load_partitions", Urgency::soon,
      [since = last_partitions_] { return list_nodes_now(since); },
      [this, done = std::move(done)](NamesResult result) {
        if (result.names)
          last_partitions_ = result.last_update;
        done(result.error, std::move(result.names));
      });
}

void LibslurmClient::complete(const Job &job, std::uint32_t wait_status,
                              std::function<void(Error)> done)
{
  verb({protocol::VerbKind::complete, job.id, wait_status, settings_.cluster, job.tag.uid},
       std::move(done));
}

void LibslurmClient::cancel(const Job &job, std::function<void(Error)> done)
{
  verb({protocol::VerbKind::cancel, job.id, 0, settings_.cluster, job.tag.uid}, std::move(done));
}

void LibslurmClient::verb(const protocol::Verb &verb, std::function<void(Error)> done)
{
  call<Error>(
      protocol::to_string(verb.kind), Urgency::soon, [verb] { return ask_now(verb); },
      std::move(done));
}

}  // namespace slurm
