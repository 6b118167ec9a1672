// SPDX-License-Identifier: Apache-2.0
#include "verb_queue.hpp"

#include <thread>

#include "catch.hpp"

namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

Order cancel(std::uint32_t job, uid_t sender = 990)
{
  return {{protocol::VerbKind::cancel, job, 0, "east", "3f1c"}, sender};
}

}  // namespace

TEST_CASE("verbs come out in the order in which they went in")
{
  VerbQueue queue;
  CHECK(queue.put(cancel(1)));
  CHECK(queue.put(cancel(2)));
  CHECK(queue.take(milliseconds(0))->verb.job_id == 1);
  CHECK(queue.take(milliseconds(0))->verb.job_id == 2);
  CHECK_FALSE(queue.take(milliseconds(0)));
}

TEST_CASE("the same verb asked for twice in a row is one, another kind or sender is not")
{
  VerbQueue queue;
  CHECK(queue.put(cancel(1)));
  CHECK(queue.put(cancel(1)));
  CHECK(queue.put({{protocol::VerbKind::complete, 1, 0, "east", "3f1c"}, 990}));
  CHECK(queue.put(cancel(1, 991)));
  CHECK(queue.take(milliseconds(0)) == cancel(1));
  CHECK(queue.take(milliseconds(0))->verb.kind == protocol::VerbKind::complete);
  CHECK(queue.take(milliseconds(0)) == cancel(1, 991));
  CHECK_FALSE(queue.take(milliseconds(0)));
}

TEST_CASE("a full queue takes no more, until there is room")
{
  VerbQueue queue;
  for (std::uint32_t job = 1; job <= VerbQueue::kMaxOrders; ++job)
    REQUIRE(queue.put(cancel(job)));
  CHECK_FALSE(queue.put(cancel(1)));
  CHECK(queue.take(milliseconds(0)));
  CHECK(queue.put(cancel(1)));
}

TEST_CASE("the thread that carries verbs out is woken by a verb and by the end")
{
  VerbQueue queue;
  std::thread putter([&] { queue.put(cancel(7)); });
  CHECK(queue.take(hours(1))->verb.job_id == 7);
  putter.join();
  std::thread stopper([&] { queue.stop(); });
  CHECK_FALSE(queue.take(hours(1)));
  stopper.join();
  CHECK(queue.stopped());
  CHECK_FALSE(queue.put(cancel(8)));
}
