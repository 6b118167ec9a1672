// SPDX-License-Identifier: Apache-2.0
// What comes at the wrong moment, or from somebody who means no good.
#include "catch.hpp"
#include "harness.hpp"

using namespace harness;

TEST_CASE("a pod that claims a job of another namespace joins nobody")
{
  Scene scene;
  scene.slurm.nodes = {{"n0", 8}};
  scene.show(pod("a"));
  scene.show(scene.bound(pod("a"), 0));
  kube::Pod thief = scene.bound(pod("thief"), 0);
  thief.meta.ns = "elsewhere";
  scene.show(thief);
  kube::Pod failed = finished(thief, 3);
  failed.meta.ns = "elsewhere";
  scene.show(failed);
  scene.show(finished(scene.bound(pod("a"), 0)));
  CHECK(std::count(scene.slurm.completed.begin(), scene.slurm.completed.end(),
                   std::pair<slurm::JobId, std::uint32_t>{101, 0}) == 1);
}

TEST_CASE("a listing that does not know each node's share harms no running job")
{
  Scene scene;
  scene.controller->upsert(group("g", 3));
  scene.slurm.nodes = {{"n0", 2}, {"n1", 1}};
  for (const char *name : {"a", "b", "c"})
    scene.show(pod(name, "g"));
  REQUIRE(scene.kube.bindings.size() == 3);
  CHECK(scene.kube.bindings[1].node == "n0");
  CHECK(scene.kube.bindings[2].node == "n1");
  scene.show(finished(scene.bound(pod("a", "g"), 0)));
  const int look_ups = scene.slurm.look_ups;
  scene.slurm.jobs.at(101).nodes = {{"n0", 1}, {"n1", 1}};
  scene.slurm.jobs.at(101).shares_known = false;
  scene.controller->receive({8, 1, {}});  // another epoch: everything is listed
  scene.settle();
  CHECK(scene.slurm.cancelled.empty());
  CHECK(scene.slurm.look_ups == look_ups);
  CHECK(scene.controller->count_by_state().at("Running") == 1);
}

TEST_CASE("nothing is bound before each node's share is known")
{
  Scene scene;
  scene.controller->upsert(group("g", 3));
  for (const char *name : {"a", "b", "c"})
    scene.show(pod(name, "g"));
  scene.slurm.jobs.at(101).shares_known = false;
  scene.run(101, {{"n0", 1}, {"n1", 1}});
  CHECK(scene.kube.bindings.empty());
  scene.slurm.jobs.at(101).shares_known = true;
  scene.slurm.jobs.at(101).nodes = {{"n0", 1}, {"n1", 2}};
  scene.clock.pass(seconds(1));
  REQUIRE(scene.kube.bindings.size() == 3);
  CHECK(scene.kube.bindings[2].node == "n1");
}

TEST_CASE("a Binding that fails after the job has ended leaves the node free")
{
  Scene scene;
  scene.slurm.nodes = {{"n0", 8}};
  scene.kube.hold_answers = true;
  scene.kube.next_bind = {kube::Outcome::gone, "test"};
  scene.show(pod("a"));
  scene.end(101, slurm::JobState::CANCELLED);
  CHECK(scene.kube.deletions.size() == 1);
  scene.kube.answer();
  scene.controller->remove(pod("a"));
  scene.kube.hold_answers = false;
  scene.kube.next_bind = {kube::Outcome::done, ""};
  scene.show(pod("b"));
  CHECK(scene.kube.bindings.size() == 2);
}

TEST_CASE("the pod goes while nobody knows whether its submission arrived: no job is left behind")
{
  Scene scene;
  scene.slurm.allocate_error = {slurm::Cause::unreachable, 1, "timeout"};
  scene.slurm.lost_reply = true;
  scene.show(pod("a"));
  CHECK(scene.slurm.jobs.size() == 1);
  scene.controller->remove(pod("a"));
  scene.clock.pass(seconds(10));
  CHECK(scene.slurm.cancelled == std::vector<slurm::JobId>{101});
}

TEST_CASE("a gang without pods is forgotten when a listing shows that there is no job")
{
  Scene scene;
  scene.slurm.allocate_error = {slurm::Cause::unreachable, 1, "timeout"};
  scene.show(pod("a"));
  scene.controller->remove(pod("a"));
  CHECK(scene.controller->count_by_state().at("Submitting") == 1);
  scene.clock.pass(seconds(10));
  CHECK(scene.controller->count_by_state().at("Submitting") == 0);
}

TEST_CASE("a pod that is gone for the API server, but not yet for the watch, is bound once")
{
  Scene scene;
  scene.slurm.nodes = {{"n0", 8}};
  scene.kube.next_bind = {kube::Outcome::gone, "test"};
  scene.show(pod("a"));
  scene.clock.pass(seconds(10));
  CHECK(scene.kube.bindings.size() == 1);
  scene.clock.pass(seconds(30));
  CHECK(scene.kube.bindings.size() == 2);  // the watch should have said so long ago
}

TEST_CASE("a gated pod takes no place from those of its group that run")
{
  Scene scene;
  scene.controller->upsert(group("g", 2));
  kube::Pod gated = pod("c", "g");
  gated.gated = true;
  scene.show(gated);
  scene.slurm.nodes = {{"n0", 8}};
  scene.kube.hold_answers = true;
  scene.show(pod("a", "g"));
  scene.show(pod("b", "g"));
  CHECK(scene.slurm.requests.size() == 1);
  CHECK(scene.kube.bindings.size() == 2);
}

TEST_CASE("polling goes on at its pace after listings that failed slowly")
{
  Scene scene;
  scene.clock.pass(seconds(40));  // no hints: polling
  scene.slurm.unreachable = true;
  scene.slurm.clock = &scene.clock;
  scene.slurm.failure_takes = seconds(10);
  scene.clock.pass(seconds(60));
  scene.slurm.unreachable = false;
  scene.clock.pass(seconds(31));
  scene.slurm.nodes = {{"n0", 8}};
  const int before = scene.slurm.listings;
  scene.clock.pass(seconds(61));
  CHECK(scene.slurm.listings >= before + 2);
}
