// SPDX-License-Identifier: Apache-2.0
#include "explain.hpp"

#include <array>
#include <utility>

namespace {

constexpr char kByDefault[] = "left to Slurm";
constexpr std::size_t kColumn = 13;  // of the values

/// As job_submit/k8s finds it in a job that the sidecar submits with these options.
AskedJob asked_by(const workload::JobOptions &options)
{
  AskedJob asked;
  asked.account = options.account.value_or("");
  asked.partition = options.partition.value_or("");
  asked.qos = options.qos.value_or("");
  asked.reservation = options.reservation.value_or("");
  asked.wckey = options.wckey.value_or("");
  asked.licenses = options.licenses.value_or("");
  if (options.sharing == workload::Sharing::exclusive)
    asked.share = Share::exclusive;
  else if (options.sharing == workload::Sharing::user)
    asked.share = Share::user;
  else if (options.sharing == workload::Sharing::any)
    asked.share = Share::shared;
  asked.min_nodes = options.min_nodes;
  asked.max_nodes = options.max_nodes;
  asked.time_limit_min = options.time_limit_min;
  asked.priority = options.priority;
  asked.nice = options.nice;
  return asked;
}

std::string or_default(const std::string &value, const char *otherwise = kByDefault)
{
  return value.empty() ? otherwise : value;
}

template <class Number>
std::string or_default(const std::optional<Number> &value, const char *unit = "")
{
  return value ? std::to_string(*value) + unit : kByDefault;
}

/// With the name if k8s.conf says it: the policy keeps numbers of all others.
std::string group_text(const GrantedJob &job)
{
  for (const auto &[name, gid] : job.rule->groups)
    if (gid == job.gid)
      return name + " (" + std::to_string(gid) + ")";
  return std::to_string(job.gid);
}

std::string table(const GrantedJob &job)
{
  const std::array<std::pair<const char *, std::string>, 14> rows{{
      {"user", job.user.name + " (" + std::to_string(job.user.uid) + ")"},
      {"group", group_text(job)},
      {"account", or_default(job.account)},
      {"partition", or_default(job.partition)},
      {"QOS", or_default(job.qos)},
      {"reservation", or_default(job.reservation, "none")},
      {"wckey", or_default(job.wckey)},
      {"licenses", or_default(job.licenses, "none")},
      {"share", to_string(job.share)},
      {"max nodes", or_default(job.max_nodes)},
      {"time limit", or_default(job.time_limit_min, " minutes")},
      {"priority", or_default(job.priority)},
      {"nice", or_default(job.nice)},
      {"external", job.external ? "yes" : "no"},
  }};
  std::string text;
  for (const auto &[name, value] : rows)
    text += "  " + (name + std::string(kColumn, ' ')).substr(0, kColumn) + value + "\n";
  return text;
}

/// As the sidecar says it to the owner of the pod.
std::string events(const Answer &answer)
{
  std::string text, errors;
  for (const std::string &warning : answer.warnings)
    text += "Event UnknownAnnotation: " + warning + "\n";
  for (const std::string &error : answer.errors)
    errors += (errors.empty() ? "" : "; ") + error;
  return errors.empty() ? text : text + "Event FailedScheduling: " + errors + "\n";
}

}  // namespace

Answer explain(const Policy &policy, const Question &question)
{
  workload::ParsedOptions parsed = workload::parse_options({&question.annotations});
  Answer answer;
  answer.rule = policy.rule_for(question.ns);
  answer.warnings = std::move(parsed.warnings);
  answer.errors = std::move(parsed.errors);
  if (!answer.errors.empty())
    return answer;
  protocol::Claim claim;
  claim.identity.cluster = policy.cluster;
  claim.identity.ns = question.ns;
  claim.user = parsed.options.user.value_or("");
  claim.group = parsed.options.group.value_or("");
  claim.priority_class = question.priority_class;
  answer.job = apply_rules(policy, claim, asked_by(parsed.options));
  return answer;
}

std::string to_text(const Answer &answer, const std::string &file)
{
  std::string text;
  if (answer.rule)
    text = file + ":" + std::to_string(answer.rule->line) +
           ": decided by Namespace=" + answer.rule->ns + "\n";
  text += events(answer);
  if (answer.granted())
    return text + table(answer.job);
  return text + "refused: " +
         (answer.errors.empty() ? answer.job.refusal : "the sidecar submits no such job") + "\n";
}
