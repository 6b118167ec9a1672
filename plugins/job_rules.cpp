// SPDX-License-Identifier: Apache-2.0
#include "job_rules.hpp"

#include <algorithm>
#include <utility>

namespace {

/// Thrown by the rules, caught where they were begun.
struct Refused {
  std::string why;
};

GrantedJob refuse(std::string why, const std::string &uid, const Rule *rule = nullptr)
{
  GrantedJob refused;
  refused.refusal = std::move(why);
  refused.uid = uid;
  refused.rule = rule;
  return refused;
}

std::string list(const std::vector<std::string> &names)
{
  std::string all;
  for (const std::string &name : names)
    all += (all.empty() ? "" : ", ") + name;
  return all;
}

/// The rule of one namespace, put to what one job asks for.
class Ruling {
public:
  Ruling(const Rule &rule, const protocol::Claim &claim, const AskedJob &asked)
      : rule_(rule), claim_(claim), asked_(asked)
  {
  }

  /// Throws Refused.
  void decide(GrantedJob &granted) const
  {
    if (!rule_.deny.empty())
      refuse(rule_.deny);
    granted.user = user();
    granted.gid = group(granted.user);
    granted.account = choose("account", asked_.account, rule_.account);
    granted.partition = choose("partition", asked_.partition, rule_.partition);
    granted.qos = qos();
    granted.reservation = choose("reservation", asked_.reservation, rule_.reservation);
    granted.wckey = choose("wckey", asked_.wckey, rule_.wckey);
    granted.licenses = choose("licenses", asked_.licenses, rule_.licenses, ",|;", true);
    granted.share = share();
    granted.max_nodes = max_nodes();
    granted.time_limit_min = time_limit();
    granted.priority = priority();
    granted.nice = nice();
    granted.external = rule_.external;
  }

private:
  [[noreturn]] void refuse(const std::string &why) const
  {
    throw Refused{"k8s.conf line " + std::to_string(rule_.line) + ": " + why};
  }

  /// "namespace team-* may use the QOS normal, high, not urgent"
  [[noreturn]] void forbid(const char *what, const std::vector<std::string> &allowed,
                           const std::string &asked) const
  {
    const std::string name = asked.empty() ? "an empty name" : asked;
    if (allowed.empty())
      refuse("namespace " + rule_.ns + " may use no " + what + ": " + name + " is asked for");
    refuse("namespace " + rule_.ns + " may use the " + what + " " + list(allowed) + ", not " +
           name);
  }

  /// `separators` are between the names of `asked`; `counted` names may have ":number" behind them.
  std::string choose(const char *what, const std::string &asked, const Choice &choice,
                     const char *separators = ",", bool counted = false) const
  {
    if (asked.empty())
      return choice.fallback;
    if (!choice.allowed)
      return asked;
    for (std::size_t from = 0; from <= asked.size();) {
      const std::size_t to = std::min(asked.find_first_of(separators, from), asked.size());
      std::string name = asked.substr(from, to - from);
      if (counted)
        name = name.substr(0, name.find(':'));
      if (std::find(choice.allowed->begin(), choice.allowed->end(), name) == choice.allowed->end())
        forbid(what, *choice.allowed, name);
      from = to + 1;
    }
    return asked;
  }

  const PriorityClass *priority_class() const
  {
    for (const PriorityClass &row : rule_.priority_classes)
      if (row.name == claim_.priority_class)
        return &row;
    return nullptr;
  }

  std::string qos() const
  {
    const PriorityClass *row = priority_class();
    if (asked_.qos.empty() && row && !row->qos.empty())
      return row->qos;
    return choose("QOS", asked_.qos, rule_.qos);
  }

  const User &user() const
  {
    if (claim_.user.empty())
      return rule_.users.front();
    std::vector<std::string> names;
    for (const User &user : rule_.users) {
      if (claim_.user == user.name || claim_.user == std::to_string(user.uid))
        return user;
      names.push_back(user.name);
    }
    forbid("user", names, claim_.user);
  }

  gid_t group(const User &user) const
  {
    if (claim_.group.empty())
      return rule_.groups.empty() ? user.gid : rule_.groups.front().second;
    if (rule_.groups.empty() && claim_.group == std::to_string(user.gid))
      return user.gid;
    std::vector<std::string> names;
    for (const auto &[name, gid] : rule_.groups) {
      if (claim_.group == name || claim_.group == std::to_string(gid))
        return gid;
      names.push_back(name);
    }
    if (names.empty())
      names.push_back(std::to_string(user.gid));
    forbid("group", names, claim_.group);
  }

  bool allows(Share share) const
  {
    return rule_.share.empty() ||
           std::find(rule_.share.begin(), rule_.share.end(), share) != rule_.share.end();
  }

  Share share() const
  {
    if (!asked_.share)
      return rule_.share.empty() ? Share::exclusive : rule_.share.front();
    if (allows(*asked_.share))
      return *asked_.share;
    if (*asked_.share == Share::shared && allows(Share::k8s))
      return Share::k8s;  // who does not insist on whole nodes shares with whom the rule lets in
    std::vector<std::string> names;
    for (const Share share : rule_.share)
      names.emplace_back(to_string(share));
    forbid("share", names, to_string(*asked_.share));
  }

  std::optional<std::uint32_t> max_nodes() const
  {
    if (!rule_.max_nodes)
      return asked_.max_nodes;
    if (asked_.min_nodes.value_or(0) > *rule_.max_nodes)
      refuse("namespace " + rule_.ns + " may use " + std::to_string(*rule_.max_nodes) +
             " nodes for a job, not " + std::to_string(*asked_.min_nodes));
    return std::min(asked_.max_nodes.value_or(*rule_.max_nodes), *rule_.max_nodes);
  }

  std::optional<std::uint32_t> time_limit() const
  {
    if (!asked_.time_limit_min)
      return rule_.default_time_min ? rule_.default_time_min : rule_.max_time_min;
    if (rule_.max_time_min && *asked_.time_limit_min > *rule_.max_time_min)
      refuse("namespace " + rule_.ns + " may use " + std::to_string(*rule_.max_time_min) +
             " minutes for a job, not " + std::to_string(*asked_.time_limit_min));
    return asked_.time_limit_min;
  }

  std::optional<std::uint32_t> priority() const
  {
    if (asked_.priority && !rule_.priority)
      refuse("namespace " + rule_.ns + " may not set the priority of a job (Priority=yes would)");
    return asked_.priority;
  }

  std::optional<int> nice() const
  {
    if (asked_.nice.value_or(0) < 0 && !rule_.nice)
      refuse("namespace " + rule_.ns + " may not set a negative nice (Nice=yes would)");
    if (asked_.nice)
      return asked_.nice;
    const PriorityClass *row = priority_class();
    return row ? row->nice : std::nullopt;
  }

  const Rule &rule_;
  const protocol::Claim &claim_;
  const AskedJob &asked_;
};

}  // namespace

GrantedJob apply_rules(const Policy &policy, const protocol::Claim &claim, const AskedJob &asked)
{
  const protocol::Identity &gang = claim.identity;
  if (asked.has_script)
    return refuse("a claimed job is an allocation and runs nothing", gang.uid);
  const Rule *rule = policy.rule_for(gang.ns);
  if (!rule)
    return refuse("k8s.conf: no Namespace line is for " + gang.ns, gang.uid);
  GrantedJob granted;
  try {
    Ruling(*rule, claim, asked).decide(granted);
  } catch (const Refused &refused) {
    return refuse(refused.why, gang.uid, rule);
  }
  granted.rule = rule;
  granted.tag = protocol::encode_tag(gang);
  granted.comment = claim.comment;
  granted.uid = gang.uid;
  return granted;
}

GrantedJob judge_claim(const Policy *policy, uid_t sender, const std::string &claim_text,
                       const AskedJob &asked)
{
  const std::optional<protocol::Claim> claim = protocol::parse_claim(claim_text);
  if (!claim)
    return refuse("the claim cannot be read", "");
  const protocol::Identity &gang = claim->identity;
  if (!policy)
    return refuse(kNoPolicy, gang.uid);
  if (!policy->is_submit_user(sender))
    return refuse("only a SubmitUser of k8s.conf may claim a job for Kubernetes", gang.uid);
  if (gang.cluster != policy->cluster)
    return refuse("the claim is of cluster " + gang.cluster + ", ClusterId in k8s.conf is " +
                      policy->cluster,
                  gang.uid);
  AskedJob whole = asked;
  if (claim->priority)
    whole.priority = claim->priority;
  if (claim->nice)
    whole.nice = claim->nice;
  return apply_rules(*policy, *claim, whole);
}
