// SPDX-License-Identifier: Apache-2.0
// prep/k8s: entry points only. Tells the sidecar when jobs start and end. Does nothing in slurmd
// and slurmstepd.
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "guard.hpp"
#include "reporter.hpp"
#include "slurm_abi.hpp"

namespace {

/// Lives from init to fini; on the heap, so that nothing is destroyed when slurmctld exits.
Reporter *reporter = nullptr;

bool in_slurmctld()
{
  return slurmctld_config != nullptr && &last_job_update != nullptr &&
         &last_node_update != nullptr && &last_part_update != nullptr &&
         &last_resv_update != nullptr;
}

__attribute__((format(printf, 1, 0))) std::string formatted(const char *format, ...);

std::string formatted(const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  char *text = vxstrfmt(format, arguments);
  va_end(arguments);
  std::string copy = text ? text : "";
  slurm_xfree(reinterpret_cast<void **>(&text));
  return copy;
}

/// The record is opaque; Slurm's own conversion prints "JobId=123", for parts of arrays and
/// heterogeneous jobs "JobId=120_3(123)".
std::uint32_t id_of(job_record_t *job)
{
  const std::string text = formatted("%pJ", job);
  const auto inner = text.find('(');
  const auto from = inner != std::string::npos ? inner + 1 : text.find('=') + 1;
  return static_cast<std::uint32_t>(std::strtoul(text.c_str() + from, nullptr, 10));
}

int note(protocol::HintKind kind, job_record_t *job, bool *async) noexcept
{
  if (async)
    *async = false;
  return guard("prep/k8s", SLURM_SUCCESS, [&] {
    if (reporter)
      reporter->put({kind, id_of(job)});
    return SLURM_SUCCESS;
  });
}

}  // namespace

extern "C" {

struct prep_callbacks;
struct job_environment;
struct slurm_credential;

extern const char plugin_name[] = "Kubernetes prolog and epilog plugin";
extern const char plugin_type[] = "prep/k8s";
extern const std::uint32_t plugin_version = SLURM_VERSION_NUMBER;

int init() noexcept
{
  return guard("prep/k8s", SLURM_ERROR, [] {
    if (!in_slurmctld())
      return SLURM_SUCCESS;
    auto fresh = std::make_unique<Reporter>();
    fresh->start();
    reporter = fresh.release();
    return SLURM_SUCCESS;
  });
}

void fini() noexcept
{
  guard("prep/k8s", SLURM_ERROR, [] {
    if (!reporter)
      return SLURM_SUCCESS;
    reporter->stop();
    delete reporter;
    reporter = nullptr;
    return SLURM_SUCCESS;
  });
}

void prep_p_register_callbacks(prep_callbacks *) noexcept {}

int prep_p_prolog(job_environment *, slurm_credential *) noexcept { return SLURM_SUCCESS; }

int prep_p_epilog(job_environment *, slurm_credential *) noexcept { return SLURM_SUCCESS; }

int prep_p_prolog_slurmctld(job_record_t *job, bool *async) noexcept
{
  return note(protocol::HintKind::job_start, job, async);
}

int prep_p_epilog_slurmctld(job_record_t *job, bool *async) noexcept
{
  return note(protocol::HintKind::job_end, job, async);
}

/// 0 prolog, 1 epilog, 2 prolog_slurmctld, 3 epilog_slurmctld: only the latter two cost anything.
void prep_p_required(int type, bool *required) noexcept { *required = in_slurmctld() && type >= 2; }

}  // extern "C"
