// SPDX-License-Identifier: Apache-2.0
// Text of k8s.conf -> Policy. Each key is a row of one of two tables.
#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "key_values.hpp"
#include "policy.hpp"
#include "slurm_compat.hpp"
#include "values.hpp"

namespace {

constexpr std::size_t kMaxErrors = 20;
constexpr std::uint32_t kMaxCount = 1'000'000;
constexpr int kMaxNice = 1'000'000;  // far less than Slurm takes

bool is_event_url(const std::string &text)
{
  for (const std::string prefix : {"http://", "https://", "unix:/"})
    if (text.starts_with(prefix) && text.size() > prefix.size())
      return true;
  return false;
}

/// A time limit: seconds are rounded up, and there is no limit of nothing.
std::optional<std::uint32_t> parse_minutes(const std::string &text)
{
  const auto seconds = values::parse_duration_s(text);
  return seconds.value_or(0) > 0 ? std::optional((*seconds + 59) / 60) : std::nullopt;
}

class Parser {
public:
  explicit Parser(const NameService &names) : names_(names) {}

  ParsedPolicy parse(std::string_view text)
  {
    for (std::size_t from = 0; from < text.size();) {
      const std::size_t to = std::min(text.find('\n', from), text.size());
      ++line_;
      parse_line(text.substr(from, to - from));
      from = to + 1;
    }
    line_ = 0;
    if (out_.policy.cluster.empty())
      fail("ClusterId is missing");
    if (out_.policy.submit_users.empty())
      fail("SubmitUser is missing");
    return std::move(out_);
  }

private:
  struct Key {
    const char *name;
    void (*set)(Parser &, const std::string &value);
  };

  static std::span<const Key> global_keys()
  {
    static constexpr std::array kKeys{
        Key{"ClusterId", [](Parser &p, const std::string &v) { p.set_cluster(v); }},
        Key{"SubmitUser", [](Parser &p, const std::string &v) { p.add_submit_users(v); }},
        Key{"EventUrl", [](Parser &p, const std::string &v) { p.add_event_urls(v); }},
        Key{"EventTokenFile",
            [](Parser &p, const std::string &v) {
              p.set_file(p.out_.policy.event_token_file, "EventTokenFile", v);
            }},
        Key{"EventCaFile",
            [](Parser &p, const std::string &v) {
              p.set_file(p.out_.policy.event_ca_file, "EventCaFile", v);
            }},
        Key{"Node", [](Parser &p, const std::string &v) { p.add_nodes(v); }},
    };
    return kKeys;
  }

  template <Choice Rule::*Field>
  static void allow(Parser &p, const std::string &value)
  {
    p.set_choice(p.rule_.*Field, value);
  }
  template <Choice Rule::*Field>
  static void fall_back(Parser &p, const std::string &value)
  {
    (p.rule_.*Field).fallback = value;
  }
  template <bool Rule::*Field>
  static void permit(Parser &p, const std::string &value)
  {
    p.set_yes_no(p.rule_.*Field, value);
  }
  template <std::optional<std::uint32_t> Rule::*Field>
  static void set_time(Parser &p, const std::string &value)
  {
    p.rule_.*Field = parse_minutes(value);
    if (!(p.rule_.*Field))
      p.fail(*p.key_ + " must be minutes or [days-]hours:minutes:seconds");
  }

  static std::span<const Key> rule_keys()
  {
    static constexpr std::array kKeys{
        Key{"Namespace", [](Parser &p, const std::string &v) { p.rule_.ns = v; }},
        Key{"Deny", [](Parser &p, const std::string &v) { p.rule_.deny = v; }},
        Key{"User", [](Parser &p, const std::string &v) { p.set_users(v); }},
        Key{"Group", [](Parser &p, const std::string &v) { p.set_groups(v); }},
        Key{"Account", allow<&Rule::account>},
        Key{"Partition", allow<&Rule::partition>},
        Key{"DefaultPartition", fall_back<&Rule::partition>},
        Key{"QOS", allow<&Rule::qos>},
        Key{"DefaultQOS", fall_back<&Rule::qos>},
        Key{"Reservation", allow<&Rule::reservation>},
        Key{"WCKey", allow<&Rule::wckey>},
        Key{"Licenses", allow<&Rule::licenses>},
        Key{"Share", [](Parser &p, const std::string &v) { p.set_share(v); }},
        Key{"External", [](Parser &p, const std::string &v) { p.set_external(v); }},
        Key{"MaxNodes", [](Parser &p, const std::string &v) { p.set_max_nodes(v); }},
        Key{"MaxTime", set_time<&Rule::max_time_min>},
        Key{"DefaultTime", set_time<&Rule::default_time_min>},
        Key{"Priority", permit<&Rule::priority>},
        Key{"Nice", permit<&Rule::nice>},
        Key{"PriorityClass", [](Parser &p, const std::string &v) { p.set_priority_classes(v); }},
    };
    return kKeys;
  }

  void fail(const std::string &what)
  {
    if (out_.errors.size() < kMaxErrors)
      out_.errors.push_back(line_ ? "line " + std::to_string(line_) + ": " + what : what);
  }

  void parse_line(std::string_view line)
  {
    std::vector<KeyValue> settings;
    if (line.find('\0') != std::string_view::npos)
      return fail("there is a zero byte");
    if (const std::string problem = split_line(line, settings); !problem.empty())
      return fail(problem);
    if (settings.empty())
      return;
    if (same_word(settings.front().key, "Namespace"))
      return parse_rule(settings);
    if (settings.size() > 1)
      return fail(settings.front().key + " must be alone on its line");
    apply(global_keys(), settings.front());
  }

  void parse_rule(const std::vector<KeyValue> &settings)
  {
    const std::size_t errors_before = out_.errors.size();
    rule_ = Rule{};
    rule_.line = line_;
    for (std::size_t i = 0; i < settings.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j)
        if (same_word(settings[i].key, settings[j].key))
          fail(settings[i].key + " is there twice");
      apply(rule_keys(), settings[i]);
    }
    if (!rule_.deny.empty() && settings.size() > 2)
      fail("Deny allows no other key beside Namespace");
    if (out_.errors.size() == errors_before && rule_.deny.empty())
      complete_rule();
    if (out_.errors.size() == errors_before)
      out_.policy.rules.push_back(rule_);
  }

  /// What the keys of a line mean together.
  void complete_rule()
  {
    if (rule_.users.empty())
      return fail("User (or Deny) is missing");
    for (const User &user : rule_.users)
      for (const auto &[name, gid] : rule_.groups)
        if (std::find(user.groups.begin(), user.groups.end(), gid) == user.groups.end())
          fail("user " + user.name + " is not in the group " + name);
    check_fallback(rule_.partition, "DefaultPartition", "Partition");
    check_fallback(rule_.qos, "DefaultQOS", "QOS");
    for (Choice *choice : {&rule_.account, &rule_.partition, &rule_.qos, &rule_.wckey})
      if (choice->fallback.empty() && choice->allowed && !choice->allowed->empty())
        choice->fallback = choice->allowed->front();
    if (rule_.max_time_min && rule_.default_time_min.value_or(0) > *rule_.max_time_min)
      fail("DefaultTime is longer than MaxTime");
  }

  void check_fallback(const Choice &choice, const char *key, const char *list)
  {
    if (choice.fallback.empty() || !choice.allowed)
      return;
    for (const std::string &name : values::split(choice.fallback, ','))
      if (std::find(choice.allowed->begin(), choice.allowed->end(), name) == choice.allowed->end())
        fail(std::string(key) + " " + name + " is not in " + list);
  }

  void apply(std::span<const Key> keys, const KeyValue &setting)
  {
    key_ = &setting.key;
    for (const Key &key : keys)
      if (same_word(key.name, setting.key))
        return key.set(*this, setting.value);
    // Silently ignoring a limit would be worse than not starting.
    fail("unknown key " + setting.key);
  }

  void set_once(std::string &where, const char *key, const std::string &value)
  {
    if (!where.empty())
      fail(std::string(key) + " is there twice");
    where = value;
  }

  void set_file(std::string &where, const char *key, const std::string &value)
  {
    if (value.front() != '/')
      fail(std::string(key) + " must be an absolute path");
    set_once(where, key, value);
  }

  void set_cluster(const std::string &value)
  {
    if (!values::is_cluster_id(value))
      fail("ClusterId may have 1 to 63 letters, digits, '-', '_' and '.'");
    set_once(out_.policy.cluster, "ClusterId", value);
  }

  void add_submit_users(const std::string &value)
  {
    for (const std::string &name : values::split(value, ','))
      if (const std::optional<User> user = look_up(name))
        out_.policy.submit_users.push_back(user->uid);
  }

  void add_event_urls(const std::string &value)
  {
    for (const std::string &url : values::split(value, ',')) {
      if (!is_event_url(url))
        fail("EventUrl must start with http://, https:// or unix:/");
      out_.policy.event_urls.push_back(url);
    }
  }

  void add_nodes(const std::string &value)
  {
    for (const std::string &pattern : values::split(value, ','))
      if (pattern.empty())
        fail("Node has an empty name");
      else
        out_.policy.nodes.push_back(pattern);
  }

  void set_users(const std::string &value)
  {
    for (const std::string &name : values::split(value, ',')) {
      const std::optional<User> user = look_up(name);
      if (user && user->uid == 0)
        fail("User must not be root");
      else if (user)
        rule_.users.push_back(*user);
    }
  }

  void set_groups(const std::string &value)
  {
    for (const std::string &name : values::split(value, ',')) {
      const std::optional<gid_t> group = name.empty() ? std::nullopt : names_.group(name);
      if (group)
        rule_.groups.emplace_back(name, *group);
      else
        fail("there is no group \"" + name + "\"");
    }
  }

  /// "none" is a list without anything in it.
  void set_choice(Choice &choice, const std::string &value)
  {
    choice.allowed.emplace();
    if (same_word(value, "none"))
      return;
    for (const std::string &name : values::split(value, ','))
      if (name.empty())
        fail(*key_ + " has an empty name");
      else
        choice.allowed->push_back(name);
  }

  void set_yes_no(bool &where, const std::string &value)
  {
    where = same_word(value, "yes");
    if (!where && !same_word(value, "no"))
      fail(*key_ + " must be yes or no");
  }

  void set_share(const std::string &value)
  {
    for (const std::string &name : values::split(value, ',')) {
      const std::size_t before = rule_.share.size();
      for (const Share share : {Share::exclusive, Share::k8s, Share::user, Share::shared})
        if (same_word(name, to_string(share)))
          rule_.share.push_back(share);
      if (rule_.share.size() == before)
        fail("Share must be of exclusive, k8s, user, shared");
    }
  }

  void set_external(const std::string &value)
  {
    set_yes_no(rule_.external, value);
    if (rule_.external && !slurm_compat::kHasExternalJobs)
      fail("External=yes needs Slurm 26.05 or newer");
  }

  void set_max_nodes(const std::string &value)
  {
    rule_.max_nodes = values::parse_number<std::uint32_t>(value);
    if (rule_.max_nodes.value_or(0) == 0 || *rule_.max_nodes > kMaxCount)
      fail("MaxNodes must be a number from 1 to " + std::to_string(kMaxCount));
  }

  /// name:qos, name:/nice or name:qos/nice
  void set_priority_classes(const std::string &value)
  {
    for (const std::string &item : values::split(value, ',')) {
      const std::size_t colon = item.find(':');
      const std::string effect = colon == std::string::npos ? "" : item.substr(colon + 1);
      const std::size_t slash = effect.find('/');
      PriorityClass made{item.substr(0, colon), effect.substr(0, slash), std::nullopt};
      if (slash != std::string::npos)
        made.nice = values::parse_number<int>(std::string_view(effect).substr(slash + 1));
      const bool good_nice = slash == std::string::npos ||
                             (made.nice && *made.nice >= -kMaxNice && *made.nice <= kMaxNice);
      if (made.name.empty() || effect.empty() || !good_nice)
        fail("PriorityClass must be of the form name:qos, name:/nice or name:qos/nice");
      rule_.priority_classes.push_back(made);
    }
  }

  std::optional<User> look_up(const std::string &name)
  {
    std::optional<User> user = name.empty() ? std::nullopt : names_.user(name);
    if (!user)
      fail("there is no user \"" + name + "\"");
    return user;
  }

  const NameService &names_;
  ParsedPolicy out_;
  Rule rule_;
  const std::string *key_ = nullptr;  // that is being applied
  int line_ = 0;
};

}  // namespace

ParsedPolicy parse_policy(std::string_view text, const NameService &names)
{
  return Parser(names).parse(text);
}
