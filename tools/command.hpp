// SPDX-License-Identifier: Apache-2.0
// slurm-k8s-policy without main(): arguments in, text and exit code out.
#pragma once

#include <ostream>

#include "policy.hpp"

/// Good, or granted.
inline constexpr int kExitGood = 0;
/// A bad policy, or refused.
inline constexpr int kExitBad = 1;
/// No answer: wrong arguments, or a file that cannot be used.
inline constexpr int kExitUsage = 2;

/// Where users and groups are looked up, and where the text goes.
struct Surroundings {
  NameService names;
  std::ostream &out, &err;
};

int run_command(int argc, const char *const *argv, const Surroundings &around);
