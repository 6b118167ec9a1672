// SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"

#include <sstream>
#include <string>

#include "metrics.hpp"

namespace {

/// The value of the series, as written; "" if there is none.
std::string value_of(const std::string &text, const std::string &series)
{
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    if (line.compare(0, series.size() + 1, series + " ") == 0)
      return line.substr(series.size() + 1);
  return "";
}

double number_of(const std::string &text, const std::string &series)
{
  const std::string value = value_of(text, series);
  return value.empty() ? -1 : std::stod(value);
}

}  // namespace

TEST_CASE("requests are counted by kind and result")
{
  Metrics metrics;
  metrics.kube_request("bind", 201, 0.003);
  metrics.kube_request("bind", 201, 0.5);
  metrics.kube_request("bind", 0, 30);
  metrics.slurm_rpc("allocate", "none", 0.02);
  metrics.slurm_rpc("allocate", "refused", 0.02);
  const std::string text = metrics.render({});
  const std::string kube = "slurm_k8s_kube_requests_total", slurm = "slurm_k8s_slurm_rpcs_total";
  CHECK(number_of(text, kube + R"({code="201",request="bind"})") == 2);
  CHECK(number_of(text, kube + R"({code="0",request="bind"})") == 1);
  CHECK(number_of(text, slurm + R"({result="none",rpc="allocate"})") == 1);
  CHECK(number_of(text, slurm + R"({result="refused",rpc="allocate"})") == 1);
}

TEST_CASE("durations fall into buckets from a millisecond to a minute")
{
  Metrics metrics;
  metrics.kube_request("bind", 201, 0.003);
  metrics.kube_request("bind", 201, 100);
  metrics.slurm_rpc("allocate", "none", 0.02);
  metrics.pod_bound(0.04);
  const std::string text = metrics.render({});
  const std::string bucket = R"(slurm_k8s_kube_request_seconds_bucket{request="bind",le=)";
  CHECK(number_of(text, bucket + R"("0.002"})") == 0);
  CHECK(number_of(text, bucket + R"("0.005"})") == 1);
  CHECK(number_of(text, bucket + R"("60"})") == 1);
  CHECK(number_of(text, bucket + R"("+Inf"})") == 2);
  CHECK(number_of(text, R"(slurm_k8s_slurm_rpc_seconds_count{rpc="allocate"})") == 1);
  CHECK(number_of(text, "slurm_k8s_bind_seconds_count") == 1);
  CHECK(number_of(text, R"(slurm_k8s_bind_seconds_bucket{le="0.05"})") == 1);
}

TEST_CASE("a watch that lasts for minutes is counted but is no slow request")
{
  Metrics metrics;
  metrics.kube_request("watch", 200, 290);
  const std::string text = metrics.render({});
  CHECK(number_of(text, R"(slurm_k8s_kube_requests_total{code="200",request="watch"})") == 1);
  CHECK(text.find("slurm_k8s_kube_request_seconds_sum") == std::string::npos);
}

TEST_CASE("hints and the batches that brought them are counted")
{
  Metrics metrics;
  metrics.batch_received(3);
  metrics.batch_received(0);
  const std::string text = metrics.render({});
  CHECK(number_of(text, "slurm_k8s_hints_total") == 3);
  CHECK(number_of(text, "slurm_k8s_hint_batches_total") == 2);
}

TEST_CASE("a scrape shows the state of that moment")
{
  Metrics metrics;
  metrics.render({{{"Queued", 5}}, true, true, 7, 2, 3});
  std::string text = metrics.render({{{"Queued", 5}}, true, true, 7, 2, 3});
  CHECK(number_of(text, R"(slurm_k8s_gangs{state="Queued"})") == 5);
  CHECK(number_of(text, "slurm_k8s_ready") == 1);
  CHECK(number_of(text, "slurm_k8s_polling") == 1);
  CHECK(number_of(text, "slurm_k8s_queued_writes") == 7);
  CHECK(number_of(text, "slurm_k8s_lost_events") == 2);
  CHECK(number_of(text, "slurm_k8s_lost_hints") == 3);
  text = metrics.render({{{"Queued", 0}, {"Running", 5}}, false, false, 0, 2, 3});
  CHECK(number_of(text, R"(slurm_k8s_gangs{state="Queued"})") == 0);
  CHECK(number_of(text, R"(slurm_k8s_gangs{state="Running"})") == 5);
  CHECK(number_of(text, "slurm_k8s_ready") == 0);
  CHECK(number_of(text, "slurm_k8s_polling") == 0);
}

TEST_CASE("alerts find their series before anything has happened")
{
  const std::string text = Metrics().render({});
  for (const char *name : {"slurm_k8s_ready", "slurm_k8s_polling", "slurm_k8s_queued_writes",
                           "slurm_k8s_lost_events", "slurm_k8s_lost_hints", "slurm_k8s_hints_total",
                           "slurm_k8s_hint_batches_total", "slurm_k8s_bind_seconds_count"}) {
    INFO(name);
    CHECK(number_of(text, name) == 0);
  }
}

TEST_CASE("the process says what it uses")
{
  const std::string text = Metrics().render({});
  CHECK(number_of(text, "process_resident_memory_bytes") > 1e6);
  CHECK(number_of(text, "process_cpu_seconds_total") > 0);
}
