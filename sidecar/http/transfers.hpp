// SPDX-License-Identifier: Apache-2.0
// Runs HTTP requests on the loop; connections are kept and used again.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "http/request.hpp"

class Loop;

namespace http {

/// One per loop. Everything runs in the loop's thread. HTTP/1.1: a watch has its connection for
/// itself, so that neither a stalled stream nor the loss of a connection reaches other requests.
class Transfers {
public:
  using Id = std::uint64_t;  ///< 0 is never a request
  using Done = std::function<void(Response)>;

  explicit Transfers(Loop &loop);
  ~Transfers();  ///< cancels what runs
  Transfers(const Transfers &) = delete;
  Transfers &operator=(const Transfers &) = delete;

  /// `done` is called once, never from within start().
  Id start(Request request, Done done);
  /// Neither on_data nor done are called any more. Unknown or finished requests are ignored.
  void cancel(Id id);

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace http
