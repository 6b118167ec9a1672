// SPDX-License-Identifier: Apache-2.0
// Kubernetes nodes, their names in Slurm, and what our pods use of them.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "kube/objects.hpp"

namespace controller {

class Nodes {
public:
  /// True if something changed that decides about pods; heartbeats change nothing.
  bool upsert(const kube::Node &node);
  void remove(const kube::Node &node);

  struct Found {
    const kube::Node *node = nullptr;
    std::string problem;  ///< why there is none
  };
  /// The Kubernetes node of a Slurm node: by label, then equal name, then unique short name.
  Found by_slurm_name(const std::string &slurm_name) const;
  Found by_kube_name(const std::string &kube_name) const;
  /// The names that Slurm knows; true if they differ from those known so far.
  bool set_slurm_names(std::set<std::string> names);
  /// The other way, by the same rules. Without Slurm's names the short one cannot be told from the
  /// full one. "" for a node that is not there or that Slurm does not know.
  std::string slurm_name_of(const std::string &kube_name) const;

  /// Slurm names of the nodes that the pod's own rules exclude. Costs nothing per node unless the
  /// pod has a nodeSelector.
  std::set<std::string> excluded_for(const kube::Pod &pod) const;

  void use(const std::string &kube_name, const kube::ResourceList &amounts);
  void free(const std::string &kube_name, const kube::ResourceList &amounts);
  /// A pod is being taken off the node because Slurm ended its job: nothing new goes there before
  /// it is gone, even if it would fit.
  void hold(const std::string &kube_name) { ++held_[kube_name]; }
  void release(const std::string &kube_name);
  /// How many pods like this one fit into what our pods leave of the node.
  std::uint32_t room(const kube::Node &node, const kube::Pod &pod, std::uint32_t limit) const;
  /// The same for the empty node.
  std::uint32_t capacity(const kube::Node &node, const kube::Pod &pod, std::uint32_t limit) const;

private:
  void forget(const std::string &kube_name);

  std::map<std::string, kube::Node> nodes_;  // by Kubernetes name
  std::map<std::string, std::set<std::string>>
      label_;  // Slurm name in the label -> Kubernetes names
  std::map<std::string, std::set<std::string>>
      short_;                          // name up to the first dot -> Kubernetes names
  std::set<std::string> restricted_;   // tainted or cordoned
  std::set<std::string> slurm_names_;  // empty until they are loaded
  std::map<std::string, kube::ResourceList> used_;
  std::map<std::string, int> held_;
};

}  // namespace controller
