// SPDX-License-Identifier: Apache-2.0
#include "key_values.hpp"

#include <strings.h>

namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/// Reads the value that starts at `at`, and moves `at` behind it. Returns "" or what is wrong.
std::string take_value(std::string_view line, std::size_t &at, std::string &value)
{
  if (at < line.size() && line[at] == '"') {
    const std::size_t end = line.find('"', at + 1);
    if (end == std::string_view::npos)
      return "the closing quote is missing";
    value = line.substr(at + 1, end - at - 1);
    at = end + 1;
    if (at < line.size() && !is_space(line[at]) && line[at] != '#')
      return "there is text after the closing quote";
  } else {
    const std::size_t from = at;
    while (at < line.size() && !is_space(line[at]))
      ++at;
    value = line.substr(from, at - from);
  }
  return value.empty() ? "the value is empty" : "";
}

}  // namespace

bool same_word(std::string_view a, std::string_view b)
{
  return a.size() == b.size() && strncasecmp(a.data(), b.data(), a.size()) == 0;
}

std::string split_line(std::string_view line, std::vector<KeyValue> &settings)
{
  std::size_t at = 0;
  while (at < line.size()) {
    if (is_space(line[at])) {
      ++at;
      continue;
    }
    if (line[at] == '#')
      break;
    const std::size_t key_from = at;
    while (at < line.size() && !is_space(line[at]) && line[at] != '=')
      ++at;
    const std::string key(line.substr(key_from, at - key_from));
    if (at == line.size() || line[at] != '=' || key.empty())
      return "\"" + key + "\" is not of the form Key=value";
    ++at;
    std::string value;
    if (const std::string problem = take_value(line, at, value); !problem.empty())
      return key + ": " + problem;
    settings.push_back({key, value});
  }
  return "";
}
