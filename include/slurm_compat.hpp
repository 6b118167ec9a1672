// SPDX-License-Identifier: Apache-2.0
// The differences between the supported versions of Slurm's public headers, each in one place.
#pragma once

#include <cerrno>
#include <cstdint>
#include <cstdio>

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>

#define SLURM_K8S_VERSION(major, minor) SLURM_VERSION_NUM(major, minor, 0)

// Exported by libslurm, but in no installed header.
extern "C" {
void slurm_free_will_run_response_msg(will_run_response_msg_t *message);

/// Levels, then what differs from version to version; all zero will do. It goes by value: in two
/// registers up to 22.05, in memory since, where a block that is too large does no harm.
struct SlurmLogOptions {
  int stderr_level, syslog_level, logfile_level;
#if SLURM_VERSION_NUMBER >= SLURM_K8S_VERSION(24, 11)
  int rest[13];
#else
  int rest[1];
#endif
};
/// The file must have a descriptor; libslurm closes it when it gets another.
int slurm_log_alter_with_fp(SlurmLogOptions options, int facility, FILE *file);

#if SLURM_VERSION_NUMBER >= SLURM_K8S_VERSION(23, 2)
char *slurm_job_state_reason_string(enum job_state_reason reason);
#else
char *slurm_job_reason_string(enum job_state_reason reason);
#endif
}

namespace slurm_compat {

#if SLURM_VERSION_NUMBER >= SLURM_K8S_VERSION(23, 2)
inline constexpr char kGresSeparator[] = "/";  ///< between "gres" and the name in TRES strings
#else
inline constexpr char kGresSeparator[] = ":";
#endif

/// "Resources", "Priority", …; the text is static.
inline const char *reason_string(std::uint32_t reason)
{
#if SLURM_VERSION_NUMBER >= SLURM_K8S_VERSION(23, 2)
  return slurm_job_state_reason_string(static_cast<enum job_state_reason>(reason));
#else
  return slurm_job_reason_string(static_cast<enum job_state_reason>(reason));
#endif
}

// 26.05 takes a step id where a job id was.
#if SLURM_VERSION_NUMBER >= SLURM_K8S_VERSION(26, 5)
inline constexpr bool kHasExternalJobs = true;
inline constexpr std::uint64_t kExternalJob = EXTERNAL_JOB;

inline slurm_step_id_t job_step_id(std::uint32_t job_id)
{
  slurm_step_id_t id{};
  id.job_id = job_id;
  id.step_id = NO_VAL;
  id.step_het_comp = NO_VAL;
  return id;
}

inline std::uint32_t job_id_of(const slurm_job_info_t &job) { return job.step_id.job_id; }
inline void set_job_id(job_desc_msg_t &job, std::uint32_t id) { job.step_id.job_id = id; }
inline std::uint32_t job_id_of(const resource_allocation_response_msg_t &reply)
{
  return reply.step_id.job_id;
}

inline int load_job(job_info_msg_t **reply, std::uint32_t job_id, std::uint16_t flags)
{
  return slurm_load_job(reply, job_step_id(job_id), flags);
}

inline int allocation_lookup(std::uint32_t job_id, resource_allocation_response_msg_t **reply)
{
  return slurm_allocation_lookup(job_step_id(job_id), reply);
}

inline int kill_job(std::uint32_t job_id, std::uint16_t signal, std::uint16_t flags)
{
  return slurm_kill_job(job_step_id(job_id), signal, flags);
}

inline int complete_job(std::uint32_t job_id, std::uint32_t wait_status)
{
  slurm_step_id_t id = job_step_id(job_id);
  return slurm_complete_job(&id, wait_status);
}
#else
inline constexpr bool kHasExternalJobs = false;
inline constexpr std::uint64_t kExternalJob = 0;

inline std::uint32_t job_id_of(const slurm_job_info_t &job) { return job.job_id; }
inline void set_job_id(job_desc_msg_t &job, std::uint32_t id) { job.job_id = id; }
inline std::uint32_t job_id_of(const resource_allocation_response_msg_t &reply)
{
  return reply.job_id;
}

inline int load_job(job_info_msg_t **reply, std::uint32_t job_id, std::uint16_t flags)
{
  return slurm_load_job(reply, job_id, flags);
}

inline int allocation_lookup(std::uint32_t job_id, resource_allocation_response_msg_t **reply)
{
  return slurm_allocation_lookup(job_id, reply);
}

inline int kill_job(std::uint32_t job_id, std::uint16_t signal, std::uint16_t flags)
{
  return slurm_kill_job(job_id, signal, flags);
}

inline int complete_job(std::uint32_t job_id, std::uint32_t wait_status)
{
  return slurm_complete_job(job_id, wait_status);
}
#endif

// Slurm keeps a nice, as in `sbatch --nice`, with an offset.
inline std::uint32_t nice_field(int nice)
{
  return static_cast<std::uint32_t>(static_cast<std::int64_t>(NICE_OFFSET) + nice);
}
inline int nice_of(std::uint32_t field)
{
  return static_cast<int>(static_cast<std::int64_t>(field) - NICE_OFFSET);
}

/// Error number of the last libslurm call of this thread.
inline int last_error()
{
#if SLURM_VERSION_NUMBER >= SLURM_K8S_VERSION(23, 2)
  return errno;
#else
  return slurm_get_errno();
#endif
}

}  // namespace slurm_compat
