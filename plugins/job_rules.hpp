// SPDX-License-Identifier: Apache-2.0
// What becomes of a claim: the decision over plain values, without Slurm's locks or types.
#pragma once

#include <optional>
#include <string>
#include <sys/types.h>

#include "policy.hpp"
#include "protocol.hpp"

/// What a claimed job asks for, as far as the policy has a say in it. "" or no value = nothing.
struct AskedJob {
  std::string account, partition, qos, reservation, wckey, licenses;
  std::optional<Share> share;  ///< `shared` also stands for "not exclusive, whatever is allowed"
  std::optional<std::uint32_t> min_nodes, max_nodes, time_limit_min, priority;
  std::optional<int> nice;
  bool has_script = false;  ///< or anything else that would run as the mapped user
};

struct GrantedJob {
  std::string refusal;         ///< if not empty, why not; the rest is void
  const Rule *rule = nullptr;  ///< that decided; null if it did not come to that
  User user;
  gid_t gid = 0;
  std::string account, partition, qos, reservation, wckey, licenses;  ///< "" leaves it to Slurm
  Share share = Share::exclusive;
  std::optional<std::uint32_t> max_nodes, time_limit_min, priority;  ///< no value: left to Slurm
  std::optional<int> nice;
  bool external = false;
  std::string tag;      ///< for admin_comment
  std::string comment;  ///< the user's own
  std::string uid;      ///< of the gang, also of a refused one as far as it is known
};

/// What the rule for the claim's namespace grants. `policy` must outlive the result's rule.
GrantedJob apply_rules(const Policy &policy, const protocol::Claim &claim, const AskedJob &asked);

/// The same for a claim that was sent by `sender`; `policy` is null while there is no good k8s.conf.
GrantedJob judge_claim(const Policy *policy, uid_t sender, const std::string &claim_text,
                       const AskedJob &asked);
