// SPDX-License-Identifier: Apache-2.0
// What libslurm's error numbers mean here, and the words that job_submit/k8s sent along.
#pragma once

#include <string>

#include "slurm/client.hpp"

namespace slurm {

/// What a call of libslurm that failed with `code` means. Number 0 is no error.
Cause cause_of(int code);

/// Takes over libslurm's log, which is the only way by which it tells what job_submit plugins said.
/// Once, before the first call. Throws std::system_error.
void capture_log();
/// Why the claim of the gang `uid` was refused just now, or "". Forgets what else was logged long ago.
/// Callable from any thread.
std::string refusal_of(const std::string &uid);

/// The error of the last call in this thread; with `uid`, in the words of job_submit/k8s if it has any.
Error last_error(const std::string &uid = {});

}  // namespace slurm
