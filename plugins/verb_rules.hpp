// SPDX-License-Identifier: Apache-2.0
// Who may ask for which verb, and whether it still holds when its turn comes: over plain values,
// without Slurm's locks or types.
#pragma once

#include <optional>
#include <string>
#include <sys/types.h>

#include "policy.hpp"
#include "protocol.hpp"

/// A verb that was accepted, and who asked for it.
struct Order {
  protocol::Verb verb;
  uid_t sender = 0;

  bool operator==(const Order &) const = default;
};

/// The verb if its sender may ask for it; nothing if it is to be refused, with the reason.
/// `policy` is null while there is no good k8s.conf.
std::optional<protocol::Verb> judge_verb(const Policy *policy, uid_t sender,
                                         const std::string &verb_text, std::string &refusal);

/// What a verb looks at before it is carried out.
struct JobView {
  std::string admin_comment;
  bool over = false;
  bool pending = false;
  std::uint32_t time_limit_min = 0;  ///< UINT32_MAX for none
};
struct NodeView {
  bool drain = false;
  bool down = false;
  std::string reason;  ///< some versions leave an old one on a node that is well again
};

struct Verdict {
  bool granted = false;
  std::string rule;  ///< what decided, for the log
};

/// For complete, cancel and update. `policy` may be null.
Verdict judge_job_verb(const Policy *policy, const protocol::Verb &verb, const JobView &job);
/// For drain and resume: what an administrator did to the node stays.
Verdict judge_node_verb(const Policy *policy, const protocol::Verb &verb, const NodeView &node);

/// "update JobId=7 of gang 3f1c: nice 5", in one line.
std::string describe(const protocol::Verb &verb);
