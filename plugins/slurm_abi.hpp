// SPDX-License-Identifier: Apache-2.0
// What slurmctld and libslurmfull export but no installed header declares: all of it, and only
// here. tests/plugin compares the undefined symbols of the plugins with what each Slurm exports.
#pragma once

#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <string>

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>

#include "slurm_compat.hpp"

extern "C" {

struct job_record;  // opaque: its layout differs from version to version
using job_record_t = struct job_record;

void slurm_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
void slurm_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void slurm_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));

char *slurm_xstrdup(const char *text);
void slurm_xfree(void **memory);
void *slurm_xcalloc(std::size_t count, std::size_t size, bool clear, bool may_fail,
                    const char *file, int line, const char *function);
/// printf with Slurm's own conversions ("%pJ" of a job record is "JobId=123").
char *vxstrfmt(const char *format, va_list arguments);

/// What slurm.conf says, which slurmctld reads anew only under the same lock; it is not recursive.
slurm_conf_t *slurm_conf_lock(void);
void slurm_conf_unlock(void);

// PrEp plugins are loaded into slurmd and slurmstepd too, where these must not be missed. Only the
// last is in slurmctld alone: slurmstepd has the first, libslurmfull the second.
extern time_t last_job_update __attribute__((weak));
extern time_t last_node_update __attribute__((weak));
extern time_t last_part_update __attribute__((weak));
extern time_t last_resv_update __attribute__((weak));
extern char slurmctld_config[] __attribute__((weak));  // opaque; only its presence is looked at

#if SLURM_VERSION_NUMBER >= SLURM_K8S_VERSION(23, 11)
void destroy_identity(void *identity);
#endif

}  // extern "C"

namespace slurm_abi {

/// Hold it for moments, and only one in a thread.
class SlurmConf {
public:
  SlurmConf() = default;
  ~SlurmConf() { slurm_conf_unlock(); }
  SlurmConf(const SlurmConf &) = delete;
  SlurmConf &operator=(const SlurmConf &) = delete;

  const slurm_conf_t &operator*() const { return *conf_; }

private:
  const slurm_conf_t *const conf_ = slurm_conf_lock();
};

/// Frees Slurm's string and puts a copy of `text` there.
inline void assign(char *&slurm_string, const std::string &text)
{
  slurm_xfree(reinterpret_cast<void **>(&slurm_string));
  slurm_string = slurm_xstrdup(text.c_str());
}

inline void clear(char *&slurm_string) { slurm_xfree(reinterpret_cast<void **>(&slurm_string)); }

/// Slurm keeps the name and groups of the caller with a job where auth/slurm is used. They are not
/// those of the mapped user; without them Slurm looks the user up itself.
inline void drop_identity([[maybe_unused]] job_desc_msg_t &job)
{
#if SLURM_VERSION_NUMBER >= SLURM_K8S_VERSION(23, 11)
  if (job.id)
    destroy_identity(job.id);
  job.id = nullptr;
#endif
}

/// Adds NAME=value to the environment of the job's SPANK plugins on the nodes.
inline void add_spank_env(job_desc_msg_t &job, const std::string &assignment)
{
  const std::uint32_t count = job.spank_job_env ? job.spank_job_env_size : 0;
  auto **grown = static_cast<char **>(
      slurm_xcalloc(count + 1, sizeof(char *), true, false, __FILE__, __LINE__, __func__));
  for (std::uint32_t i = 0; i < count; ++i)
    grown[i] = job.spank_job_env[i];
  grown[count] = slurm_xstrdup(assignment.c_str());
  slurm_xfree(reinterpret_cast<void **>(&job.spank_job_env));
  job.spank_job_env = grown;
  job.spank_job_env_size = count + 1;
}

}  // namespace slurm_abi
