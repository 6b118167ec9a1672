// SPDX-License-Identifier: Apache-2.0
// What becomes of a claim: the decision over plain values, without Slurm's locks or types.
#pragma once

#include <string>
#include <sys/types.h>

#include "policy.hpp"
#include "protocol.hpp"

/// What a claimed job asks for, as far as the policy has a say in it. "" = nothing.
struct AskedJob {
  std::string account, partition;
  bool has_script = false;  ///< or anything else that would run as the mapped user
};

struct GrantedJob {
  std::string refusal;  ///< if not empty, why not; the rest is void
  User user;
  std::string account, partition;  ///< "" leaves it to Slurm
  bool external = false;
  std::string tag;      ///< for admin_comment
  std::string comment;  ///< the user's own
  std::string uid;      ///< of the gang, also of a refused one as far as it is known
};

/// `policy` is null while there is no good k8s.conf.
GrantedJob judge_claim(const Policy *policy, uid_t sender, const std::string &claim_text,
                       const AskedJob &asked);

/// The verb if its sender may ask for it; nothing if it is to be refused, with the reason.
std::optional<protocol::Verb> judge_verb(const Policy *policy, uid_t sender,
                                         const std::string &verb_text, std::string &refusal);
