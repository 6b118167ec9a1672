// SPDX-License-Identifier: Apache-2.0
// One background thread of a plugin, with a name for ps and without slurmctld's signals.
#pragma once

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include <pthread.h>

/// Set once; can be waited for.
class Flag {
public:
  void set()
  {
    const std::lock_guard lock(mutex_);
    set_ = true;
    changed_.notify_all();
  }

  /// True as soon as it is set, false after `time`.
  template <class Duration>
  bool wait_for(Duration time)
  {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, time, [this] { return set_; });
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool set_ = false;
};

class Worker {
public:
  /// `body` must not throw. `name` has at most 15 characters. Throws std::system_error.
  template <class Body>
  void start(const char *name, Body body)
  {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);  // signals are slurmctld's own business
    try {
      thread_ = std::thread([body = std::move(body), ended = ended_]() mutable {
        body();
        ended->set();
      });
    } catch (...) {
      pthread_sigmask(SIG_SETMASK, &before, nullptr);
      throw;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    pthread_setname_np(thread_.native_handle(), name);
  }

  /// Joins; false if the thread did not end in time and was left to itself.
  bool join_within(std::chrono::milliseconds time)
  {
    if (!thread_.joinable())
      return true;
    if (ended_->wait_for(time)) {
      thread_.join();
      return true;
    }
    thread_.detach();
    return false;
  }

private:
  std::thread thread_;
  // Shared: a thread that was left to itself still sets it.
  std::shared_ptr<Flag> ended_ = std::make_shared<Flag>();
};
