// SPDX-License-Identifier: Apache-2.0
// An API client against the scripted server, and timers that fire at once but remember the pauses.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "http/transfers.hpp"
#include "kube/auth.hpp"
#include "kube/client.hpp"
#include "kube/credentials.hpp"
#include "loop.hpp"
#include "server.hpp"

namespace rig {

class HastyTimers final : public Timers {
public:
  explicit HastyTimers(Loop &loop) : loop_(loop) {}

  Id after(std::chrono::milliseconds delay, std::function<void()> fn) override
  {
    pauses.push_back(delay);
    if (hold) {
      held.push_back(std::move(fn));
      return 0;
    }
    return loop_.after({}, std::move(fn));
  }
  void cancel(Id id) override { loop_.cancel(id); }
  std::chrono::steady_clock::time_point now() const override { return loop_.now(); }

  std::vector<std::chrono::milliseconds> pauses;
  bool hold = false;  ///< timers do not fire but go here
  std::vector<std::function<void()>> held;

private:
  Loop &loop_;
};

inline kube::Credentials credentials_for(const std::string &server)
{
  kube::Credentials out;
  out.server = server;
  out.token.text = "first";
  return out;
}

struct Rig {
  Loop loop;
  fake::Server server{loop};
  HastyTimers timers{loop};
  http::Transfers transfers{loop};
  kube::Auth auth{loop, credentials_for(server.url())};
  kube::Client client{transfers, auth};

  bool until(const std::function<bool()> &done) { return fake::run_until(loop, done); }
};

}  // namespace rig
