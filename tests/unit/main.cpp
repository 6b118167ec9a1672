// SPDX-License-Identifier: Apache-2.0
// The entry point where Catch2 does not bring one (Catch2 2).
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
