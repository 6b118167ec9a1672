// SPDX-License-Identifier: Apache-2.0
#include "kube/decode.hpp"

#include <string>

#include "catch.hpp"

namespace {

template <typename T>
T decoded(const std::string &text)
{
  const kube::json::Document document(text);
  T out;
  decode(document.root(), out);
  return out;
}

std::string error_of(const std::string &text)
{
  try {
    decoded<kube::Pod>(text);
  } catch (const kube::json::Error &error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a pod's requests are decoded, limits standing in where there are none")
{
  const auto pod = decoded<kube::Pod>(R"({
    "metadata": {"name": "p", "namespace": "ns", "uid": "u", "resourceVersion": "7",
      "labels": {"l": "1"}, "deletionTimestamp": "2026-01-01T00:00:00Z",
      "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "ju",
                           "controller": true}]},
    "spec": {
      "schedulerName": "s", "restartPolicy": "Never", "schedulingGates": [{"name": "g"}],
      "initContainers": [{"name": "side", "restartPolicy": "Always",
                          "resources": {"requests": {"cpu": "100m"}}},
                         {"name": "init"}],
      "containers": [{"name": "c", "restartPolicy": "Always", "resources": {
        "requests": {"cpu": 1.5, "memory": "1Gi"},
        "limits": {"cpu": "4", "nvidia.com/gpu": "2"}}}],
      "overhead": {"memory": "1500m"},
      "tolerations": [{"key": "k", "operator": "Exists", "effect": "NoSchedule"}],
      "terminationGracePeriodSeconds": 5},
    "status": {"phase": "Failed",
      "containerStatuses": [{"name": "c", "state": {"terminated":
        {"exitCode": 3, "finishedAt": "2026-01-01T00:00:00Z"}}}]}})");
  CHECK(pod.meta.deleting);
  CHECK(pod.meta.owners.at(0).controller);
  CHECK(pod.gated);
  CHECK(pod.init_containers.at(0).sidecar);
  CHECK_FALSE(pod.init_containers.at(1).sidecar);
  CHECK_FALSE(pod.containers.at(0).sidecar);
  CHECK(pod.containers.at(0).requests ==
        kube::ResourceList{{"cpu", 1500}, {"memory", 1 << 30}, {"nvidia.com/gpu", 2}});
  CHECK(pod.overhead.at("memory") == 2);
  CHECK(pod.tolerations.at(0).op == "Exists");
  CHECK(pod.termination_grace_s == 5);
  CHECK(pod.finished());
  CHECK(pod.container_statuses.at(0).exit_code == 3);
}

TEST_CASE("a pod that says little has Kubernetes' defaults")
{
  const auto pod = decoded<kube::Pod>(R"({"metadata":{"name":"p","uid":"u"}})");
  CHECK(pod.termination_grace_s == 30);
  CHECK_FALSE(pod.gated);
  CHECK_FALSE(pod.finished());
}

TEST_CASE("a malformed pod is refused with the name of the field")
{
  CHECK(error_of(R"({"metadata":{"name":"p"}})") == "metadata: expected a name and a uid");
  CHECK(error_of(R"({"metadata":{"name":"p","uid":"u","labels":{"l":3}}})") ==
        "metadata.labels.l: expected a string");
  CHECK(error_of(R"({"metadata":{"name":"p","uid":"u"},"spec":{"containers":[
          {"resources":{"requests":{"cpu":"a lot"}}}]}})") ==
        "spec.containers.resources.requests.cpu: expected a quantity, not 'a lot'");
  CHECK(error_of(R"({"metadata":{"name":"p","uid":"u"},"spec":{"containers":{}}})") ==
        "spec.containers: expected a list");
  CHECK(error_of("[]") == "metadata: expected an object");
}

TEST_CASE("what a node can give is rounded down")
{
  const auto node = decoded<kube::Node>(R"({"metadata":{"name":"n","uid":"u"},
    "spec":{"unschedulable":true,"taints":[{"key":"k","value":"v","effect":"NoExecute"}]},
    "status":{"allocatable":{"cpu":"1999m","memory":"1.9"},
      "conditions":[{"type":"DiskPressure","status":"False"},{"type":"Ready","status":"True"}]}})");
  CHECK(node.allocatable.at("cpu") == 1999);
  CHECK(node.allocatable.at("memory") == 1);
  CHECK(node.unschedulable);
  CHECK(node.ready);
  CHECK(node.taints == std::vector<kube::Taint>{{"k", "v", "NoExecute"}});
}

TEST_CASE("a JobSet's stages are decoded")
{
  const auto set = decoded<kube::JobSet>(R"({"metadata":{"name":"s","uid":"u"},
    "spec":{"replicatedJobs":[
      {"name":"init","template":{"spec":{"completions":1}}},
      {"name":"node","replicas":2,"dependsOn":[{"name":"init","status":"Complete"}],
       "template":{"spec":{"parallelism":4,"template":{"metadata":{"labels":{"a":"b"}}}}}}]}})");
  REQUIRE(set.replicated_jobs.size() == 2);
  CHECK(set.replicated_jobs[0].completions == 1);
  CHECK(set.replicated_jobs[1].replicas == 2);
  CHECK(set.replicated_jobs[1].parallelism == 4);
  CHECK_FALSE(set.replicated_jobs[1].completions.has_value());
  CHECK(set.replicated_jobs[1].depends_on == std::vector<std::string>{"init"});
  CHECK(set.replicated_jobs[1].pod_labels.at("a") == "b");
}

TEST_CASE("an object's name for messages is read from whatever there is of it")
{
  const auto name = [](const std::string &text) {
    const kube::json::Document document(text);
    return kube::name_of(document.root());
  };
  CHECK(name(R"({"metadata":{"namespace":"ns","name":"p"}})") == "ns/p");
  CHECK(name(R"({"metadata":{"name":"n"}})") == "n");
  CHECK(name(R"({"metadata":[]})") == "(no name)");
  CHECK(name("3") == "(no name)");
}
