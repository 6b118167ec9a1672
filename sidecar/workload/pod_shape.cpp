// SPDX-License-Identifier: Apache-2.0
#include "workload/pod_shape.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace workload {
namespace {

constexpr std::int64_t kMib = 1024 * 1024;

/// Extended resources that Slurm manages as GRES.
constexpr std::array<std::pair<const char *, const char *>, 2> kGresOfResource{{
    {"nvidia.com/gpu", "gpu"},
    {"amd.com/gpu", "gpu"},
}};

std::int64_t saturating_add(std::int64_t a, std::int64_t b)
{
  constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
  return a > kMax - b ? kMax : a + b;
}

void add(kube::ResourceList &sum, const kube::ResourceList &more)
{
  for (const auto &[name, amount] : more)
    sum[name] = saturating_add(sum[name], amount);
}

void raise(kube::ResourceList &peak, const kube::ResourceList &candidate)
{
  for (const auto &[name, amount] : candidate)
    peak[name] = std::max(peak[name], amount);
}

bool can_be_set_for_pod(const std::string &resource)
{
  return resource == "cpu" || resource == "memory" || resource.starts_with("hugepages-");
}

std::int64_t ceil_div(std::int64_t value, std::int64_t unit)
{
  return value / unit + (value % unit != 0);
}

/// Disk is the kubelet's business and Slurm does not count it.
bool is_not_slurms(const std::string &resource) { return resource == "ephemeral-storage"; }

const char *gres_of(const std::string &resource)
{
  for (const auto &[name, gres] : kGresOfResource)
    if (resource == name)
      return gres;
  return nullptr;
}

}  // namespace

kube::ResourceList pod_requests(const kube::Pod &pod)
{
  kube::ResourceList running, sidecars, peak;
  for (const kube::Container &container : pod.containers)
    add(running, container.requests);
  for (const kube::Container &container : pod.init_containers) {
    // An init container runs beside the sidecars that were started before it.
    kube::ResourceList during = sidecars;
    add(during, container.requests);
    raise(peak, during);
    if (container.sidecar)
      sidecars = std::move(during);
  }
  add(running, sidecars);
  raise(peak, running);
  for (const auto &[name, amount] : pod.pod_requests)
    if (can_be_set_for_pod(name))
      peak[name] = amount;
  add(peak, pod.overhead);
  return peak;
}

TaskShape pod_shape(const kube::Pod &pod, std::string &problem)
{
  TaskShape shape;
  constexpr std::int64_t kMaxCpus = 65535;  // cpus_per_task has 16 bits
  std::int64_t memory = 0;
  for (const auto &[name, amount] : pod_requests(pod)) {
    if (amount <= 0 || is_not_slurms(name))
      continue;
    if (name == "cpu") {
      const std::int64_t cpus = ceil_div(amount, 1000);
      if (cpus > kMaxCpus)
        problem = "a pod cannot ask Slurm for more than 65535 CPUs";
      shape.cpus = static_cast<std::uint32_t>(std::min(cpus, kMaxCpus));
    } else if (name == "memory" || name.starts_with("hugepages-")) {
      memory = saturating_add(memory, amount);
    } else if (const char *gres = gres_of(name)) {
      shape.gres[gres] += static_cast<std::uint64_t>(amount);
    } else {
      problem = "no Slurm GRES stands for the resource " + name;
    }
  }
  shape.memory_mib = static_cast<std::uint64_t>(std::max<std::int64_t>(1, ceil_div(memory, kMib)));
  return shape;
}

void widen(TaskShape &shape, const TaskShape &other)
{
  shape.cpus = std::max(shape.cpus, other.cpus);
  shape.memory_mib = std::max(shape.memory_mib, other.memory_mib);
  for (const auto &[name, count] : other.gres)
    shape.gres[name] = std::max(shape.gres[name], count);
}

}  // namespace workload
