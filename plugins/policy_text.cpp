// SPDX-License-Identifier: Apache-2.0
#include "policy_text.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace {

constexpr std::size_t kMaxFileBytes = 1024 * 1024;

}  // namespace

std::string policy_path_beside(const std::string &slurm_conf)
{
  return slurm_conf.substr(0, slurm_conf.find_last_of('/') + 1) + "k8s.conf";
}

std::string read_policy_text(const std::string &path, std::string &error)
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

std::vector<std::string> check_mcs_plugin(const Policy &policy, const std::string &mcs_plugin)
{
  std::vector<std::string> errors;
  for (const Rule &rule : policy.rules)
    if (mcs_plugin != "mcs/label" &&
        std::find(rule.share.begin(), rule.share.end(), Share::k8s) != rule.share.end())
      errors.push_back("line " + std::to_string(rule.line) +
                       ": Share=k8s needs MCSPlugin=mcs/label in slurm.conf");
  return errors;
}
