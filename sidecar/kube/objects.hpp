// SPDX-License-Identifier: Apache-2.0
// The parts of Kubernetes objects that are used here, decoded into plain values.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kube {

struct OwnerReference {
  std::string api_version, kind, name, uid;
  bool controller = false;
};

struct ObjectMeta {
  std::string name, ns, uid, resource_version;
  std::map<std::string, std::string> labels, annotations;
  std::vector<OwnerReference> owners;
  std::int64_t generation = 0;
  bool deleting = false;  ///< has a deletionTimestamp
};

/// Resource name -> amount: "cpu" in millicores, everything else in whole units (bytes, devices).
/// Decoded rounding up for requests; allocatable of nodes is decoded rounding down.
using ResourceList = std::map<std::string, std::int64_t>;

struct Container {
  std::string name;
  ResourceList requests;  ///< a resource that has only a limit counts with its limit
  bool sidecar = false;   ///< init container with restartPolicy Always
};

struct Toleration {
  std::string key, op, value, effect;
};

struct Taint {
  std::string key, value, effect;
  bool operator==(const Taint &) const = default;
};

struct Condition {
  std::string type, status, reason, message;
};

struct ContainerStatus {
  std::string name;
  bool terminated = false;
  int exit_code = 0;
  std::string finished_at;  ///< RFC 3339, as sent; compares as text
};

struct Pod {
  ObjectMeta meta;
  std::string scheduler_name, node_name, restart_policy;
  std::string priority_class;  ///< spec.priorityClassName
  bool gated = false;          ///< has scheduling gates
  std::vector<Container> containers, init_containers;
  ResourceList overhead, pod_requests;  ///< spec.overhead, spec.resources.requests
  std::map<std::string, std::string> node_selector;
  std::vector<Toleration> tolerations;
  std::int64_t termination_grace_s = 30;
  std::string phase, reason, message;
  std::vector<Condition> conditions;
  std::vector<ContainerStatus> container_statuses;

  bool finished() const { return phase == "Succeeded" || phase == "Failed"; }
};

struct Node {
  ObjectMeta meta;
  bool unschedulable = false, ready = false;
  ResourceList allocatable;
  std::vector<Taint> taints;
};

struct Namespace {
  ObjectMeta meta;
};

/// scheduling.x-k8s.io/v1alpha1
struct PodGroup {
  ObjectMeta meta;
  std::int64_t min_member = 0;
  std::string phase;
};

struct ReplicatedJob {
  std::string name;
  std::int64_t replicas = 1, parallelism = 1;
  std::optional<std::int64_t> completions;
  std::vector<std::string> depends_on;            ///< names of replicated jobs
  std::map<std::string, std::string> pod_labels;  ///< of the pod template
};

/// jobset.x-k8s.io/v1alpha2
struct JobSet {
  ObjectMeta meta;
  std::vector<ReplicatedJob> replicated_jobs;
};

}  // namespace kube
