// SPDX-License-Identifier: Apache-2.0
// A scripted HTTP/1.1 server for protocol faults. It runs on the test's own loop, so that a test
// decides byte by byte what its client sees, and when.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "loop.hpp"

namespace fake {

struct Request {
  std::string method, target, body;
  std::map<std::string, std::string> headers;  ///< names in lower case
  int connection = 0;                          ///< which connection brought it, from 1

  std::string header(const std::string &name) const
  {
    const auto found = headers.find(name);
    return found == headers.end() ? "" : found->second;
  }
};

class Connection;

/// The answer to one request; may be kept and given later. Without effect on a closed connection.
class Reply {
public:
  explicit Reply(std::weak_ptr<Connection> connection) : connection_(std::move(connection)) {}

  /// A whole answer. `extra` are header lines, each with its line end.
  void send(int status, const std::string &body = {}, const std::string &extra = {}) const;
  /// An answer in pieces: head, any number of pieces, end.
  void begin(int status = 200, const std::string &extra = {}) const;
  void piece(std::string_view data) const;
  void end() const;
  /// Bytes as they are.
  void raw(const std::string &bytes) const;
  /// Closes the connection, whatever was promised.
  void cut() const;
  bool connected() const;

private:
  std::weak_ptr<Connection> connection_;
};

using Handler = std::function<void(const Request &, const Reply &)>;

/// Listens on 127.0.0.1 at a port of the kernel's choice.
class Server {
public:
  explicit Server(Loop &loop);
  ~Server();
  Server(const Server &) = delete;
  Server &operator=(const Server &) = delete;

  /// "http://127.0.0.1:PORT"
  std::string url() const;
  /// The next request without a handler gets this one; requests beyond the script stay unanswered.
  void expect(Handler handler) { script_.push_back(std::move(handler)); }
  void answer(int status, const std::string &body = {}, const std::string &extra = {});
  /// Every request that the script does not cover.
  void otherwise(Handler handler) { otherwise_ = std::move(handler); }

  const std::vector<Request> &requests() const { return requests_; }
  int connections() const { return accepted_; }

private:
  friend class Connection;
  void accept_one();
  void serve(Request request, const Reply &reply);
  void forget(int fd);

  Loop &loop_;
  int fd_ = -1, port_ = 0, accepted_ = 0;
  std::map<int, std::shared_ptr<Connection>> connections_;
  std::deque<Handler> script_;
  Handler otherwise_;
  std::vector<Request> requests_;
};

/// Runs the loop until `done` says so. False if it took longer than `limit`.
bool run_until(Loop &loop, const std::function<bool()> &done,
               std::chrono::milliseconds limit = std::chrono::seconds(20));
/// Lets the loop handle what is under way already: a few rounds of it.
void settle(Loop &loop);

}  // namespace fake
