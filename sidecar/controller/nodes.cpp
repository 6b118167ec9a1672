// SPDX-License-Identifier: Apache-2.0
#include "controller/nodes.hpp"

#include "wellknown.hpp"
#include "workload/placement.hpp"
#include "workload/pod_shape.hpp"

namespace controller {
namespace {

std::string short_name(const std::string &name) { return name.substr(0, name.find('.')); }

std::string label_of(const kube::Node &node)
{
  const auto found = node.meta.labels.find(wellknown::kSlurmNodeNameLabel);
  return found == node.meta.labels.end() ? std::string() : found->second;
}

void drop(std::map<std::string, std::set<std::string>> &index, const std::string &key,
          const std::string &name)
{
  const auto found = index.find(key);
  if (found == index.end())
    return;
  found->second.erase(name);
  if (found->second.empty())
    index.erase(found);
}

bool differs(const kube::Node &a, const kube::Node &b)
{
  return a.unschedulable != b.unschedulable || a.ready != b.ready ||
         a.allocatable != b.allocatable || a.taints != b.taints || a.meta.labels != b.meta.labels;
}

}  // namespace

void Nodes::forget(const std::string &kube_name)
{
  const auto found = nodes_.find(kube_name);
  if (found == nodes_.end())
    return;
  drop(label_, label_of(found->second), kube_name);
  drop(short_, short_name(kube_name), kube_name);
  restricted_.erase(kube_name);
  nodes_.erase(found);
}

bool Nodes::upsert(const kube::Node &node)
{
  const std::string &name = node.meta.name;
  const auto before = nodes_.find(name);
  const bool changed = before == nodes_.end() || differs(before->second, node);
  forget(name);
  if (const std::string label = label_of(node); !label.empty())
    label_[label].insert(name);
  short_[short_name(name)].insert(name);
  if (node.unschedulable || !node.taints.empty())
    restricted_.insert(name);
  nodes_.emplace(name, node);
  return changed;
}

void Nodes::remove(const kube::Node &node) { forget(node.meta.name); }

Nodes::Found Nodes::by_slurm_name(const std::string &slurm_name) const
{
  const auto pick = [&](const std::set<std::string> &names, const char *what) -> Found {
    if (names.size() == 1)
      return {&nodes_.at(*names.begin()), {}};
    return {nullptr, std::to_string(names.size()) + " Kubernetes nodes have the " + what +
                         " of the Slurm node " + slurm_name};
  };
  if (const auto found = label_.find(slurm_name); found != label_.end())
    return pick(found->second, "label");
  if (const auto found = nodes_.find(slurm_name);
      found != nodes_.end() && label_of(found->second).empty())
    return {&found->second, {}};
  if (const auto found = short_.find(slurm_name); found != short_.end()) {
    std::set<std::string> unlabelled;
    for (const std::string &name : found->second)
      if (label_of(nodes_.at(name)).empty())
        unlabelled.insert(name);
    if (!unlabelled.empty())
      return pick(unlabelled, "short name");
  }
  return {nullptr, "no Kubernetes node stands for the Slurm node " + slurm_name};
}

Nodes::Found Nodes::by_kube_name(const std::string &kube_name) const
{
  const auto found = nodes_.find(kube_name);
  if (found == nodes_.end())
    return {nullptr, "no Kubernetes node " + kube_name};
  return {&found->second, {}};
}

bool Nodes::set_slurm_names(std::set<std::string> names)
{
  const bool changed = names != slurm_names_;
  slurm_names_ = std::move(names);
  return changed;
}

std::string Nodes::slurm_name_of(const std::string &kube_name) const
{
  const auto found = nodes_.find(kube_name);
  if (found == nodes_.end())
    return {};
  const std::string label = label_of(found->second);
  const std::string &full = label.empty() ? kube_name : label;
  if (slurm_names_.empty() || slurm_names_.contains(full))
    return full;
  const std::string brief = short_name(kube_name);
  const bool stands_for = label.empty() && by_slurm_name(brief).node == &found->second;
  return stands_for && slurm_names_.contains(brief) ? brief : std::string();
}

std::set<std::string> Nodes::excluded_for(const kube::Pod &pod) const
{
  std::set<std::string> excluded;
  const auto look = [&](const kube::Node &node) {
    if (workload::node_allows(node, pod))
      return;
    // Slurm refuses a job that excludes a node which it does not know.
    if (std::string name = slurm_name_of(node.meta.name); !name.empty())
      excluded.insert(std::move(name));
  };
  if (pod.node_selector.empty()) {
    for (const std::string &name : restricted_)
      look(nodes_.at(name));
  } else {
    for (const auto &[name, node] : nodes_)
      look(node);
  }
  return excluded;
}

void Nodes::use(const std::string &kube_name, const kube::ResourceList &amounts)
{
  kube::ResourceList &used = used_[kube_name];
  for (const auto &[name, amount] : amounts)
    used[name] += amount;
  used["pods"] += 1;
}

void Nodes::free(const std::string &kube_name, const kube::ResourceList &amounts)
{
  const auto found = used_.find(kube_name);
  if (found == used_.end())
    return;
  for (const auto &[name, amount] : amounts)
    found->second[name] -= amount;
  if ((found->second["pods"] -= 1) <= 0)
    used_.erase(found);
}

void Nodes::release(const std::string &kube_name)
{
  const auto found = held_.find(kube_name);
  if (found != held_.end() && --found->second <= 0)
    held_.erase(found);
}

std::uint32_t Nodes::capacity(const kube::Node &node, const kube::Pod &pod,
                              std::uint32_t limit) const
{
  return workload::room_for(node.allocatable, {}, workload::pod_requests(pod), limit);
}

std::uint32_t Nodes::room(const kube::Node &node, const kube::Pod &pod, std::uint32_t limit) const
{
  static const kube::ResourceList kNothing;
  if (held_.contains(node.meta.name))
    return 0;
  const auto used = used_.find(node.meta.name);
  return workload::room_for(node.allocatable, used == used_.end() ? kNothing : used->second,
                            workload::pod_requests(pod), limit);
}

}  // namespace controller
