// SPDX-License-Identifier: Apache-2.0
// A few threads for libslurm, whose calls block.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace slurm {

enum class Urgency {
  soon,  ///< somebody waits for the answer: single look-ups, the end of a job
  later,
};

class Pool {
public:
  explicit Pool(int threads);
  /// Ends after the calls that are under way; what has not begun is dropped.
  ~Pool();
  Pool(const Pool &) = delete;
  Pool &operator=(const Pool &) = delete;

  /// `work` must not throw. Callable from any thread.
  void run(Urgency urgency, std::function<void()> work);

private:
  void serve();

  std::mutex mutex_;  // of all that follows
  std::condition_variable changed_;
  std::deque<std::function<void()>> soon_, later_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace slurm
