// SPDX-License-Identifier: Apache-2.0
// Reads kubeconfig files.
#pragma once

#include <string>
#include <vector>

#include "kube/credentials.hpp"

namespace kube {

/// Several files merge as kubectl does it: what a name means is said by the first that has it.
/// Files that do not exist are passed over unless all are missing. Throws CredentialsError.
Credentials load_kubeconfig(const std::vector<std::string> &files);

}  // namespace kube
