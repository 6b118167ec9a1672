// SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"
#include "manifest.hpp"

#include <algorithm>

#include "workload/grouping.hpp"

using kube::JobSet;
using kube::ReplicatedJob;
using workload::Stages;

namespace {

kube::Pod labelled(const std::string &name, std::map<std::string, std::string> labels)
{
  kube::Pod pod;
  pod.meta.name = name;
  pod.meta.labels = std::move(labels);
  return pod;
}

/// One pod per job, in group "g", unless changed.
ReplicatedJob job(const std::string &name, std::vector<std::string> depends_on = {})
{
  ReplicatedJob made;
  made.name = name;
  made.depends_on = std::move(depends_on);
  made.pod_labels = {{"scheduling.x-k8s.io/pod-group", "g"}};
  return made;
}

JobSet job_set(std::vector<ReplicatedJob> jobs)
{
  JobSet made;
  made.replicated_jobs = std::move(jobs);
  return made;
}

std::string stage_of(const Stages &stages, const std::string &name)
{
  const auto place = stages.find(name);
  return place ? place->stage : "none";
}

std::int64_t expected_of(const Stages &stages, const std::string &name)
{
  const auto place = stages.find(name);
  return place ? place->expected : -1;
}

/// Names of the pods in rank order; all of one replicated job.
std::vector<std::string> ranked(std::vector<kube::Pod> pods)
{
  std::sort(pods.begin(), pods.end(), [](const kube::Pod &a, const kube::Pod &b) {
    return workload::rank_of(a, 0) < workload::rank_of(b, 0);
  });
  std::vector<std::string> names;
  for (const kube::Pod &pod : pods)
    names.push_back(pod.meta.name);
  return names;
}

constexpr char kCompletionIndex[] = "batch.kubernetes.io/job-completion-index";
constexpr char kJobIndex[] = "jobset.sigs.k8s.io/job-index";

}  // namespace

TEST_CASE("a pod belongs to the group of its label, or to none")
{
  CHECK(workload::pod_group_of(labelled("p", {{"scheduling.x-k8s.io/pod-group", "train"}})) ==
        "train");
  CHECK(workload::pod_group_of(labelled("p", {{"scheduling.x-k8s.io/pod-group", ""}})).empty());
  CHECK(workload::pod_group_of(labelled("p", {{"pod-group", "train"}})).empty());
}

TEST_CASE("completion indexes are ordered as numbers, not as text")
{
  CHECK(ranked({labelled("a", {{kCompletionIndex, "10"}}), labelled("b", {{kCompletionIndex, "9"}}),
                labelled("c", {{kCompletionIndex, "0"}})}) ==
        std::vector<std::string>{"c", "b", "a"});
}

TEST_CASE("the index of the job comes before the index in the job")
{
  CHECK(ranked({labelled("a", {{kJobIndex, "1"}, {kCompletionIndex, "0"}}),
                labelled("b", {{kJobIndex, "0"}, {kCompletionIndex, "1"}}),
                labelled("c", {{kJobIndex, "0"}, {kCompletionIndex, "0"}})}) ==
        std::vector<std::string>{"c", "b", "a"});
}

TEST_CASE("pods without a usable index come last, by name")
{
  CHECK(ranked({labelled("d", {}), labelled("c", {{kCompletionIndex, ""}}),
                labelled("b", {{kCompletionIndex, "first"}}),
                labelled("a", {{kCompletionIndex, "99999999999999999999"}}),
                labelled("z", {{kCompletionIndex, "7"}})}) ==
        std::vector<std::string>{"z", "a", "b", "c", "d"});
}

TEST_CASE("the position of the replicated job outranks every index")
{
  const kube::Pod early = labelled("z", {{kJobIndex, "9"}, {kCompletionIndex, "9"}});
  const kube::Pod late = labelled("a", {{kJobIndex, "0"}, {kCompletionIndex, "0"}});
  CHECK(workload::rank_of(early, 0) < workload::rank_of(late, 1));
}

TEST_CASE("replicated jobs without dependencies are one gang of all their pods")
{
  ReplicatedJob driver = job("driver"), worker = job("worker");
  worker.replicas = 2;
  worker.parallelism = 4;
  const Stages stages(job_set({driver, worker}), "g");
  CHECK(stage_of(stages, "driver").empty());
  CHECK(stage_of(stages, "worker").empty());
  CHECK(expected_of(stages, "driver") == 9);
  CHECK(expected_of(stages, "worker") == 9);
}

TEST_CASE("positions of replicated jobs follow the JobSet, foreign jobs included")
{
  ReplicatedJob foreign = job("foreign");
  foreign.pod_labels.clear();
  const Stages stages(job_set({job("z"), foreign, job("a")}), "g");
  CHECK(stages.find("z")->order == 0);
  CHECK(stages.find("a")->order == 2);
}

TEST_CASE("no more pods are expected than a job runs at the same time")
{
  struct Row {
    std::int64_t replicas, parallelism;
    std::optional<std::int64_t> completions;
    std::int64_t expected;
  };
  for (const Row &row : {Row{1, 1, {}, 1}, Row{3, 4, {}, 12}, Row{1, 8, 3, 3}, Row{1, 3, 8, 3},
                         Row{2, 4, 4, 8}, Row{0, 4, {}, 0}, Row{5, 0, {}, 0}, Row{1, 4, 0, 0}}) {
    ReplicatedJob one = job("j");
    one.replicas = row.replicas;
    one.parallelism = row.parallelism;
    one.completions = row.completions;
    INFO(row.replicas << " x " << row.parallelism);
    CHECK(expected_of(Stages(job_set({one}), "g"), "j") == row.expected);
  }
}

TEST_CASE("a job that waits for another is a later stage with its own count")
{
  ReplicatedJob data = job("data"), train = job("train", {"data"}), eval = job("eval", {"train"});
  train.replicas = 2;
  train.parallelism = 3;
  const Stages stages(job_set({data, train, eval}), "g");
  CHECK(stage_of(stages, "data") == "0");
  CHECK(stage_of(stages, "train") == "1");
  CHECK(stage_of(stages, "eval") == "2");
  CHECK(expected_of(stages, "data") == 1);
  CHECK(expected_of(stages, "train") == 6);
  CHECK(expected_of(stages, "eval") == 1);
}

TEST_CASE("jobs that become free at the same time are one stage")
{
  const Stages stages(job_set({job("a"), job("b", {"a"}), job("c", {"a"}), job("d", {"a", "c"})}),
                      "g");
  CHECK(stage_of(stages, "b") == stage_of(stages, "c"));
  CHECK(expected_of(stages, "b") == 2);
  CHECK(stage_of(stages, "d") == "2");
}

TEST_CASE("only jobs whose pods carry the group's label are counted, but all dependencies are")
{
  ReplicatedJob prepare = job("prepare");
  prepare.pod_labels = {{"scheduling.x-k8s.io/pod-group", "other"}};
  SECTION("one stage is left: it needs no number")
  {
    const Stages stages(job_set({prepare, job("train", {"prepare"})}), "g");
    CHECK_FALSE(stages.find("prepare"));
    CHECK(stage_of(stages, "train").empty());
    CHECK(expected_of(stages, "train") == 1);
  }
  SECTION("what waits for a foreign job does not start with what does not")
  {
    const Stages stages(job_set({prepare, job("driver"), job("train", {"prepare"})}), "g");
    CHECK(stage_of(stages, "driver") != stage_of(stages, "train"));
    CHECK(expected_of(stages, "driver") == 1);
  }
}

TEST_CASE("a name that the JobSet does not have has no place")
{
  CHECK_FALSE(Stages(job_set({job("a")}), "g").find("b"));
  CHECK_FALSE(Stages(job_set({}), "g").find(""));
}

TEST_CASE("every job of a long chain of dependencies is a stage of its own")
{
  std::vector<ReplicatedJob> chain{job("0")};
  for (int i = 1; i < 40; ++i)
    chain.push_back(job(std::to_string(i), {std::to_string(i - 1)}));
  const Stages stages(job_set(chain), "g");
  for (int i = 0; i < 40; ++i) {
    CHECK(stage_of(stages, std::to_string(i)) == std::to_string(i));
    CHECK(expected_of(stages, std::to_string(i)) == 1);
  }
}

TEST_CASE("a JobSet in which every job waits for all before it does not stop the sidecar")
{
  std::vector<ReplicatedJob> jobs;
  std::vector<std::string> before;
  for (int i = 0; i < 100; ++i) {
    jobs.push_back(job(std::to_string(i), before));
    before.push_back(std::to_string(i));
  }
  CHECK(stage_of(Stages(job_set(jobs), "g"), "99") == "99");
}

TEST_CASE("dependencies on later jobs, on itself or on nobody do not hang")
{
  const Stages stages(
      job_set({job("a", {"b"}), job("b", {"a"}), job("c", {"c"}), job("d", {"nobody"})}), "g");
  for (const char *name : {"a", "b", "c", "d"})
    CHECK(stages.find(name));
}

TEST_CASE("a JobSet as users write it gives the counts that its controller will create")
{
  const auto set = manifest::decoded<JobSet>(R"({"metadata":{"name":"s","uid":"u"},"spec":{
      "replicatedJobs":[
        {"name":"init","template":{"spec":{"template":{"metadata":{"labels":
          {"scheduling.x-k8s.io/pod-group":"g"}}}}}},
        {"name":"work","replicas":2,"dependsOn":[{"name":"init","status":"Complete"}],
         "template":{"spec":{"parallelism":4,"completions":4,"template":{"metadata":{"labels":
          {"scheduling.x-k8s.io/pod-group":"g"}}}}}}]}})");
  const Stages stages(set, "g");
  CHECK(expected_of(stages, "init") == 1);
  CHECK(expected_of(stages, "work") == 8);
  CHECK(stage_of(stages, "work") == "1");
}
