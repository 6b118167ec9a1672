// SPDX-License-Identifier: Apache-2.0
#include "kube/decode.hpp"

#include <utility>

#include "kube/quantity.hpp"

namespace kube {
namespace {

using json::Value;

/// Puts the field's name before what is wrong in it.
template <typename Fn>
void in_field(std::string_view name, const Fn &fn)
{
  try {
    fn();
  } catch (const json::Error &error) {
    const std::string what = error.what();
    const bool nested = !what.starts_with("expected ");
    throw json::Error(std::string(name) + (nested ? "." : ": ") + what);
  }
}

void read(Value object, const char *key, std::string &out)
{
  in_field(key, [&] { out = object[key].string(); });
}

void read(Value object, const char *key, std::int64_t &out)
{
  in_field(key, [&] { out = object[key].integer(out); });
}

void read(Value object, const char *key, bool &out)
{
  in_field(key, [&] { out = object[key].boolean(out); });
}

void read(Value object, const char *key, std::map<std::string, std::string> &out)
{
  in_field(key, [&] {
    object[key].each_member([&](std::string_view name, Value value) {
      in_field(name, [&] { out.emplace(name, value.string()); });
    });
  });
}

template <typename T>
void read_list(Value object, const char *key, std::vector<T> &out, void (*one)(Value, T &))
{
  in_field(key, [&] { object[key].each_item([&](Value item) { one(item, out.emplace_back()); }); });
}

void read(Value object, const char *key, ResourceList &out, Round round)
{
  in_field(key, [&] {
    object[key].each_member([&](std::string_view name, Value value) {
      in_field(name, [&] {
        const auto text = value.scalar();
        const auto amount = name == "cpu" ? parse_millis(text, round) : parse_quantity(text, round);
        if (!amount)
          throw json::Error("expected a quantity, not '" + text.substr(0, 64) + "'");
        out.emplace(name, *amount);
      });
    });
  });
}

void decode_owner(Value object, OwnerReference &owner)
{
  read(object, "apiVersion", owner.api_version);
  read(object, "kind", owner.kind);
  read(object, "name", owner.name);
  read(object, "uid", owner.uid);
  read(object, "controller", owner.controller);
}

/// Requests; a resource that has only a limit counts with its limit.
void read_resources(Value object, ResourceList &out)
{
  in_field("resources", [&] {
    const Value resources = object["resources"];
    read(resources, "requests", out, Round::up);
    read(resources, "limits", out, Round::up);  // does not replace what is there
  });
}

void decode_container(Value object, Container &container)
{
  read(object, "name", container.name);
  read_resources(object, container.requests);
  std::string restart_policy;
  read(object, "restartPolicy", restart_policy);
  container.sidecar = restart_policy == "Always";
}

void decode_toleration(Value object, Toleration &toleration)
{
  read(object, "key", toleration.key);
  read(object, "operator", toleration.op);
  read(object, "value", toleration.value);
  read(object, "effect", toleration.effect);
}

void decode_taint(Value object, Taint &taint)
{
  read(object, "key", taint.key);
  read(object, "value", taint.value);
  read(object, "effect", taint.effect);
}

void decode_condition(Value object, Condition &condition)
{
  read(object, "type", condition.type);
  read(object, "status", condition.status);
  read(object, "reason", condition.reason);
  read(object, "message", condition.message);
}

void decode_container_status(Value object, ContainerStatus &status)
{
  read(object, "name", status.name);
  in_field("state.terminated", [&] {
    const Value terminated = object["state"]["terminated"];
    status.terminated = terminated.present();
    status.exit_code = static_cast<int>(terminated["exitCode"].integer());
    status.finished_at = terminated["finishedAt"].string();
  });
}

void decode_pod_spec(Value spec, Pod &pod)
{
  read(spec, "schedulerName", pod.scheduler_name);
  read(spec, "nodeName", pod.node_name);
  read(spec, "restartPolicy", pod.restart_policy);
  read(spec, "priorityClassName", pod.priority_class);
  in_field("schedulingGates",
           [&] { spec["schedulingGates"].each_item([&](Value) { pod.gated = true; }); });
  read_list(spec, "containers", pod.containers, decode_container);
  read_list(spec, "initContainers", pod.init_containers, decode_container);
  for (Container &container : pod.containers)
    container.sidecar = false;  // the field says something else about ordinary containers
  read(spec, "overhead", pod.overhead, Round::up);
  read_resources(spec, pod.pod_requests);
  read(spec, "nodeSelector", pod.node_selector);
  read_list(spec, "tolerations", pod.tolerations, decode_toleration);
  read(spec, "terminationGracePeriodSeconds", pod.termination_grace_s);
}

void decode_pod_status(Value status, Pod &pod)
{
  read(status, "phase", pod.phase);
  read(status, "reason", pod.reason);
  read(status, "message", pod.message);
  read_list(status, "conditions", pod.conditions, decode_condition);
  read_list(status, "initContainerStatuses", pod.container_statuses, decode_container_status);
  read_list(status, "containerStatuses", pod.container_statuses, decode_container_status);
}

void decode_dependency(Value object, std::string &name) { read(object, "name", name); }

void decode_replicated_job(Value object, ReplicatedJob &job)
{
  read(object, "name", job.name);
  read(object, "replicas", job.replicas);
  read_list(object, "dependsOn", job.depends_on, decode_dependency);
  in_field("template.spec", [&] {
    const Value spec = object["template"]["spec"];
    read(spec, "parallelism", job.parallelism);
    if (spec["completions"].present())
      read(spec, "completions", job.completions.emplace());
    in_field("template.metadata",
             [&] { read(spec["template"]["metadata"], "labels", job.pod_labels); });
  });
}

}  // namespace

void decode(Value object, ObjectMeta &meta)
{
  in_field("metadata", [&] {
    const Value from = object["metadata"];
    read(from, "name", meta.name);
    read(from, "namespace", meta.ns);
    read(from, "uid", meta.uid);
    read(from, "resourceVersion", meta.resource_version);
    read(from, "labels", meta.labels);
    read(from, "annotations", meta.annotations);
    read_list(from, "ownerReferences", meta.owners, decode_owner);
    read(from, "generation", meta.generation);
    meta.deleting = from["deletionTimestamp"].present();
    if (meta.name.empty() || meta.uid.empty())
      throw json::Error("expected a name and a uid");
  });
}

void decode(Value object, Pod &pod)
{
  decode(object, pod.meta);
  in_field("spec", [&] { decode_pod_spec(object["spec"], pod); });
  in_field("status", [&] { decode_pod_status(object["status"], pod); });
}

void decode(Value object, Node &node)
{
  decode(object, node.meta);
  in_field("spec", [&] {
    read(object["spec"], "unschedulable", node.unschedulable);
    read_list(object["spec"], "taints", node.taints, decode_taint);
  });
  in_field("status", [&] {
    read(object["status"], "allocatable", node.allocatable, Round::down);
    std::vector<Condition> conditions;
    read_list(object["status"], "conditions", conditions, decode_condition);
    for (const Condition &condition : conditions)
      node.ready = node.ready || (condition.type == "Ready" && condition.status == "True");
  });
}

void decode(Value object, Namespace &ns) { decode(object, ns.meta); }

void decode(Value object, PodGroup &group)
{
  decode(object, group.meta);
  in_field("spec", [&] { read(object["spec"], "minMember", group.min_member); });
  in_field("status", [&] { read(object["status"], "phase", group.phase); });
}

void decode(Value object, JobSet &set)
{
  decode(object, set.meta);
  in_field("spec", [&] {
    read_list(object["spec"], "replicatedJobs", set.replicated_jobs, decode_replicated_job);
  });
}

std::string name_of(Value object) noexcept
try {
  const Value meta = object["metadata"];
  const auto ns = meta["namespace"].string();
  const auto name = meta["name"].string("(no name)");
  return ns.empty() ? name : ns + "/" + name;
} catch (...) {
  return "(no name)";
}

}  // namespace kube
