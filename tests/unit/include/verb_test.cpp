// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "catch.hpp"
#include "protocol.hpp"

namespace {

using protocol::Verb;
using protocol::VerbKind;

/// A verb whose inner members, after the version, are `body`.
std::optional<Verb> parse(const std::string &body)
{
  INFO(body);
  return protocol::parse_verb(R"({"slurm-k8s.dev/verb":{"v":1,)" + body + "}}");
}

std::optional<Verb> on_node(const std::string &kind, const std::string &node,
                            const std::string &reason = "k8s: cordoned")
{
  return parse(R"("verb":")" + kind + R"(","cluster":"c","node":")" + node + R"(","reason":")" +
               reason + "\"");
}

}  // namespace

TEST_CASE("each verb survives the way to the plugin")
{
  Verb complete{VerbKind::complete, 42, 256, "prod-east", "3f1c"};
  Verb cancel{VerbKind::cancel, 42, 0, "prod-east", "3f1c"};
  Verb update{VerbKind::update, 42, 0, "prod-east", "3f1c"};
  update.excluded_nodes = "worker[1-3],gpu7";
  update.time_limit_min = 90;
  update.nice = -5;
  Verb freed{VerbKind::update, 42, 0, "prod-east", "3f1c"};
  freed.excluded_nodes = "";
  Verb drain, resume;
  drain.kind = VerbKind::drain;
  resume.kind = VerbKind::resume;
  drain.cluster = resume.cluster = "prod-east";
  drain.node = resume.node = "gpu-7.rack_1";
  drain.reason = "k8s: cordoned by \"alice\"";
  for (const Verb &verb : {complete, cancel, update, freed, drain, resume}) {
    const std::string text = protocol::encode_verb(verb);
    INFO(text);
    CHECK(protocol::looks_like_verb(text));
    CHECK(protocol::parse_verb(text) == verb);
  }
}

TEST_CASE("a verb for a job names job and gang, and what it does")
{
  CHECK(parse(R"("verb":"cancel","job":42,"cluster":"c","uid":"u")"));
  for (const char *bad : {R"("verb":"complete","job":42,"cluster":"c","uid":"u")",
                          R"("verb":"reboot","job":42,"cluster":"c","uid":"u")",
                          R"("verb":"cancel","job":0,"cluster":"c","uid":"u")",
                          R"("verb":"cancel","job":-1,"cluster":"c","uid":"u")",
                          R"("verb":"cancel","job":42,"cluster":"c","uid":"")",
                          R"("verb":"cancel","job":42,"uid":"u")",
                          R"("verb":"cancel","job":"42","cluster":"c","uid":"u")",
                          R"("verb":"update","job":42,"cluster":"c","uid":"u")",
                          R"("verb":"update","job":42,"cluster":"c","uid":"u","nice":"5")",
                          R"("verb":"update","job":42,"cluster":"c","uid":"u","nice":5000000000)",
                          R"("verb":"update","job":42,"cluster":"c","uid":"u","timeLimit":-1)",
                          R"("verb":"update","job":42,"cluster":"c","uid":"u","excludedNodes":7)"})
    CHECK_FALSE(parse(bad));
}

TEST_CASE("a verb for a node names one node, and no list of them")
{
  CHECK(on_node("drain", "worker1"));
  CHECK(on_node("resume", "worker1"));
  for (const std::string &bad : {std::string(""), std::string("ALL"), std::string("all"),
                                 std::string("a,b"), std::string("w[1-2]"), std::string("a b"),
                                 std::string("a\\n"), std::string("*"), std::string(256, 'a')})
    for (const char *kind : {"drain", "resume"})
      CHECK_FALSE(on_node(kind, bad));
  CHECK(on_node("drain", std::string(255, 'a')));
}

TEST_CASE("the reason of a drain is ours, one line, and not endless")
{
  CHECK(on_node("drain", "n", "k8s: " + std::string(250, 'x')));
  for (const std::string &bad :
       {std::string(""), std::string("k8s: "), std::string("maintenance"), std::string("K8S: no"),
        std::string("k8s: two\\nlines"), "k8s: " + std::string(251, 'x')})
    CHECK_FALSE(on_node("drain", "n", bad));
}
