// SPDX-License-Identifier: Apache-2.0
// Values that job options are written in. Each function returns nothing for what is not exactly that.
#pragma once

#include <cstdint>
#include <ctime>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "workload/job_request.hpp"

namespace workload {

/// RFC 3339, as Kubernetes writes times: "2026-12-05T14:00:00Z", "2026-12-05T15:00:00.5+01:00".
std::optional<std::time_t> parse_rfc3339(const std::string &text);

/// Slurm's "count[@max-time]", the time as in `sbatch --switches`: minutes, minutes:seconds,
/// hours:minutes:seconds, days-hours, days-hours:minutes, days-hours:minutes:seconds.
std::optional<Switches> parse_switches(std::string_view text);

/// "gpu:2", "gpu:a100:2,shard:1", with or without "gres/" before each; without a count it is 1.
std::optional<std::map<std::string, std::uint64_t>> parse_gres(std::string_view text);

}  // namespace workload
