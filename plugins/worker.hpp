// SPDX-License-Identifier: Apache-2.0
// One background thread of a plugin, with a name for ps and without slurmctld's signals.
#pragma once

#include <csignal>
#include <thread>
#include <utility>

#include <pthread.h>

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
      thread_ = std::thread(std::move(body));
    } catch (...) {
      pthread_sigmask(SIG_SETMASK, &before, nullptr);
      throw;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    pthread_setname_np(thread_.native_handle(), name);
  }

  /// Waits for the end of `body`; what makes it end is the caller's business.
  void join()
  {
    if (thread_.joinable())
      thread_.join();
  }

private:
  std::thread thread_;
};
