// SPDX-License-Identifier: Apache-2.0
// One line of a file in Slurm's Key=Value style.
#pragma once

#include <string>
#include <string_view>
#include <vector>

struct KeyValue {
  std::string key;
  std::string value;
};

/// Keys and words of values: Slurm does not mind their case.
bool same_word(std::string_view a, std::string_view b);

/// The Key=value words of one line, up to a comment; a value may be in double quotes.
/// Returns "" or what is wrong.
std::string split_line(std::string_view line, std::vector<KeyValue> &settings);
