// SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"

#include <algorithm>
#include <numeric>

#include "workload/layout.hpp"

using workload::NodeRoom;
using workload::place;
using Slots = std::vector<std::string>;

namespace {

/// Nodes "0", "1", … with that room.
std::vector<NodeRoom> nodes_with(const std::vector<std::uint32_t> &rooms)
{
  std::vector<NodeRoom> nodes;
  for (const std::uint32_t room : rooms)
    nodes.push_back({std::to_string(nodes.size()), room});
  return nodes;
}

std::uint32_t on_node(const Slots &slots, std::size_t node)
{
  return static_cast<std::uint32_t>(std::count(slots.begin(), slots.end(), std::to_string(node)));
}

/// What holds for every layout, however the room is spread.
void check_layout(const std::vector<std::uint32_t> &rooms, std::uint32_t pods)
{
  const Slots slots = place(nodes_with(rooms), pods);
  const auto room = std::accumulate(rooms.begin(), rooms.end(), std::uint32_t{0});
  const auto usable = static_cast<std::uint32_t>(
      std::count_if(rooms.begin(), rooms.end(), [](std::uint32_t r) { return r > 0; }));
  CHECK(slots.size() == std::min(room, pods));
  CHECK(std::is_sorted(slots.begin(), slots.end()));
  for (std::size_t node = 0; node < rooms.size(); ++node) {
    CHECK(on_node(slots, node) <= rooms[node]);
    if (pods >= usable && rooms[node] > 0)
      CHECK(on_node(slots, node) > 0);
  }
}

}  // namespace

TEST_CASE("one pod per node follows Slurm's node order")
{
  CHECK(place({{"n3", 1}, {"n1", 1}, {"n2", 1}}, 3) == Slots{"n3", "n1", "n2"});
}

TEST_CASE("neighbours in rank share a node")
{
  CHECK(place({{"a", 4}, {"b", 4}}, 8) == Slots{"a", "a", "a", "a", "b", "b", "b", "b"});
  CHECK(place({{"a", 2}, {"b", 4}}, 6) == Slots{"a", "a", "b", "b", "b", "b"});
}

TEST_CASE("no node that Slurm charges for stays empty while pods are left")
{
  CHECK(place({{"a", 4}, {"b", 4}, {"c", 4}}, 4) == Slots{"a", "a", "b", "c"});
  CHECK(place({{"a", 8}, {"b", 1}}, 8) == Slots{"a", "a", "a", "a", "a", "a", "a", "b"});
}

TEST_CASE("nodes without room are passed over")
{
  CHECK(place({{"a", 0}, {"b", 1}, {"c", 0}, {"d", 1}}, 2) == Slots{"b", "d"});
}

TEST_CASE("pods that fit nowhere get no place, and say so by a short answer")
{
  CHECK(place({{"a", 1}, {"b", 1}}, 3) == Slots{"a", "b"});
  CHECK(place({{"a", 0}}, 1).empty());
  CHECK(place({}, 2).empty());
  CHECK(place({{"a", 2}}, 0).empty());
}

TEST_CASE("every layout uses all room that is needed, in order, and never more than a node has")
{
  for (std::uint32_t code = 0; code < 5 * 5 * 5 * 5; ++code)
    for (std::uint32_t pods = 0; pods <= 17; ++pods)
      check_layout({code % 5, code / 5 % 5, code / 25 % 5, code / 125}, pods);
}
