// SPDX-License-Identifier: Apache-2.0
// The sidecar's parts, in the order in which they need each other.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "config.hpp"
#include "controller/controller.hpp"
#include "http/transfers.hpp"
#include "kube/api_writer.hpp"
#include "kube/auth.hpp"
#include "kube/client.hpp"
#include "kube/reflector.hpp"
#include "listener.hpp"
#include "loop.hpp"
#include "metrics.hpp"
#include "slurm/libslurm_client.hpp"

class App {
public:
  /// Throws kube::CredentialsError and std::runtime_error (the listener's address).
  explicit App(const Config &config);

  /// Until SIGTERM or SIGINT, and what was under way has ended.
  void run();

private:
  template <typename T>
  using Reflectors = std::vector<std::unique_ptr<kube::Reflector<T>>>;

  template <typename T>
  void watch(Reflectors<T> &to, const std::string &group, const std::string &plural,
             const std::string &ns, const std::string &field_selector = {});
  template <typename Fn>
  void each_reflector(const Fn &fn);
  void make_reflectors();
  void start_reflectors();
  void synced();
  void drain();
  void wait_until_idle();
  Metrics::Snapshot snapshot() const;

  const Config config_;
  Loop loop_;
  Metrics metrics_;
  http::Transfers transfers_;
  kube::Auth auth_;
  kube::Client kube_;
  kube::ApiWriter writer_;
  slurm::LibslurmClient slurm_;
  controller::Controller controller_;
  Reflectors<kube::Pod> pods_;
  Reflectors<kube::PodGroup> groups_;
  Reflectors<kube::JobSet> job_sets_;
  Reflectors<kube::Namespace> namespaces_;
  Reflectors<kube::Node> nodes_;
  Listener listener_;
  bool draining_ = false;
  std::chrono::steady_clock::time_point drain_until_{};
};
