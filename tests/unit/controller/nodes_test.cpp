// SPDX-License-Identifier: Apache-2.0
// Names on both sides.
#include "catch.hpp"
#include "harness.hpp"

using namespace harness;
using Names = std::set<std::string>;

namespace {

kube::Node tainted(const std::string &name)
{
  kube::Node made = node(name);
  made.unschedulable = true;
  return made;
}

kube::Node labelled(const std::string &name, const std::string &slurm_name)
{
  kube::Node made = tainted(name);
  made.meta.labels["slinky.slurm.net/slurm-nodename"] = slurm_name;
  return made;
}

}  // namespace

TEST_CASE("a node has the same name in both directions")
{
  controller::Nodes nodes;
  for (const char *name : {"n1", "n2.example.org", "n3.a.org", "n3.b.org", "n4.example.org"})
    nodes.upsert(node(name));
  nodes.upsert(labelled("k5", "n5"));
  CHECK(nodes.slurm_name_of("n2.example.org") == "n2.example.org");  // Slurm's names are not known
  CHECK(nodes.set_slurm_names({"n1", "n2", "n3", "n4.example.org", "n5"}));
  for (const auto &[kube_name, slurm_name] : {std::pair{"n1", "n1"},
                                              {"n2.example.org", "n2"},
                                              {"n3.a.org", ""},
                                              {"n4.example.org", "n4.example.org"},
                                              {"k5", "n5"},
                                              {"nowhere", ""}}) {
    INFO(kube_name);
    CHECK(nodes.slurm_name_of(kube_name) == slurm_name);
    if (*slurm_name)
      CHECK(nodes.by_slurm_name(slurm_name).node->meta.name == kube_name);
  }
  CHECK_FALSE(nodes.set_slurm_names({"n1", "n2", "n3", "n4.example.org", "n5"}));
}

TEST_CASE("only nodes that Slurm has are excluded")
{
  controller::Nodes nodes;
  for (const char *name : {"n1", "control-plane", "n2.example.org"})
    nodes.upsert(tainted(name));
  nodes.upsert(labelled("k3", "n3"));
  nodes.upsert(labelled("k4", "gone"));
  CHECK(nodes.excluded_for(pod("p")).size() == 5);
  nodes.set_slurm_names({"n1", "n2", "n3"});
  CHECK(nodes.excluded_for(pod("p")) == Names{"n1", "n2", "n3"});
  kube::Pod picky = pod("p");
  picky.node_selector["disk"] = "ssd";
  CHECK(nodes.excluded_for(picky) == Names{"n1", "n2", "n3"});
}

TEST_CASE("Slurm's names are loaded at the start and when partitions may have changed")
{
  Scene scene;
  CHECK(scene.slurm.name_loads == 1);
  scene.hint({{protocol::HintKind::nodes_changed, 0}});
  CHECK(scene.slurm.name_loads == 1);
  scene.hint({{protocol::HintKind::rules_changed, 0}});
  CHECK(scene.slurm.name_loads == 2);
  scene.slurm.unreachable = true;
  scene.hint({{protocol::HintKind::rules_changed, 0}});
  CHECK(scene.slurm.name_loads == 3);
  scene.slurm.unreachable = false;
  scene.clock.pass(seconds(10));
  CHECK(scene.slurm.name_loads == 4);
  scene.clock.pass(seconds(10));
  CHECK(scene.slurm.name_loads == 4);
}

TEST_CASE("a job that excludes a node which Slurm has lost is asked for again without it")
{
  Scene scene;
  scene.controller->upsert(tainted("n9"));
  scene.slurm.allocate_error = {slurm::Cause::unknown_node, 2009, "Invalid node name specified"};
  scene.slurm.node_names = Names{"n0", "n1", "n2", "n3"};
  scene.show(pod("a"));
  REQUIRE(scene.slurm.requests.size() == 1);
  CHECK(scene.slurm.requests[0].excluded_nodes == std::vector<std::string>{"n9"});
  scene.slurm.allocate_error = {};
  scene.slurm.nodes = {{"n0", 8}};
  scene.clock.pass(seconds(1));
  REQUIRE(scene.slurm.requests.size() == 2);
  CHECK(scene.slurm.requests[1].excluded_nodes.empty());
  CHECK(scene.kube.bindings.size() == 1);
  CHECK(scene.kube.conditions.empty());
}

TEST_CASE("a node name that stays wrong is told to the user, and not asked for again and again")
{
  Scene scene;
  scene.slurm.allocate_error = {slurm::Cause::unknown_node, 2009, "Invalid node name specified"};
  scene.show(pod("a"));
  scene.clock.pass(seconds(30));
  CHECK(scene.slurm.requests.size() == 2);
  REQUIRE(scene.kube.conditions.size() == 1);
  CHECK(scene.kube.conditions[0].second.message.find("Invalid node name") != std::string::npos);
}
