// SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"
#include "manifest.hpp"

#include "workload/translate.hpp"

using workload::Annotations;
using workload::GangKey;
using workload::TaskShape;
using workload::translate;
using workload::Translation;

namespace {

const GangKey kGang{"team-a", "PodGroup", "train", "uid-1", "2"};
const std::string kSlinky = "slurmjob.slinky.slurm.net/";

kube::Pod needing(const std::string &resources, Annotations annotations = {})
{
  kube::Pod pod = manifest::pod_requesting(resources);
  pod.meta.annotations = std::move(annotations);
  return pod;
}

}  // namespace

TEST_CASE("a gang becomes one request with a task per pod")
{
  const kube::Pod pod = needing(R"({"cpu":"2","memory":"1Gi"})");
  const Translation out = translate(kGang, {&pod, &pod, &pod}, {});
  CHECK(out.errors.empty());
  CHECK(out.request.tasks == 3);
  CHECK(out.request.shape == TaskShape{2, 1024, {}});
  CHECK(out.request.gang.ns == "team-a");
  CHECK(out.request.gang.kind == "PodGroup");
  CHECK(out.request.gang.name == "train");
  CHECK(out.request.gang.uid == "uid-1");
  CHECK(out.request.gang.stage == "2");
  CHECK(out.request.excluded_nodes.empty());
  CHECK(out.request.required_nodes.empty());
}

TEST_CASE("every task has room for the largest member, resource by resource")
{
  const kube::Pod driver = needing(R"({"cpu":"1","memory":"8Gi"})");
  const kube::Pod worker = needing(R"({"cpu":"4","memory":"1Gi","nvidia.com/gpu":"2"})");
  CHECK(translate(kGang, {&driver, &worker}, {}).request.shape == TaskShape{4, 8192, {{"gpu", 2}}});
}

TEST_CASE("eight pods of half a CPU are eight tasks of one CPU")
{
  const kube::Pod pod = needing(R"({"cpu":"500m","memory":"512Ki"})");
  const auto request = translate(kGang, std::vector(8, &pod), {}).request;
  CHECK(request.tasks == 8);
  CHECK(request.shape == TaskShape{1, 1, {}});
}

TEST_CASE("annotations raise what the pods request and never lower it")
{
  const kube::Pod more =
      needing(R"({"cpu":"2","memory":"1Gi"})",
              {{kSlinky + "cpu-per-task", "4"}, {kSlinky + "mem-per-node", "1"}});
  CHECK(translate(kGang, {&more}, {}).request.shape == TaskShape{4, 1024, {}});
  const kube::Pod less =
      needing(R"({"cpu":"2","memory":"1Gi"})",
              {{kSlinky + "cpu-per-task", "1"}, {kSlinky + "mem-per-node", "2048"}});
  CHECK(translate(kGang, {&less}, {}).request.shape == TaskShape{2, 2048, {}});
}

TEST_CASE("options come from the first pod in rank order, then from the group")
{
  const kube::Pod first = needing("{}", {{kSlinky + "account", "a"}});
  const kube::Pod second = needing("{}", {{kSlinky + "account", "b"}, {kSlinky + "qos", "q"}});
  const Annotations group{{kSlinky + "account", "c"}, {kSlinky + "partition", "p"}};
  const auto options = translate(kGang, {&first, &second}, {&group}).request.options;
  CHECK(options.account == "a");
  CHECK(options.partition == "p");
  CHECK_FALSE(options.qos);
}

TEST_CASE("errors and warnings of annotations reach whoever submits")
{
  const kube::Pod pod = needing("{}", {{kSlinky + "timelimit", "soon"}});
  const Annotations group{{kSlinky + "colour", "red"}};
  const Translation out = translate(kGang, {&pod}, {&group});
  CHECK(out.errors.size() == 1);
  CHECK(out.warnings.size() == 1);
}

TEST_CASE("a resource without GRES is reported once for all members that ask for it")
{
  const kube::Pod fpga = needing(R"({"example.com/fpga":"1"})");
  const kube::Pod nic = needing(R"({"example.com/nic":"1"})");
  const Translation out = translate(kGang, {&fpga, &fpga, &nic}, {});
  REQUIRE(out.errors.size() == 2);
  CHECK(out.errors[0].find("example.com/fpga") != std::string::npos);
  CHECK(out.errors[1].find("example.com/nic") != std::string::npos);
}
