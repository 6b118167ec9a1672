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

/// A user as the system knows it.
struct User {
  std::string name;
  uid_t uid = 0;
  gid_t gid = 0;              ///< primary group
  std::vector<gid_t> groups;  ///< all, the primary one included
};

/// Looks names (or numbers) up. Slow, so never under slurmctld's locks.
struct NameService {
  std::function<std::optional<User>(const std::string &)> user;
  std::function<std::optional<gid_t>(const std::string &)> group;
};
NameService system_names();

/// Who else may run on the nodes of a job.
enum class Share : std::uint8_t {
  exclusive,  ///< nobody
  k8s,        ///< other jobs of Kubernetes (mcs/label)
  user,       ///< other jobs of the same Slurm user
  shared,     ///< anybody, as the partition says
};
const char *to_string(Share share) noexcept;

/// What a workload may choose from.
struct Choice {
  /// Without a value the key is absent: the choice is left to the workload and to Slurm. Empty:
  /// nothing may be chosen.
  std::optional<std::vector<std::string>> allowed;
  std::string fallback;  ///< for workloads that choose nothing; "" leaves it to Slurm
};

struct PriorityClass {
  std::string name;         ///< priorityClassName of the pods
  std::string qos;          ///< "" leaves it to the rest of the rule
  std::optional<int> nice;  ///< as in `sbatch --nice`
};

/// One Namespace line.
struct Rule {
  int line = 0;             ///< in k8s.conf, for messages
  std::string ns;           ///< shell pattern
  std::string deny;         ///< if not empty, why nothing of these namespaces is accepted
  std::vector<User> users;  ///< the first is the default
  std::vector<std::pair<std::string, gid_t>>
      groups;  ///< the first is the default; empty: the user's
  Choice account, partition, qos, reservation, wckey, licenses;
  std::vector<Share> share;  ///< the first is the default; empty: anything, by default exclusive
  bool external = false;     ///< jobs for nodes without slurmd (State=EXTERNAL)
  bool priority = false;     ///< may set the priority of its jobs
  bool nice = false;         ///< may set a negative nice
  std::optional<std::uint32_t> max_nodes, max_time_min, default_time_min;
  std::vector<PriorityClass> priority_classes;
};

struct Policy {
  std::string cluster;
  std::vector<uid_t> submit_users;
  std::vector<std::string> event_urls;  ///< none if hints are not wanted
  std::string event_token_file;
  std::string event_ca_file;       ///< "" for the system's certificates
  std::vector<std::string> nodes;  ///< shell patterns of the nodes that verbs may drain and resume
  std::vector<Rule> rules;

  bool is_submit_user(uid_t uid) const;
  /// The first line whose pattern matches, or null.
  const Rule *rule_for(const std::string &ns) const;
  /// The pattern that lets verbs drain and resume the node, or null.
  const std::string *node_pattern_for(const std::string &node) const;
};

/// What requests are told while there is no policy.
inline constexpr char kNoPolicy[] = "k8s.conf cannot be used; slurmctld's log says why";

struct ParsedPolicy {
  Policy policy;
  std::vector<std::string> errors;  ///< "line 3: what is wrong"; with any, the policy is unusable
};

/// Never throws on bad text.
ParsedPolicy parse_policy(std::string_view text, const NameService &names);
