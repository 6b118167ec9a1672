// SPDX-License-Identifier: Apache-2.0
#include "policy_file.hpp"

#include <utility>

#include <sys/stat.h>

#include "policy_text.hpp"
#include "slurm_abi.hpp"

namespace {

constexpr time_t kRetrySeconds = 10;

/// A text of slurm.conf, or "".
std::string configured(char *slurm_conf_t::*field)
{
  const slurm_abi::SlurmConf conf;
  const char *text = (*conf).*field;
  return text ? text : "";
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
  stamp.configured = (*slurm_abi::SlurmConf()).last_update;
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
  const std::string text = read_policy_text(path_, error);
  ParsedPolicy parsed;
  if (error.empty()) {
    parsed = parse_policy(text, system_names());
    // What the policy needs of slurm.conf.
    const std::string mcs_plugin = configured(&slurm_conf_t::mcs_plugin);
    for (std::string &missing : check_mcs_plugin(parsed.policy, mcs_plugin))
      parsed.errors.push_back(std::move(missing));
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
  const std::string slurm = configured(&slurm_conf_t::slurm_conf);
  return policy_path_beside(slurm.empty() ? kDefaultSlurmConf : slurm);
}
