// SPDX-License-Identifier: Apache-2.0
// Keeps the policy of k8s.conf up to date. The last good one stays in force while the file is bad.
#pragma once

#include <ctime>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "policy.hpp"

class PolicyFile {
public:
  explicit PolicyFile(std::string path) : path_(std::move(path)) {}

  /// Reads the file again if it changed, if Slurm was reconfigured, or (for names that could not
  /// be looked up yet) some time after an error. True if there is a new policy. Errors are logged
  /// when they are new. Call it about once a second, from one thread, without slurmctld's locks.
  bool refresh();

  /// Null as long as no good file was seen. Callable from any thread.
  /// Shared, because a new policy may come while a request is still being judged by the old one.
  std::shared_ptr<const Policy> current() const;

private:
  struct Stamp {
    timespec modified{};
    off_t size = -1;
    ino_t inode = 0;
    time_t configured = 0;  ///< when Slurm read its own configuration
    bool operator==(const Stamp &other) const;
  };

  Stamp look() const;
  void report(const std::vector<std::string> &errors);

  const std::string path_;
  Stamp seen_;
  time_t retry_at_ = 0;
  std::vector<std::string> reported_;
  mutable std::mutex mutex_;  // of policy_
  std::shared_ptr<const Policy> policy_;
};

/// Where k8s.conf lies: beside slurm.conf.
std::string policy_path();
