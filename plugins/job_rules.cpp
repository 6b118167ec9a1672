// SPDX-License-Identifier: Apache-2.0
#include "job_rules.hpp"

#include <algorithm>
#include <utility>

namespace {

constexpr char kNoPolicy[] = "k8s.conf cannot be used; slurmctld's log says why";

GrantedJob refuse(std::string why, const std::string &uid)
{
  GrantedJob refused;
  refused.refusal = std::move(why);
  refused.uid = uid;
  return refused;
}

std::string line(const Rule &rule) { return "k8s.conf line " + std::to_string(rule.line) + ": "; }

std::string list(const std::vector<std::string> &names)
{
  std::string all;
  for (const std::string &name : names)
    all += (all.empty() ? "" : ", ") + name;
  return all;
}

/// The first partition of `asked` that the rule does not allow; an empty name is none of the rule's.
std::optional<std::string> forbidden_partition(const Rule &rule, const std::string &asked)
{
  for (std::size_t from = 0; from <= asked.size();) {
    const std::size_t to = std::min(asked.find(',', from), asked.size());
    const std::string name = asked.substr(from, to - from);
    if (std::find(rule.partitions.begin(), rule.partitions.end(), name) == rule.partitions.end())
      return name;
    from = to + 1;
  }
  return std::nullopt;
}

/// "" or why the rule does not allow it.
std::string check(const Rule &rule, const AskedJob &asked)
{
  if (!rule.deny.empty())
    return line(rule) + rule.deny;
  if (!rule.account.empty() && !asked.account.empty() && asked.account != rule.account)
    return line(rule) + "namespace " + rule.ns + " may use the account " + rule.account + ", not " +
           asked.account;
  if (!rule.partitions.empty() && !asked.partition.empty())
    if (const auto name = forbidden_partition(rule, asked.partition))
      return line(rule) + "namespace " + rule.ns + " may use the partitions " +
             list(rule.partitions) + ", not " + (name->empty() ? "an empty name" : *name);
  return {};
}

}  // namespace

GrantedJob judge_claim(const Policy *policy, uid_t sender, const std::string &claim_text,
                       const AskedJob &asked)
{
  std::optional<protocol::Claim> claim = protocol::parse_claim(claim_text);
  if (!claim)
    return ::refuse("the claim cannot be read", "");
  const protocol::Identity &gang = claim->identity;
  const auto refuse = [&](const std::string &why) { return ::refuse(why, gang.uid); };
  if (!policy)
    return refuse(kNoPolicy);
  if (!policy->is_submit_user(sender))
    return refuse("only a SubmitUser of k8s.conf may claim a job for Kubernetes");
  if (gang.cluster != policy->cluster)
    return refuse("the claim is of cluster " + gang.cluster + ", ClusterId in k8s.conf is " +
                  policy->cluster);
  if (asked.has_script)
    return refuse("a claimed job is an allocation and runs nothing");
  const Rule *rule = policy->rule_for(gang.ns);
  if (!rule)
    return refuse("k8s.conf: no Namespace line is for " + gang.ns);
  if (std::string problem = check(*rule, asked); !problem.empty())
    return refuse(problem);

  GrantedJob granted;
  granted.user = rule->user;
  granted.account = rule->account.empty() ? asked.account : rule->account;
  granted.partition = asked.partition;
  if (granted.partition.empty() && !rule->partitions.empty())
    granted.partition = rule->partitions.front();
  granted.external = rule->external;
  granted.tag = protocol::encode_tag(gang);
  granted.comment = std::move(claim->comment);
  granted.uid = gang.uid;
  return granted;
}

std::optional<protocol::Verb> judge_verb(const Policy *policy, uid_t sender,
                                         const std::string &verb_text, std::string &refusal)
{
  const auto no = [&](const char *why) -> std::optional<protocol::Verb> {
    refusal = why;
    return std::nullopt;
  };
  if (!policy)
    return no(kNoPolicy);
  if (!policy->is_submit_user(sender))
    return no("only a SubmitUser of k8s.conf may use verbs");
  std::optional<protocol::Verb> verb = protocol::parse_verb(verb_text);
  if (!verb)
    return no("the verb cannot be read");
  if (verb->cluster != policy->cluster)
    return no("the verb is of another cluster than ClusterId in k8s.conf");
  return verb;
}
