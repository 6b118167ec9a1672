// SPDX-License-Identifier: Apache-2.0
#include "workload/annotations.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "values.hpp"
#include "wellknown.hpp"
#include "workload/option_values.hpp"

namespace workload {
namespace {

using values::parse_number;

/// Puts a value into its field. Returns what is wrong with it, "" if nothing.
using Parser = std::string (*)(const std::string &value, ParsedOptions &out);

template <auto Field>
std::string text(const std::string &value, ParsedOptions &out)
{
  // Slurm's limit for names is far below this; control characters would break logs and squeue.
  const bool plain = std::none_of(value.begin(), value.end(),
                                  [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  if (value.empty() || value.size() > 512 || !plain)
    return "must be 1 to 512 printable characters";
  out.options.*Field = value;
  return {};
}

template <auto Field>
std::string count(const std::string &value, ParsedOptions &out)
{
  out.options.*Field = parse_number<std::uint32_t>(value, 1, 100'000);
  return out.options.*Field ? "" : "must be a number from 1 to 100000";
}

constexpr std::uint32_t kMaxMinutes = values::kMaxDuration_s / 60;

std::string minutes(const std::string &value, ParsedOptions &out)
{
  out.options.time_limit_min = parse_number<std::uint32_t>(value, 1, kMaxMinutes);
  return out.options.time_limit_min
             ? ""
             : "must be a number of minutes from 1 to " + std::to_string(kMaxMinutes);
}

std::string seconds(const std::string &value, ParsedOptions &out)
{
  const auto number = parse_number<std::uint32_t>(value, 1, values::kMaxDuration_s);
  if (!number)
    return "must be a number of seconds from 1 to " + std::to_string(values::kMaxDuration_s);
  out.options.time_limit_min = (*number + 59) / 60;
  return {};
}

std::string slinky_exclusive(const std::string &value, ParsedOptions &out)
{
  out.options.sharing = value == "false" ? Sharing::any : Sharing::exclusive;
  return {};
}

std::string sunk_exclusive(const std::string &value, ParsedOptions &out)
{
  if (value == "none")
    out.options.sharing = Sharing::exclusive;
  else if (value == "user")
    out.options.sharing = Sharing::user;
  else if (value == "ok")
    out.options.sharing = Sharing::any;
  else
    return "must be none, user or ok";
  return {};
}

std::string cpus_per_task(const std::string &value, ParsedOptions &out)
{
  const auto number = parse_number<std::uint32_t>(value, 1, 65535);
  if (!number)
    return "must be a number of CPUs from 1 to 65535";
  out.least.cpus = *number;
  return {};
}

std::string memory_mib(const std::string &value, ParsedOptions &out)
{
  const auto number = parse_number<std::uint64_t>(value, 1, 1ull << 40);
  if (!number)
    return "must be a number of MiB from 1";
  out.least.memory_mib = *number;
  return {};
}

std::string gres(const std::string &value, ParsedOptions &out)
{
  const auto parsed = parse_gres(value);
  if (!parsed)
    return "must be GRES for each pod, as in gpu:2 or gpu:a100:2,shard:1";
  out.least.gres = *parsed;
  return {};
}

std::string priority(const std::string &value, ParsedOptions &out)
{
  // Slurm's own limits: 0 would hold the job, the two largest mean something else.
  out.options.priority = parse_number<std::uint32_t>(value, 1, 0xfffffffd);
  return out.options.priority ? "" : "must be a number from 1 to 4294967293";
}

std::string nice(const std::string &value, ParsedOptions &out)
{
  constexpr std::int32_t kMost = 2'147'483'645;
  out.options.nice = parse_number<std::int32_t>(value, -kMost, kMost);
  return out.options.nice ? "" : "must be a number from -2147483645 to 2147483645";
}

std::string dependency(const std::string &value, ParsedOptions &out)
{
  if (value.find("pod:") != std::string::npos || value.find("podgroup:") != std::string::npos)
    return "may name Slurm job ids only";
  return text<&JobOptions::dependency>(value, out);
}

template <auto Field>
std::string time(const std::string &value, ParsedOptions &out)
{
  out.options.*Field = parse_rfc3339(value);
  return out.options.*Field ? "" : "must be a time as in 2026-12-31T23:00:00Z";
}

std::string switches(const std::string &value, ParsedOptions &out)
{
  out.options.switches = parse_switches(value);
  return out.options.switches ? "" : "must be count or count@time, as in sbatch --switches";
}

std::string reserved(const std::string &, ParsedOptions &)
{
  return "is reserved and cannot be used";
}

std::string no_signal(const std::string &, ParsedOptions &)
{
  return "cannot be honoured: the pods get SIGTERM at the end of the job, with their own grace";
}

struct Option {
  const char *prefix;
  const char *name;
  const char *same_as;  ///< options with this word set the same thing; families must agree
  Parser parse;
};

constexpr auto kSlinky = wellknown::kSlinkyPrefix;
constexpr auto kSunk = wellknown::kSunkPrefix;
constexpr auto kOwn = wellknown::kOwnPrefix;

constexpr std::array kOptions{
    Option{kSlinky, "account", "account", text<&JobOptions::account>},
    Option{kSunk, "account", "account", text<&JobOptions::account>},
    Option{kSlinky, "partition", "partition", text<&JobOptions::partition>},
    Option{kSunk, "partition", "partition", text<&JobOptions::partition>},
    Option{kSlinky, "qos", "qos", text<&JobOptions::qos>},
    Option{kSunk, "qos", "qos", text<&JobOptions::qos>},
    Option{kSlinky, "reservation", "reservation", text<&JobOptions::reservation>},
    Option{kSunk, "reservation", "reservation", text<&JobOptions::reservation>},
    Option{kSlinky, "wckey", "wckey", text<&JobOptions::wckey>},
    Option{kSlinky, "licenses", "licenses", text<&JobOptions::licenses>},
    Option{kSlinky, "constraints", "constraints", text<&JobOptions::constraints>},
    Option{kSlinky, "job-name", "job-name", text<&JobOptions::job_name>},
    Option{kSunk, "comment", "comment", text<&JobOptions::comment>},
    Option{kOwn, "comment", "comment", text<&JobOptions::comment>},
    Option{kSlinky, "timelimit", "time limit", minutes},
    Option{kSunk, "timeout", "time limit", seconds},
    Option{kSlinky, "min-nodes", "min-nodes", count<&JobOptions::min_nodes>},
    Option{kSlinky, "max-nodes", "max-nodes", count<&JobOptions::max_nodes>},
    Option{kSlinky, "cpu-per-task", "cpu-per-task", cpus_per_task},
    Option{kSlinky, "mem-per-node", "mem-per-node", memory_mib},
    Option{kSlinky, "gres", "gres", gres},
    Option{kSlinky, "exclusive", "exclusive", slinky_exclusive},
    Option{kSunk, "exclusive", "exclusive", sunk_exclusive},
    Option{kSlinky, "priority", "priority", priority},
    Option{kSlinky, "user-id", "user-id", text<&JobOptions::user>},
    Option{kSunk, "user-id", "user-id", text<&JobOptions::user>},
    Option{kSlinky, "group-id", "group-id", text<&JobOptions::group>},
    Option{kSunk, "group-id", "group-id", text<&JobOptions::group>},
    Option{kOwn, "nice", "nice", nice},
    Option{kOwn, "dependency", "dependency", dependency},
    Option{kOwn, "begin", "begin", time<&JobOptions::begin>},
    Option{kOwn, "deadline", "deadline", time<&JobOptions::deadline>},
    Option{kOwn, "switches", "switches", switches},
    Option{kOwn, "mail-user", "mail-user", text<&JobOptions::mail_user>},
    Option{kOwn, "signal", "signal", no_signal},
    Option{kOwn, "array", "array", reserved},
};

const Option *find_option(std::string_view key)
{
  for (const Option &option : kOptions) {
    const std::string_view prefix = option.prefix;
    if (key.starts_with(prefix) && key.substr(prefix.size()) == option.name)
      return &option;
  }
  return nullptr;
}

bool has_our_prefix(std::string_view key)
{
  return key.starts_with(kSlinky) || key.starts_with(kSunk) || key.starts_with(kOwn);
}

struct Chosen {
  const Option *option;
  std::string key, value;
  JobOptions parsed;
};

/// Two families for one thing may both be there if they say the same.
bool agrees(const Chosen &one, const Option &option, const JobOptions &parsed)
{
  return std::string_view(one.option->same_as) != option.same_as || one.parsed == parsed;
}

void take(const std::string &key, const std::string &value, std::vector<Chosen> &chosen,
          ParsedOptions &out)
{
  const Option *option = find_option(key);
  if (!option) {
    out.warnings.push_back("annotation " + key + " is not known here and has no effect");
    return;
  }
  ParsedOptions one;
  const std::string problem = option->parse(value, one);
  if (!problem.empty()) {
    out.errors.push_back("annotation " + key + " " + problem);
    return;
  }
  for (const Chosen &other : chosen)
    if (!agrees(other, *option, one.options)) {
      out.errors.push_back("annotations " + other.key + " and " + key + " disagree");
      return;
    }
  option->parse(value, out);
  chosen.push_back({option, key, value, one.options});
}

}  // namespace

ParsedOptions parse_options(const std::vector<const Annotations *> &nearest)
{
  ParsedOptions out;
  std::vector<std::string> decided;  // what nearer objects have said already
  for (const Annotations *annotations : nearest) {
    std::vector<Chosen> chosen;
    for (const auto &[key, value] : *annotations) {
      if (!has_our_prefix(key))
        continue;
      const Option *option = find_option(key);
      const std::string what = option ? option->same_as : key;
      if (std::find(decided.begin(), decided.end(), what) == decided.end())
        take(key, value, chosen, out);
    }
    for (const auto &[key, value] : *annotations)
      if (const Option *option = find_option(key))
        decided.push_back(option->same_as);
      else if (has_our_prefix(key))
        decided.push_back(key);
  }
  return out;
}

Annotations only_options(const Annotations &annotations)
{
  Annotations out;
  for (const auto &[key, value] : annotations)
    if (has_our_prefix(key))
      out.emplace(key, value);
  return out;
}

std::vector<std::string> known_option_keys()
{
  std::vector<std::string> keys;
  for (const Option &option : kOptions)
    keys.push_back(std::string(option.prefix) + option.name);
  return keys;
}

}  // namespace workload
