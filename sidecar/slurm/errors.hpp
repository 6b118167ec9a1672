// SPDX-License-Identifier: Apache-2.0
// What libslurm's error numbers mean here, and the words that slurmctld's plugins sent along.
#pragma once

#include <string>

#include "slurm/client.hpp"

namespace slurm {

/// What a call of libslurm that failed with `code` means. Number 0 is no error.
Cause cause_of(int code);

/// Takes over libslurm's log, which is the only way by which it tells what job_submit plugins said.
/// Once, before the first call.
void capture_messages();
/// What was logged in this thread since the last call: the plugin's err_msg, or "".
std::string take_message();

/// The error of the last call in this thread, words included.
Error last_error();

}  // namespace slurm
