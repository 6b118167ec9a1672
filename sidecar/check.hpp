// SPDX-License-Identifier: Apache-2.0
// What --check looks at beyond the configuration itself: the files that it names.
#pragma once

#include <string>
#include <vector>

#include "config.hpp"

struct CheckedFiles {
  std::vector<std::string> errors;  ///< "FILE:LINE: key: OTHER FILE: what is wrong"
  std::string api_server;           ///< and where that is said
};

/// For a configuration without errors.
CheckedFiles check_files(const ParsedConfig &parsed);
