// SPDX-License-Identifier: Apache-2.0
#include "policy.hpp"

#include <algorithm>
#include <cerrno>

#include <fnmatch.h>
#include <grp.h>
#include <pwd.h>

#include "values.hpp"

namespace {

constexpr std::size_t kBuffer = 16 * 1024, kMaxBuffer = 16 * 1024 * 1024;
constexpr int kMaxGroups = 65'536;

/// Calls one of the get…_r functions with a buffer that is large enough; the entry or null.
template <class Entry, class Get>
Entry *look_up(Entry &entry, std::vector<char> &buffer, const Get &get)
{
  Entry *found = nullptr;
  int rc = 0;
  do {
    rc = get(&entry, buffer.data(), buffer.size(), &found);
    if (rc == ERANGE)
      buffer.resize(buffer.size() * 2);
  } while (rc == EINTR || (rc == ERANGE && buffer.size() <= kMaxBuffer));
  return rc == 0 ? found : nullptr;
}

std::vector<gid_t> groups_of(const passwd &entry)
{
  int count = 64;
  std::vector<gid_t> groups(static_cast<std::size_t>(count));
  while (getgrouplist(entry.pw_name, entry.pw_gid, groups.data(), &count) < 0) {
    if (count <= static_cast<int>(groups.size()) || count > kMaxGroups)
      return {entry.pw_gid};
    groups.resize(static_cast<std::size_t>(count));
  }
  groups.resize(static_cast<std::size_t>(count));
  return groups;
}

std::optional<User> look_up_user(const std::string &name)
{
  std::vector<char> buffer(kBuffer);
  passwd entry{};
  const auto uid = values::parse_number<std::uint32_t>(name);
  const passwd *found = look_up(entry, buffer, [&](auto... rest) {
    return uid ? getpwuid_r(*uid, rest...) : getpwnam_r(name.c_str(), rest...);
  });
  if (!found)
    return std::nullopt;
  return User{found->pw_name, found->pw_uid, found->pw_gid, groups_of(*found)};
}

std::optional<gid_t> look_up_group(const std::string &name)
{
  std::vector<char> buffer(kBuffer);
  ::group entry{};
  const auto gid = values::parse_number<std::uint32_t>(name);
  const ::group *found = look_up(entry, buffer, [&](auto... rest) {
    return gid ? getgrgid_r(*gid, rest...) : getgrnam_r(name.c_str(), rest...);
  });
  return found ? std::optional(found->gr_gid) : std::nullopt;
}

bool matches(const std::string &pattern, const std::string &name)
{
  return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

}  // namespace

NameService system_names() { return {look_up_user, look_up_group}; }

const char *to_string(Share share) noexcept
{
  switch (share) {
  case Share::exclusive: return "exclusive";
  case Share::k8s: return "k8s";
  case Share::user: return "user";
  case Share::shared: return "shared";
  }
  return "unknown";
}

bool Policy::is_submit_user(uid_t uid) const
{
  return std::find(submit_users.begin(), submit_users.end(), uid) != submit_users.end();
}

const Rule *Policy::rule_for(const std::string &ns) const
{
  for (const Rule &rule : rules)
    if (matches(rule.ns, ns))
      return &rule;
  return nullptr;
}

const std::string *Policy::node_pattern_for(const std::string &node) const
{
  for (const std::string &pattern : nodes)
    if (matches(pattern, node))
      return &pattern;
  return nullptr;
}
