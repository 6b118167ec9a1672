// SPDX-License-Identifier: Apache-2.0
#include "workload/placement.hpp"

#include <algorithm>

namespace workload {
namespace {

bool tolerates(const kube::Toleration &toleration, const kube::Taint &taint)
{
  if (!toleration.effect.empty() && toleration.effect != taint.effect)
    return false;
  if (!toleration.key.empty() && toleration.key != taint.key)
    return false;
  if (toleration.op == "Exists")
    return true;
  return !toleration.key.empty() && (toleration.op.empty() || toleration.op == "Equal") &&
         toleration.value == taint.value;
}

bool is_tolerated(const kube::Pod &pod, const kube::Taint &taint)
{
  return std::any_of(pod.tolerations.begin(), pod.tolerations.end(),
                     [&](const kube::Toleration &t) { return tolerates(t, taint); });
}

}  // namespace

bool node_allows(const kube::Node &node, const kube::Pod &pod)
{
  for (const auto &[key, value] : pod.node_selector) {
    const auto label = node.meta.labels.find(key);
    if (label == node.meta.labels.end() || label->second != value)
      return false;
  }
  for (const kube::Taint &taint : node.taints)
    if ((taint.effect == "NoSchedule" || taint.effect == "NoExecute") && !is_tolerated(pod, taint))
      return false;
  return !node.unschedulable ||
         is_tolerated(pod, {"node.kubernetes.io/unschedulable", "", "NoSchedule"});
}

std::uint32_t room_for(const kube::ResourceList &allocatable, const kube::ResourceList &used,
                       const kube::ResourceList &each, std::uint32_t limit)
{
  const auto amount = [](const kube::ResourceList &list, const std::string &name) {
    const auto found = list.find(name);
    return found == list.end() ? std::int64_t{0} : found->second;
  };
  std::int64_t room = limit;
  kube::ResourceList need = each;
  need["pods"] = 1;
  for (const auto &[name, wanted] : need)
    if (wanted > 0)
      room = std::min(room, (amount(allocatable, name) - amount(used, name)) / wanted);
  return static_cast<std::uint32_t>(std::max<std::int64_t>(0, room));
}

}  // namespace workload
