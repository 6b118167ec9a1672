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

struct ListenerSettings {
  std::string address;              ///< as in the configuration
  std::string token_file;           ///< what senders of events must show; "" = nothing
  std::string cert_file, key_file;  ///< PEM, for TLS; "" = without
};

class Listener {
public:
  /// All files are read again when they change. Throws std::runtime_error.
  Listener(Loop &loop, ListenerSettings settings, ListenerHooks hooks);
  ~Listener();
  Listener(const Listener &) = delete;
  Listener &operator=(const Listener &) = delete;

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};
