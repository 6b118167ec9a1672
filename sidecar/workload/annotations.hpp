// SPDX-License-Identifier: Apache-2.0
// Job options that users write as annotations on pods and group objects.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "workload/job_request.hpp"

namespace workload {

using Annotations = std::map<std::string, std::string>;

struct ParsedOptions {
  JobOptions options;
  TaskShape least;                    ///< cpu-per-task and mem-per-node: never less than this
  std::vector<std::string> errors;    ///< values that cannot be understood; do not submit
  std::vector<std::string> warnings;  ///< keys that have no effect here
};

/// `nearest` first: a key found in an earlier map hides it in the later ones. Two families that
/// set the same option to different values are an error.
ParsedOptions parse_options(const std::vector<const Annotations *> &nearest);

/// Those of them that are meant as job options, known or not.
Annotations only_options(const Annotations &annotations);

/// Every key that parse_options() understands, for the test that compares them with the docs.
std::vector<std::string> known_option_keys();

}  // namespace workload
