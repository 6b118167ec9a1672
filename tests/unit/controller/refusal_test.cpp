// SPDX-License-Identifier: Apache-2.0
// When what was refused is asked for again.
#include "catch.hpp"
#include "harness.hpp"

using namespace harness;

namespace {

struct Refused : Scene {
  explicit Refused(slurm::Cause cause)
  {
    slurm.allocate_error = {cause, 1, "no"};
    show(pod("a"));
  }
  /// Time passes, with signs of life of prep/k8s; how often it was asked then.
  std::size_t asked_in(seconds time)
  {
    const std::size_t before = slurm.requests.size();
    for (seconds passed{0}; passed < time; passed += seconds(10)) {
      clock.pass(seconds(10));
      hint({});
    }
    return slurm.requests.size() - before;
  }
  std::size_t asked_after(protocol::HintKind kind)
  {
    const std::size_t before = slurm.requests.size();
    hint({{kind, 0}});
    return slurm.requests.size() - before;
  }
};

}  // namespace

TEST_CASE("what k8s.conf denies is asked for again when the rules change, and not before")
{
  Refused scene(slurm::Cause::denied);
  CHECK(scene.asked_in(std::chrono::hours(2)) == 0);
  CHECK(scene.asked_after(protocol::HintKind::nodes_changed) == 0);
  CHECK(scene.asked_after(protocol::HintKind::rules_changed) == 1);
  CHECK(scene.kube.conditions.size() == 1);
  CHECK(scene.kube.events_of("FailedScheduling") == 1);
}

TEST_CASE("without hints nobody tells that k8s.conf changed")
{
  Refused scene(slurm::Cause::denied);
  const std::size_t before = scene.slurm.requests.size();
  scene.clock.pass(std::chrono::hours(2));
  CHECK(scene.slurm.requests.size() - before > 10);
  CHECK(scene.slurm.requests.size() - before < 20);
  CHECK(scene.kube.conditions.size() == 1);
}

TEST_CASE("lost hints may have told that the rules changed")
{
  Refused scene(slurm::Cause::denied);
  scene.seq += 5;
  const std::size_t before = scene.slurm.requests.size();
  scene.hint({});
  CHECK(scene.slurm.requests.size() - before == 1);
}

TEST_CASE("what accounts forbid is asked for now and then: nobody tells of sacctmgr")
{
  Refused scene(slurm::Cause::refused);
  CHECK(scene.asked_in(seconds(50)) == 0);
  const std::size_t asked = scene.asked_in(std::chrono::hours(2));
  CHECK(asked > 10);
  CHECK(asked < 20);
  CHECK(scene.asked_after(protocol::HintKind::rules_changed) == 1);
}

TEST_CASE(
    "what fits nowhere is asked for again when nodes change, ever more rarely while it is in vain")
{
  Refused scene(slurm::Cause::unfit);
  CHECK(scene.asked_in(std::chrono::hours(2)) == 0);
  CHECK(scene.asked_after(protocol::HintKind::nodes_changed) == 1);
  CHECK(scene.asked_after(protocol::HintKind::nodes_changed) == 0);
  const std::size_t before = scene.slurm.requests.size();
  for (int second = 0; second < 3600; ++second) {
    scene.clock.pass(seconds(1));
    scene.hint({{protocol::HintKind::nodes_changed, 0}});
  }
  CHECK(scene.slurm.requests.size() - before > 5);
  CHECK(scene.slurm.requests.size() - before < 20);
  CHECK(scene.asked_after(protocol::HintKind::rules_changed) == 1);
}

TEST_CASE("what the pod itself gets wrong is not asked for at all, until the pod changes")
{
  Scene scene;
  kube::Pod wrong = pod("a");
  wrong.meta.annotations["slurmjob.slinky.slurm.net/timelimit"] = "soon";
  scene.show(wrong);
  scene.hint({{protocol::HintKind::rules_changed, 0}});
  scene.clock.pass(std::chrono::hours(1));
  CHECK(scene.slurm.requests.empty());
  CHECK(scene.kube.conditions.size() == 1);
  scene.show(pod("a"));
  CHECK(scene.slurm.requests.size() == 1);
}
