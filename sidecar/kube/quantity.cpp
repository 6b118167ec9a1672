// SPDX-License-Identifier: Apache-2.0
#include "kube/quantity.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>

#include "values.hpp"

namespace kube {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr Wide kWideMax = ~Wide{0};
/// More would be below one byte even of an Ei, and with them no number that fits overflows Wide.
constexpr int kMostFraction = 18;
constexpr auto kMost = static_cast<Wide>(std::numeric_limits<std::int64_t>::max());

/// What a suffix multiplies by: 2^binary * 10^decimal.
struct Suffix {
  int binary = 0, decimal = 0;
};

constexpr std::array<std::pair<std::string_view, Suffix>, 16> kSuffixes{{
    {"", {}},
    {"n", {0, -9}},
    {"u", {0, -6}},
    {"m", {0, -3}},
    {"k", {0, 3}},
    {"M", {0, 6}},
    {"G", {0, 9}},
    {"T", {0, 12}},
    {"P", {0, 15}},
    {"E", {0, 18}},
    {"Ki", {10, 0}},
    {"Mi", {20, 0}},
    {"Gi", {30, 0}},
    {"Ti", {40, 0}},
    {"Pi", {50, 0}},
    {"Ei", {60, 0}},
}};

std::optional<Suffix> parse_suffix(std::string_view text)
{
  const auto *const known = std::find_if(kSuffixes.begin(), kSuffixes.end(),
                                         [&](const auto &entry) { return entry.first == text; });
  if (known != kSuffixes.end())
    return known->second;
  if (text[0] != 'e' && text[0] != 'E')
    return std::nullopt;
  text.remove_prefix(1);
  if (text.size() > 1 && text[0] == '+' && text[1] != '-')
    text.remove_prefix(1);
  const auto exponent = values::parse_number<int>(text);
  return exponent ? std::optional(Suffix{0, std::clamp(*exponent, -1000, 1000)}) : std::nullopt;
}

/// Digits as a number that saturates, and the power of ten to divide by.
struct Decimal {
  Wide digits = 0;
  int fraction = 0;
  bool inexact = false;  ///< non-zero digits were cut off
};

/// False if there is not a single digit, or more than one point.
bool parse_decimal(std::string_view text, Decimal &out)
{
  bool point = false, any = false;
  for (const char c : text) {
    if (c == '.' && !point) {
      point = true;
      continue;
    }
    if (c < '0' || c > '9')
      return false;
    any = true;
    if (out.digits > (kWideMax - 9) / 10 || out.fraction >= kMostFraction) {
      if (!point)
        out.digits = kWideMax;
      else
        out.inexact = out.inexact || c != '0';
      continue;
    }
    out.digits = out.digits * 10 + static_cast<Wide>(c - '0');
    out.fraction += point ? 1 : 0;
  }
  return any;
}

Wide times(Wide value, Wide factor)
{
  return value != 0 && factor > kWideMax / value ? kWideMax : value * factor;
}

/// Divides by 10^power; `rest` becomes true if anything was left over.
Wide divide(Wide value, int power, bool &rest)
{
  for (; power > 0 && value != 0; --power) {
    rest = rest || value % 10 != 0;
    value /= 10;
  }
  return value;
}

}  // namespace

std::optional<std::int64_t> parse_quantity(std::string_view text, Round round, std::int64_t scale)
{
  bool negative = false;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  const auto number_end = std::min(text.find_first_not_of("0123456789."), text.size());
  Decimal number;
  if (!parse_decimal(text.substr(0, number_end), number))
    return std::nullopt;
  const auto suffix = parse_suffix(text.substr(number_end));
  if (!suffix)
    return std::nullopt;

  Wide value = times(number.digits, static_cast<Wide>(scale));
  value = times(value, Wide{1} << suffix->binary);
  int power = suffix->decimal - number.fraction;
  for (; power > 0 && value != 0 && value != kWideMax; --power)
    value = times(value, 10);
  bool rest = number.inexact;
  if (value != kWideMax)
    value = divide(value, -power, rest);
  if (rest && value != kWideMax && (round == Round::up) != negative)
    ++value;
  const auto whole = static_cast<std::int64_t>(std::min(value, kMost));
  return negative ? -whole : whole;
}

std::optional<std::int64_t> parse_millis(std::string_view text, Round round)
{
  return parse_quantity(text, round, 1000);
}

}  // namespace kube
