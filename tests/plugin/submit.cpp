// SPDX-License-Identifier: Apache-2.0
// Asks slurmctld for an allocation with any field set, also those that salloc does not offer: what the
// sidecar would send, or a forger. Does not wait, and listens on no port.
//   submit_job FIELD=VALUE...    prints the job's id; or what went wrong, and status 1
//   submit_job will-run ...      the same as a will-run request
//   submit_job repeat=N ...      N batch jobs, one after the other; prints how many seconds it took
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <string>

#include <unistd.h>

#include "slurm_compat.hpp"

namespace {

using Fields = std::map<std::string, char * job_desc_msg_t::*>;
using Numbers = std::map<std::string, std::uint32_t job_desc_msg_t::*>;

const Fields kTexts{
    {"account", &job_desc_msg_t::account}, {"admin_comment", &job_desc_msg_t::admin_comment},
    {"comment", &job_desc_msg_t::comment}, {"extra", &job_desc_msg_t::extra},
    {"name", &job_desc_msg_t::name},       {"partition", &job_desc_msg_t::partition},
    {"qos", &job_desc_msg_t::qos},         {"script", &job_desc_msg_t::script},
};
const Numbers kNumbers{
    {"user_id", &job_desc_msg_t::user_id},     {"group_id", &job_desc_msg_t::group_id},
    {"min_nodes", &job_desc_msg_t::min_nodes}, {"time_limit", &job_desc_msg_t::time_limit},
    {"priority", &job_desc_msg_t::priority},
};

bool set(job_desc_msg_t &job, const std::string &key, char *value)
{
  if (const auto text = kTexts.find(key); text != kTexts.end())
    job.*text->second = value;
  else if (const auto number = kNumbers.find(key); number != kNumbers.end())
    job.*number->second = static_cast<std::uint32_t>(std::strtoul(value, nullptr, 10));
  else if (key == "nice")
    job.nice = slurm_compat::nice_field(std::atoi(value));
  else if (key == "begin_in_s")
    job.begin_time = std::time(nullptr) + std::atoi(value);
  else
    return false;
  return true;
}

int failed()
{
  const int code = slurm_compat::last_error();
  std::fprintf(stderr, "%d: %s\n", code, slurm_strerror(code));
  return 1;
}

int will_run(job_desc_msg_t &job)
{
  will_run_response_msg_t *reply = nullptr;
  if (slurm_job_will_run2(&job, &reply) != SLURM_SUCCESS)
    return failed();
  slurm_free_will_run_response_msg(reply);
  return 0;
}

int allocate(job_desc_msg_t &job)
{
  resource_allocation_response_msg_t *reply = nullptr;
  if (slurm_allocate_resources(&job, &reply) != SLURM_SUCCESS || !reply)
    return failed();
  std::printf("%u\n", slurm_compat::job_id_of(*reply));
  slurm_free_resource_allocation_response_msg(reply);
  return 0;
}

int repeat(job_desc_msg_t &job, int count)
{
  const auto begun = std::chrono::steady_clock::now();
  for (int i = 0; i < count; ++i) {
    submit_response_msg_t *reply = nullptr;
    if (slurm_submit_batch_job(&job, &reply) != SLURM_SUCCESS)
      return failed();
    slurm_free_submit_response_response_msg(reply);
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  std::printf("%.6f\n", took.count());
  return 0;
}

}  // namespace

int main(int argc, char **argv)
{
  slurm_init(nullptr);
  job_desc_msg_t job;
  slurm_init_job_desc_msg(&job);
  job.user_id = getuid();
  job.group_id = getgid();
  std::string directory = "/", name = "test";
  job.work_dir = directory.data();
  std::string path = "PATH=/usr/bin";  // a batch job must have some environment
  char *environment[] = {path.data(), nullptr};
  job.environment = environment;
  job.env_size = 1;
  job.name = name.data();
  job.num_tasks = job.min_cpus = 1;
  job.pn_min_memory = 100;
  bool runs = false;
  int times = 0;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const std::size_t equals = argument.find('=');
    if (argument == "will-run") {
      runs = true;
    } else if (argument.rfind("repeat=", 0) == 0) {
      times = std::atoi(argv[i] + equals + 1);
    } else if (equals == std::string::npos ||
               !set(job, argument.substr(0, equals), argv[i] + equals + 1)) {
      std::fprintf(stderr, "submit_job: what is %s?\n", argv[i]);
      return 2;
    }
  }
  if (times > 0)
    return repeat(job, times);
  return runs ? will_run(job) : allocate(job);
}
