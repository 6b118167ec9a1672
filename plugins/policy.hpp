// SPDX-License-Identifier: Apache-2.0
// k8s.conf: who may claim jobs, and what each Kubernetes namespace may ask of Slurm.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

/// A Slurm user as the system knows it.
struct User {
  uid_t uid = 0;
  gid_t gid = 0;
};

/// Looks a user name (or a number) up; slow, so never under slurmctld's locks.
using UserLookup = std::function<std::optional<User>(const std::string &name)>;
std::optional<User> look_up_user(const std::string &name);

/// One Namespace line.
struct Rule {
  int line = 0;         ///< in k8s.conf, for messages
  std::string ns;       ///< shell pattern
  std::string deny;     ///< if not empty, why nothing of these namespaces is accepted
  std::string account;  ///< "" leaves it to Slurm
  std::string user_name;
  User user;
  std::vector<std::string> partitions;  ///< the first is the default; empty leaves it to Slurm
  bool external = false;                ///< jobs for nodes without slurmd (State=EXTERNAL)
};

struct Policy {
  std::string cluster;
  std::vector<uid_t> submit_users;
  std::string event_url;  ///< "" if hints are not wanted
  std::string event_token_file;
  std::string event_ca_file;  ///< "" for the system's certificates
  std::vector<Rule> rules;

  bool is_submit_user(uid_t uid) const;
  /// The first line whose pattern matches, or null.
  const Rule *rule_for(const std::string &ns) const;
};

struct ParsedPolicy {
  Policy policy;
  std::vector<std::string> errors;  ///< "line 3: what is wrong"; with any, the policy is unusable
};

/// Never throws on bad text.
ParsedPolicy parse_policy(std::string_view text, const UserLookup &lookup);
