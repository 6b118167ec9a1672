// SPDX-License-Identifier: Apache-2.0
// Requests to one API server, authenticated; an answer 401 is repeated once with fresh credentials.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "http/request.hpp"
#include "http/transfers.hpp"
#include "kube/auth.hpp"

namespace kube {

struct Call {
  std::string method = "GET";
  std::string path;  ///< with the query, values escaped
  std::string body, content_type = "application/json";
  const char *label = "";  ///< what it is, for metrics: "bind", "watch pods"
  std::chrono::milliseconds timeout{30'000};
  std::size_t max_body = 4 << 20;
  std::function<void(std::string_view)> on_data;  ///< see http::Request
};

/// All in the loop's thread.
class Client {
public:
  using Id = std::uint64_t;  ///< 0 is never a request
  using Done = std::function<void(const http::Response &)>;
  using Observer = std::function<void(const Call &, const http::Response &)>;

  Client(http::Transfers &transfers, Auth &auth) : transfers_(transfers), auth_(auth) {}
  ~Client();
  Client(const Client &) = delete;
  Client &operator=(const Client &) = delete;

  /// `done` is called once, perhaps from within request() if the credentials cannot be read.
  Id request(Call call, Done done);
  /// Neither on_data nor done are called any more.
  void cancel(Id id);
  /// Called after each answer, also the 401 that is repeated.
  void observe(Observer observer) { observer_ = std::move(observer); }

private:
  struct Running {
    Call call;
    Done done;
    http::Transfers::Id transfer = 0;
    bool repeated = false;
  };

  void prepare(Id id);
  void send(Id id);
  void answered(Id id, const http::Response &response);
  void finish(Id id, const http::Response &response);

  http::Transfers &transfers_;
  Auth &auth_;
  Observer observer_;
  Id last_id_ = 0;
  std::map<Id, Running> running_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // Auth may answer after us
};

/// Percent-encodes everything but unreserved characters.
std::string escape(std::string_view text);

}  // namespace kube
