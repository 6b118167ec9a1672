// SPDX-License-Identifier: Apache-2.0
#include "verb_rules.hpp"

namespace {

std::string line_of(const Rule &rule) { return "k8s.conf line " + std::to_string(rule.line); }

Verdict no(std::string rule) { return {false, std::move(rule)}; }
Verdict yes(std::string rule) { return {true, std::move(rule)}; }

/// Slurm's own limits do not hold for SlurmUser, so what they would forbid is the rule's to allow.
Verdict judge_update(const Policy *policy, const protocol::Verb &verb, const JobView &job,
                     const std::string &ns)
{
  if (!policy)
    return no(kNoPolicy);
  const Rule *rule = policy->rule_for(ns);
  if (!rule)
    return no("no Namespace line is for " + ns);
  const std::string line = line_of(*rule);
  if (!rule->deny.empty())
    return no(line + ": namespace " + rule->ns + " is denied");
  if (!job.pending)
    return no("only a job that waits is updated");
  if (verb.time_limit_min && *verb.time_limit_min > job.time_limit_min &&
      (!rule->max_time_min || *verb.time_limit_min > *rule->max_time_min))
    return no(line + ": a longer time limit needs a MaxTime that allows it");
  if (verb.nice && *verb.nice < 0 && !rule->nice)
    return no(line + ": a negative nice needs Nice=yes");
  return yes(line);
}

std::string described_update(const protocol::Verb &verb)
{
  std::string text;
  const auto add = [&](const char *what, const std::string &value) {
    text += (text.empty() ? ": " : ", ") + std::string(what) + " " + value;
  };
  if (verb.excluded_nodes)
    add("excluded nodes", verb.excluded_nodes->empty() ? "none" : *verb.excluded_nodes);
  if (verb.time_limit_min)
    add("time limit", std::to_string(*verb.time_limit_min));
  if (verb.nice)
    add("nice", std::to_string(*verb.nice));
  return text;
}

}  // namespace

std::optional<protocol::Verb> judge_verb(const Policy *policy, uid_t sender,
                                         const std::string &verb_text, std::string &refusal)
{
  const auto refuse = [&](std::string why) -> std::optional<protocol::Verb> {
    refusal = std::move(why);
    return std::nullopt;
  };
  if (!policy)
    return refuse(kNoPolicy);
  if (!policy->is_submit_user(sender))
    return refuse("only a SubmitUser of k8s.conf may use verbs");
  std::optional<protocol::Verb> verb = protocol::parse_verb(verb_text);
  if (!verb)
    return refuse("the verb cannot be read");
  if (verb->cluster != policy->cluster)
    return refuse("the verb is of another cluster than ClusterId in k8s.conf");
  if (verb->is_for_node() && !policy->node_pattern_for(verb->node))
    return refuse("no Node of k8s.conf is " + verb->node);
  return verb;
}

Verdict judge_job_verb(const Policy *policy, const protocol::Verb &verb, const JobView &job)
{
  const auto tag = protocol::parse_tag(job.admin_comment);
  if (!tag || tag->cluster != verb.cluster || tag->uid != verb.uid)
    return no("the job is not of that gang");
  // Asked twice, or the job ended by itself: what was wanted is so.
  if (job.over)
    return no("the job is over");
  if (verb.kind == protocol::VerbKind::update)
    return judge_update(policy, verb, job, tag->ns);
  return yes("the job's tag");
}

Verdict judge_node_verb(const Policy *policy, const protocol::Verb &verb, const NodeView &node)
{
  if (!policy)
    return no(kNoPolicy);
  const std::string *pattern = policy->node_pattern_for(verb.node);
  if (!pattern)
    return no("no Node of k8s.conf is " + verb.node);
  const bool ours = node.reason.rfind(protocol::kReasonPrefix, 0) == 0;
  if ((node.drain || node.down) && !ours)
    return no("the node is drained or down for a reason that is not ours: " + node.reason);
  if (verb.kind == protocol::VerbKind::resume && !(node.drain && ours))
    return no("the node is not drained by us");
  if (verb.kind == protocol::VerbKind::drain && node.drain && node.reason == verb.reason)
    return no("the node is so already");
  return yes("Node=" + *pattern);
}

std::string describe(const protocol::Verb &verb)
{
  std::string text = protocol::to_string(verb.kind);
  if (verb.is_for_node())
    text += " node " + verb.node + (verb.reason.empty() ? "" : ": " + verb.reason);
  else
    text += " JobId=" + std::to_string(verb.job_id) + " of gang " + verb.uid;
  if (verb.kind == protocol::VerbKind::complete)
    text += ": status " + std::to_string(verb.status);
  if (verb.kind == protocol::VerbKind::update)
    text += described_update(verb);
  return protocol::one_line(std::move(text));
}
