// SPDX-License-Identifier: Apache-2.0
#include "metrics.hpp"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <ctime>
#include <fstream>

#include <unistd.h>

using prometheus::BuildCounter;
using prometheus::BuildGauge;
using prometheus::BuildHistogram;
using prometheus::Histogram;

namespace {

const Histogram::BucketBoundaries kSeconds{0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1,
                                           0.2,   0.5,   1,     2,    5,    10,   60};

double resident_bytes()
{
  std::ifstream statm("/proc/self/statm");
  double size = 0, resident = 0;
  statm >> size >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

double cpu_seconds()
{
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
}

}  // namespace

struct Metrics::Impl {
  prometheus::Registry registry;

  prometheus::Family<prometheus::Counter> &counter(const char *name, const char *help)
  {
    return BuildCounter().Name(name).Help(help).Register(registry);
  }
  prometheus::Family<prometheus::Gauge> &gauge(const char *name, const char *help)
  {
    return BuildGauge().Name(name).Help(help).Register(registry);
  }
  prometheus::Family<Histogram> &histogram(const char *name, const char *help)
  {
    return BuildHistogram().Name(name).Help(help).Register(registry);
  }

  prometheus::Family<prometheus::Counter> &kube_requests = counter(
      "slurm_k8s_kube_requests_total", "Requests to the API server, by kind and HTTP status");
  prometheus::Family<Histogram> &kube_seconds = histogram(
      "slurm_k8s_kube_request_seconds", "Duration of requests to the API server, watches left out");
  prometheus::Family<prometheus::Counter> &slurm_rpcs =
      counter("slurm_k8s_slurm_rpcs_total", "Requests to slurmctld, by kind and result");
  prometheus::Family<Histogram> &slurm_seconds =
      histogram("slurm_k8s_slurm_rpc_seconds", "Duration of requests to slurmctld");
  Histogram &bind_seconds =
      histogram("slurm_k8s_bind_seconds", "From the news of an allocation to the pod's binding")
          .Add({}, kSeconds);
  prometheus::Counter &hints =
      counter("slurm_k8s_hints_total", "Hints received from prep/k8s").Add({});
  prometheus::Counter &batches =
      counter("slurm_k8s_hint_batches_total", "Batches received from prep/k8s").Add({});
  prometheus::Family<prometheus::Gauge> &gangs = gauge("slurm_k8s_gangs", "Gangs, by state");
  prometheus::Gauge &ready =
      gauge("slurm_k8s_ready", "1 when everything has been read and gangs are looked after")
          .Add({});
  prometheus::Gauge &polling =
      gauge("slurm_k8s_polling", "1 when no hints come and slurmctld is polled").Add({});
  prometheus::Gauge &queued =
      gauge("slurm_k8s_queued_writes", "Writes to the API server that wait").Add({});
  prometheus::Gauge &lost_events =
      gauge("slurm_k8s_lost_events", "Events that could not be written").Add({});
  prometheus::Gauge &lost_hints =
      gauge("slurm_k8s_lost_hints", "Hints that did not arrive").Add({});
  prometheus::Gauge &resident = gauge("process_resident_memory_bytes", "Resident memory").Add({});
  prometheus::Gauge &cpu = gauge("process_cpu_seconds_total", "CPU time used").Add({});
};

Metrics::Metrics() : impl_(std::make_unique<Impl>()) {}
Metrics::~Metrics() = default;

void Metrics::kube_request(const std::string &request, long status, double seconds)
{
  impl_->kube_requests.Add({{"request", request}, {"code", std::to_string(status)}}).Increment();
  if (request != "watch")
    impl_->kube_seconds.Add({{"request", request}}, kSeconds).Observe(seconds);
}

void Metrics::slurm_rpc(const std::string &rpc, const std::string &cause, double seconds)
{
  impl_->slurm_rpcs.Add({{"rpc", rpc}, {"result", cause}}).Increment();
  impl_->slurm_seconds.Add({{"rpc", rpc}}, kSeconds).Observe(seconds);
}

void Metrics::pod_bound(double seconds) { impl_->bind_seconds.Observe(seconds); }

void Metrics::batch_received(std::size_t hints)
{
  impl_->batches.Increment();
  impl_->hints.Increment(static_cast<double>(hints));
}

std::string Metrics::render(const Snapshot &snapshot)
{
  for (const auto &[state, count] : snapshot.gangs)
    impl_->gangs.Add({{"state", state}}).Set(count);
  impl_->ready.Set(snapshot.ready);
  impl_->polling.Set(snapshot.polling);
  impl_->queued.Set(static_cast<double>(snapshot.queued_writes));
  impl_->lost_events.Set(snapshot.lost_events);
  impl_->lost_hints.Set(snapshot.lost_hints);
  impl_->resident.Set(resident_bytes());
  impl_->cpu.Set(cpu_seconds());
  return prometheus::TextSerializer().Serialize(impl_->registry.Collect());
}
