// SPDX-License-Identifier: Apache-2.0
// The HTTP listener: hints from prep/k8s, metrics, health. Runs on the loop, in its thread.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "loop.hpp"
#include "protocol.hpp"

struct ListenerHooks {
  std::function<void(const protocol::Batch &)> events;  ///< POST /v1/events
  std::function<std::string()> metrics;                 ///< GET /metrics
  std::function<bool()> ready;                          ///< GET /readyz
};

class Listener {
public:
  /// `address` as in the configuration. Senders of events must show the token in `token_file`
  /// (read again when it changes); "" = none. Throws std::runtime_error.
  Listener(Loop &loop, const std::string &address, const std::string &token_file,
           ListenerHooks hooks);
  ~Listener();
  Listener(const Listener &) = delete;
  Listener &operator=(const Listener &) = delete;

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};
