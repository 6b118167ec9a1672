// SPDX-License-Identifier: Apache-2.0
// The list/watch protocol for one collection: every object, then every change, without a gap.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "kube/client.hpp"
#include "kube/json.hpp"
#include "kube/json_stream.hpp"
#include "loop.hpp"

namespace kube {

struct Collection {
  std::string path;  ///< "/api/v1/pods"
  std::string field_selector;
  std::string name;     ///< for messages and metrics: "pods"
  bool custom = false;  ///< comes with a CRD, so the server may not have it
};

/// Uses WatchList (the first watch also brings what exists) and falls back to list and watch where
/// the server does not have it. Survives: end of stream, also within an object; 410 in either form;
/// 429 with Retry-After; a custom collection that does not exist yet, which counts as empty.
/// A 404 never removes anything: it may be a proxy's. Who deletes a CRD for good deletes its objects
/// first, and a watch tells of each.
class Watcher {
public:
  struct Handler {
    std::function<void()> begins;              ///< all that exists follows
    std::function<void(json::Value)> seen;     ///< added or changed
    std::function<void(json::Value)> deleted;  ///< with its last state
    std::function<void()> complete;            ///< what was not seen since begins() is gone
    std::function<bool()> empty;               ///< nothing of it is known
  };

  Watcher(Client &client, Timers &timers, Collection collection, Handler handler);
  ~Watcher();
  Watcher(const Watcher &) = delete;
  Watcher &operator=(const Watcher &) = delete;

  void start();
  void stop();
  /// The server does not know this collection.
  bool absent() const { return absent_; }
  const Collection &collection() const { return collection_; }

private:
  enum class Step { watch_list, list, watch };

  void go();
  void open_watch();
  void fetch_page();
  void receive(std::string_view data);
  bool take_event(std::string_view text);
  void take_bookmark(json::Value object);
  void take_error(json::Value status);
  void stream_ended(const http::Response &response);
  void page_arrived(const http::Response &response);
  void failed(const http::Response &response);
  void not_found();
  void start_over(const std::string &why);
  void again(std::chrono::milliseconds pause);
  void begin();
  void complete(const std::string &resource_version);
  std::string query() const;
  void guarded(json::Value object, const std::function<void(json::Value)> &fn);

  Client &client_;
  Timers &timers_;
  const Collection collection_;
  const Handler handler_;

  Step step_ = Step::watch_list;
  bool no_watch_list_ = false;  // this server does not have it
  bool started_ = false, absent_ = false, listing_ = false;
  bool progress_ = false;  // the stream brought something
  bool expired_ = false;   // the stream said 410
  std::string resource_version_, continue_;
  std::string trouble_;  // what is wrong with the stream
  int failures_ = 0;
  int not_found_ = 0;  // 404s in a row, while nothing is known
  Client::Id request_ = 0;
  Timers::Id timer_ = 0;
  std::unique_ptr<JsonStream> stream_;
};

}  // namespace kube
