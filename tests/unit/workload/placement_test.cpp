// SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"
#include "manifest.hpp"

#include "workload/placement.hpp"
#include "workload/pod_shape.hpp"

using workload::node_allows;
using workload::room_for;

namespace {

kube::Node node_with(const std::string &spec, const std::string &labels = "{}")
{
  return manifest::decoded<kube::Node>(R"({"metadata":{"name":"n","uid":"u","labels":)" + labels +
                                       R"(},"spec":)" + spec + "}");
}

kube::Pod tolerating(const std::string &toleration)
{
  return manifest::pod(R"({"containers":[],"tolerations":[)" + toleration + "]}");
}

const kube::Pod kPlain = manifest::pod(R"({"containers":[]})");

}  // namespace

TEST_CASE("a nodeSelector allows only nodes that carry all of its labels with the same values")
{
  const kube::Pod pod =
      manifest::pod(R"({"containers":[],"nodeSelector":{"zone":"b","disk":"ssd"}})");
  CHECK(node_allows(node_with("{}", R"({"zone":"b","disk":"ssd","more":"x"})"), pod));
  CHECK_FALSE(node_allows(node_with("{}", R"({"zone":"a","disk":"ssd"})"), pod));
  CHECK_FALSE(node_allows(node_with("{}", R"({"zone":"b"})"), pod));
  CHECK_FALSE(node_allows(node_with("{}"), pod));
  CHECK(node_allows(node_with("{}"), kPlain));
}

TEST_CASE("taints keep pods away unless they only ask for preference")
{
  struct Row {
    const char *effect;
    bool allowed;
  };
  for (const auto &[effect, allowed] :
       {Row{"NoSchedule", false}, Row{"NoExecute", false}, Row{"PreferNoSchedule", true}}) {
    INFO(effect);
    CHECK(node_allows(node_with(R"({"taints":[{"key":"k","value":"v","effect":")" +
                                std::string(effect) + R"("}]})"),
                      kPlain) == allowed);
  }
}

TEST_CASE("tolerations match taints by Kubernetes' rules")
{
  const kube::Node node =
      node_with(R"({"taints":[{"key":"gpu","value":"a100","effect":"NoSchedule"}]})");
  struct Row {
    const char *toleration;
    bool allowed;
  };
  for (const auto &[toleration, allowed] :
       {Row{R"({"key":"gpu","operator":"Equal","value":"a100","effect":"NoSchedule"})", true},
        Row{R"({"key":"gpu","value":"a100"})", true},
        Row{R"({"key":"gpu","operator":"Exists"})", true}, Row{R"({"operator":"Exists"})", true},
        Row{R"({"operator":"Exists","effect":"NoSchedule"})", true},
        Row{R"({"key":"gpu","operator":"Exists","effect":"NoExecute"})", false},
        Row{R"({"operator":"Exists","effect":"NoExecute"})", false},
        Row{R"({"key":"gpu","value":"h100"})", false}, Row{R"({"key":"gpu"})", false},
        Row{R"({"key":"cpu","operator":"Exists"})", false}, Row{R"({"value":"a100"})", false},
        Row{R"({})", false}, Row{R"({"key":"gpu","operator":"Like","value":"a100"})", false}}) {
    INFO(toleration);
    CHECK(node_allows(node, tolerating(toleration)) == allowed);
  }
}

TEST_CASE("every taint of a node must be tolerated, by any of the pod's tolerations")
{
  const kube::Node node = node_with(R"({"taints":[{"key":"a","effect":"NoSchedule"},
                                                  {"key":"b","effect":"NoExecute"}]})");
  const std::string a = R"({"key":"a","operator":"Exists"})";
  const std::string b = R"({"key":"b","operator":"Exists"})";
  CHECK_FALSE(node_allows(node, tolerating(a)));
  CHECK_FALSE(node_allows(node, tolerating(b)));
  CHECK(node_allows(node, tolerating(a + "," + b)));
}

TEST_CASE("a cordoned node takes only pods that tolerate the cordon")
{
  const kube::Node node = node_with(R"({"unschedulable":true})");
  CHECK_FALSE(node_allows(node, kPlain));
  CHECK_FALSE(node_allows(node, tolerating(R"({"key":"other","operator":"Exists"})")));
  CHECK(node_allows(
      node, tolerating(R"({"key":"node.kubernetes.io/unschedulable","operator":"Exists"})")));
}

TEST_CASE("the scarcest resource decides how many pods a node has room for")
{
  const kube::ResourceList node{
      {"cpu", 8000}, {"memory", 1000}, {"nvidia.com/gpu", 4}, {"pods", 110}};
  CHECK(room_for(node, {}, {{"cpu", 1000}}, 100) == 8);
  CHECK(room_for(node, {}, {{"cpu", 1000}, {"memory", 300}}, 100) == 3);
  CHECK(room_for(node, {}, {{"cpu", 1000}, {"nvidia.com/gpu", 2}}, 100) == 2);
  CHECK(room_for(node, {}, {{"cpu", 8001}}, 100) == 0);
  CHECK(room_for(node, {}, {{"example.com/fpga", 1}}, 100) == 0);
  CHECK(room_for(node, {}, {{"example.com/fpga", 0}}, 100) == 100);
  CHECK(room_for({}, {}, {}, 100) == 0);
}

TEST_CASE("room never exceeds what was asked for nor the node's limit of pods")
{
  const kube::ResourceList node{{"cpu", 8000}, {"pods", 5}};
  CHECK(room_for(node, {}, {{"cpu", 100}}, 3) == 3);
  CHECK(room_for(node, {}, {{"cpu", 100}}, 50) == 5);
  CHECK(room_for(node, {{"pods", 4}}, {}, 50) == 1);
  CHECK(room_for(node, {}, {}, 0) == 0);
}

TEST_CASE("what other pods use is not there, and a node that is over its limits has no room")
{
  const kube::ResourceList node{{"cpu", 8000}, {"memory", 100}, {"pods", 110}};
  CHECK(room_for(node, {{"cpu", 6500}, {"pods", 3}}, {{"cpu", 1000}}, 10) == 1);
  CHECK(room_for(node, {{"cpu", 9000}}, {{"cpu", 1000}}, 10) == 0);
  // What the pod does not need may be used up.
  CHECK(room_for(node, {{"memory", 200}}, {{"cpu", 1000}}, 10) == 8);
}

TEST_CASE("eight pods of half a CPU fit onto four CPUs of a node")
{
  const kube::Pod pod = manifest::pod_requesting(R"({"cpu":"500m"})");
  CHECK(room_for({{"cpu", 4000}, {"pods", 110}}, {}, workload::pod_requests(pod), 100) == 8);
}
