// SPDX-License-Identifier: Apache-2.0
#include "workload/option_values.hpp"

#include <algorithm>
#include <charconv>
#include <cctype>
#include <vector>

#include "values.hpp"

namespace workload {
namespace {

constexpr std::uint64_t kMaxGres = 1'000'000;

bool is_digits(std::string_view text)
{
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); });
}

/// "gpu" or "gpu:a100"
bool is_gres_name(std::string_view text)
{
  const std::vector<std::string> words = values::split(text, ':');
  return words.size() <= 2 && std::all_of(words.begin(), words.end(), [](std::string_view word) {
           return !word.empty() && std::isalpha(static_cast<unsigned char>(word.front())) &&
                  std::all_of(word.begin(), word.end(), [](unsigned char c) {
                    return std::isalnum(c) || c == '_' || c == '-' || c == '.';
                  });
         });
}

/// Takes exactly `digits` decimal digits off the front of `text`.
bool take_digits(std::string_view &text, std::size_t digits, int &out)
{
  if (!is_digits(text.substr(0, digits)) || text.size() < digits)
    return false;
  std::from_chars(text.data(), text.data() + digits, out);
  text.remove_prefix(digits);
  return true;
}

bool take(std::string_view &text, std::string_view any_of)
{
  if (text.empty() || any_of.find(text.front()) == std::string_view::npos)
    return false;
  text.remove_prefix(1);
  return true;
}

/// "Z" or "+hh:mm"; the offset in seconds.
std::optional<int> take_zone(std::string_view text)
{
  if (text == "Z" || text == "z")
    return 0;
  const int sign = !text.empty() && text.front() == '-' ? -1 : 1;
  int hours = 0, minutes = 0;
  if (!take(text, "+-") || !take_digits(text, 2, hours) || !take(text, ":") ||
      !take_digits(text, 2, minutes) || !text.empty() || hours > 23 || minutes > 59)
    return std::nullopt;
  return sign * (hours * 3600 + minutes * 60);
}

}  // namespace

std::optional<std::time_t> parse_rfc3339(const std::string &text)
{
  std::string_view rest = text;
  std::tm tm{};
  const bool shaped =
      take_digits(rest, 4, tm.tm_year) && take(rest, "-") && take_digits(rest, 2, tm.tm_mon) &&
      take(rest, "-") && take_digits(rest, 2, tm.tm_mday) && take(rest, "Tt ") &&
      take_digits(rest, 2, tm.tm_hour) && take(rest, ":") && take_digits(rest, 2, tm.tm_min) &&
      take(rest, ":") && take_digits(rest, 2, tm.tm_sec);
  if (!shaped || tm.tm_hour > 23 || tm.tm_min > 59 || tm.tm_sec > 60)
    return std::nullopt;
  if (take(rest, "."))
    rest.remove_prefix(std::min(rest.find_first_not_of("0123456789"), rest.size()));
  const std::optional<int> zone = take_zone(rest);
  tm.tm_year -= 1900;
  tm.tm_mon -= 1;
  std::tm normal = tm;
  const std::time_t time = timegm(&normal);
  const bool exists = normal.tm_mon == tm.tm_mon && normal.tm_mday == tm.tm_mday;
  if (!zone || (!exists && tm.tm_sec < 60))
    return std::nullopt;
  return time - *zone;
}

std::optional<Switches> parse_switches(std::string_view text)
{
  const std::size_t at = text.find('@');
  const auto count = values::parse_number<std::uint32_t>(text.substr(0, at), 1, 100'000);
  if (!count)
    return std::nullopt;
  Switches out{*count, std::nullopt};
  if (at == std::string_view::npos)
    return out;
  out.max_wait_s = values::parse_duration_s(text.substr(at + 1));
  return out.max_wait_s ? std::optional(out) : std::nullopt;
}

std::optional<std::map<std::string, std::uint64_t>> parse_gres(std::string_view text)
{
  std::map<std::string, std::uint64_t> out;
  for (const std::string &part : values::split(text, ',')) {
    std::string_view item = part;
    for (const std::string_view prefix : {"gres/", "gres:"})
      if (item.starts_with(prefix))
        item.remove_prefix(prefix.size());
    std::uint64_t count = 1;
    const std::size_t colon = item.rfind(':');
    if (colon != std::string_view::npos && is_digits(item.substr(colon + 1))) {
      const auto parsed = values::parse_number<std::uint64_t>(item.substr(colon + 1), 1, kMaxGres);
      if (!parsed)
        return std::nullopt;
      count = *parsed;
      item = item.substr(0, colon);
    }
    if (!is_gres_name(item) || !out.emplace(item, count).second)
      return std::nullopt;
  }
  return out;
}

}  // namespace workload
