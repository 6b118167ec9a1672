// SPDX-License-Identifier: Apache-2.0
// The one event loop: curl transfers, file descriptors, timers, signals, work posted by threads.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

/// Timers as the controller sees them, so that its tests can turn the clock.
class Timers {
public:
  using Id = std::uint64_t;  ///< 0 is never a timer

  virtual ~Timers() = default;
  /// Runs `fn` once in the loop's thread after `delay`.
  virtual Id after(std::chrono::milliseconds delay, std::function<void()> fn) = 0;
  /// Unknown or fired timers are ignored.
  virtual void cancel(Id id) = 0;
  virtual std::chrono::steady_clock::time_point now() const = 0;
};

/// All methods but post() must be called in the thread that runs the loop.
class Loop final : public Timers {
public:
  Loop();
  ~Loop() override;
  Loop(const Loop &) = delete;
  Loop &operator=(const Loop &) = delete;

  Id after(std::chrono::milliseconds delay, std::function<void()> fn) override;
  void cancel(Id id) override;
  std::chrono::steady_clock::time_point now() const override;

  /// Runs `fn` in the loop's thread soon. Callable from any thread.
  void post(std::function<void()> fn);

  /// Calls `fn` whenever `fd` is readable, until unwatch(fd). The loop does not own the descriptor.
  void watch_readable(int fd, std::function<void()> fn);
  void unwatch(int fd);

  /// Calls `fn` (in the loop) when the process receives the signal.
  void on_signal(int signal, std::function<void()> fn);

  /// The curl multi handle (CURLM *) that run() drives; for sidecar/http only.
  void *curl_multi() noexcept;
  /// Called in the loop when transfers may have finished; for sidecar/http only.
  void on_curl_done(std::function<void()> fn);

  /// Runs until stop().
  void run();
  void stop() noexcept;

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};
