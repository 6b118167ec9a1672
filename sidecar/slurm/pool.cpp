// SPDX-License-Identifier: Apache-2.0
#include "slurm/pool.hpp"

#include <csignal>

#include <pthread.h>

namespace slurm {

Pool::Pool(int threads)
{
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // signals belong to the loop's thread
  for (int i = 0; i < threads; ++i)
    threads_.emplace_back([this] { serve(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Pool::~Pool()
{
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  for (std::thread &thread : threads_)
    thread.join();
}

void Pool::run(Urgency urgency, std::function<void()> work)
{
  const std::lock_guard lock(mutex_);
  (urgency == Urgency::soon ? soon_ : later_).push_back(std::move(work));
  changed_.notify_one();
}

void Pool::serve()
{
  for (;;) {
    std::function<void()> work;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stopping_ || !soon_.empty() || !later_.empty(); });
      if (stopping_)
        return;
      auto &queue = soon_.empty() ? later_ : soon_;
      work = std::move(queue.front());
      queue.pop_front();
    }
    work();
  }
}

}  // namespace slurm
