// SPDX-License-Identifier: Apache-2.0
#include "policy.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <utility>

#include <fnmatch.h>
#include <pwd.h>
#include <strings.h>

#include "slurm_compat.hpp"

namespace {

constexpr std::size_t kMaxErrors = 20;
constexpr std::size_t kMaxClusterId = 63;

struct Setting {
  std::string key;
  std::string value;
};

bool same_word(std::string_view a, std::string_view b)
{
  return a.size() == b.size() && strncasecmp(a.data(), b.data(), a.size()) == 0;
}

std::vector<std::string> split_list(const std::string &text)
{
  std::vector<std::string> items;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t to = std::min(text.find(',', from), text.size());
    items.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  return items;
}

bool has_empty(const std::vector<std::string> &items)
{
  return std::any_of(items.begin(), items.end(), [](const auto &item) { return item.empty(); });
}

bool is_cluster_id(const std::string &text)
{
  return !text.empty() && text.size() <= kMaxClusterId &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return std::isalnum(c) || c == '-' || c == '_' || c == '.';
         });
}

bool is_event_url(const std::string &text)
{
  for (const std::string prefix : {"http://", "https://", "unix:/"})
    if (text.starts_with(prefix) && text.size() > prefix.size())
      return true;
  return false;
}

/// Key=value words of one line; a value may be in double quotes. Returns "" or what is wrong.
std::string split_line(std::string_view line, std::vector<Setting> &settings)
{
  const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  std::size_t at = 0;
  while (at < line.size()) {
    if (is_space(line[at])) {
      ++at;
      continue;
    }
    if (line[at] == '#')
      break;
    const std::size_t key_from = at;
    while (at < line.size() && !is_space(line[at]) && line[at] != '=')
      ++at;
    const std::string key(line.substr(key_from, at - key_from));
    if (at == line.size() || line[at] != '=' || key.empty())
      return "\"" + key + "\" is not of the form Key=value";
    ++at;
    std::string value;
    if (at < line.size() && line[at] == '"') {
      const std::size_t end = line.find('"', at + 1);
      if (end == std::string_view::npos)
        return key + ": the closing quote is missing";
      value = line.substr(at + 1, end - at - 1);
      at = end + 1;
      if (at < line.size() && !is_space(line[at]) && line[at] != '#')
        return key + ": there is text after the closing quote";
    } else {
      const std::size_t from = at;
      while (at < line.size() && !is_space(line[at]))
        ++at;
      value = line.substr(from, at - from);
    }
    if (value.empty())
      return key + ": the value is empty";
    settings.push_back({key, value});
  }
  return "";
}

class Parser {
public:
  explicit Parser(const UserLookup &lookup) : lookup_(lookup) {}

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
    void (Parser::*set)(const std::string &value);
  };

  void fail(const std::string &what)
  {
    if (out_.errors.size() < kMaxErrors)
      out_.errors.push_back(line_ ? "line " + std::to_string(line_) + ": " + what : what);
  }

  void parse_line(std::string_view line)
  {
    std::vector<Setting> settings;
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
    static constexpr std::array<Key, 5> kKeys{{
        {"ClusterId", &Parser::set_cluster},
        {"SubmitUser", &Parser::add_submit_users},
        {"EventUrl", &Parser::set_event_url},
        {"EventTokenFile", &Parser::set_event_token_file},
        {"EventCaFile", &Parser::set_event_ca_file},
    }};
    apply(kKeys, settings.front());
  }

  void parse_rule(const std::vector<Setting> &settings)
  {
    static constexpr std::array<Key, 6> kKeys{{
        {"Namespace", &Parser::set_namespace},
        {"Deny", &Parser::set_deny},
        {"Account", &Parser::set_account},
        {"User", &Parser::set_user},
        {"Partition", &Parser::set_partitions},
        {"External", &Parser::set_external},
    }};
    const std::size_t errors_before = out_.errors.size();
    rule_ = Rule{};
    rule_.line = line_;
    for (std::size_t i = 0; i < settings.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j)
        if (same_word(settings[i].key, settings[j].key))
          fail(settings[i].key + " is there twice");
      apply(kKeys, settings[i]);
    }
    if (out_.errors.size() != errors_before)
      return;
    if (!rule_.deny.empty() && settings.size() > 2)
      return fail("Deny allows no other key beside Namespace");
    if (rule_.deny.empty() && rule_.user_name.empty())
      return fail("User (or Deny) is missing");
    out_.policy.rules.push_back(rule_);
  }

  template <class Keys>
  void apply(const Keys &keys, const Setting &setting)
  {
    for (const Key &key : keys)
      if (same_word(key.name, setting.key))
        return (this->*key.set)(setting.value);
    // Silently ignoring a limit would be worse than not starting.
    for (const char *later :
         {"QOS", "Share", "MaxNodes", "MaxTime", "Reservation", "Node", "Label"})
      if (same_word(later, setting.key))
        return fail(setting.key + " is not supported yet");
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
    if (!is_cluster_id(value))
      fail("ClusterId may have 1 to 63 letters, digits, '-', '_' and '.'");
    set_once(out_.policy.cluster, "ClusterId", value);
  }

  void add_submit_users(const std::string &value)
  {
    for (const std::string &name : split_list(value)) {
      if (const std::optional<User> user = look_up(name))
        out_.policy.submit_users.push_back(user->uid);
    }
  }

  void set_event_url(const std::string &value)
  {
    if (!is_event_url(value))
      fail("EventUrl must start with http://, https:// or unix:/");
    set_once(out_.policy.event_url, "EventUrl", value);
  }

  void set_event_token_file(const std::string &value)
  {
    set_file(out_.policy.event_token_file, "EventTokenFile", value);
  }

  void set_event_ca_file(const std::string &value)
  {
    set_file(out_.policy.event_ca_file, "EventCaFile", value);
  }

  void set_namespace(const std::string &value) { rule_.ns = value; }
  void set_deny(const std::string &value) { rule_.deny = value; }
  void set_account(const std::string &value) { rule_.account = value; }

  void set_user(const std::string &value)
  {
    const std::optional<User> user = look_up(value);
    if (user && user->uid == 0)
      return fail("User must not be root");
    rule_.user_name = value;
    rule_.user = user.value_or(User{});
  }

  void set_partitions(const std::string &value)
  {
    rule_.partitions = split_list(value);
    if (has_empty(rule_.partitions))
      fail("Partition has an empty name");
  }

  void set_external(const std::string &value)
  {
    if (same_word(value, "yes"))
      rule_.external = true;
    else if (!same_word(value, "no"))
      fail("External must be yes or no");
    if (rule_.external && !slurm_compat::kHasExternalJobs)
      fail("External=yes needs Slurm 26.05 or newer");
  }

  std::optional<User> look_up(const std::string &name)
  {
    const std::optional<User> user = name.empty() ? std::nullopt : lookup_(name);
    if (!user)
      fail("there is no user \"" + name + "\"");
    return user;
  }

  const UserLookup &lookup_;
  ParsedPolicy out_;
  Rule rule_;
  int line_ = 0;
};

}  // namespace

std::optional<User> look_up_user(const std::string &name)
{
  std::vector<char> buffer(16 * 1024);
  passwd entry{}, *found = nullptr;
  int rc = 0;
  uid_t uid = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), uid);
  const bool is_number = error == std::errc{} && end == name.data() + name.size();
  do {
    rc = is_number ? getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found)
                   : getpwnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found);
    if (rc == ERANGE)
      buffer.resize(buffer.size() * 2);
  } while (rc == EINTR || (rc == ERANGE && buffer.size() <= 1024 * 1024));
  if (rc != 0 || !found)
    return std::nullopt;
  return User{found->pw_uid, found->pw_gid};
}

bool Policy::is_submit_user(uid_t uid) const
{
  return std::find(submit_users.begin(), submit_users.end(), uid) != submit_users.end();
}

const Rule *Policy::rule_for(const std::string &ns) const
{
  for (const Rule &rule : rules)
    if (fnmatch(rule.ns.c_str(), ns.c_str(), 0) == 0)
      return &rule;
  return nullptr;
}

ParsedPolicy parse_policy(std::string_view text, const UserLookup &lookup)
{
  return Parser(lookup).parse(text);
}
