// SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"

#include "protocol.hpp"

namespace {

const protocol::Identity kGang{"prod-east", "team-a", "PodGroup", "train", "3f1c", "1"};

}  // namespace

TEST_CASE("a claim survives the way to the plugin")
{
  const protocol::Claim claim{kGang, "the user's \"own\" words", "alice", "physics", "high", 4242,
                              -7};
  const auto parsed = protocol::parse_claim(protocol::encode_claim(claim));
  REQUIRE(parsed);
  CHECK(parsed->identity == kGang);
  CHECK(parsed->comment == claim.comment);
  CHECK(parsed->user == "alice");
  CHECK(parsed->group == "physics");
  CHECK(parsed->priority_class == "high");
  CHECK(parsed->priority == 4242u);
  CHECK(parsed->nice == -7);
}

TEST_CASE("a tag survives the way through Slurm and is no claim")
{
  const std::string text = protocol::encode_tag(kGang);
  CHECK(protocol::parse_tag(text) == kGang);
  CHECK_FALSE(protocol::parse_claim(text));
  CHECK_FALSE(protocol::parse_verb(text));
}

TEST_CASE("the longest names that Kubernetes allows fit into Slurm's 1,024 bytes")
{
  const protocol::Identity longest{std::string(63, 'c'),  std::string(63, 'n'), "PodGroup",
                                   std::string(253, 'x'), std::string(36, 'u'), "12"};
  CHECK(protocol::encode_tag(longest).size() <= protocol::kMaxCommentBytes);
}

TEST_CASE("an administrator's own JSON is neither tag nor claim")
{
  for (const char *text :
       {R"({"team":"x"})", "{}", "[]", "", "hello", R"({"slurm-k8s.dev/tag":3})"}) {
    CHECK_FALSE(protocol::parse_tag(text));
    CHECK_FALSE(protocol::parse_claim(text));
  }
}

TEST_CASE("a tag with a broken body is still seen as an attempt at one")
{
  const std::string text = R"({"slurm-k8s.dev/tag": {"v":1, "uid": )";
  CHECK(protocol::looks_like_tag(text));
  CHECK_FALSE(protocol::parse_tag(text));
}

TEST_CASE("a key that is spelt with JSON escapes is the same key")
{
  const std::string tag = R"({"slurm-k8s.dev\/t\u0061g":{"v":1,)";
  CHECK(protocol::looks_like_tag(tag));
  CHECK_FALSE(protocol::looks_like_claim(tag));
  CHECK(protocol::looks_like_claim(R"({"\u0073lurm-k8s.dev/claim":1})"));
  CHECK_FALSE(protocol::looks_like_claim(R"({"\u00zzlurm-k8s.dev/claim":1})"));
  CHECK_FALSE(protocol::looks_like_claim("\\u0"));
}

TEST_CASE("identities without cluster, namespace or UID are refused")
{
  for (auto broken : {protocol::Identity{"", "n", "Pod", "p", "u", ""},
                      protocol::Identity{"c", "", "Pod", "p", "u", ""},
                      protocol::Identity{"c", "n", "Pod", "p", "", ""}})
    CHECK_FALSE(protocol::parse_tag(protocol::encode_tag(broken)));
}

TEST_CASE("deeply nested or oversized text is refused without recursion")
{
  CHECK_FALSE(protocol::parse_batch(std::string(200'000, '[')));
  CHECK_FALSE(protocol::parse_batch(std::string(protocol::kMaxBatchBytes + 1, ' ')));
  CHECK_FALSE(protocol::parse_claim(R"({"slurm-k8s.dev/claim":)" + std::string(500, '{')));
}

TEST_CASE("hints arrive in order, and a newer plugin's unknown hint counts as a change")
{
  using protocol::HintKind;
  protocol::Batch batch{7, 100, {{HintKind::job_start, 5}, {HintKind::nodes_changed, 0}}};
  auto parsed = protocol::parse_batch(protocol::encode_batch(batch));
  REQUIRE(parsed);
  CHECK(parsed->epoch == 7);
  CHECK(parsed->seq == 100);
  REQUIRE(parsed->hints.size() == 2);
  CHECK(parsed->hints[0].kind == HintKind::job_start);
  CHECK(parsed->hints[0].job_id == 5);
  CHECK(parsed->hints[1].kind == HintKind::nodes_changed);

  parsed = protocol::parse_batch(R"({"v":1,"epoch":1,"seq":0,"events":[{"type":"moon_full"}]})");
  REQUIRE(parsed);
  CHECK(parsed->hints.at(0).kind == HintKind::jobs_changed);
}

TEST_CASE("a batch whose job hint has no job is refused")
{
  CHECK_FALSE(protocol::parse_batch(R"({"v":1,"epoch":1,"seq":0,"events":[{"type":"job_end"}]})"));
  CHECK_FALSE(
      protocol::parse_batch(R"({"v":1,"epoch":1,"seq":0,"events":[{"type":"job_end","job":-1}]})"));
  CHECK_FALSE(protocol::parse_batch(R"({"v":1,"epoch":1,"seq":0})"));
}

TEST_CASE("a refusal finds its gang among the lines of a shared log")
{
  const std::string line = "[2026-01-01T00:00:00.000] client: error: " +
                           protocol::encode_refusal("3f1c", "k8s.conf line 3: no [gang x] for you");
  CHECK(protocol::parse_refusal(line, "3f1c") == "k8s.conf line 3: no [gang x] for you");
  CHECK_FALSE(protocol::parse_refusal(line, "other"));
  CHECK_FALSE(protocol::parse_refusal("[gang 3f1c]", "3f1c"));
  CHECK_FALSE(protocol::parse_refusal("", ""));
}

TEST_CASE("a refusal is one line, whatever was asked for")
{
  CHECK(protocol::encode_refusal("3f\n1c", "not a\r\nb\x7f") == "k8s: not a??b? [gang 3f?1c]");
}
