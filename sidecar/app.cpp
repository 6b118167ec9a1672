// SPDX-License-Identifier: Apache-2.0
#include "app.hpp"

#include <chrono>
#include <csignal>

#include <unistd.h>

#include "log.hpp"

namespace {

using std::chrono::milliseconds;

constexpr auto kDrainTime = std::chrono::seconds(10);
constexpr auto kDrainLook = milliseconds(20);

std::string host_name()
{
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return std::string("slurm-k8s-") + name;
}

const char *name_of(slurm::Cause cause)
{
  switch (cause) {
  case slurm::Cause::none: return "ok";
  case slurm::Cause::unreachable: return "unreachable";
  case slurm::Cause::unfit: return "unfit";
  case slurm::Cause::unknown_node: return "unknown_node";
  case slurm::Cause::denied: return "denied";
  case slurm::Cause::refused: return "refused";
  case slurm::Cause::unknown_job: return "unknown_job";
  }
  return "unknown";
}

slurm::ClientSettings slurm_settings(const Config &config, Metrics &metrics)
{
  return {config.cluster_id, config.slurm_conf, config.slurm_threads,
          [&metrics](const char *rpc, const slurm::Error &error, double seconds) {
            metrics.slurm_rpc(rpc, name_of(error.cause), seconds);
          }};
}

controller::Settings controller_settings(const Config &config, Metrics &metrics)
{
  return {config.namespaces, config.poll_interval, [&metrics](milliseconds since) {
            metrics.pod_bound(std::chrono::duration<double>(since).count());
          }};
}

}  // namespace

App::App(const Config &config)
    : config_(config),
      transfers_(loop_),
      auth_(loop_, kube::load_credentials(config.kubeconfig)),
      kube_(transfers_, auth_),
      writer_(kube_, loop_, config.max_in_flight_writes, host_name()),
      slurm_(loop_, slurm_settings(config, metrics_)),
      controller_(writer_, slurm_, loop_, controller_settings(config, metrics_)),
      listener_(loop_,
                {config.listen_address, config.token_file, config.cert_file, config.key_file},
                {[this](const protocol::Batch &batch) {
                   metrics_.batch_received(batch.hints.size());
                   controller_.receive(batch);
                 },
                 [this] { return metrics_.render(snapshot()); },
                 [this] { return controller_.working() && !draining_; }})
{
  kube_.observe([this](const kube::Call &call, const http::Response &response) {
    metrics_.kube_request(call.label, response.status, response.seconds);
  });
  make_reflectors();
}

void App::run()
{
  logging::info("starting", {{"cluster", config_.cluster_id},
                             {"kubernetes", auth_.source()},
                             {"listener", config_.listen_address}});
  loop_.on_signal(SIGTERM, [this] { drain(); });
  loop_.on_signal(SIGINT, [this] { drain(); });
  controller_.start([this] { start_reflectors(); });
  loop_.run();
  logging::info("stopped");
}

template <typename T>
void App::watch(Reflectors<T> &to, const std::string &group, const std::string &plural,
                const std::string &ns, const std::string &field_selector)
{
  const bool core = group == "v1";
  const std::string path = (core ? "/api/v1" : "/apis/" + group) +
                           (ns.empty() ? "" : "/namespaces/" + kube::escape(ns)) + "/" + plural;
  to.push_back(std::make_unique<kube::Reflector<T>>(
      kube_, loop_, kube::Collection{path, field_selector, plural, !core},
      typename kube::Reflector<T>::Handler{[this](const T &object) { controller_.upsert(object); },
                                           [this](const T &object) { controller_.remove(object); },
                                           [this] { synced(); }}));
}

void App::make_reflectors()
{
  const std::vector<std::string> everywhere{""};
  for (const std::string &ns : config_.namespaces.empty() ? everywhere : config_.namespaces) {
    watch(namespaces_, "v1", "namespaces", "", ns.empty() ? "" : "metadata.name=" + ns);
    for (const std::string &scheduler : config_.scheduler_names)
      watch(pods_, "v1", "pods", ns, "spec.schedulerName=" + scheduler);
    watch(groups_, "scheduling.x-k8s.io/v1alpha1", "podgroups", ns);
    watch(job_sets_, "jobset.x-k8s.io/v1alpha2", "jobsets", ns);
  }
  watch(nodes_, "v1", "nodes", "");
}

template <typename Fn>
void App::each_reflector(const Fn &fn)
{
  for (const auto &reflector : nodes_)
    fn(*reflector);
  for (const auto &reflector : namespaces_)
    fn(*reflector);
  for (const auto &reflector : job_sets_)
    fn(*reflector);
  for (const auto &reflector : groups_)
    fn(*reflector);
  for (const auto &reflector : pods_)
    fn(*reflector);
}

void App::start_reflectors()
{
  if (!draining_)
    each_reflector([](auto &reflector) { reflector.start(); });
}

void App::synced()
{
  bool all = true, job_sets_exist = false;
  each_reflector([&](const auto &reflector) { all = all && reflector.synced(); });
  for (const auto &reflector : job_sets_)
    job_sets_exist = job_sets_exist || !reflector->absent();
  if (!all)
    return;
  if (controller_.working())
    return controller_.expect_job_sets(job_sets_exist);
  controller_.begin(job_sets_exist);
  logging::info("ready");
}

void App::drain()
{
  if (draining_)
    return loop_.stop();
  draining_ = true;
  logging::info("stopping: what is under way ends first");
  each_reflector([](auto &reflector) { reflector.stop(); });
  controller_.stop();
  drain_until_ = loop_.now() + kDrainTime;
  wait_until_idle();
}

void App::wait_until_idle()
{
  const bool idle = controller_.idle() && writer_.idle();
  if (idle || loop_.now() >= drain_until_) {
    if (!idle)
      logging::warn("not everything ended in time; the next start takes it up",
                    {{"writes", writer_.queued()}});
    return loop_.stop();
  }
  loop_.after(kDrainLook, [this] { wait_until_idle(); });
}

Metrics::Snapshot App::snapshot() const
{
  Metrics::Snapshot now;
  now.gangs = controller_.count_by_state();
  now.ready = controller_.working() && !draining_;
  now.polling = controller_.sync().polling();
  now.queued_writes = writer_.queued();
  now.lost_events = static_cast<double>(writer_.lost_events());
  now.lost_hints = static_cast<double>(controller_.sync().lost_hints());
  return now;
}
