// SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"

#include <csignal>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include <pthread.h>

#include "slurm/pool.hpp"

using slurm::Pool;
using slurm::Urgency;

namespace {

/// Keeps a thread of the pool busy until opened.
class Gate {
public:
  explicit Gate(Pool &pool)
  {
    // The call may end after the gate is gone, so both own what it looks at.
    pool.run(Urgency::soon, [state = state_] {
      state->entered.set_value();
      state->opened.get_future().wait();
    });
    state_->entered.get_future().wait();
  }
  void open() { state_->opened.set_value(); }

private:
  struct State {
    std::promise<void> entered, opened;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

/// Waits until the pool has done what was asked before, if it has one thread.
void drain(Pool &pool)
{
  std::promise<void> done;
  pool.run(Urgency::later, [&] { done.set_value(); });
  done.get_future().wait();
}

}  // namespace

TEST_CASE("urgent calls overtake those that wait, each kind keeps its order")
{
  Pool pool(1);
  Gate gate(pool);
  std::string order;
  for (const char name : {'a', 'b'})
    pool.run(Urgency::later, [&order, name] { order += name; });
  for (const char name : {'1', '2'})
    pool.run(Urgency::soon, [&order, name] { order += name; });
  gate.open();
  drain(pool);
  CHECK(order == "12ab");
}

TEST_CASE("a call that blocks does not hold up the others")
{
  Pool pool(2);
  Gate gate(pool);
  drain(pool);
  gate.open();
}

TEST_CASE("as many calls run at the same time as there are threads")
{
  Pool pool(3);
  Gate one(pool), two(pool), three(pool);
  one.open();
  two.open();
  three.open();
}

TEST_CASE("a call may ask for another one")
{
  Pool pool(1);
  std::promise<void> done;
  pool.run(Urgency::later, [&] { pool.run(Urgency::soon, [&] { done.set_value(); }); });
  done.get_future().wait();
}

TEST_CASE("the end waits for the call that is under way")
{
  bool finished = false;
  std::promise<void> entered, opened;
  std::thread opener;
  {
    Pool pool(1);
    pool.run(Urgency::soon, [&] {
      entered.set_value();
      opened.get_future().wait();
      finished = true;
    });
    entered.get_future().wait();
    opener = std::thread([&] { opened.set_value(); });
  }
  opener.join();
  CHECK(finished);
}

TEST_CASE("the end does not wait for calls that have not begun")
{
  // A pool that emptied its queue first would never end.
  std::function<void()> again;
  std::promise<void> begun;
  std::once_flag once;
  Pool pool(2);
  again = [&] {
    std::call_once(once, [&] { begun.set_value(); });
    pool.run(Urgency::soon, again);
    pool.run(Urgency::later, [] {});
  };
  pool.run(Urgency::soon, again);
  begun.get_future().wait();
}

TEST_CASE("a pool that was never used ends at once") { Pool pool(4); }

TEST_CASE("signals stay with the thread that runs the loop")
{
  Pool pool(1);
  std::promise<sigset_t> mask;
  pool.run(Urgency::soon, [&] {
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    mask.set_value(blocked);
  });
  const sigset_t in_pool = mask.get_future().get();
  sigset_t here;
  pthread_sigmask(SIG_SETMASK, nullptr, &here);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGCHLD}) {
    CHECK(sigismember(&in_pool, signal) == 1);
    CHECK(sigismember(&here, signal) == 0);
  }
}
