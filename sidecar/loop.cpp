// SPDX-License-Identifier: Apache-2.0
#include "loop.hpp"

#include <curl/curl.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <exception>
#include <map>
#include <mutex>
#include <stdexcept>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

#include "log.hpp"

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// A handler and a pipe, not signalfd: that would need the signals blocked in every thread, and
// programs that we start would inherit the mask.
std::atomic<int> signal_pipe{-1};

extern "C" void note_signal(int signal)
{
  const int saved = errno;
  const auto byte = static_cast<unsigned char>(signal);
  // A full pipe means that the loop has enough to wake up for.
  [[maybe_unused]] const auto written = write(signal_pipe.load(), &byte, 1);
  errno = saved;
}

/// A fault while handling one event must not take the others down with it.
template <typename Fn>
void guarded(const Fn &fn) noexcept
{
  try {
    fn();
  } catch (const std::exception &error) {
    logging::error("unexpected failure in an event handler", {{"error", error.what()}});
  } catch (...) {
    logging::error("unexpected failure in an event handler");
  }
}

CURLM *new_multi()
{
  static const CURLcode kReady = curl_global_init(CURL_GLOBAL_DEFAULT);
  CURLM *multi = kReady == CURLE_OK ? curl_multi_init() : nullptr;
  if (multi == nullptr)
    throw std::runtime_error("cannot initialise libcurl");
  return multi;
}

}  // namespace

struct Loop::Impl {
  using Fn = std::function<void()>;

  CURLM *multi = new_multi();
  Fn curl_done;
  std::atomic<bool> stopping{false};

  Id last_id = 0;
  std::map<std::pair<Clock::time_point, Id>, Fn> timers;
  std::unordered_map<Id, Clock::time_point> due;

  std::mutex mutex;  // guards posted
  std::vector<Fn> posted;

  std::map<int, std::shared_ptr<Fn>> watched;  // shared: a handler may unwatch itself
  std::vector<curl_waitfd> poll_set;

  std::map<int, Fn> signal_handlers;
  std::map<int, struct sigaction> old_actions;
  int pipe_ends[2] = {-1, -1};

  void run_posted()
  {
    std::vector<Fn> batch;
    {
      const std::lock_guard lock(mutex);
      batch.swap(posted);
    }
    for (const auto &fn : batch)
      guarded(fn);
  }

  void run_timers()
  {
    // Timers that handlers add wait for the next round, so that I/O gets its turn.
    const auto now = Clock::now();
    const Id newest = last_id;
    auto next = timers.begin();
    while (next != timers.end() && next->first.first <= now) {
      if (next->first.second > newest) {
        ++next;
        continue;
      }
      const Fn fn = std::move(next->second);
      due.erase(next->first.second);
      timers.erase(next);
      guarded(fn);
      next = timers.begin();
    }
  }

  int timeout_ms()
  {
    {
      const std::lock_guard lock(mutex);
      if (!posted.empty() || stopping)
        return 0;
    }
    constexpr milliseconds kLongest = std::chrono::minutes(10);
    if (timers.empty())
      return static_cast<int>(kLongest.count());
    const auto left = std::chrono::ceil<milliseconds>(timers.begin()->first.first - Clock::now());
    return static_cast<int>(std::clamp(left, milliseconds(0), kLongest).count());
  }

  void poll()
  {
    poll_set.clear();
    for (const auto &[fd, fn] : watched)
      poll_set.push_back({fd, CURL_WAIT_POLLIN, 0});
    const auto result = curl_multi_poll(
        multi, poll_set.data(), static_cast<unsigned>(poll_set.size()), timeout_ms(), nullptr);
    if (result != CURLM_OK)
      throw std::runtime_error(std::string("curl_multi_poll: ") + curl_multi_strerror(result));
    for (const auto &entry : poll_set) {
      if (entry.revents == 0)
        continue;
      const auto found = watched.find(entry.fd);
      if (found == watched.end())
        continue;
      const auto fn = found->second;
      guarded(*fn);
    }
  }

  void drain_signals()
  {
    unsigned char batch[64];
    const auto count = read(pipe_ends[0], batch, sizeof batch);
    for (ssize_t i = 0; i < count; ++i) {
      const auto found = signal_handlers.find(batch[i]);
      if (found != signal_handlers.end())
        guarded(found->second);
    }
  }
};

Loop::Loop() : impl_(std::make_unique<Impl>())
{
  // libcurl with CURLOPT_NOSIGNAL leaves SIGPIPE from TLS writes to the program.
  std::signal(SIGPIPE, SIG_IGN);
}

Loop::~Loop()
{
  for (const auto &[signal, action] : impl_->old_actions)
    sigaction(signal, &action, nullptr);
  if (impl_->pipe_ends[0] >= 0) {
    signal_pipe = -1;
    close(impl_->pipe_ends[0]);
    close(impl_->pipe_ends[1]);
  }
  curl_multi_cleanup(impl_->multi);
}

Loop::Id Loop::after(std::chrono::milliseconds delay, std::function<void()> fn)
{
  const Id id = ++impl_->last_id;
  const auto when = Clock::now() + std::max(delay, milliseconds(0));
  impl_->timers.emplace(std::pair(when, id), std::move(fn));
  impl_->due.emplace(id, when);
  return id;
}

void Loop::cancel(Id id)
{
  const auto found = impl_->due.find(id);
  if (found == impl_->due.end())
    return;
  impl_->timers.erase({found->second, id});
  impl_->due.erase(found);
}

Clock::time_point Loop::now() const { return Clock::now(); }

void Loop::post(std::function<void()> fn)
{
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->posted.push_back(std::move(fn));
  }
  curl_multi_wakeup(impl_->multi);
}

void Loop::watch_readable(int fd, std::function<void()> fn)
{
  impl_->watched[fd] = std::make_shared<std::function<void()>>(std::move(fn));
}

void Loop::unwatch(int fd) { impl_->watched.erase(fd); }

void Loop::on_signal(int signal, std::function<void()> fn)
{
  if (impl_->pipe_ends[0] < 0) {
    if (pipe2(impl_->pipe_ends, O_CLOEXEC | O_NONBLOCK) != 0)
      throw std::system_error(errno, std::generic_category(), "pipe2");
    signal_pipe = impl_->pipe_ends[1];
    watch_readable(impl_->pipe_ends[0], [this] { impl_->drain_signals(); });
  }
  impl_->signal_handlers[signal] = std::move(fn);
  struct sigaction action = {}, old = {};
  action.sa_handler = note_signal;
  action.sa_flags = SA_RESTART;
  if (sigaction(signal, &action, &old) != 0)
    throw std::system_error(errno, std::generic_category(), "sigaction");
  impl_->old_actions.emplace(signal, old);
}

void *Loop::curl_multi() noexcept { return impl_->multi; }

void Loop::on_curl_done(std::function<void()> fn) { impl_->curl_done = std::move(fn); }

void Loop::run()
{
  impl_->stopping = false;
  for (;;) {
    impl_->run_posted();
    impl_->run_timers();
    int running = 0;
    const auto result = curl_multi_perform(impl_->multi, &running);
    if (result != CURLM_OK)
      throw std::runtime_error(std::string("curl_multi_perform: ") + curl_multi_strerror(result));
    if (impl_->curl_done)
      guarded(impl_->curl_done);
    if (impl_->stopping)
      return;
    impl_->poll();
  }
}

void Loop::stop() noexcept
{
  impl_->stopping = true;
  curl_multi_wakeup(impl_->multi);
}
