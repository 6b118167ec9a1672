// SPDX-License-Identifier: Apache-2.0
// What Prometheus sees. All in the loop's thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

class Metrics {
public:
  /// What is read at the time of a scrape.
  struct Snapshot {
    std::map<std::string, int> gangs;  ///< by state
    bool ready = false, polling = false;
    std::size_t queued_writes = 0;
    double lost_events = 0, lost_hints = 0;
  };

  Metrics();
  ~Metrics();

  /// status 0: no answer.
  void kube_request(const std::string &request, long status, double seconds);
  void slurm_rpc(const std::string &rpc, const std::string &cause, double seconds);
  /// Seconds since the sidecar learnt of the allocation.
  void pod_bound(double seconds);
  void batch_received(std::size_t hints);

  /// Prometheus' text format.
  std::string render(const Snapshot &snapshot);

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};
