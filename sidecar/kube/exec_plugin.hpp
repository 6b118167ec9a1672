// SPDX-License-Identifier: Apache-2.0
// Runs a credential plugin of a kubeconfig beside the loop and reads what it prints.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "kube/credentials.hpp"
#include "loop.hpp"

namespace kube {

/// status of an ExecCredential.
struct ExecCredential {
  std::string token, certificate, key;
  std::optional<std::chrono::system_clock::time_point> expires;
};

/// Throws CredentialsError if `text` is not what a plugin of that version prints.
ExecCredential parse_exec_credential(const ExecPlugin &plugin, const std::string &text);

/// One run. Destroying it kills the program.
class ExecRun {
public:
  /// `error` is "" on success. Called once, from the loop.
  using Done = std::function<void(const std::string &error, const ExecCredential &credential)>;

  ExecRun(Loop &loop, const Credentials &credentials, Done done);
  ~ExecRun();
  ExecRun(const ExecRun &) = delete;
  ExecRun &operator=(const ExecRun &) = delete;

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kube
