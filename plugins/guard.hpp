// SPDX-License-Identifier: Apache-2.0
// The wall between slurmctld's C and our C++: no exception passes it.
#pragma once

#include <exception>

#include "slurm_abi.hpp"

/// Runs `body` and returns its Slurm code, or `on_throw` after logging what was thrown.
template <class Body>
int guard(const char *where, int on_throw, Body &&body) noexcept
{
  try {
    return body();
  } catch (const std::exception &error) {
    slurm_error("k8s: %s: %s", where, error.what());
  } catch (...) {
    slurm_error("k8s: %s: unknown exception", where);
  }
  return on_throw;
}
