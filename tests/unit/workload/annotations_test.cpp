// SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"

#include <optional>

#include "workload/annotations.hpp"

using workload::Annotations;
using workload::JobOptions;
using workload::parse_options;
using workload::ParsedOptions;
using workload::Sharing;
using workload::Switches;

namespace {

const std::string kSlinky = "slurmjob.slinky.slurm.net/";
const std::string kSunk = "sunk.coreweave.com/";
const std::string kOwn = "slurm-k8s.dev/";

ParsedOptions parse(const Annotations &annotations) { return parse_options({&annotations}); }

JobOptions accepted(const Annotations &annotations)
{
  const ParsedOptions parsed = parse(annotations);
  CHECK(parsed.errors.empty());
  CHECK(parsed.warnings.empty());
  return parsed.options;
}

bool contains(const std::string &text, const std::string &part)
{
  return text.find(part) != std::string::npos;
}

/// The value is refused, the message names the key, and the option stays unset.
void check_refused(const std::string &key, const std::string &value)
{
  INFO(key << " = '" << value << "'");
  const ParsedOptions parsed = parse({{key, value}});
  REQUIRE(parsed.errors.size() == 1);
  CHECK(contains(parsed.errors[0], key));
  CHECK(parsed.options == JobOptions{});
  CHECK(parsed.least == workload::TaskShape{});
}

}  // namespace

TEST_CASE("each text option reaches the field of its name, in every family that has it")
{
  using Field = std::optional<std::string> JobOptions::*;
  const std::vector<std::pair<std::string, Field>> rows{
      {kSlinky + "account", &JobOptions::account},
      {kSunk + "account", &JobOptions::account},
      {kSlinky + "partition", &JobOptions::partition},
      {kSunk + "partition", &JobOptions::partition},
      {kSlinky + "qos", &JobOptions::qos},
      {kSunk + "qos", &JobOptions::qos},
      {kSlinky + "reservation", &JobOptions::reservation},
      {kSunk + "reservation", &JobOptions::reservation},
      {kSlinky + "wckey", &JobOptions::wckey},
      {kSlinky + "licenses", &JobOptions::licenses},
      {kSlinky + "constraints", &JobOptions::constraints},
      {kSlinky + "job-name", &JobOptions::job_name},
      {kSunk + "comment", &JobOptions::comment},
      {kOwn + "comment", &JobOptions::comment},
  };
  for (const auto &[key, field] : rows) {
    INFO(key);
    JobOptions expected;
    expected.*field = "a value";
    CHECK(accepted({{key, "a value"}}) == expected);
  }
}

TEST_CASE("timelimit is in minutes and timeout in seconds, rounded up to minutes")
{
  CHECK(accepted({{kSlinky + "timelimit", "90"}}).time_limit_min == 90u);
  struct Row {
    const char *seconds;
    std::uint32_t minutes;
  };
  for (const auto &[seconds, minutes] :
       {Row{"1", 1}, Row{"59", 1}, Row{"60", 1}, Row{"61", 2}, Row{"3600", 60}})
    CHECK(accepted({{kSunk + "timeout", seconds}}).time_limit_min == minutes);
}

TEST_CASE("the longest time limit is the same in both units")
{
  CHECK(accepted({{kSlinky + "timelimit", "5270400"}}).time_limit_min == 5'270'400u);
  CHECK(accepted({{kSunk + "timeout", "316224000"}}).time_limit_min == 5'270'400u);
  check_refused(kSlinky + "timelimit", "5270401");
  check_refused(kSunk + "timeout", "316224001");
}

TEST_CASE("node counts are taken as written")
{
  const JobOptions options =
      accepted({{kSlinky + "min-nodes", "1"}, {kSlinky + "max-nodes", "100000"}});
  CHECK(options.min_nodes == 1u);
  CHECK(options.max_nodes == 100'000u);
}

TEST_CASE("CPUs and memory in annotations are a least amount, not an option")
{
  const ParsedOptions parsed =
      parse({{kSlinky + "cpu-per-task", "65535"}, {kSlinky + "mem-per-node", "2048"}});
  CHECK(parsed.errors.empty());
  CHECK(parsed.least.cpus == 65535);
  CHECK(parsed.least.memory_mib == 2048);
  CHECK(parsed.options == JobOptions{});
}

TEST_CASE("nodes are shared on request only, in the words of either family")
{
  CHECK(accepted({{kSlinky + "exclusive", "false"}}).sharing == Sharing::any);
  for (const char *value : {"true", "", "0", "no", "False", "user"}) {
    INFO(value);
    CHECK(accepted({{kSlinky + "exclusive", value}}).sharing == Sharing::exclusive);
  }
  CHECK_FALSE(accepted({}).sharing);
  CHECK(accepted({{kSunk + "exclusive", "none"}}).sharing == Sharing::exclusive);
  CHECK(accepted({{kSunk + "exclusive", "user"}}).sharing == Sharing::user);
  CHECK(accepted({{kSunk + "exclusive", "ok"}}).sharing == Sharing::any);
  check_refused(kSunk + "exclusive", "true");
  CHECK(accepted({{kSunk + "exclusive", "ok"}, {kSlinky + "exclusive", "false"}}).sharing ==
        Sharing::any);
  CHECK(parse({{kSunk + "exclusive", "none"}, {kSlinky + "exclusive", "false"}}).errors.size() ==
        1);
}

TEST_CASE("GRES of an annotation count for each pod")
{
  using Gres = std::map<std::string, std::uint64_t>;
  const auto gres = [](const char *value) {
    const ParsedOptions parsed = parse({{kSlinky + "gres", value}});
    CHECK(parsed.errors.empty());
    return parsed.least.gres;
  };
  CHECK(gres("gpu") == Gres{{"gpu", 1}});
  CHECK(gres("gpu:2") == Gres{{"gpu", 2}});
  CHECK(gres("gres/gpu:a100:4,gres:shard:3") == Gres{{"gpu:a100", 4}, {"shard", 3}});
  CHECK(gres("gpu:h100") == Gres{{"gpu:h100", 1}});
  for (const char *value : {"", ",", "gpu:0", "gpu:", ":2", "gpu:a:b:2", "gpu,gpu", "g pu:1",
                            "gpu:2000000", "gpu:-1", "gpu:2;x"})
    check_refused(kSlinky + "gres", value);
}

TEST_CASE("owner, priority and nice are what the policy decides about")
{
  for (const std::string &family : {kSlinky, kSunk}) {
    CHECK(accepted({{family + "user-id", "alice"}}).user == "alice");
    CHECK(accepted({{family + "group-id", "1001"}}).group == "1001");
  }
  CHECK(accepted({{kSlinky + "priority", "4294967293"}}).priority == 4'294'967'293u);
  CHECK(accepted({{kOwn + "nice", "-100"}}).nice == -100);
  check_refused(kSlinky + "priority", "0");
  check_refused(kSlinky + "priority", "4294967294");
  check_refused(kOwn + "nice", "2147483647");
  check_refused(kOwn + "nice", "high");
}

TEST_CASE("times are RFC 3339 and must exist")
{
  CHECK(accepted({{kOwn + "begin", "1970-01-02T00:00:01Z"}}).begin == 86'401);
  CHECK(accepted({{kOwn + "deadline", "2026-12-05T15:00:00.25+01:00"}}).deadline == 1'796'479'200);
  CHECK(accepted({{kOwn + "begin", "2024-02-29T23:59:59-11:30"}}).begin == 1'709'292'599);
  for (const char *value : {"", "tomorrow", "2026-12-05", "2026-12-05T15:00:00",
                            "2026-13-05T15:00:00Z", "2025-02-29T00:00:00Z", "2026-12-05T24:00:00Z",
                            "2026-12-05T15:00:00+1", "2026-12-05T15:00:00Zx", "26-12-05T15:00:00Z"})
    check_refused(kOwn + "begin", value);
}

TEST_CASE("switches are a count and, if wanted, how long to wait for it")
{
  CHECK(accepted({{kOwn + "switches", "2"}}).switches == Switches{2, std::nullopt});
  CHECK(accepted({{kOwn + "switches", "1@10"}}).switches == Switches{1, 600});
  CHECK(accepted({{kOwn + "switches", "1@1-00:00:30"}}).switches == Switches{1, 86'430});
  for (const char *value : {"", "0", "x", "1@", "1@x", "@10", "-1"})
    check_refused(kOwn + "switches", value);
}

TEST_CASE("dependencies name jobs, and what cannot be honoured is refused, not ignored")
{
  CHECK(accepted({{kOwn + "dependency", "afterok:12:13"}}).dependency == "afterok:12:13");
  CHECK(accepted({{kOwn + "mail-user", "a@example.org"}}).mail_user == "a@example.org");
  check_refused(kOwn + "dependency", "afterok:podgroup:x");
  check_refused(kOwn + "signal", "USR1@60");
  check_refused(kOwn + "array", "1-3");
}

TEST_CASE("numbers with signs, spaces, units or too many digits are refused")
{
  for (const char *name : {"timelimit", "min-nodes", "max-nodes", "cpu-per-task", "mem-per-node"})
    for (const char *value :
         {"", "0", "-1", "+1", " 1", "1 ", "1.5", "1e3", "0x10", "1h", "1-00:00", "UNLIMITED",
          "18446744073709551616", "99999999999999999999"})
      check_refused(kSlinky + name, value);
  check_refused(kSunk + "timeout", "10m");
  check_refused(kSlinky + "min-nodes", "100001");
  check_refused(kSlinky + "cpu-per-task", "65536");
  check_refused(kSlinky + "mem-per-node", "1099511627777");
  // 2^32 + 1 must not become 1.
  check_refused(kSlinky + "timelimit", "4294967297");
  check_refused(kSlinky + "max-nodes", "4294967297");
}

TEST_CASE("texts that are empty, too long or would break a log line are refused")
{
  for (const std::string &value :
       {std::string(), std::string(513, 'x'), std::string("a\nb"), std::string("a\tb"),
        std::string("a\x1b[31m"), std::string("a\x7f"), std::string("a\0b", 3)})
    for (const char *name : {"account", "partition", "licenses", "job-name"})
      check_refused(kSlinky + name, value);
  check_refused(kOwn + "comment", "two\nlines");
  CHECK(accepted({{kSlinky + "account", std::string(512, 'x')}}).account->size() == 512);
  CHECK(accepted({{kOwn + "comment", "größer"}}).comment == "größer");
}

TEST_CASE("an unknown key with one of our prefixes is reported, other people's are not looked at")
{
  for (const std::string &key : {kSlinky + "acount", kSlinky, kSunk + "timelimit", kOwn + "account",
                                 kSlinky + "account/x", kSlinky + "Account"}) {
    const ParsedOptions parsed = parse({{key, "x"}});
    CHECK(parsed.errors.empty());
    REQUIRE(parsed.warnings.size() == 1);
    CHECK(contains(parsed.warnings[0], key));
    CHECK(parsed.options == JobOptions{});
  }
  CHECK(accepted({{"example.com/account", "x"}, {"account", "x"}, {"slurm-k8s.dev", "x"}}) ==
        JobOptions{});
}

TEST_CASE("two families that say the same thing are accepted")
{
  CHECK(accepted({{kSlinky + "account", "a"}, {kSunk + "account", "a"}}).account == "a");
  // 119 seconds and 2 minutes are the same limit for Slurm.
  CHECK(accepted({{kSlinky + "timelimit", "2"}, {kSunk + "timeout", "119"}}).time_limit_min == 2u);
}

TEST_CASE("two families that disagree are refused, and both keys are named")
{
  struct Row {
    std::string one, value, other, other_value;
  };
  for (const Row &row : {Row{kSlinky + "account", "a", kSunk + "account", "b"},
                         Row{kSlinky + "partition", "p", kSunk + "partition", "P"},
                         Row{kSlinky + "qos", "low", kSunk + "qos", "high"},
                         Row{kSlinky + "reservation", "r", kSunk + "reservation", "s"},
                         Row{kSlinky + "timelimit", "2", kSunk + "timeout", "121"},
                         Row{kOwn + "comment", "x", kSunk + "comment", "y"}}) {
    INFO(row.one);
    const ParsedOptions parsed = parse({{row.one, row.value}, {row.other, row.other_value}});
    REQUIRE(parsed.errors.size() == 1);
    CHECK(contains(parsed.errors[0], row.one));
    CHECK(contains(parsed.errors[0], row.other));
  }
}

TEST_CASE("each bad key has its own message")
{
  const ParsedOptions parsed =
      parse({{kSlinky + "timelimit", "soon"}, {kSlinky + "min-nodes", "0"}, {kOwn + "gnag", "x"}});
  CHECK(parsed.errors.size() == 2);
  CHECK(parsed.warnings.size() == 1);
}

TEST_CASE("what the pod says hides what the group says, option by option")
{
  const Annotations pod{{kSlinky + "account", "mine"}, {kOwn + "gnag", "x"}};
  const Annotations group{
      {kSlinky + "account", "theirs"}, {kSlinky + "qos", "low"}, {kOwn + "gnag", "x"}};
  const ParsedOptions parsed = parse_options({&pod, &group});
  CHECK(parsed.errors.empty());
  CHECK(parsed.warnings.size() == 1);
  CHECK(parsed.options.account == "mine");
  CHECK(parsed.options.qos == "low");
}

TEST_CASE("what the pod says hides the other family's key on the group")
{
  const Annotations pod{{kSunk + "timeout", "60"}};
  const Annotations group{{kSlinky + "timelimit", "30"}};
  const ParsedOptions parsed = parse_options({&pod, &group});
  CHECK(parsed.errors.empty());
  CHECK(parsed.options.time_limit_min == 1u);
}

TEST_CASE("a bad value on the pod is not silently replaced by the group's")
{
  const Annotations pod{{kSlinky + "timelimit", "soon"}}, group{{kSlinky + "timelimit", "30"}};
  const ParsedOptions parsed = parse_options({&pod, &group});
  CHECK(parsed.errors.size() == 1);
  CHECK_FALSE(parsed.options.time_limit_min);
}

TEST_CASE("a bad value on the group does no harm where the pod has its own")
{
  const Annotations pod{{kSlinky + "timelimit", "30"}}, group{{kSlinky + "timelimit", "soon"}};
  const ParsedOptions parsed = parse_options({&pod, &group});
  CHECK(parsed.errors.empty());
  CHECK(parsed.options.time_limit_min == 30u);
}

TEST_CASE("no key that is said to be known is reported as unknown")
{
  for (const std::string &key : workload::known_option_keys()) {
    INFO(key);
    CHECK(parse({{key, "1"}}).warnings.empty());
  }
}
