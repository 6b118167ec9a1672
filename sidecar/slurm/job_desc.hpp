// SPDX-License-Identifier: Apache-2.0
// A job description for libslurm that owns its texts.
#pragma once

#include <cstdint>
#include <list>
#include <string>

#include "slurm_compat.hpp"
#include "workload/job_request.hpp"

namespace slurm {

class JobDesc {
public:
  /// The allocation of one gang, with its claim. Throws std::length_error if the claim is too long.
  JobDesc(const workload::JobRequest &request, const std::string &cluster);
  /// A will-run request that carries a verb for job_submit/k8s.
  explicit JobDesc(const std::string &verb);
  JobDesc(const JobDesc &) = delete;
  JobDesc &operator=(const JobDesc &) = delete;

  job_desc_msg_t *get() { return &desc_; }

private:
  void set_up();
  char *keep(const std::string &text);
  void set_size(const workload::JobRequest &request);
  void set_options(const workload::JobOptions &options);

  job_desc_msg_t desc_{};
  std::list<std::string> texts_;  // libslurm takes char *, and does not own them
};

}  // namespace slurm
