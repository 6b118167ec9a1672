// SPDX-License-Identifier: Apache-2.0
#include "kube/quantity.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "catch.hpp"

using kube::parse_millis;
using kube::parse_quantity;
using kube::Round;

TEST_CASE("quantities have the value that Kubernetes gives them")
{
  const struct {
    std::string text;
    std::int64_t up, down;
  } cases[] = {
      {"0", 0, 0},
      {"1", 1, 1},
      {"+5", 5, 5},
      {"-1", -1, -1},
      {"1.5", 2, 1},
      {"-1.5", -1, -2},
      {".5", 1, 0},
      {"5.", 5, 5},
      {"100m", 1, 0},
      {"1500m", 2, 1},
      {"1n", 1, 0},
      {"3k", 3000, 3000},
      {"2M", 2'000'000, 2'000'000},
      {"1Ki", 1024, 1024},
      {"1.5Gi", 1'610'612'736, 1'610'612'736},
      {"0.1Ki", 103, 102},
      {"1e3", 1000, 1000},
      {"1E3", 1000, 1000},
      {"1e+3", 1000, 1000},
      {"15e-1", 2, 1},
      {"1E", 1'000'000'000'000'000'000, 1'000'000'000'000'000'000},
      {"1.0000000000000000000000001", 2, 1},
  };
  for (const auto &one : cases) {
    INFO(one.text);
    CHECK(parse_quantity(one.text, Round::up) == one.up);
    CHECK(parse_quantity(one.text, Round::down) == one.down);
  }
}

TEST_CASE("what does not fit is the most that does")
{
  const auto most = std::numeric_limits<std::int64_t>::max();
  for (const std::string text :
       {"8Ei", "1e400", "99999999999999999999999999999999999999999999999"}) {
    INFO(text);
    CHECK(parse_quantity(text, Round::up) == most);
  }
  CHECK(parse_quantity("1e-400", Round::up) == 1);
  CHECK(parse_quantity("1e-400", Round::down) == 0);
  CHECK(parse_millis("9e18", Round::up) == most);
}

TEST_CASE("text that is no quantity is none")
{
  for (const std::string text : {"", "-", "+", "m", ".", "1.2.3", "1x", "1 Gi", "1gi", "1mi", "e3",
                                 "1e", "1e1.5", "1e+-3", "--1", "0x10", "1K", "Infinity"}) {
    INFO(text);
    CHECK(parse_quantity(text, Round::up) == std::nullopt);
  }
}

TEST_CASE("CPU is counted in millicores")
{
  CHECK(parse_millis("500m", Round::up) == 500);
  CHECK(parse_millis("2", Round::up) == 2000);
  CHECK(parse_millis("0.0001", Round::up) == 1);
  CHECK(parse_millis("0.0019", Round::down) == 1);
}
