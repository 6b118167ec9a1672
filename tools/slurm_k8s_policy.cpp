// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <exception>
#include <iostream>

#include "command.hpp"

int main(int argc, char **argv)
try {
  return run_command(argc, argv, {system_names(), std::cout, std::cerr});
} catch (const std::exception &error) {
  std::fprintf(stderr, "slurm-k8s-policy: %s\n", error.what());
  return kExitUsage;
}
