// SPDX-License-Identifier: Apache-2.0
// The writes that wait for their turn: Bindings and deletions, then status patches, then events.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "kube/client.hpp"
#include "kube/writer.hpp"

namespace kube {

struct Write {
  enum class Kind : std::uint8_t { urgent, patch, event };

  Kind kind = Kind::urgent;
  std::string subject;  ///< of a patch: what it is about
  Call call;
  std::function<WriteResult(const http::Response &)> judge;
  Writer::Done done;
  int tries = 0;
};

/// Of the patches about one subject at most one is under way, and only the newest waits behind it;
/// those that it supersedes are told that they failed.
class WriteQueue {
public:
  void put(Write write);
  /// Patches about this subject that have not been sent no longer count.
  void drop(const std::string &subject);
  /// The next to be sent, which is then under way until end() or put_back().
  std::optional<Write> take();
  /// One that was under way, to be sent again before the others of its kind.
  void put_back(Write write);
  /// No longer under way, whatever the answer was.
  void end(const Write &write);
  /// A later write says more than this one, which is under way.
  bool superseded(const Write &write) const;

  bool empty() const { return urgent_.empty() && subjects_.empty() && events_.empty(); }
  std::size_t size() const;
  std::size_t events() const { return events_.size(); }

private:
  struct Subject {
    std::optional<Write> next;
    bool under_way = false;
    bool stale = false;  // what is under way is superseded
  };

  std::deque<Write> urgent_, events_;
  std::map<std::string, Subject> subjects_;
  std::deque<std::string> turns_;  // of subjects; one whose patch was dropped has none to send
};

}  // namespace kube
