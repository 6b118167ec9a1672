// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <thread>

#include "catch.hpp"
#include "change_watch.hpp"
#include "hint_queue.hpp"

namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

void put(HintQueue &queue, std::uint32_t from, std::uint32_t to)
{
  for (std::uint32_t id = from; id <= to; ++id)
    queue.put({protocol::HintKind::job_start, id});
}

}  // namespace

TEST_CASE("hints stay until they have arrived, and their numbers have no gap")
{
  HintQueue queue(5);
  put(queue, 1, 3);
  const protocol::Batch first = queue.peek();
  CHECK(first.epoch == 5);
  CHECK(first.seq == 1);
  REQUIRE(first.hints.size() == 3);
  CHECK(first.hints[2].job_id == 3);
  CHECK(queue.peek().hints.size() == 3);

  put(queue, 4, 4);
  queue.sent(first);
  const protocol::Batch second = queue.peek();
  CHECK(second.seq == 4);
  REQUIRE(second.hints.size() == 1);
  CHECK(second.hints[0].job_id == 4);
}

TEST_CASE("an empty batch is a sign of life with the number that comes next")
{
  HintQueue queue(5);
  CHECK(queue.peek().seq == 1);
  put(queue, 1, 2);
  queue.sent(queue.peek());
  CHECK(queue.peek().seq == 3);
  queue.sent(queue.peek());
  CHECK(queue.peek().seq == 3);
}

TEST_CASE("a batch is never larger than the receiver takes")
{
  HintQueue queue(1);
  put(queue, 1, protocol::kMaxBatchHints + 1);
  CHECK(queue.peek().hints.size() == protocol::kMaxBatchHints);
  CHECK(protocol::parse_batch(protocol::encode_batch(queue.peek())));
  queue.sent(queue.peek());
  CHECK(queue.peek().hints.size() == 1);
}

TEST_CASE("a full queue drops the oldest, and the gap in the numbers tells")
{
  HintQueue queue(1);
  put(queue, 1, HintQueue::kMaxHints + 10);
  CHECK(queue.peek().seq == 11);
  CHECK(queue.peek().hints.front().job_id == 11);
}

TEST_CASE("hints dropped while their batch was under way are not dropped twice")
{
  HintQueue queue(1);
  put(queue, 1, HintQueue::kMaxHints);
  const protocol::Batch batch = queue.peek();
  put(queue, HintQueue::kMaxHints + 1, HintQueue::kMaxHints + 10);  // drops 1 to 10
  queue.sent(batch);
  CHECK(queue.peek().seq == batch.hints.size() + 1);
  CHECK(queue.peek().hints.front().job_id == batch.hints.size() + 1);
}

TEST_CASE("a waiting thread is woken by a hint and by the end")
{
  HintQueue queue(1);
  CHECK_FALSE(queue.wait(milliseconds(0)));
  std::thread putter([&] { put(queue, 1, 1); });
  CHECK(queue.wait(hours(1)));
  putter.join();
  queue.sent(queue.peek());

  CHECK_FALSE(queue.stopped());
  std::thread stopper([&] { queue.stop(); });
  CHECK_FALSE(queue.wait(hours(1)));
  stopper.join();
  CHECK(queue.stopped());
}

TEST_CASE("a change within the second that was told is told again after it")
{
  ChangeWatch watch;
  CHECK(watch.look(100, 100));
  CHECK_FALSE(watch.look(100, 100));  // a second change in 100 cannot be seen yet
  CHECK(watch.look(100, 101));
  CHECK_FALSE(watch.look(100, 102));
  CHECK_FALSE(watch.look(100, 1000));
  CHECK(watch.look(1000, 1000));
}
