// SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"
#include "harness.hpp"

using namespace harness;

namespace {

void show_pair(Scene &scene)
{
  scene.controller->upsert(group("g", 2));
  scene.controller->upsert(pod("a", "g"));
  scene.controller->upsert(pod("b", "g"));
  scene.settle();
}

}  // namespace

TEST_CASE("a restart while the submission is under way finds the job by its tag")
{
  Scene scene;
  scene.slurm.hold_replies = true;
  show_pair(scene);
  scene.slurm.held.clear();
  scene.slurm.hold_replies = false;
  scene.restart({pod("a", "g"), pod("b", "g")}, {group("g", 2)});
  scene.clock.pass(seconds(5));
  CHECK(scene.slurm.jobs.size() == 1);
  scene.run(101, {{"n0", 8}});
  CHECK(scene.kube.bindings.size() == 2);
}

TEST_CASE("a restart with some members bound binds the rest to the places that are left")
{
  Scene scene;
  scene.slurm.nodes = {{"n0", 8}, {"n1", 8}};
  show_pair(scene);
  REQUIRE(scene.kube.bindings.size() == 2);
  const kube::Pod a = scene.bound(pod("a", "g"), 0);
  scene.restart({a, pod("b", "g")}, {group("g", 2)});
  REQUIRE(scene.kube.bindings.size() == 3);
  CHECK(scene.kube.bindings[2].pod == "b");
  CHECK(scene.kube.bindings[2].node == "n1");
  CHECK(scene.slurm.jobs.size() == 1);
}

TEST_CASE("a job that ended while nobody looked takes its pods with it")
{
  Scene scene;
  scene.slurm.nodes = {{"n0", 8}};
  show_pair(scene);
  const kube::Pod a = scene.bound(pod("a", "g"), 0), b = scene.bound(pod("b", "g"), 1);
  scene.slurm.jobs.at(101).state = slurm::JobState::TIMEOUT;
  scene.restart({a, b}, {group("g", 2)});
  CHECK(scene.kube.deletions.size() == 2);
}

TEST_CASE("pods that finished while nobody looked end their job")
{
  Scene scene;
  scene.slurm.nodes = {{"n0", 8}};
  show_pair(scene);
  const kube::Pod a = finished(scene.bound(pod("a", "g"), 0)),
                  b = finished(scene.bound(pod("b", "g"), 1), 4);
  scene.restart({a, b}, {group("g", 2)});
  REQUIRE(scene.slurm.completed.size() == 1);
  CHECK(scene.slurm.completed[0].second == 4 * 256);
}

TEST_CASE("a job whose pods are gone is cancelled")
{
  Scene scene;
  scene.slurm.nodes = {{"n0", 8}};
  show_pair(scene);
  scene.restart();
  CHECK(scene.slurm.cancelled == std::vector<slurm::JobId>{101});
}

TEST_CASE("bound pods stay with their job even if their group object is gone")
{
  Scene scene;
  scene.slurm.nodes = {{"n0", 8}};
  show_pair(scene);
  const kube::Pod a = scene.bound(pod("a", "g"), 0), b = scene.bound(pod("b", "g"), 1);
  scene.restart({a, b});
  CHECK(scene.slurm.cancelled.empty());
  CHECK(scene.kube.deletions.empty());
}

TEST_CASE(
    "a job that Slurm has forgotten leaves its pods alone and is asked for again on their nodes")
{
  Scene scene;
  scene.slurm.nodes = {{"n0", 8}};
  show_pair(scene);
  const kube::Pod a = scene.bound(pod("a", "g"), 0), b = scene.bound(pod("b", "g"), 1);
  scene.slurm.jobs.clear();
  scene.restart({a, b}, {group("g", 2)});
  CHECK(scene.kube.deletions.empty());
  REQUIRE(scene.slurm.requests.size() == 2);
  CHECK(scene.slurm.requests[1].required_nodes == std::vector<std::string>{"n0"});
  CHECK(scene.kube.events_of("JobReplaced") == 2);
  // How its pods end counts for the new job, though they carry the id of the old one.
  scene.show(finished(a, 5));
  scene.show(finished(b, 0));
  REQUIRE(scene.slurm.completed.size() == 1);
  CHECK(scene.slurm.completed[0].second == 5 << 8);
}

TEST_CASE("of two live jobs with one tag the running one stays")
{
  Scene scene;
  show_pair(scene);
  const workload::JobRequest request = scene.slurm.requests[0];
  scene.slurm.nodes = {{"n0", 8}};
  scene.slurm.make(request);
  scene.restart({pod("a", "g"), pod("b", "g")}, {group("g", 2)});
  CHECK(scene.slurm.cancelled == std::vector<slurm::JobId>{101});
  CHECK(scene.kube.bindings.size() == 2);
}

TEST_CASE("verbs that slurmctld could not take are asked again when it is back")
{
  Scene scene;
  scene.slurm.nodes = {{"n0", 8}};
  scene.show(pod("a"));
  const kube::Pod a = scene.bound(pod("a"), 0);
  scene.show(a);
  scene.slurm.unreachable = true;
  scene.show(finished(a));
  CHECK(scene.slurm.jobs.at(101).state == slurm::JobState::RUNNING);
  scene.slurm.unreachable = false;
  scene.clock.pass(seconds(40));
  CHECK(scene.slurm.jobs.at(101).state == slurm::JobState::COMPLETED);
}
