// SPDX-License-Identifier: Apache-2.0
#include "slurm/errors.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <deque>
#include <mutex>
#include <system_error>

#include "protocol.hpp"
#include "slurm_compat.hpp"

namespace slurm {
namespace {

constexpr int kLogQuiet = 0, kLogInfo = 3;
constexpr std::size_t kMaxLines = 1'000, kMaxPart = 64 * 1024;

/// The lines of libslurm's log that nobody has asked for yet.
class Log {
public:
  void open()
  {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
      throw std::system_error(errno, std::generic_category(), "pipe2");
    reader_ = ends[0];
    FILE *file = fdopen(ends[1], "w");
    if (file == nullptr)
      throw std::system_error(errno, std::generic_category(), "fdopen");
    slurm_log_alter_with_fp({kLogQuiet, kLogQuiet, kLogInfo, {}}, 0, file);
  }

  std::string take(const std::string &uid)
  {
    const std::lock_guard lock(mutex_);
    drain();
    std::string found;
    for (auto line = lines_.begin(); line != lines_.end();) {
      auto reason = protocol::parse_refusal(*line, uid);
      if (reason)
        found = std::move(*reason);
      line = reason ? lines_.erase(line) : line + 1;
    }
    return found;
  }

private:
  void drain()
  {
    char buffer[4096];
    for (ssize_t size; (size = read(reader_, buffer, sizeof buffer)) > 0;)
      part_.append(buffer, static_cast<std::size_t>(size));
    for (std::size_t end; (end = part_.find('\n')) != std::string::npos;) {
      lines_.push_back(part_.substr(0, end));
      part_.erase(0, end + 1);
    }
    if (part_.size() > kMaxPart)
      part_.clear();
    while (lines_.size() > kMaxLines)
      lines_.pop_front();
  }

  std::mutex mutex_;
  int reader_ = -1;
  std::string part_;
  std::deque<std::string> lines_;
};

Log &log()
{
  static Log *const kLog = new Log;  // libslurm's threads may log until the very end
  return *kLog;
}

struct Meaning {
  int code;
  Cause cause;
};

constexpr std::array kMeanings{
    Meaning{ESLURM_INVALID_JOB_ID, Cause::unknown_job},
    Meaning{ESLURM_REQUESTED_NODE_CONFIG_UNAVAILABLE, Cause::unfit},
    Meaning{ESLURM_REQUESTED_PART_CONFIG_UNAVAILABLE, Cause::unfit},
    Meaning{ESLURM_TOO_MANY_REQUESTED_CPUS, Cause::unfit},
    Meaning{ESLURM_INVALID_TASK_MEMORY, Cause::unfit},
    Meaning{ESLURM_NODE_NOT_AVAIL, Cause::unfit},
    Meaning{ESLURM_INVALID_NODE_NAME, Cause::unknown_node},
    Meaning{ESLURM_IN_STANDBY_MODE, Cause::unreachable},
    Meaning{ESLURM_DISABLED, Cause::unreachable},
};

}  // namespace

Cause cause_of(int code)
{
  if (code == 0)
    return Cause::none;
  for (const Meaning &meaning : kMeanings)
    if (meaning.code == code)
      return meaning.cause;
  // Below 1000: the system's own; 1000 to 1899: communication; 5000 to 6999: sockets, authentication.
  if (code < 1900 || (code >= 5000 && code < 7000))
    return Cause::unreachable;
  return Cause::refused;
}

void capture_log() { log().open(); }

std::string refusal_of(const std::string &uid) { return log().take(uid); }

Error last_error(const std::string &uid)
{
  const int code = slurm_compat::last_error();
  if (std::string message = refusal_of(uid); !uid.empty() && !message.empty())
    return {Cause::denied, code, std::move(message)};
  const char *message = slurm_strerror(code);
  const Cause cause = cause_of(code);
  return {cause == Cause::none ? Cause::unreachable : cause, code, message};
}

}  // namespace slurm
