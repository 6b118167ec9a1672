// SPDX-License-Identifier: Apache-2.0
// How long to wait before asking an API server again.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <random>

namespace kube {

/// `first` doubled with every failure, at most `longest`, plus up to half of it at random so that
/// clients do not come back together; never less than what the server asked for, and that is
/// believed up to five minutes.
inline std::chrono::milliseconds backoff(int failures,
                                         std::optional<std::chrono::seconds> retry_after,
                                         std::chrono::milliseconds first,
                                         std::chrono::milliseconds longest)
{
  using std::chrono::milliseconds;
  static thread_local std::minstd_rand random{std::random_device{}()};
  const milliseconds base =
      std::min<milliseconds>(longest, first * (1ll << std::clamp(failures - 1, 0, 20)));
  const milliseconds jittered =
      base + milliseconds(std::uniform_int_distribution<long long>(0, base.count() / 2)(random));
  const milliseconds asked = std::min<milliseconds>(retry_after.value_or(std::chrono::seconds(0)),
                                                    std::chrono::minutes(5));
  return std::max(jittered, asked);
}

}  // namespace kube
