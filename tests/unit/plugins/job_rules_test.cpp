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
  policy.submit_users.push_back(kSidecar);
  rule.line = 7;
  policy.rules = {rule};
  return policy;
}

Rule rule_of_team_a()
{
  Rule rule;
  rule.ns = "team-a";
  rule.users = {{"alice", 1001, 1002, {1002}}};
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

struct Field {
  const char *what;
  std::string AskedJob::*asked;
  Choice Rule::*rule;
  std::string GrantedJob::*granted;
};
constexpr Field kChoices[] = {
    {"account", &AskedJob::account, &Rule::account, &GrantedJob::account},
    {"partition", &AskedJob::partition, &Rule::partition, &GrantedJob::partition},
    {"QOS", &AskedJob::qos, &Rule::qos, &GrantedJob::qos},
    {"reservation", &AskedJob::reservation, &Rule::reservation, &GrantedJob::reservation},
    {"wckey", &AskedJob::wckey, &Rule::wckey, &GrantedJob::wckey},
    {"licenses", &AskedJob::licenses, &Rule::licenses, &GrantedJob::licenses},
};

}  // namespace

TEST_CASE("a claim becomes the mapped user's job with a tag and the user's own comment")
{
  const GrantedJob job = judge(rule_of_team_a());
  CHECK(job.refusal.empty());
  CHECK(job.user.uid == 1001);
  CHECK(job.gid == 1002);
  CHECK(protocol::parse_tag(job.tag) == kGang);
  CHECK(job.comment == "mine");
  CHECK(job.uid == kGang.uid);
  CHECK_FALSE(job.external);
}

TEST_CASE("what the rule leaves open the workload may choose, and Slurm after it")
{
  const GrantedJob quiet = judge(rule_of_team_a());
  for (const auto field : kChoices)
    CHECK((quiet.*field.granted).empty());
  CHECK(quiet.share == Share::exclusive);
  CHECK_FALSE(quiet.max_nodes);
  CHECK_FALSE(quiet.time_limit_min);

  AskedJob asked;
  for (const auto field : kChoices)
    asked.*field.asked = "one,two";
  asked.share = Share::user;
  asked.max_nodes = 7;
  asked.time_limit_min = 30;
  asked.nice = 5;
  const GrantedJob job = judge(rule_of_team_a(), asked);
  for (const auto field : kChoices)
    CHECK(job.*field.granted == "one,two");
  CHECK(job.share == Share::user);
  CHECK(job.max_nodes == 7u);
  CHECK(job.time_limit_min == 30u);
  CHECK(job.nice == 5);
}

TEST_CASE("each list allows its own names and no others, and says so")
{
  for (const auto field : kChoices) {
    INFO(field.what);
    Rule rule = rule_of_team_a();
    rule.*field.rule = {std::vector<std::string>{"one", "two"}, "one"};
    CHECK(judge(rule).*field.granted == "one");
    for (const char *good : {"one", "two", "two,one"}) {
      AskedJob asked;
      asked.*field.asked = good;
      CHECK(judge(rule, asked).*field.granted == good);
    }
    for (const auto &[bad, named] : {std::pair{"three", "three"},
                                     {"one,three", "three"},
                                     {"one,", "an empty name"},
                                     {"on", "on"},
                                     {"One", "One"}}) {
      AskedJob asked;
      asked.*field.asked = bad;
      CHECK(judge(rule, asked).refusal == "k8s.conf line 7: namespace team-a may use the " +
                                              std::string(field.what) + " one, two, not " + named);
    }
    rule.*field.rule = {std::vector<std::string>{}, ""};
    AskedJob asked;
    asked.*field.asked = "one";
    CHECK(judge(rule, asked).refusal == "k8s.conf line 7: namespace team-a may use no " +
                                            std::string(field.what) + ": one is asked for");
    CHECK(judge(rule).refusal.empty());
  }
}

TEST_CASE("licenses are compared without their counts, whatever is between them")
{
  Rule rule = rule_of_team_a();
  rule.licenses = {std::vector<std::string>{"matlab", "ansys@server"}, ""};
  AskedJob asked;
  for (const char *good : {"matlab:4", "matlab:1,ansys@server:2", "matlab|ansys@server"}) {
    asked.licenses = good;
    CHECK(judge(rule, asked).licenses == good);
  }
  for (const char *bad : {"ansys", "matlab:1;other", "matlab|other:1"}) {
    asked.licenses = bad;
    CHECK_FALSE(judge(rule, asked).refusal.empty());
  }
}

TEST_CASE("limits: what is over them is refused, what is not said gets them")
{
  Rule rule = rule_of_team_a();
  rule.max_nodes = 4;
  rule.max_time_min = 60;
  AskedJob asked;
  CHECK(judge(rule).max_nodes == 4u);
  CHECK(judge(rule).time_limit_min == 60u);
  rule.default_time_min = 10;
  CHECK(judge(rule).time_limit_min == 10u);
  asked.max_nodes = 9;
  asked.min_nodes = 4;
  asked.time_limit_min = 60;
  CHECK(judge(rule, asked).max_nodes == 4u);
  CHECK(judge(rule, asked).time_limit_min == 60u);
  asked.max_nodes = 2;
  CHECK(judge(rule, asked).max_nodes == 2u);
  asked.min_nodes = 5;
  CHECK(judge(rule, asked).refusal ==
        "k8s.conf line 7: namespace team-a may use 4 nodes for a job, not 5");
  asked.min_nodes = 1;
  asked.time_limit_min = 61;
  CHECK(judge(rule, asked).refusal ==
        "k8s.conf line 7: namespace team-a may use 60 minutes for a job, not 61");
}

TEST_CASE("sharing is what the rule lists, and the first of it for those who do not care")
{
  Rule rule = rule_of_team_a();
  rule.share = {Share::user, Share::exclusive};
  AskedJob asked;
  CHECK(judge(rule).share == Share::user);
  asked.share = Share::exclusive;
  CHECK(judge(rule, asked).share == Share::exclusive);
  asked.share = Share::shared;
  CHECK(judge(rule, asked).refusal ==
        "k8s.conf line 7: namespace team-a may use the share user, exclusive, not shared");
  rule.share = {Share::exclusive, Share::k8s};
  CHECK(judge(rule, asked).share == Share::k8s);
}

TEST_CASE("priority and negative nice need the rule's permission")
{
  Rule rule = rule_of_team_a();
  AskedJob asked;
  asked.priority = 100;
  CHECK(judge(rule, asked).refusal ==
        "k8s.conf line 7: namespace team-a may not set the priority of a job (Priority=yes would)");
  rule.priority = true;
  CHECK(judge(rule, asked).priority == 100u);
  asked.nice = -1;
  CHECK(judge(rule, asked).refusal ==
        "k8s.conf line 7: namespace team-a may not set a negative nice (Nice=yes would)");
  rule.nice = true;
  CHECK(judge(rule, asked).nice == -1);
}

TEST_CASE("priority and nice of the claim count before those of the request")
{
  Rule rule = rule_of_team_a();
  const Policy strict = policy_with(rule);
  protocol::Claim claim{kGang};
  claim.priority = 9;
  CHECK_FALSE(judge_claim(&strict, kSidecar, protocol::encode_claim(claim), {}).refusal.empty());
  rule.priority = rule.nice = true;
  const Policy open = policy_with(rule);
  claim.nice = -3;
  AskedJob asked;
  asked.priority = 1;
  asked.nice = 1;
  const GrantedJob job = judge_claim(&open, kSidecar, protocol::encode_claim(claim), asked);
  CHECK(job.priority == 9u);
  CHECK(job.nice == -3);
}

TEST_CASE("a priority class gives QOS and nice where the workload says nothing nearer")
{
  Rule rule = rule_of_team_a();
  rule.qos = {std::vector<std::string>{"normal"}, "normal"};
  rule.priority_classes = {{"high", "urgent", std::nullopt}, {"low", "", 100}};
  const Policy policy = policy_with(rule);
  const auto with = [&](const std::string &name, const AskedJob &asked = {}) {
    return judge_claim(&policy, kSidecar, protocol::encode_claim({kGang, "", "", "", name}), asked);
  };
  CHECK(with("high").qos == "urgent");
  CHECK_FALSE(with("high").nice);
  CHECK(with("low").qos == "normal");
  CHECK(with("low").nice == 100);
  CHECK(with("other").qos == "normal");
  AskedJob asked;
  asked.qos = "normal";
  asked.nice = 1;
  CHECK(with("high", asked).qos == "normal");
  CHECK(with("low", asked).nice == 1);
  asked.qos = "urgent";
  CHECK_FALSE(with("high", asked).refusal.empty());
}

TEST_CASE("the workload may be another user or group only where the rule lists it")
{
  Rule rule = rule_of_team_a();
  rule.users.push_back({"bob", 1003, 1003, {1003}});
  const auto as = [](const Rule &by, const std::string &user, const std::string &group) {
    const Policy policy = policy_with(by);
    GrantedJob job =
        judge_claim(&policy, kSidecar, protocol::encode_claim({kGang, "", user, group, ""}), {});
    job.rule = nullptr;  // it went with the policy
    return job;
  };
  CHECK(as(rule, "", "").user.name == "alice");
  CHECK(as(rule, "bob", "").user.uid == 1003);
  CHECK(as(rule, "1003", "1003").gid == 1003);
  CHECK(as(rule, "carol", "").refusal ==
        "k8s.conf line 7: namespace team-a may use the user alice, bob, not carol");
  CHECK(as(rule, "0", "").refusal.find("not 0") != std::string::npos);
  CHECK(as(rule, "", "0").refusal ==
        "k8s.conf line 7: namespace team-a may use the group 1002, not 0");
  rule.groups = {{"physics", 2001}, {"staff", 2002}};
  CHECK(as(rule, "", "").gid == 2001);
  CHECK(as(rule, "", "staff").gid == 2002);
  CHECK(as(rule, "", "2002").gid == 2002);
  CHECK_FALSE(as(rule, "", "1002").refusal.empty());
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
  AskedJob asked;
  asked.has_script = true;
  CHECK(judge(rule_of_team_a(), asked).refusal ==
        "a claimed job is an allocation and runs nothing");
}

TEST_CASE("a claim that cannot be read is refused")
{
  const Policy policy = policy_with(rule_of_team_a());
  CHECK(judge_claim(&policy, kSidecar, R"({"slurm-k8s.dev/claim":)", {}).refusal ==
        "the claim cannot be read");
}
