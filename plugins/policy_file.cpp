// SPDX-License-Identifier: Apache-2.0
#include "policy_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include <sys/stat.h>

#include "slurm_abi.hpp"

namespace {

constexpr std::size_t kMaxFileBytes = 1024 * 1024;
constexpr time_t kRetrySeconds = 10;

std::string read_file(const std::string &path, std::string &error)
{
  std::ifstream file(path, std::ios::binary);
  std::string text;
  text.resize(kMaxFileBytes + 1);
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (!file.is_open() || file.bad())
    error = std::strerror(errno);
  else if (text.size() > kMaxFileBytes)
    error = "the file is larger than 1 MiB";
  return text;
}

/// What the policy needs of slurm.conf.
void check_slurm(ParsedPolicy &parsed)
{
  const std::string mcs = slurm_conf.mcs_plugin ? slurm_conf.mcs_plugin : "";
  for (const Rule &rule : parsed.policy.rules)
    if (mcs != "mcs/label" &&
        std::find(rule.share.begin(), rule.share.end(), Share::k8s) != rule.share.end())
      parsed.errors.push_back("line " + std::to_string(rule.line) +
                              ": Share=k8s needs MCSPlugin=mcs/label in slurm.conf");
}

}  // namespace

bool PolicyFile::Stamp::operator==(const Stamp &other) const
{
  return modified.tv_sec == other.modified.tv_sec && modified.tv_nsec == other.modified.tv_nsec &&
         size == other.size && inode == other.inode && configured == other.configured;
}

PolicyFile::Stamp PolicyFile::look() const
{
  Stamp stamp;
  struct stat info {};
  if (stat(path_.c_str(), &info) == 0)
    stamp = {info.st_mtim, info.st_size, info.st_ino, 0};
  stamp.configured = __atomic_load_n(&slurm_conf.last_update, __ATOMIC_RELAXED);
  return stamp;
}

bool PolicyFile::refresh()
{
  // Looked at before the file is read: a change in between is seen the next time.
  const Stamp stamp = look();
  const time_t now = std::time(nullptr);
  if (stamp == seen_ && (retry_at_ == 0 || now < retry_at_))
    return false;
  seen_ = stamp;
  retry_at_ = 0;

  std::string error;
  const std::string text = read_file(path_, error);
  ParsedPolicy parsed;
  if (error.empty()) {
    parsed = parse_policy(text, system_names());
    check_slurm(parsed);
  } else {
    parsed.errors.push_back(error);
  }
  report(parsed.errors);
  if (!parsed.errors.empty()) {
    retry_at_ = now + kRetrySeconds;
    return false;
  }
  auto fresh = std::make_shared<const Policy>(std::move(parsed.policy));
  const std::lock_guard lock(mutex_);
  policy_ = std::move(fresh);
  return true;
}

void PolicyFile::report(const std::vector<std::string> &errors)
{
  if (errors == reported_)
    return;
  for (const std::string &error : errors)
    slurm_error("k8s: %s: %s", path_.c_str(), error.c_str());
  if (!errors.empty())
    slurm_error("k8s: %s is not used; %s", path_.c_str(),
                current() ? "the policy before it stays in force" : "there is no policy yet");
  else
    slurm_info("k8s: %s is good again", path_.c_str());
  reported_ = errors;
}

std::shared_ptr<const Policy> PolicyFile::current() const
{
  const std::lock_guard lock(mutex_);
  return policy_;
}

std::string policy_path()
{
  const std::string slurm = slurm_conf.slurm_conf ? slurm_conf.slurm_conf : "/etc/slurm/slurm.conf";
  return slurm.substr(0, slurm.find_last_of('/') + 1) + "k8s.conf";
}
