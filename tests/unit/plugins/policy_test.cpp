// SPDX-License-Identifier: Apache-2.0
#include "policy.hpp"

#include <string>
#include <vector>

#include "catch.hpp"
#include "slurm_compat.hpp"

namespace {

std::optional<User> lookup(const std::string &name)
{
  if (name == "slurm-k8s")
    return User{990, 990};
  if (name == "bridge2")
    return User{991, 991};
  if (name == "alice")
    return User{1001, 1001};
  if (name == "root")
    return User{0, 0};
  return std::nullopt;
}

constexpr char kHead[] = "ClusterId=east\nSubmitUser=slurm-k8s\n";  // two lines

ParsedPolicy parse(const std::string &text) { return parse_policy(text, lookup); }

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
            "EventUrl=https://sidecar.example:8443\n"
            "EventTokenFile=/etc/slurm/token\n"
            "EventCaFile=/etc/slurm/ca.pem\n"
            "\tNamespace=team-* User=alice Account=physics Partition=gpu,cpu\n"
            "Namespace=* Deny=\"ask the help desk # today\"\n");
  REQUIRE(parsed.errors.empty());
  const Policy &policy = parsed.policy;
  CHECK(policy.cluster == "east");
  CHECK(policy.submit_users == std::vector<uid_t>{990, 991});
  CHECK(policy.event_url == "https://sidecar.example:8443");
  CHECK(policy.event_token_file == "/etc/slurm/token");
  CHECK(policy.event_ca_file == "/etc/slurm/ca.pem");
  REQUIRE(policy.rules.size() == 2);
  CHECK(policy.rules[0].line == 8);
  CHECK(policy.rules[0].user.uid == 1001);
  CHECK(policy.rules[0].account == "physics");
  CHECK(policy.rules[0].partitions == std::vector<std::string>{"gpu", "cpu"});
  CHECK(policy.rules[1].deny == "ask the help desk # today");
}

TEST_CASE("the first line that matches a namespace decides")
{
  const Policy policy = good("Namespace=team-a User=alice Account=one\n"
                             "Namespace=team-[bc] User=alice Account=two\n"
                             "Namespace=team-* Deny=no\n");
  CHECK(policy.rule_for("team-a")->account == "one");
  CHECK(policy.rule_for("team-c")->account == "two");
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

TEST_CASE("users are found by name and by number")
{
  REQUIRE(look_up_user("root"));
  CHECK(look_up_user("root")->uid == 0);
  REQUIRE(look_up_user("0"));
  CHECK(look_up_user("0")->gid == 0);
  for (const char *name : {"", "no-such-user-here", "0x0", "4294967295"})
    CHECK_FALSE(look_up_user(name));
}
