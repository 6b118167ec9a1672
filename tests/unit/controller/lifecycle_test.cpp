// SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"
#include "harness.hpp"

using namespace harness;

TEST_CASE(
    "a single pod is bound to the node of its job, with label and annotation in the same write")
{
  Scene scene;
  scene.slurm.nodes = {{"n2", 8}};
  scene.show(pod("a"));
  REQUIRE(scene.slurm.requests.size() == 1);
  CHECK(scene.slurm.requests[0].gang.kind == "Pod");
  REQUIRE(scene.kube.bindings.size() == 1);
  CHECK(scene.kube.bindings[0].node == "n2");
  CHECK(scene.kube.bindings[0].labels.at("scheduler.slinky.slurm.net/slurm-jobid") == "101");
  CHECK(scene.kube.bindings[0].annotations.at("slinky.slurm.net/slurm-node") == "n2");
  CHECK(scene.kube.events_of("Scheduled") == 1);
  CHECK(scene.kube.conditions.empty());
}

TEST_CASE("a gang waits for its last member and becomes one job in rank order")
{
  Scene scene;
  scene.controller->upsert(group("g", 3));
  const auto ranked = [](const std::string &name, const std::string &index) {
    kube::Pod p = pod(name, "g");
    p.meta.labels["batch.kubernetes.io/job-completion-index"] = index;
    return p;
  };
  scene.show(ranked("z", "0"));
  scene.show(ranked("a", "10"));
  CHECK(scene.slurm.requests.empty());
  scene.slurm.nodes = {{"n1", 8}, {"n2", 8}, {"n3", 8}};
  scene.show(ranked("b", "9"));
  REQUIRE(scene.slurm.requests.size() == 1);
  CHECK(scene.slurm.requests[0].tasks == 3);
  REQUIRE(scene.kube.bindings.size() == 3);
  CHECK(scene.kube.bindings[0].pod == "z");
  CHECK(scene.kube.bindings[0].node == "n1");
  CHECK(scene.kube.bindings[1].pod == "b");
  CHECK(scene.kube.bindings[2].pod == "a");
  CHECK(scene.kube.bindings[2].node == "n3");
}

TEST_CASE("a gang that is not complete says how many are missing, once, after a while")
{
  Scene scene;
  scene.controller->upsert(group("g", 2));
  scene.show(pod("a", "g"));
  CHECK(scene.kube.conditions.empty());
  scene.clock.pass(seconds(60));
  REQUIRE(scene.kube.conditions.size() == 1);
  CHECK(scene.kube.conditions[0].second.message.find("1 of 2") != std::string::npos);
}

TEST_CASE("pods that come before their PodGroup wait for it")
{
  Scene scene;
  scene.slurm.nodes = {{"n0", 8}};
  scene.show(pod("a", "g"));
  CHECK(scene.slurm.requests.empty());
  scene.controller->upsert(group("g", 1));
  scene.settle();
  REQUIRE(scene.slurm.requests.size() == 1);
  CHECK(scene.slurm.requests[0].gang.kind == "PodGroup");
}

TEST_CASE("a pending job's reason reaches the pod, and is written again only when it changes")
{
  Scene scene;
  scene.show(pod("a"));
  scene.clock.pass(seconds(2));
  REQUIRE(scene.kube.conditions.size() == 1);
  CHECK(scene.kube.conditions[0].second.type == "PodScheduled");
  CHECK(scene.kube.conditions[0].second.message == "Slurm job 101 is pending: Resources");
  CHECK(scene.kube.events_of("FailedScheduling") == 1);
  for (int i = 0; i < 5; ++i) {
    scene.hint({{protocol::HintKind::jobs_changed, 0}});
    scene.clock.pass(seconds(2));
  }
  CHECK(scene.kube.conditions.size() == 1);
  scene.slurm.jobs.at(101).reason = "Priority";
  scene.hint({{protocol::HintKind::jobs_changed, 0}});
  scene.clock.pass(seconds(2));
  CHECK(scene.kube.conditions.size() == 2);
}

TEST_CASE("a waiting pod is bound when the hint about its job comes")
{
  Scene scene;
  scene.show(pod("a"));
  CHECK(scene.kube.bindings.empty());
  scene.run(101, {{"n3", 8}});
  REQUIRE(scene.kube.bindings.size() == 1);
  CHECK(scene.kube.bindings[0].node == "n3");
}

TEST_CASE("hints about other people's jobs cost no look-up")
{
  Scene scene;
  scene.show(pod("a"));
  const int before = scene.slurm.look_ups;
  for (slurm::JobId id = 5000; id < 5100; ++id)
    scene.hint({{protocol::HintKind::job_start, id}, {protocol::HintKind::job_end, id}});
  CHECK(scene.slurm.look_ups == before);
}

TEST_CASE("with hints there is no periodic listing")
{
  Scene scene;
  scene.slurm.nodes = {{"n0", 8}};
  scene.show(pod("a"));
  const int before = scene.slurm.listings;
  for (int i = 0; i < 100; ++i) {
    scene.clock.pass(seconds(10));
    scene.hint({});
    scene.hint({{protocol::HintKind::jobs_changed, 0}});
  }
  CHECK(scene.slurm.listings == before);
}

TEST_CASE("without hints a started job is found by polling")
{
  Scene scene;
  scene.show(pod("a"));
  scene.clock.pass(seconds(100));
  CHECK(scene.controller->sync().polling());
  scene.slurm.jobs.at(101).state = slurm::JobState::RUNNING;
  scene.slurm.jobs.at(101).nodes = {{"n0", 8}};
  scene.clock.pass(seconds(31));
  CHECK(scene.kube.bindings.size() == 1);
}

TEST_CASE("when the pods have finished the job is completed with the first failing exit code")
{
  Scene scene;
  scene.slurm.nodes = {{"n0", 8}};
  scene.controller->upsert(group("g", 2));
  scene.controller->upsert(pod("a", "g"));
  scene.controller->upsert(pod("b", "g"));
  scene.settle();
  const kube::Pod a = scene.bound(pod("a", "g"), 0), b = scene.bound(pod("b", "g"), 1);
  scene.show(a);
  scene.show(b);
  const int code = GENERATE(0, 3);
  scene.show(finished(a, code));
  CHECK(scene.slurm.completed.empty());
  scene.show(finished(b));
  REQUIRE(scene.slurm.completed.size() == 1);
  CHECK(scene.slurm.completed[0].second == static_cast<std::uint32_t>(code) * 256);
  CHECK(scene.slurm.cancelled.empty());
}

TEST_CASE("a pod deleted while its job is pending cancels the job")
{
  Scene scene;
  scene.show(pod("a"));
  scene.controller->remove(pod("a"));
  scene.settle();
  CHECK(scene.slurm.cancelled == std::vector<slurm::JobId>{101});
}

TEST_CASE("a member deleted while the gang is pending cancels the job, and the gang gathers anew")
{
  Scene scene;
  scene.controller->upsert(group("g", 2));
  scene.controller->upsert(pod("a", "g"));
  scene.controller->upsert(pod("b", "g"));
  scene.settle();
  scene.controller->remove(pod("b", "g"));
  scene.settle();
  CHECK(scene.slurm.cancelled == std::vector<slurm::JobId>{101});
  scene.end(101, slurm::JobState::CANCELLED);
  CHECK(scene.kube.deletions.empty());
  scene.slurm.nodes = {{"n0", 8}};
  scene.show(pod("c", "g"));
  CHECK(scene.slurm.requests.size() == 2);
  CHECK(scene.kube.bindings.size() == 2);
}

TEST_CASE("scancel of a running job deletes its pods with a DisruptionTarget condition first")
{
  Scene scene;
  scene.slurm.nodes = {{"n0", 8}};
  scene.show(pod("a"));
  scene.show(scene.bound(pod("a"), 0));
  scene.end(101, slurm::JobState::CANCELLED);
  REQUIRE(scene.kube.conditions.size() == 1);
  CHECK(scene.kube.conditions[0].second.type == "DisruptionTarget");
  CHECK(scene.kube.conditions[0].second.reason == "SlurmJobCancelled");
  REQUIRE(scene.kube.deletions.size() == 1);
  CHECK(scene.kube.deletions[0].second == 30);
}

TEST_CASE("nothing new is bound to a node before the pods of the ended job are gone from it")
{
  Scene scene;
  scene.slurm.nodes = {{"n0", 8}};
  scene.show(pod("a"));
  const kube::Pod a = scene.bound(pod("a"), 0);
  scene.show(a);
  scene.end(101, slurm::JobState::CANCELLED);
  scene.show(pod("b"));
  CHECK(scene.slurm.requests.size() == 2);
  CHECK(scene.kube.bindings.size() == 1);
  scene.controller->remove(a);
  scene.clock.pass(seconds(2));
  CHECK(scene.kube.bindings.size() == 2);
}

TEST_CASE("a replacement takes the place of the member that failed")
{
  Scene scene;
  scene.slurm.nodes = {{"n0", 8}, {"n1", 8}};
  scene.controller->upsert(group("g", 2));
  scene.controller->upsert(pod("a", "g"));
  scene.controller->upsert(pod("b", "g"));
  scene.settle();
  const kube::Pod a = scene.bound(pod("a", "g"), 0);
  scene.show(a);
  scene.show(finished(scene.bound(pod("b", "g"), 1), 1));
  scene.show(pod("c", "g"));
  CHECK(scene.slurm.requests.size() == 1);
  REQUIRE(scene.kube.bindings.size() == 3);
  CHECK(scene.kube.bindings[2].node == scene.kube.bindings[1].node);
}

TEST_CASE("a pod too many for the group's job gets a job of its own")
{
  Scene scene;
  scene.slurm.nodes = {{"n0", 8}};
  scene.controller->upsert(group("g", 1));
  scene.show(pod("a", "g"));
  scene.slurm.nodes = {{"n1", 8}};
  scene.show(pod("b", "g"));
  REQUIRE(scene.slurm.requests.size() == 2);
  CHECK(scene.slurm.requests[1].gang.kind == "Pod");
  CHECK(scene.kube.bindings.size() == 2);
}

TEST_CASE("a refused job says so in Slurm's words and is asked again when the pod changes")
{
  Scene scene;
  scene.slurm.allocate_error = {slurm::Cause::refused, 2000, "Invalid partition name specified"};
  scene.show(pod("a"));
  REQUIRE(scene.kube.conditions.size() == 1);
  CHECK(scene.kube.conditions[0].second.message.find("Invalid partition name") !=
        std::string::npos);
  CHECK(scene.kube.events_of("FailedScheduling") == 1);
  scene.slurm.allocate_error = {};
  kube::Pod changed = pod("a");
  changed.meta.annotations["slurmjob.slinky.slurm.net/partition"] = "batch";
  scene.show(changed);
  CHECK(scene.slurm.requests.size() == 2);
}

TEST_CASE("a job that fits nowhere is asked again when nodes change")
{
  Scene scene;
  scene.slurm.allocate_error = {slurm::Cause::unfit, 2014,
                                "Requested node configuration is not available"};
  scene.show(pod("a"));
  scene.clock.pass(seconds(5));
  CHECK(scene.slurm.requests.size() == 1);
  scene.slurm.allocate_error = {};
  scene.hint({{protocol::HintKind::nodes_changed, 0}});
  scene.clock.pass(seconds(2));
  CHECK(scene.slurm.requests.size() == 2);
}

TEST_CASE("a submission whose answer was lost does not become two jobs")
{
  Scene scene;
  scene.slurm.allocate_error = {slurm::Cause::unreachable, 1, "timed out"};
  scene.slurm.lost_reply = GENERATE(true, false);
  scene.show(pod("a"));
  scene.slurm.allocate_error = {};
  scene.clock.pass(seconds(5));
  CHECK(scene.slurm.jobs.size() == 1);
  scene.run(scene.slurm.last_id, {{"n0", 8}});
  CHECK(scene.kube.bindings.size() == 1);
}

TEST_CASE("an unknown job id right after a restart of slurmctld deletes no pod")
{
  Scene scene;
  scene.slurm.nodes = {{"n0", 8}};
  scene.show(pod("a"));
  scene.show(scene.bound(pod("a"), 0));
  const auto jobs = scene.slurm.jobs;
  scene.slurm.jobs.clear();
  scene.hint({{protocol::HintKind::job_end, 101}});
  scene.clock.pass(seconds(20));
  CHECK(scene.kube.deletions.empty());
  CHECK(scene.slurm.cancelled.empty());
}

TEST_CASE("a pod that will not be bound is told why")
{
  Scene scene;
  scene.slurm.nodes = {{"n0", 8}};
  scene.kube.next_bind = {kube::Outcome::rejected, "admission webhook said no"};
  scene.show(pod("a"));
  REQUIRE(scene.kube.conditions.size() == 1);
  CHECK(scene.kube.conditions[0].second.message.find("webhook said no") != std::string::npos);
  scene.kube.next_bind = {kube::Outcome::done, ""};
  scene.clock.pass(seconds(40));
  CHECK(scene.kube.bindings.size() == 2);
  CHECK(scene.kube.events_of("Scheduled") == 1);
}

TEST_CASE("gated pods are not submitted before their gates are lifted")
{
  Scene scene;
  scene.slurm.nodes = {{"n0", 8}};
  kube::Pod gated = pod("a");
  gated.gated = true;
  scene.show(gated);
  CHECK(scene.slurm.requests.empty());
  scene.show(pod("a"));
  CHECK(scene.kube.bindings.size() == 1);
}

TEST_CASE("nodes that the pod's nodeSelector forbids are excluded")
{
  Scene scene;
  kube::Node special = node("n1");
  special.meta.labels["zone"] = "b";
  scene.controller->upsert(special);
  kube::Pod p = pod("a");
  p.node_selector["zone"] = "b";
  scene.show(p);
  REQUIRE(scene.slurm.requests.size() == 1);
  CHECK(scene.slurm.requests[0].excluded_nodes == std::vector<std::string>{"n0", "n2", "n3"});
}

TEST_CASE("a slurmctld without the plugin is named to the user, and nothing is bound")
{
  Scene scene;
  scene.slurm.no_plugin = true;
  scene.slurm.nodes = {{"n0", 8}};
  scene.show(pod("a"));
  scene.clock.pass(milliseconds(100));
  CHECK(scene.kube.bindings.empty());
  REQUIRE_FALSE(scene.kube.conditions.empty());
  CHECK(scene.kube.conditions.back().second.message.find("job_submit/k8s") != std::string::npos);
  CHECK(scene.slurm.requests.size() == 1);
}
