// SPDX-License-Identifier: Apache-2.0
#include "loop.hpp"

#include <csignal>
#include <stdexcept>
#include <string>
#include <thread>

#include <unistd.h>

#include "catch.hpp"

namespace {

using std::chrono::milliseconds;

/// A pipe that closes itself.
struct Pipe {
  Pipe() { REQUIRE(pipe(ends) == 0); }
  ~Pipe()
  {
    close(ends[0]);
    close(ends[1]);
  }
  void put(char c) const { REQUIRE(write(ends[1], &c, 1) == 1); }
  char get() const
  {
    char c = 0;
    REQUIRE(read(ends[0], &c, 1) == 1);
    return c;
  }
  int ends[2];
};

}  // namespace

TEST_CASE("timers fire by their time, then by their age")
{
  Loop loop;
  std::string order;
  loop.after(milliseconds(20), [&] { loop.stop(); });
  loop.after(milliseconds(5), [&] { order += 'c'; });
  loop.after(milliseconds(0), [&] { order += 'a'; });
  loop.after(milliseconds(-10), [&] { order += 'b'; });
  loop.run();
  CHECK(order == "abc");
}

TEST_CASE("a cancelled timer does not fire, and unknown ones may be cancelled")
{
  Loop loop;
  bool fired = false;
  const auto id = loop.after(milliseconds(1), [&] { fired = true; });
  loop.after(milliseconds(0), [&] { loop.cancel(id); });
  const auto last = loop.after(milliseconds(5), [&] { loop.stop(); });
  loop.run();
  CHECK_FALSE(fired);
  loop.cancel(last);
  loop.cancel(0);
  loop.cancel(12345);
}

TEST_CASE("a timer that starts itself anew leaves room for others")
{
  Loop loop;
  int rounds = 0;
  std::function<void()> again = [&] {
    ++rounds;
    loop.after(milliseconds(0), again);
  };
  again();
  Pipe pipe;
  loop.watch_readable(pipe.ends[0], [&] { loop.stop(); });
  pipe.put('x');
  loop.run();
  CHECK(rounds < 10);
}

TEST_CASE("an exception in one handler does not keep the others from running")
{
  Loop loop;
  bool ran = false;
  loop.post([] { throw std::runtime_error("on purpose"); });
  loop.post([&] { ran = true; });
  loop.after(milliseconds(0), [] { throw 3; });
  loop.after(milliseconds(1), [&] { loop.stop(); });
  loop.run();
  CHECK(ran);
}

TEST_CASE("work of other threads wakes the loop, in order")
{
  Loop loop;
  std::string order;
  std::thread worker([&] {
    loop.post([&] { order += 'a'; });
    loop.post([&] { order += 'b'; });
    loop.post([&] { loop.stop(); });
  });
  loop.run();
  worker.join();
  CHECK(order == "ab");
}

TEST_CASE("a descriptor is told as often as there is something to read, until it is let go")
{
  Loop loop;
  Pipe pipe;
  std::string got;
  loop.watch_readable(pipe.ends[0], [&] {
    got += pipe.get();
    if (got.size() == 2) {
      loop.unwatch(pipe.ends[0]);
      loop.after(milliseconds(0), [&] { loop.stop(); });
    }
  });
  for (const char c : {'a', 'b', 'c'})
    pipe.put(c);
  loop.run();
  CHECK(got == "ab");
}

TEST_CASE("signals arrive in the loop, and their old action comes back with its end")
{
  struct sigaction before = {}, after = {};
  sigaction(SIGUSR1, nullptr, &before);
  {
    Loop loop;
    std::string order;
    loop.on_signal(SIGUSR1, [&] { order += '1'; });
    loop.on_signal(SIGUSR2, [&] {
      order += '2';
      loop.stop();
    });
    raise(SIGUSR1);
    raise(SIGUSR2);
    CHECK(order.empty());
    loop.run();
    CHECK(order == "12");
  }
  sigaction(SIGUSR1, nullptr, &after);
  CHECK(after.sa_handler == before.sa_handler);
}

TEST_CASE("a stopped loop can run again")
{
  Loop loop;
  for (int i = 0; i < 2; ++i) {
    loop.after(milliseconds(0), [&] { loop.stop(); });
    loop.run();
  }
  loop.after(std::chrono::hours(1), [] {});
  loop.post([&] { loop.stop(); });
  loop.run();
}
