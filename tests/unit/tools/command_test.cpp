// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"

#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "catch.hpp"
#include "kube/folder.hpp"
#include "tools/names.hpp"

namespace {

constexpr char kGood[] = "ClusterId=east\nSubmitUser=slurm-k8s\n"
                         "Namespace=team-a User=alice QOS=normal MaxNodes=2\n";

struct Outcome {
  int code;
  std::string out, err;
};

Outcome run(std::vector<const char *> arguments)
{
  arguments.insert(arguments.begin(), "slurm-k8s-policy");
  std::ostringstream out, err;
  const int code =
      run_command(static_cast<int>(arguments.size()), arguments.data(), {known_names(), out, err});
  return {code, out.str(), err.str()};
}

Outcome check(const std::string &text)
{
  const Folder folder;
  const std::string file = folder.write("k8s.conf", text);
  Outcome outcome = run({"check", file.c_str()});
  for (std::string *printed : {&outcome.out, &outcome.err})
    for (std::size_t at; (at = printed->find(file)) != std::string::npos;)
      printed->replace(at, file.size(), "k");
  return outcome;
}

}  // namespace

TEST_CASE("check counts the lines of a good policy")
{
  const Outcome one = check(kGood);
  CHECK(one.code == kExitGood);
  CHECK(one.out == "k: good; 1 Namespace line\n");
  CHECK(one.err.empty());
  CHECK(check(kGood + std::string("Namespace=* Deny=no\n")).out == "k: good; 2 Namespace lines\n");
}

TEST_CASE("check names file and line of each error")
{
  const Outcome outcome = check("ClusterId=east\nNamespace=a User=carol\nFoo=1\n");
  CHECK(outcome.code == kExitBad);
  CHECK(outcome.out.empty());
  CHECK(outcome.err == "k:2: there is no user \"carol\"\n"
                       "k:3: unknown key Foo\n"
                       "k: SubmitUser is missing\n");
}

TEST_CASE("check names what has to be in slurm.conf, which it does not read")
{
  const Outcome outcome = check(kGood + std::string("Namespace=b User=bob Share=k8s\n"));
  CHECK(outcome.code == kExitGood);
  CHECK(outcome.out.find("k:4: Share=k8s needs MCSPlugin=mcs/label in slurm.conf") == 0);
}

TEST_CASE("a file that cannot be read is no bad policy")
{
  const Outcome outcome = run({"check", "/nonexistent/k8s.conf"});
  CHECK(outcome.code == kExitUsage);
  CHECK(outcome.err == "/nonexistent/k8s.conf: No such file or directory\n");
}

TEST_CASE("the exit code of explain tells granted, refused and no answer")
{
  const Folder folder;
  const std::string good = folder.write("good", kGood), bad = folder.write("bad", "Foo=1\n");
  const char *file = good.c_str();
  struct Row {
    std::vector<const char *> more;
    int code;
  };
  const std::vector<Row> rows{
      {{"--namespace", "team-a", "-f", file}, kExitGood},
      {{"-n", "team-a", "-f", file, "--nodes", "2"}, kExitGood},
      {{"-n", "team-a", "-f", file, "--nodes", "3"}, kExitBad},
      {{"-n", "team-a", "-f", file, "-a", "slurmjob.slinky.slurm.net/qos=high"}, kExitBad},
      {{"-n", "team-a", "-f", file, "-a", "slurmjob.slinky.slurm.net/timelimit="}, kExitBad},
      {{"-n", "team-b", "-f", file}, kExitBad},
      {{"-n", "team-a", "-f", file, "-a", "a=1", "-a", "b=2=3", "--priority-class", "x"},
       kExitGood},
      {{"-n", "team-a", "-f", bad.c_str()}, kExitUsage},
      {{"-n", "team-a", "-f", "/nonexistent"}, kExitUsage},
      {{"-f", file}, kExitUsage},
      {{"-n", "", "-f", file}, kExitUsage},
      {{"-n", "team-a", "-f", file, "--nodes", "few"}, kExitUsage},
      {{"-n", "team-a", "-f", file, "-a", "qos"}, kExitUsage},
      {{"-n", "team-a", "-f", file, "-a", "=high"}, kExitUsage},
      {{"-n", "team-a", "-f", file, "-a", "a=1", "-a", "a=2"}, kExitUsage},
      {{"-n", "team-a", "-f", file, "-a", "a=1", "b=1"}, kExitUsage},
  };
  for (const auto &[more, code] : rows) {
    std::vector<const char *> arguments{"explain"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    std::string line;
    for (const char *argument : arguments)
      line += std::string(argument) + " ";
    const Outcome outcome = run(arguments);
    INFO(line << "\n" << outcome.out << outcome.err);
    CHECK(outcome.code == code);
    CHECK(outcome.err.empty() == (code != kExitUsage));
  }
}

TEST_CASE("without a file, explain takes the one beside slurm.conf")
{
  const Folder folder;
  const std::string file = folder.write("k8s.conf", kGood);
  setenv("SLURM_CONF", (folder.path() + "/slurm.conf").c_str(), 1);
  const Outcome outcome = run({"explain", "-n", "team-a"});
  unsetenv("SLURM_CONF");
  CHECK(outcome.code == kExitGood);
  CHECK(outcome.out.find(file + ":3: decided by Namespace=team-a\n") == 0);
}

TEST_CASE("help and version are answers, everything else that is no command is not")
{
  for (const char *option : {"--help", "--version"}) {
    const Outcome outcome = run({option});
    CHECK(outcome.code == kExitGood);
    CHECK(outcome.out.find("slurm-k8s-policy") != std::string::npos);
  }
  CHECK(run({}).code == kExitUsage);
  CHECK(run({"check"}).code == kExitUsage);
  CHECK(run({"chekc", "x"}).code == kExitUsage);
}
