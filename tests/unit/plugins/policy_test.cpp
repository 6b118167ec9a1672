// SPDX-License-Identifier: Apache-2.0
#include "policy.hpp"

#include <string>
#include <vector>

#include "catch.hpp"
#include "slurm_compat.hpp"

namespace {

NameService names()
{
  return {[](const std::string &name) -> std::optional<User> {
            if (name == "slurm-k8s")
              return User{"slurm-k8s", 990, 990, {990}};
            if (name == "bridge2")
              return User{"bridge2", 991, 991, {991}};
            if (name == "alice" || name == "1001")
              return User{"alice", 1001, 1001, {1001, 2001}};
            if (name == "bob")
              return User{"bob", 1002, 1002, {1002}};
            if (name == "root")
              return User{"root", 0, 0, {0}};
            return std::nullopt;
          },
          [](const std::string &name) -> std::optional<gid_t> {
            if (name == "physics")
              return 2001;
            if (name == "alice")
              return 1001;
            return std::nullopt;
          }};
}

constexpr char kHead[] = "ClusterId=east\nSubmitUser=slurm-k8s\n";  // two lines

ParsedPolicy parse(const std::string &text) { return parse_policy(text, names()); }

/// The text after two good lines has exactly this error.
void check_error(const std::string &text, const std::string &error)
{
  INFO(text);
  CHECK(parse(kHead + text).errors == std::vector<std::string>{error});
}

Policy good(const std::string &text)
{
  INFO(text);
  ParsedPolicy parsed = parse(kHead + text);
  REQUIRE(parsed.errors.empty());
  return parsed.policy;
}

}  // namespace

TEST_CASE("a whole k8s.conf is read, whatever the case of its keys")
{
  const ParsedPolicy parsed =
      parse("# comment\n"
            "\n"
            "clusterid=east\r\n"
            "SUBMITUSER=slurm-k8s,bridge2   # both replicas' accounts\n"
            "EventUrl=https://sidecar.example:8443,unix:/run/events\n"
            "EventTokenFile=/etc/slurm/token\n"
            "EventCaFile=/etc/slurm/ca.pem\n"
            "\tNamespace=team-* User=alice Account=physics Partition=gpu,cpu\n"
            "Namespace=* Deny=\"ask the help desk # today\"\n");
  REQUIRE(parsed.errors.empty());
  const Policy &policy = parsed.policy;
  CHECK(policy.cluster == "east");
  CHECK(policy.submit_users == std::vector<uid_t>{990, 991});
  CHECK(policy.event_urls ==
        std::vector<std::string>{"https://sidecar.example:8443", "unix:/run/events"});
  CHECK(policy.event_token_file == "/etc/slurm/token");
  CHECK(policy.event_ca_file == "/etc/slurm/ca.pem");
  REQUIRE(policy.rules.size() == 2);
  CHECK(policy.rules[0].line == 8);
  CHECK(policy.rules[0].users.front().uid == 1001);
  CHECK(policy.rules[0].account.fallback == "physics");
  CHECK(*policy.rules[0].partition.allowed == std::vector<std::string>{"gpu", "cpu"});
  CHECK(policy.rules[1].deny == "ask the help desk # today");
}

TEST_CASE("the first line that matches a namespace decides")
{
  const Policy policy = good("Namespace=team-a User=alice Account=one\n"
                             "Namespace=team-[bc] User=alice Account=two\n"
                             "Namespace=team-* Deny=no\n");
  CHECK(policy.rule_for("team-a")->account.fallback == "one");
  CHECK(policy.rule_for("team-c")->account.fallback == "two");
  CHECK(policy.rule_for("team-d")->deny == "no");
  CHECK(policy.rule_for("other") == nullptr);
  CHECK(policy.rule_for("") == nullptr);
}

TEST_CASE("only listed accounts are submit users")
{
  const Policy policy = good("");
  CHECK(policy.is_submit_user(990));
  CHECK_FALSE(policy.is_submit_user(0));
  CHECK_FALSE(policy.is_submit_user(1001));
}

TEST_CASE("what is missing altogether has no line")
{
  CHECK(parse("").errors ==
        std::vector<std::string>{"ClusterId is missing", "SubmitUser is missing"});
}

TEST_CASE("an error names its line, and one error spoils the policy")
{
  check_error("Namespace\n", "line 3: \"Namespace\" is not of the form Key=value");
  check_error("=x\n", "line 3: \"\" is not of the form Key=value");
  check_error("\nNamespace=\n", "line 4: Namespace: the value is empty");
  check_error("Namespace=\"a\n", "line 3: Namespace: the closing quote is missing");
  check_error("Namespace=a Deny=\"b\"c\n", "line 3: Deny: there is text after the closing quote");
  check_error("EventUrl=http://a EventTokenFile=/b\n",
              "line 3: EventUrl must be alone on its line");
  check_error(std::string("Names\0pace=x\n", 13), "line 3: there is a zero byte");
  check_error("Colour=red\n", "line 3: unknown key Colour");
}

TEST_CASE("a global key counts once and must make sense")
{
  check_error("ClusterId=west\n", "line 3: ClusterId is there twice");
  check_error("EventUrl=ftp://a\n", "line 3: EventUrl must start with http://, https:// or unix:/");
  check_error("EventUrl=http://\n", "line 3: EventUrl must start with http://, https:// or unix:/");
  check_error("EventTokenFile=token\n", "line 3: EventTokenFile must be an absolute path");
  check_error("SubmitUser=nobody-here\n", "line 3: there is no user \"nobody-here\"");
  check_error("SubmitUser=bridge2,\n", "line 3: there is no user \"\"");
  for (const std::string &id : {std::string("a b"), std::string("ä"), std::string(64, 'x')})
    CHECK_FALSE(parse("SubmitUser=slurm-k8s\nClusterId=\"" + id + "\"\n").errors.empty());
}

TEST_CASE("a namespace line that would allow more than meant is refused")
{
  check_error("Namespace=a\n", "line 3: User (or Deny) is missing");
  check_error("Namespace=a User=root\n", "line 3: User must not be root");
  check_error("Namespace=a User=0\n", "line 3: there is no user \"0\"");
  check_error("Namespace=a User=mallory\n", "line 3: there is no user \"mallory\"");
  check_error("Namespace=a User=alice User=alice\n", "line 3: User is there twice");
  check_error("Namespace=a Deny=no User=alice\n",
              "line 3: Deny allows no other key beside Namespace");
  check_error("Namespace=a User=alice Partition=a,,b\n", "line 3: Partition has an empty name");
  check_error("Namespace=a User=alice External=maybe\n", "line 3: External must be yes or no");
  CHECK(parse(std::string(kHead) + "User=alice Namespace=a\n").errors.size() == 1);
}

TEST_CASE("external jobs need a Slurm that has them")
{
  const std::string line = "Namespace=a User=alice External=yes\n";
  if (slurm_compat::kHasExternalJobs)
    CHECK(good(line).rules[0].external);
  else
    check_error(line, "line 3: External=yes needs Slurm 26.05 or newer");
  CHECK_FALSE(good("Namespace=a User=alice External=no\n").rules[0].external);
}

TEST_CASE("a broken file does not flood the log")
{
  std::string text;
  for (int i = 0; i < 1000; ++i)
    text += "nonsense\n";
  CHECK(parse(text).errors.size() == 20);
}

TEST_CASE("what may be chosen, and what is chosen for those who choose nothing")
{
  const Rule rule = good("Namespace=a User=alice,bob Account=x,y Partition=p,q DefaultPartition=q "
                         "QOS=normal,high Reservation=none WCKey=w Licenses=matlab,ansys\n")
                        .rules[0];
  CHECK(rule.users.size() == 2);
  CHECK(rule.account.fallback == "x");
  CHECK(rule.partition.fallback == "q");
  CHECK(rule.qos.fallback == "normal");
  CHECK(rule.wckey.fallback == "w");
  REQUIRE(rule.reservation.allowed);
  CHECK(rule.reservation.allowed->empty());
  CHECK(rule.licenses.fallback.empty());

  const Rule open = good("Namespace=a User=alice DefaultPartition=p DefaultQOS=q\n").rules[0];
  CHECK_FALSE(open.partition.allowed);
  CHECK(open.partition.fallback == "p");
  CHECK(open.qos.fallback == "q");
  CHECK_FALSE(open.account.allowed);

  check_error("Namespace=a User=alice Partition=p DefaultPartition=x\n",
              "line 3: DefaultPartition x is not in Partition");
  check_error("Namespace=a User=alice QOS=p DefaultQOS=x\n", "line 3: DefaultQOS x is not in QOS");
}

TEST_CASE("limits are numbers of nodes and Slurm's times")
{
  const Rule rule =
      good("Namespace=a User=alice MaxNodes=4 MaxTime=1-00:00:00 DefaultTime=90\n").rules[0];
  CHECK(rule.max_nodes == 4u);
  CHECK(rule.max_time_min == 1440u);
  CHECK(rule.default_time_min == 90u);
  CHECK(good("Namespace=a User=alice MaxTime=0:30\n").rules[0].max_time_min == 1u);
  check_error("Namespace=a User=alice MaxNodes=0\n",
              "line 3: MaxNodes must be a number from 1 to 1000000");
  for (const char *value : {"0", "-5", "x", "1:2:3:4", "1-", "UNLIMITED"})
    check_error("Namespace=a User=alice MaxTime=" + std::string(value) + "\n",
                "line 3: MaxTime must be minutes or [days-]hours:minutes:seconds");
  check_error("Namespace=a User=alice MaxTime=60 DefaultTime=61\n",
              "line 3: DefaultTime is longer than MaxTime");
}

TEST_CASE("sharing, priority, nice and priority classes")
{
  const Rule rule = good("Namespace=a User=alice Share=k8s,Exclusive Priority=yes Nice=no "
                         "PriorityClass=high:urgent,low:standby/100,idle:/-5\n")
                        .rules[0];
  CHECK(rule.share == std::vector<Share>{Share::k8s, Share::exclusive});
  CHECK(rule.priority);
  CHECK_FALSE(rule.nice);
  REQUIRE(rule.priority_classes.size() == 3);
  CHECK(rule.priority_classes[0].qos == "urgent");
  CHECK_FALSE(rule.priority_classes[0].nice);
  CHECK(rule.priority_classes[1].nice == 100);
  CHECK(rule.priority_classes[2].qos.empty());
  CHECK(rule.priority_classes[2].nice == -5);
  check_error("Namespace=a User=alice Share=all\n",
              "line 3: Share must be of exclusive, k8s, user, shared");
  check_error("Namespace=a User=alice Nice=maybe\n", "line 3: Nice must be yes or no");
  for (const char *value : {"high", "high:", ":x", "high:/", "high:/x", "high:q/9999999"})
    check_error("Namespace=a User=alice PriorityClass=" + std::string(value) + "\n",
                "line 3: PriorityClass must be of the form name:qos, name:/nice or name:qos/nice");
}

TEST_CASE("groups must exist and have the user in them")
{
  CHECK(good("Namespace=a User=alice Group=physics,alice\n").rules[0].groups.size() == 2);
  check_error("Namespace=a User=alice Group=chemistry\n",
              "line 3: there is no group \"chemistry\"");
  check_error("Namespace=a User=alice,bob Group=physics\n",
              "line 3: user bob is not in the group physics");
}

TEST_CASE("nodes that verbs may drain are listed")
{
  const Policy policy = good("Node=gpu*,cpu[1-3]\nNode=x\n");
  REQUIRE(policy.node_pattern_for("gpu7"));
  CHECK(*policy.node_pattern_for("gpu7") == "gpu*");
  CHECK(*policy.node_pattern_for("cpu2") == "cpu[1-3]");
  CHECK(policy.node_pattern_for("x"));
  CHECK_FALSE(policy.node_pattern_for("cpu4"));
  CHECK_FALSE(good("").node_pattern_for("gpu7"));
  check_error("Node=a,,b\n", "line 3: Node has an empty name");
}

TEST_CASE("users and groups of the system are found by name and by number")
{
  const NameService system = system_names();
  REQUIRE(system.user("root"));
  CHECK(system.user("root")->uid == 0);
  CHECK(system.user("0")->name == "root");
  CHECK_FALSE(system.user("0")->groups.empty());
  CHECK(system.group("root") == gid_t{0});
  CHECK(system.group("0") == gid_t{0});
  for (const char *name : {"", "no-such-name-here", "0x0", "4294967295"}) {
    CHECK_FALSE(system.user(name));
    CHECK_FALSE(system.group(name));
  }
}
