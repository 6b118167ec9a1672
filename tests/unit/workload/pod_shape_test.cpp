// SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"
#include "manifest.hpp"

#include <limits>

#include "workload/pod_shape.hpp"

using workload::TaskShape;

namespace {

constexpr std::int64_t kMib = 1024 * 1024;

TaskShape shape_of(const kube::Pod &pod)
{
  std::string problem;
  TaskShape shape = workload::pod_shape(pod, problem);
  CHECK(problem.empty());
  return shape;
}

std::string problem_of(const kube::Pod &pod)
{
  std::string problem;
  workload::pod_shape(pod, problem);
  return problem;
}

/// What Kubernetes charges a pod with these containers, in cores and MiB.
void check_charge(const std::string &spec, std::int64_t cores, std::int64_t mib)
{
  INFO(spec);
  kube::ResourceList charged = workload::pod_requests(manifest::pod(spec));
  CHECK(charged["cpu"] == cores * 1000);
  CHECK(charged["memory"] == mib * kMib);
}

std::string container(int cores, int mib, const std::string &more = "")
{
  return R"({"name":"c","resources":{"requests":{"cpu":")" + std::to_string(cores) +
         R"(","memory":")" + std::to_string(mib) + R"(Mi"}})" + more + "}";
}

std::string side_container(int cores, int mib)
{
  return container(cores, mib, R"(,"restartPolicy":"Always")");
}

}  // namespace

TEST_CASE("a pod's memory is rounded up to whole MiB, never to the 0 that Slurm takes for a node")
{
  struct Row {
    const char *memory;
    std::uint64_t mib;
  };
  for (const auto &[memory, mib] :
       {Row{"512Ki", 1}, Row{"100M", 96}, Row{"1", 1}, Row{"1Mi", 1}, Row{"1048577", 2},
        Row{"1025Ki", 2}, Row{"1G", 954}, Row{"1Gi", 1024}, Row{"1.5Gi", 1536}, Row{"0", 1},
        Row{"100m", 1}, Row{"64Ti", 64ull << 20}}) {
    INFO(memory);
    const auto pod = manifest::pod_requesting(R"({"memory":")" + std::string(memory) + "\"}");
    CHECK(shape_of(pod).memory_mib == mib);
  }
}

TEST_CASE("a pod's CPU is rounded up to whole CPUs")
{
  struct Row {
    const char *cpu;
    std::uint32_t cpus;
  };
  for (const auto &[cpu, cpus] :
       {Row{"500m", 1}, Row{"1m", 1}, Row{"1", 1}, Row{"1001m", 2}, Row{"1.5", 2}, Row{"0", 1},
        Row{"0.0001", 1}, Row{"96", 96}, Row{"65535", 65535}, Row{"65534001m", 65535}}) {
    INFO(cpu);
    const auto pod = manifest::pod_requesting(R"({"cpu":")" + std::string(cpu) + "\"}");
    CHECK(shape_of(pod).cpus == cpus);
  }
}

TEST_CASE("containers are summed before they are rounded")
{
  const kube::Pod pod = manifest::pod(
      R"({"containers":[{"name":"a","resources":{"requests":{"cpu":"500m","memory":"512Ki"}}},
                        {"name":"b","resources":{"requests":{"cpu":"500m","memory":"512Ki"}}}]})");
  CHECK(shape_of(pod) == TaskShape{1, 1, {}});
}

TEST_CASE("a pod without requests gets one CPU and 1 MiB")
{
  CHECK(shape_of(manifest::pod(R"({"containers":[{"name":"c"}]})")) == TaskShape{1, 1, {}});
}

TEST_CASE("a limit without request counts, a request hides its limit")
{
  const kube::Pod pod = manifest::pod(
      R"({"containers":[{"name":"c","resources":{
           "limits":{"cpu":"8","memory":"4Gi","nvidia.com/gpu":"2"},
           "requests":{"memory":"1Gi"}}}]})");
  CHECK(shape_of(pod) == TaskShape{8, 1024, {{"gpu", 2}}});
}

TEST_CASE("init containers count only as far as they need more than what runs later")
{
  const std::string main = R"("containers":[)" + container(2, 100) + "," + container(1, 50) + "]";
  check_charge("{" + main + R"(,"initContainers":[)" + container(1, 20) + "]}", 3, 150);
  check_charge("{" + main + R"(,"initContainers":[)" + container(8, 20) + "]}", 8, 150);
  // They run one after the other.
  check_charge("{" + main + R"(,"initContainers":[)" + container(2, 120) + "," + container(2, 160) +
                   "]}",
               3, 160);
}

TEST_CASE("side containers run beside everything that starts after them")
{
  const std::string main = R"("containers":[)" + container(2, 100) + "]";
  check_charge("{" + main + R"(,"initContainers":[)" + side_container(1, 10) + "]}", 3, 110);
  SECTION("an init container after it adds to it")
  {
    check_charge("{" + main + R"(,"initContainers":[)" + side_container(1, 10) + "," +
                     container(4, 10) + "]}",
                 5, 110);
  }
  SECTION("an init container before it does not")
  {
    check_charge("{" + main + R"(,"initContainers":[)" + container(4, 10) + "," +
                     side_container(1, 10) + "]}",
                 4, 110);
  }
  SECTION("several of them add up")
  {
    check_charge("{" + main + R"(,"initContainers":[)" + side_container(1, 10) + "," +
                     side_container(1, 20) + "," + container(3, 200) + "]}",
                 5, 230);
  }
}

TEST_CASE("restartPolicy of an ordinary container makes no side container of it")
{
  check_charge(R"({"containers":[)" + side_container(2, 10) + R"(],"initContainers":[)" +
                   container(3, 10) + "]}",
               3, 10);
}

TEST_CASE("requests of the pod replace the sum of its containers, for CPU, memory and huge pages")
{
  const kube::Pod pod = manifest::pod(
      R"({"containers":[{"name":"c","resources":{"requests":
            {"cpu":"1","memory":"1Gi","nvidia.com/gpu":"1"},"limits":{"nvidia.com/gpu":"1"}}}],
          "resources":{"requests":{"cpu":"6","nvidia.com/gpu":"4"},"limits":{"memory":"3Gi"}}})");
  CHECK(shape_of(pod) == TaskShape{6, 3072, {{"gpu", 1}}});
}

TEST_CASE("overhead is charged on top of containers, init containers and requests of the pod")
{
  const std::string overhead = R"(,"overhead":{"cpu":"1","memory":"10Mi"})";
  check_charge(R"({"containers":[)" + container(2, 100) + "]" + overhead + "}", 3, 110);
  check_charge(R"({"containers":[)" + container(2, 100) + R"(],"initContainers":[)" +
                   container(5, 10) + "]" + overhead + "}",
               6, 110);
  check_charge(R"({"containers":[)" + container(2, 100) +
                   R"(],"resources":{"requests":{"cpu":"4","memory":"200Mi"}})" + overhead + "}",
               5, 210);
}

TEST_CASE("overhead and containers round up together, once")
{
  const kube::Pod pod = manifest::pod(
      R"({"containers":[{"name":"c","resources":{"requests":{"cpu":"750m","memory":"700Ki"}}}],
          "overhead":{"cpu":"250m","memory":"324Ki"}})");
  CHECK(shape_of(pod) == TaskShape{1, 1, {}});
}

TEST_CASE("huge pages are memory of the node that Slurm counts")
{
  const auto pod = manifest::pod_requesting(
      R"({"memory":"100Mi","hugepages-2Mi":"20Mi","hugepages-1Gi":"1Gi"})");
  CHECK(shape_of(pod).memory_mib == 100 + 20 + 1024);
}

TEST_CASE("disk space is not asked of Slurm")
{
  CHECK(shape_of(manifest::pod_requesting(R"({"ephemeral-storage":"10Gi"})")) ==
        TaskShape{1, 1, {}});
}

TEST_CASE("GPUs of all containers that run at the same time are one GRES count")
{
  const kube::Pod pod = manifest::pod(
      R"({"containers":[{"name":"a","resources":{"limits":{"nvidia.com/gpu":"1"}}},
                        {"name":"b","resources":{"limits":{"nvidia.com/gpu":"3"}}}],
          "initContainers":[{"name":"i","resources":{"limits":{"nvidia.com/gpu":"2"}}}]})");
  CHECK(shape_of(pod).gres == std::map<std::string, std::uint64_t>{{"gpu", 4}});
}

TEST_CASE("a count of 0 devices asks for none and needs no GRES")
{
  CHECK(shape_of(manifest::pod_requesting(R"({"nvidia.com/gpu":"0","example.com/fpga":"0"})"))
            .gres.empty());
}

TEST_CASE("a resource that no GRES stands for is named, also in the overhead")
{
  CHECK(problem_of(manifest::pod_requesting(R"({"example.com/fpga":"1"})"))
            .find("example.com/fpga") != std::string::npos);
  CHECK(problem_of(manifest::pod_requesting(R"({"nvidia.com/mig-1g.5gb":"1"})"))
            .find("nvidia.com/mig-1g.5gb") != std::string::npos);
  CHECK(problem_of(manifest::pod(R"({"containers":[],"overhead":{"example.com/nic":"1"}})"))
            .find("example.com/nic") != std::string::npos);
}

TEST_CASE("more CPUs than Slurm can count are a problem, not a small number")
{
  for (const char *cpu : {"65536", "65535001m", "1Ei"}) {
    INFO(cpu);
    const auto pod = manifest::pod_requesting(R"({"cpu":")" + std::string(cpu) + "\"}");
    CHECK(problem_of(pod).find("65535") != std::string::npos);
  }
}

TEST_CASE("sums beyond 64 bits stay huge instead of wrapping around")
{
  const std::string huge =
      R"({"name":"c","resources":{"requests":{"memory":"7Ei","hugepages-1Gi":"7Ei"}}})";
  const kube::Pod pod =
      manifest::pod(R"({"containers":[)" + huge + "," + huge + R"(],"overhead":{"memory":"7Ei"}})");
  CHECK(shape_of(pod).memory_mib == std::numeric_limits<std::int64_t>::max() / kMib + 1);
}

TEST_CASE("a widened shape covers both in every resource and shrinks in none")
{
  TaskShape shape{4, 100, {{"gpu", 1}, {"fpga", 2}}};
  workload::widen(shape, {2, 200, {{"gpu", 3}, {"nic", 1}}});
  CHECK(shape == TaskShape{4, 200, {{"fpga", 2}, {"gpu", 3}, {"nic", 1}}});
}
