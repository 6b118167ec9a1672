// SPDX-License-Identifier: Apache-2.0
#include "workload/annotations.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <string_view>

#include "wellknown.hpp"

namespace workload {
namespace {

/// Puts a value into its field. Returns what is wrong with it, "" if nothing.
using Parser = std::string (*)(const std::string &value, ParsedOptions &out);

bool parse_uint(const std::string &text, std::uint64_t &out)
{
  const char *end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, out);
  return error == std::errc{} && stop == end;
}

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
  std::uint64_t number = 0;
  if (!parse_uint(value, number) || number == 0 || number > 100'000)
    return "must be a number from 1 to 100000";
  out.options.*Field = static_cast<std::uint32_t>(number);
  return {};
}

constexpr std::uint64_t kMaxMinutes = 60ull * 24 * 366 * 10;

std::string minutes(const std::string &value, ParsedOptions &out)
{
  std::uint64_t number = 0;
  if (!parse_uint(value, number) || number == 0 || number > kMaxMinutes)
    return "must be a number of minutes from 1 to " + std::to_string(kMaxMinutes);
  out.options.time_limit_min = static_cast<std::uint32_t>(number);
  return {};
}

std::string seconds(const std::string &value, ParsedOptions &out)
{
  std::uint64_t number = 0;
  if (!parse_uint(value, number) || number == 0 || number > kMaxMinutes * 60)
    return "must be a number of seconds from 1 to " + std::to_string(kMaxMinutes * 60);
  out.options.time_limit_min = static_cast<std::uint32_t>((number + 59) / 60);
  return {};
}

std::string slinky_exclusive(const std::string &value, ParsedOptions &out)
{
  out.options.exclusive = value != "false";
  return {};
}

std::string cpus_per_task(const std::string &value, ParsedOptions &out)
{
  std::uint64_t number = 0;
  if (!parse_uint(value, number) || number == 0 || number > 65535)
    return "must be a number of CPUs from 1 to 65535";
  out.least.cpus = static_cast<std::uint32_t>(number);
  return {};
}

std::string memory_mib(const std::string &value, ParsedOptions &out)
{
  std::uint64_t number = 0;
  if (!parse_uint(value, number) || number == 0 || number > (1ull << 40))
    return "must be a number of MiB from 1";
  out.least.memory_mib = number;
  return {};
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
    Option{kSlinky, "exclusive", "exclusive", slinky_exclusive},
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

std::vector<std::string> known_option_keys()
{
  std::vector<std::string> keys;
  for (const Option &option : kOptions)
    keys.push_back(std::string(option.prefix) + option.name);
  return keys;
}

}  // namespace workload
