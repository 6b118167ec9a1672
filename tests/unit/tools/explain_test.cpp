// SPDX-License-Identifier: Apache-2.0
#include "explain.hpp"

#include <string>
#include <vector>

#include "catch.hpp"
#include "tools/names.hpp"

namespace {

const std::string kSlinky = "slurmjob.slinky.slurm.net/";
const std::string kSunk = "sunk.coreweave.com/";
const std::string kOwn = "slurm-k8s.dev/";

/// One Namespace line, the third.
Policy policy_with(const std::string &line)
{
  ParsedPolicy parsed =
      parse_policy("ClusterId=east\nSubmitUser=slurm-k8s\n" + line + "\n", known_names());
  REQUIRE(parsed.errors.empty());
  return parsed.policy;
}

/// What is printed about a workload of team-a under that line.
std::string told(const std::string &line, const workload::Annotations &annotations = {},
                 const std::string &priority_class = "")
{
  const Policy policy = policy_with(line);
  return to_text(explain(policy, {"team-a", annotations, priority_class}), "k");
}

bool contains(const std::string &text, const std::string &part)
{
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a line that says no more than whose jobs they are leaves the rest to Slurm")
{
  CHECK(told("Namespace=team-* User=alice") == "k:3: decided by Namespace=team-*\n"
                                               "  user         alice (1001)\n"
                                               "  group        1001\n"
                                               "  account      left to Slurm\n"
                                               "  partition    left to Slurm\n"
                                               "  QOS          left to Slurm\n"
                                               "  reservation  none\n"
                                               "  wckey        left to Slurm\n"
                                               "  licenses     none\n"
                                               "  share        exclusive\n"
                                               "  max nodes    left to Slurm\n"
                                               "  time limit   left to Slurm\n"
                                               "  priority     left to Slurm\n"
                                               "  nice         left to Slurm\n"
                                               "  external     no\n");
}

TEST_CASE("each value that the line gives is told")
{
  const std::string text =
      told("Namespace=* User=alice,bob Account=ml Partition=gpu QOS=normal WCKey=w Share=user "
           "MaxNodes=4 DefaultTime=30 PriorityClass=low:slow/100",
           {}, "low");
  for (const char *row :
       {"account      ml", "partition    gpu", "QOS          slow", "wckey        w",
        "share        user", "max nodes    4", "time limit   30 minutes", "nice         100"}) {
    INFO(row << " in\n" << text);
    CHECK(contains(text, "  " + std::string(row) + "\n"));
  }
}

TEST_CASE("each annotation that the policy has a say in reaches its row")
{
  struct Row {
    std::string key, value, told;
  };
  const std::vector<Row> rows{
      {kSlinky + "account", "x", "account      x"},
      {kSunk + "account", "x", "account      x"},
      {kSlinky + "partition", "x", "partition    x"},
      {kSlinky + "qos", "x", "QOS          x"},
      {kSlinky + "reservation", "x", "reservation  x"},
      {kSlinky + "wckey", "x", "wckey        x"},
      {kSlinky + "licenses", "x:2", "licenses     x:2"},
      {kSlinky + "exclusive", "true", "share        exclusive"},
      {kSlinky + "exclusive", "false", "share        shared"},
      {kSunk + "exclusive", "user", "share        user"},
      {kSlinky + "max-nodes", "3", "max nodes    3"},
      {kSlinky + "timelimit", "3", "time limit   3 minutes"},
      {kSunk + "timeout", "61", "time limit   2 minutes"},
      {kSlinky + "priority", "5", "priority     5"},
      {kOwn + "nice", "-5", "nice         -5"},
      {kSlinky + "user-id", "bob", "user         bob (1002)"},
      {kSlinky + "group-id", "1001", "group        1001"},
  };
  for (const auto &[key, value, expected] : rows) {
    INFO(key << "=" << value);
    CHECK(contains(told("Namespace=* User=alice,bob Priority=yes Nice=yes", {{key, value}}),
                   "  " + expected + "\n"));
  }
}

TEST_CASE("a group has its name where k8s.conf says it")
{
  CHECK(contains(told("Namespace=* User=alice Group=physics"), "group        physics (2001)\n"));
}

TEST_CASE("a refusal is told in the plugin's words, with the line that decided")
{
  struct Row {
    std::string line;
    workload::Annotations annotations;
    std::string refusal;
  };
  const std::vector<Row> rows{
      {"QOS=a,b", {{kSlinky + "qos", "c"}}, "namespace team-a may use the QOS a, b, not c"},
      {"MaxNodes=2",
       {{kSlinky + "min-nodes", "3"}},
       "namespace team-a may use 2 nodes for a job, not 3"},
      {"", {{kSunk + "user-id", "bob"}}, "namespace team-a may use the user alice, not bob"},
      {"",
       {{kOwn + "nice", "-1"}},
       "namespace team-a may not set a negative nice (Nice=yes would)"},
  };
  for (const auto &[line, annotations, refusal] : rows)
    CHECK(told("Namespace=team-a User=alice " + line, annotations) ==
          "k:3: decided by Namespace=team-a\nrefused: k8s.conf line 3: " + refusal + "\n");
  CHECK(told("Namespace=* Deny=\"ask us\"") ==
        "k:3: decided by Namespace=*\nrefused: k8s.conf line 3: ask us\n");
}

TEST_CASE("a namespace without a line is told so")
{
  CHECK(told("Namespace=b User=alice") == "refused: k8s.conf: no Namespace line is for team-a\n");
}

TEST_CASE("annotations that the sidecar does not understand are told as its Events tell them")
{
  const std::string line = "Namespace=* User=alice";
  const std::string unknown = told(line, {{kOwn + "nise", "1"}, {"example.com/other", "1"}});
  CHECK(contains(unknown,
                 "Event UnknownAnnotation: annotation slurm-k8s.dev/nise is not known here "
                 "and has no effect\n  user "));
  CHECK_FALSE(contains(unknown, "example.com"));
  CHECK(
      told(line, {{kSlinky + "qos", "a"}, {kSunk + "qos", "b"}, {kSlinky + "timelimit", "x"}}) ==
      "k:3: decided by Namespace=*\n"
      "Event FailedScheduling: annotation slurmjob.slinky.slurm.net/timelimit must be a number of "
      "minutes from 1 to 5270400; annotations slurmjob.slinky.slurm.net/qos and "
      "sunk.coreweave.com/qos disagree\n"
      "refused: the sidecar submits no such job\n");
}
