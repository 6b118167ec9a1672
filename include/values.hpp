// SPDX-License-Identifier: Apache-2.0
// Lists, numbers, times and names as people write them for Slurm. Nothing is returned for what is not exactly that.
#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace values {

/// What is between the separators, empty items included.
inline std::vector<std::string> split(std::string_view text, char separator)
{
  std::vector<std::string> items;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t to = std::min(text.find(separator, from), text.size());
    items.emplace_back(text.substr(from, to - from));
    from = to + 1;
  }
  return items;
}

/// A decimal number and nothing else, from `least` to `most`.
template <class Number>
std::optional<Number> parse_number(std::string_view text,
                                   Number least = std::numeric_limits<Number>::min(),
                                   Number most = std::numeric_limits<Number>::max())
{
  Number value{};
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = !text.empty() && error == std::errc{} && stop == text.data() + text.size();
  return whole && value >= least && value <= most ? std::optional(value) : std::nullopt;
}

inline constexpr std::uint32_t kMaxDuration_s = 10u * 366 * 24 * 3600;

/// Slurm's ways to write a time span, in seconds: M, M:S, H:M:S, D-H, D-H:M, D-H:M:S; at most ten years.
inline std::optional<std::uint32_t> parse_duration_s(std::string_view text)
{
  std::uint64_t days = 0;
  const std::size_t dash = text.find('-');
  const bool with_days = dash != std::string_view::npos;
  if (with_days) {
    const auto parsed = parse_number<std::uint32_t>(text.substr(0, dash));
    if (!parsed)
      return std::nullopt;
    days = *parsed;
    text.remove_prefix(dash + 1);
  }
  std::array<std::uint64_t, 3> parts{};
  std::size_t count = 0;
  for (const std::string &part : split(text, ':')) {
    const auto parsed = parse_number<std::uint32_t>(part);
    if (!parsed || count == parts.size())
      return std::nullopt;
    parts[count++] = *parsed;
  }
  if (!with_days && count < 3)  // minutes come first
    parts = {0, parts[0], parts[1]};
  const std::uint64_t sum = ((days * 24 + parts[0]) * 60 + parts[1]) * 60 + parts[2];
  return sum <= kMaxDuration_s ? std::optional(static_cast<std::uint32_t>(sum)) : std::nullopt;
}

/// What may name a Kubernetes cluster, in k8s.conf and in the sidecar's configuration alike.
inline bool is_cluster_id(std::string_view text)
{
  return !text.empty() && text.size() <= 63 &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return std::isalnum(c) || c == '-' || c == '_' || c == '.';
         });
}

}  // namespace values
