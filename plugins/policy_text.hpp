// SPDX-License-Identifier: Apache-2.0
// Where k8s.conf lies, its text, and what it needs of slurm.conf; without slurmctld's own symbols.
#pragma once

#include <string>
#include <vector>

#include "policy.hpp"

/// Slurm's own default.
inline constexpr char kDefaultSlurmConf[] = "/etc/slurm/slurm.conf";

/// k8s.conf lies beside slurm.conf.
std::string policy_path_beside(const std::string &slurm_conf);

/// The text of the file; if it cannot be read, `error` says why.
std::string read_policy_text(const std::string &path, std::string &error);

/// What is wrong with the policy under that MCSPlugin, as in ParsedPolicy::errors.
std::vector<std::string> check_mcs_plugin(const Policy &policy, const std::string &mcs_plugin);
