// SPDX-License-Identifier: Apache-2.0
#include "verb_rules.hpp"

#include <string>

#include "catch.hpp"

namespace {

using protocol::Verb;
using protocol::VerbKind;

constexpr uid_t kSidecar = 990;
const protocol::Identity kGang{"east", "team-a", "PodGroup", "train", "3f1c", ""};

Policy policy_with(Rule rule = {})
{
  rule.line = 7;
  rule.ns = "team-*";
  Policy policy;
  policy.cluster = "east";
  policy.submit_users.push_back(kSidecar);
  policy.nodes.push_back("worker*");
  policy.rules.push_back(rule);
  return policy;
}

Verb for_job(VerbKind kind) { return {kind, 42, 0, "east", "3f1c"}; }

Verb for_node(VerbKind kind, const std::string &node = "worker1")
{
  Verb verb;
  verb.kind = kind;
  verb.cluster = "east";
  verb.node = node;
  if (kind == VerbKind::drain)
    verb.reason = "k8s: cordoned";
  return verb;
}

JobView waiting(std::uint32_t time_limit = 30)
{
  return {protocol::encode_tag(kGang), false, true, time_limit};
}

}  // namespace

TEST_CASE("verbs are the submit users' own, for their own cluster and the listed nodes")
{
  const Policy policy = policy_with();
  const std::string text = protocol::encode_verb(for_job(VerbKind::cancel));
  std::string why;
  CHECK(judge_verb(&policy, kSidecar, text, why) == for_job(VerbKind::cancel));
  CHECK(judge_verb(&policy, kSidecar, protocol::encode_verb(for_node(VerbKind::drain)), why));
  CHECK(why.empty());

  const auto refusal = [&](const Policy *by, uid_t sender, const std::string &asked) {
    std::string reason;
    CHECK_FALSE(judge_verb(by, sender, asked, reason));
    return reason;
  };
  Verb west = for_job(VerbKind::cancel);
  west.cluster = "west";
  CHECK(refusal(nullptr, kSidecar, text) == kNoPolicy);
  for (const uid_t sender : {uid_t{0}, uid_t{1001}})
    CHECK(refusal(&policy, sender, text) == "only a SubmitUser of k8s.conf may use verbs");
  CHECK(refusal(&policy, kSidecar, "{}") == "the verb cannot be read");
  CHECK(refusal(&policy, kSidecar, protocol::encode_verb(west)) ==
        "the verb is of another cluster than ClusterId in k8s.conf");
  CHECK(refusal(&policy, kSidecar, protocol::encode_verb(for_node(VerbKind::resume, "login1"))) ==
        "no Node of k8s.conf is login1");
}

TEST_CASE("a job is ended only if its tag is that gang's and it has not ended")
{
  const Policy policy = policy_with();
  for (const VerbKind kind : {VerbKind::complete, VerbKind::cancel, VerbKind::update}) {
    Verb verb = for_job(kind);
    verb.nice = 1;
    JobView job = waiting();
    CHECK(judge_job_verb(&policy, verb, job).granted);
    job.over = true;
    CHECK(judge_job_verb(&policy, verb, job).rule == "the job is over");
    protocol::Identity west = kGang, other = kGang;
    west.cluster = "west";
    other.uid = "4a2d";
    for (const std::string &comment : {std::string(), std::string("{\"team\":\"x\"}"),
                                       protocol::encode_tag(west), protocol::encode_tag(other)}) {
      const Verdict verdict = judge_job_verb(&policy, verb, {comment, false, true, 30});
      CHECK_FALSE(verdict.granted);
      CHECK(verdict.rule == "the job is not of that gang");
    }
  }
}

TEST_CASE("an end needs no policy: a broken k8s.conf must not hold nodes")
{
  CHECK(judge_job_verb(nullptr, for_job(VerbKind::complete), waiting()).granted);
  CHECK(judge_job_verb(nullptr, for_job(VerbKind::cancel), waiting()).granted);
  CHECK_FALSE(judge_job_verb(nullptr, for_job(VerbKind::update), waiting()).granted);
}

TEST_CASE("an update is for a job that waits, of a namespace that is mapped")
{
  Verb verb = for_job(VerbKind::update);
  verb.excluded_nodes = "worker2";
  const Policy policy = policy_with();
  CHECK(judge_job_verb(&policy, verb, waiting()).rule == "k8s.conf line 7");
  JobView running = waiting();
  running.pending = false;
  CHECK(judge_job_verb(&policy, verb, running).rule == "only a job that waits is updated");
  Rule denied;
  denied.deny = "no";
  const Policy closed = policy_with(denied);
  CHECK(judge_job_verb(&closed, verb, waiting()).rule ==
        "k8s.conf line 7: namespace team-* is denied");
  Policy empty = policy_with();
  empty.rules.clear();
  CHECK(judge_job_verb(&empty, verb, waiting()).rule == "no Namespace line is for team-a");
}

TEST_CASE("a time limit grows only within MaxTime, and shrinks freely")
{
  Verb verb = for_job(VerbKind::update);
  const Policy open = policy_with();
  Rule limited;
  limited.max_time_min = 60;
  const Policy policy = policy_with(limited);
  const auto granted = [&](const Policy &by, std::uint32_t minutes) {
    verb.time_limit_min = minutes;
    return judge_job_verb(&by, verb, waiting(30)).granted;
  };
  CHECK(granted(open, 29));
  CHECK(granted(open, 30));
  CHECK_FALSE(granted(open, 31));
  CHECK(granted(policy, 60));
  CHECK_FALSE(granted(policy, 61));
  CHECK(judge_job_verb(&policy, verb, waiting(30)).rule ==
        "k8s.conf line 7: a longer time limit needs a MaxTime that allows it");
}

TEST_CASE("a negative nice needs Nice=yes")
{
  Verb verb = for_job(VerbKind::update);
  verb.nice = -1;
  const Policy policy = policy_with();
  CHECK(judge_job_verb(&policy, verb, waiting()).rule ==
        "k8s.conf line 7: a negative nice needs Nice=yes");
  Rule rule;
  rule.nice = true;
  const Policy nice = policy_with(rule);
  CHECK(judge_job_verb(&nice, verb, waiting()).granted);
  verb.nice = 0;
  CHECK(judge_job_verb(&policy, verb, waiting()).granted);
}

TEST_CASE("what an administrator did to a node stays")
{
  const Policy policy = policy_with();
  const Verb drain = for_node(VerbKind::drain), resume = for_node(VerbKind::resume);
  CHECK(judge_node_verb(&policy, drain, {}).rule == "Node=worker*");
  CHECK(judge_node_verb(&policy, drain, {true, false, "k8s: not ready"}).granted);
  CHECK(judge_node_verb(&policy, drain, {false, false, "an old story"}).granted);
  CHECK_FALSE(judge_node_verb(&policy, drain, {true, false, "k8s: cordoned"}).granted);
  CHECK(judge_node_verb(&policy, resume, {true, false, "k8s: cordoned"}).granted);
  CHECK(judge_node_verb(&policy, resume, {}).rule == "the node is not drained by us");
  CHECK_FALSE(judge_node_verb(&policy, resume, {false, false, "k8s: cordoned"}).granted);
  for (const Verb &verb : {drain, resume}) {
    CHECK(judge_node_verb(&policy, verb, {true, false, "bad fan"}).rule ==
          "the node is drained or down for a reason that is not ours: bad fan");
    CHECK_FALSE(judge_node_verb(&policy, verb, {false, true, "bad fan"}).granted);
    CHECK_FALSE(judge_node_verb(&policy, verb, {true, false, ""}).granted);
    CHECK_FALSE(judge_node_verb(nullptr, verb, {true, false, "k8s: x"}).granted);
  }
  CHECK_FALSE(judge_node_verb(&policy, for_node(VerbKind::drain, "login1"), {}).granted);
}

TEST_CASE("the log says in one line what was asked for")
{
  Verb complete = for_job(VerbKind::complete);
  complete.status = 256;
  complete.uid = "3f\n1c";
  CHECK(describe(complete) == "complete JobId=42 of gang 3f?1c: status 256");
  CHECK(describe(for_job(VerbKind::cancel)) == "cancel JobId=42 of gang 3f1c");
  Verb update = for_job(VerbKind::update);
  update.excluded_nodes = "";
  update.time_limit_min = 5;
  update.nice = -1;
  CHECK(describe(update) ==
        "update JobId=42 of gang 3f1c: excluded nodes none, time limit 5, nice -1");
  CHECK(describe(for_node(VerbKind::drain)) == "drain node worker1: k8s: cordoned");
  CHECK(describe(for_node(VerbKind::resume)) == "resume node worker1");
}
