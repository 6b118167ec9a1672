// SPDX-License-Identifier: Apache-2.0
// Writer over the API server: a bounded number of requests in flight, retries, and what the
// answers mean.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "kube/client.hpp"
#include "kube/write_queue.hpp"
#include "kube/writer.hpp"
#include "loop.hpp"

namespace kube {

class ApiWriter final : public Writer {
public:
  /// `instance` tells two sidecars apart in Events.
  ApiWriter(Client &client, Timers &timers, int max_in_flight, std::string instance);

  void bind(const ObjectRef &pod, const std::string &node,
            const std::map<std::string, std::string> &labels,
            const std::map<std::string, std::string> &annotations, Done done) override;
  void set_pod_condition(const ObjectRef &pod, const Condition &condition,
                         std::int64_t observed_generation, Done done) override;
  void delete_pod(const ObjectRef &pod, std::optional<std::int64_t> grace_s, Done done) override;
  void post_event(const ObjectRef &regarding, const Event &event) override;

  bool idle() const { return in_flight_ == 0 && waiting_ == 0 && queue_.empty(); }
  std::size_t queued() const { return queue_.size() + waiting_; }
  std::uint64_t lost_events() const { return lost_events_; }

private:
  void enqueue(Write write);
  void pump();
  void send(Write write);
  void answered(Write write, const http::Response &response);
  void retry(Write write, const WriteResult &result, const http::Response &response);
  void finish(const Write &write, const WriteResult &result);

  Client &client_;
  Timers &timers_;
  const int max_in_flight_;
  const std::string instance_;
  int in_flight_ = 0;
  std::size_t waiting_ = 0;  // between two tries
  WriteQueue queue_;
  std::uint64_t last_event_ = 0, lost_events_ = 0;
};

/// What the API server's answer to a write means; shown for tests.
WriteResult judge_bind(const http::Response &response, const std::string &node);
WriteResult judge_write(const http::Response &response);

}  // namespace kube
