// SPDX-License-Identifier: Apache-2.0
// Keeps the credentials of the requests fresh: files that rotate, programs that print tokens.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "http/request.hpp"
#include "kube/credentials.hpp"
#include "kube/exec_plugin.hpp"
#include "loop.hpp"

namespace kube {

class Auth {
public:
  using Ready = std::function<void(const std::string &error)>;

  /// Nothing is read before the first request.
  Auth(Loop &loop, Credentials credentials);

  /// Calls `ready` as soon as there are credentials to use: at once if what we have is fresh.
  void prepare(Ready ready);
  /// Adds server name, token and certificates. Only after prepare() had no error.
  void apply(http::Request &request, const std::string &path) const;
  /// The API server answered 401: what we have is not good any more.
  void reject();

  const std::string &source() const { return credentials_.source; }

private:
  using Clock = std::chrono::system_clock;

  bool fresh() const;
  void read_files();
  void run_plugin();
  void finish(const std::string &error);

  Loop &loop_;
  const Credentials credentials_;
  std::string token_;
  std::shared_ptr<const http::Tls> tls_;  // shared with the requests that use it
  Clock::time_point good_until_{};
  ExecCredential from_plugin_;
  std::unique_ptr<ExecRun> running_;
  std::vector<Ready> waiting_;
};

}  // namespace kube
