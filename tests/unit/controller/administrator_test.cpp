// SPDX-License-Identifier: Apache-2.0
// What an administrator does to jobs of ours.
#include "catch.hpp"
#include "harness.hpp"

using namespace harness;

namespace {

constexpr auto kChanged = protocol::HintKind::jobs_changed;

/// Two pods on n0 and n1, bound by one job, number 101.
struct Pair : Scene {
  Pair()
  {
    controller->upsert(group("g", 2));
    slurm.nodes = {{"n0", 1}, {"n1", 1}};
    show(pod("a", "g"));
    show(pod("b", "g"));
    for (std::size_t i = 0; i < 2; ++i) {
      kube::Pod p = bound(pod(kube.bindings.at(i).pod, "g"), i);
      p.meta.annotations.insert(kube.bindings[i].annotations.begin(),
                                kube.bindings[i].annotations.end());
      show(p);
    }
  }
};

}  // namespace

TEST_CASE("pods on a node that their job has lost are deleted, the others stay")
{
  Pair scene;
  scene.slurm.jobs.at(101).nodes = {{"n0", 1}};
  scene.hint({{kChanged, 0}});
  scene.clock.pass(seconds(2));
  REQUIRE(scene.kube.deletions.size() == 1);
  CHECK(scene.kube.deletions[0].first == "b");
  CHECK(scene.kube.events_of("SlurmNodeReleased") == 1);
}

TEST_CASE("a pod whose annotation was forged harms nobody but itself")
{
  Pair scene;
  kube::Pod forged = scene.bound(pod("a", "g"), 0);
  forged.meta.annotations["slinky.slurm.net/slurm-node"] = "elsewhere";
  scene.show(forged);
  CHECK(scene.kube.deletions.size() == 1);
  CHECK(scene.kube.deletions[0].first == "a");
}

TEST_CASE("the pods of a suspended job are told, once, that they run on")
{
  Pair scene;
  scene.slurm.jobs.at(101).state = slurm::JobState::SUSPENDED;
  for (int i = 0; i < 5; ++i) {
    scene.hint({{kChanged, 0}});
    scene.clock.pass(seconds(2));
  }
  CHECK(scene.kube.events_of("JobSuspended") == 2);
  CHECK(scene.kube.deletions.empty());
  CHECK(scene.slurm.cancelled.empty());
}

TEST_CASE("nothing is bound while the job is suspended")
{
  Scene scene;
  scene.show(pod("a"));
  scene.slurm.jobs.at(101).state = slurm::JobState::SUSPENDED;
  scene.slurm.jobs.at(101).nodes = {{"n0", 8}};
  scene.hint({{protocol::HintKind::job_start, 101}});
  CHECK(scene.kube.bindings.empty());
  scene.run(101, {{"n0", 8}});
  scene.hint({{kChanged, 0}});
  scene.clock.pass(seconds(2));
  CHECK(scene.kube.bindings.size() == 1);
}

TEST_CASE("running jobs are looked at one after the other when something changed, and then no more")
{
  Scene scene;
  scene.slurm.nodes = {{"n0", 8}};
  for (int i = 0; i < 7; ++i)
    scene.show(pod("p" + std::to_string(i)));
  scene.clock.pass(seconds(5));
  const int before = scene.slurm.look_ups;
  scene.hint({{kChanged, 0}});
  CHECK(scene.slurm.look_ups == before);
  scene.clock.pass(seconds(1));
  CHECK(scene.slurm.look_ups == before + 5);
  scene.clock.pass(seconds(1));
  CHECK(scene.slurm.look_ups == before + 7);
  scene.clock.pass(seconds(100));
  CHECK(scene.slurm.look_ups == before + 7);
}

TEST_CASE("an expected start is told again only when it has moved by what matters")
{
  Scene scene;
  scene.show(pod("a"));
  const auto told = [&](std::time_t start) {
    scene.slurm.jobs.at(101).start = start;
    const std::size_t before = scene.kube.conditions.size();
    for (int i = 0; i < 3; ++i) {
      scene.hint({{kChanged, 0}});
      scene.clock.pass(seconds(2));
    }
    return scene.kube.conditions.size() - before;
  };
  const std::time_t now = std::time(nullptr);
  scene.clock.pass(seconds(2));
  CHECK(told(now + 10'000) == 1);
  CHECK(told(now + 10'200) == 0);
  CHECK(told(0) == 0);
  CHECK(told(now - 5) == 0);
  CHECK(told(now + 11'500) == 0);  // a fifth of the time that is left
  CHECK(told(now + 20'000) == 1);
}
