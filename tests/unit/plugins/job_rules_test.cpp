// SPDX-License-Identifier: Apache-2.0
#include "job_rules.hpp"

#include <string>

#include "catch.hpp"

namespace {

constexpr uid_t kSidecar = 990;
const protocol::Identity kGang{"east", "team-a", "PodGroup", "train", "3f1c", ""};

Policy policy_with(Rule rule)
{
  Policy policy;
  policy.cluster = "east";
  policy.submit_users = {kSidecar};
  rule.line = 7;
  policy.rules = {rule};
  return policy;
}

Rule rule_of_team_a()
{
  Rule rule;
  rule.ns = "team-a";
  rule.user_name = "alice";
  rule.user = {1001, 1002};
  return rule;
}

std::string claim(const protocol::Identity &gang = kGang)
{
  return protocol::encode_claim({gang, "mine"});
}

GrantedJob judge(const Rule &rule, const AskedJob &asked = {})
{
  const Policy policy = policy_with(rule);
  return judge_claim(&policy, kSidecar, claim(), asked);
}

}  // namespace

TEST_CASE("a claim becomes the mapped user's job with a tag and the user's own comment")
{
  const GrantedJob job = judge(rule_of_team_a());
  CHECK(job.refusal.empty());
  CHECK(job.user.uid == 1001);
  CHECK(job.user.gid == 1002);
  CHECK(protocol::parse_tag(job.tag) == kGang);
  CHECK(job.comment == "mine");
  CHECK(job.uid == kGang.uid);
  CHECK_FALSE(job.external);
}

TEST_CASE("what the rule leaves open the workload may choose, and Slurm after it")
{
  CHECK(judge(rule_of_team_a()).account.empty());
  CHECK(judge(rule_of_team_a()).partition.empty());
  const GrantedJob job = judge(rule_of_team_a(), {"physics", "gpu,cpu", false});
  CHECK(job.account == "physics");
  CHECK(job.partition == "gpu,cpu");
}

TEST_CASE("the rule's account is given, and no other can be asked for")
{
  Rule rule = rule_of_team_a();
  rule.account = "physics";
  CHECK(judge(rule).account == "physics");
  CHECK(judge(rule, {"physics", "", false}).account == "physics");
  CHECK(judge(rule, {"chemistry", "", false}).refusal ==
        "k8s.conf line 7: namespace team-a may use the account physics, not chemistry");
}

TEST_CASE("the rule's first partition is the default; others must be among its list")
{
  Rule rule = rule_of_team_a();
  rule.partitions = {"cpu", "gpu"};
  CHECK(judge(rule).partition == "cpu");
  CHECK(judge(rule, {"", "gpu", false}).partition == "gpu");
  CHECK(judge(rule, {"", "gpu,cpu", false}).partition == "gpu,cpu");
  CHECK(judge(rule, {"", "gpu,admin", false}).refusal ==
        "k8s.conf line 7: namespace team-a may use the partitions cpu, gpu, not admin");
  CHECK(judge(rule, {"", "gpu,", false}).refusal ==
        "k8s.conf line 7: namespace team-a may use the partitions cpu, gpu, not an empty name");
}

TEST_CASE("a rule can deny, with its own words")
{
  Rule rule;
  rule.ns = "*";
  rule.deny = "ask the help desk";
  CHECK(judge(rule).refusal == "k8s.conf line 7: ask the help desk");
}

TEST_CASE("claims that are nobody's right are refused, and the gang's UID is still told")
{
  const Policy policy = policy_with(rule_of_team_a());
  const auto refusal = [&](const Policy *by, uid_t sender, const protocol::Identity &gang) {
    const GrantedJob job = judge_claim(by, sender, claim(gang), {});
    CHECK(job.uid == kGang.uid);
    CHECK(job.tag.empty());
    return job.refusal;
  };
  protocol::Identity west = kGang, elsewhere = kGang;
  west.cluster = "west";
  elsewhere.ns = "team-b";
  CHECK(refusal(nullptr, kSidecar, kGang).find("cannot be used") != std::string::npos);
  for (const uid_t sender : {uid_t{0}, uid_t{1001}})
    CHECK(refusal(&policy, sender, kGang).find("only a SubmitUser") == 0);
  CHECK(refusal(&policy, kSidecar, west).find("the claim is of cluster west") == 0);
  CHECK(refusal(&policy, kSidecar, elsewhere) == "k8s.conf: no Namespace line is for team-b");
}

TEST_CASE("a claimed job that would run a program as the mapped user is refused")
{
  CHECK(judge(rule_of_team_a(), {"", "", true}).refusal ==
        "a claimed job is an allocation and runs nothing");
}

TEST_CASE("a claim that cannot be read is refused")
{
  const Policy policy = policy_with(rule_of_team_a());
  CHECK(judge_claim(&policy, kSidecar, R"({"slurm-k8s.dev/claim":)", {}).refusal ==
        "the claim cannot be read");
}

TEST_CASE("verbs are the submit users' own, for their own cluster")
{
  const Policy policy = policy_with(rule_of_team_a());
  const protocol::Verb verb{protocol::VerbKind::cancel, 42, 0, "east", "3f1c"};
  protocol::Verb west = verb;
  west.cluster = "west";
  const std::string text = protocol::encode_verb(verb);
  std::string why;
  REQUIRE(judge_verb(&policy, kSidecar, text, why));
  CHECK(judge_verb(&policy, kSidecar, text, why)->job_id == 42);
  CHECK(why.empty());

  const auto refusal = [&](const Policy *by, uid_t sender, const std::string &asked) {
    std::string reason;
    CHECK_FALSE(judge_verb(by, sender, asked, reason));
    return reason;
  };
  CHECK(refusal(nullptr, kSidecar, text).find("cannot be used") != std::string::npos);
  CHECK(refusal(&policy, 1001, text) == "only a SubmitUser of k8s.conf may use verbs");
  CHECK(refusal(&policy, kSidecar, "{}") == "the verb cannot be read");
  CHECK(refusal(&policy, kSidecar, protocol::encode_verb(west)) ==
        "the verb is of another cluster than ClusterId in k8s.conf");
}
