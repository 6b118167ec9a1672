// SPDX-License-Identifier: Apache-2.0
// One HTTP request and its response as plain values.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace http {

/// All PEM. Without `ca` the system's authorities count; with it only those.
struct Tls {
  std::string ca, certificate, key;
  bool insecure = false;  ///< accept any server certificate
};

struct Request {
  std::string method = "GET", url, body;
  std::vector<std::string> headers;  ///< "Name: value"
  std::shared_ptr<const Tls> tls;    ///< shared by all requests that carry the same credentials
  std::optional<std::string> proxy;  ///< "" = none; not given = as the environment says
  std::string connect_to;            ///< "host:port" to connect to, whatever the URL says
  std::chrono::milliseconds timeout{30'000};  ///< for the whole exchange; 0 = none
  std::size_t max_body = 1 << 20;             ///< more is an error (not for streamed bodies)
  /// When given, the body of a 2xx answer is passed on as it comes, in pieces of any size.
  /// Runs in the loop's thread outside of libcurl, so it may start and cancel requests.
  std::function<void(std::string_view)> on_data;
};

struct Response {
  long status = 0;    ///< 0 = there was no answer
  std::string body;   ///< empty if it was streamed
  std::string error;  ///< why there was no answer or not all of it; "" = complete
  std::optional<std::chrono::seconds> retry_after;
  double seconds = 0;  ///< how long it took

  bool ok() const { return error.empty() && status >= 200 && status < 300; }
};

}  // namespace http
