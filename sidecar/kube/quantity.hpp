// SPDX-License-Identifier: Apache-2.0
// Kubernetes quantities ("500m", "1Gi", "1e3", "0.5") as whole numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace kube {

enum class Round : std::uint8_t { up, down };

/// The quantity times `scale`, exact but for the final rounding; what does not fit saturates.
/// Nothing if the text is no quantity.
std::optional<std::int64_t> parse_quantity(std::string_view text, Round round,
                                           std::int64_t scale = 1);

/// "500m" -> 500, "2" -> 2000.
std::optional<std::int64_t> parse_millis(std::string_view text, Round round);

}  // namespace kube
