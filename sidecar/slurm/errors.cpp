// SPDX-License-Identifier: Apache-2.0
#include "slurm/errors.hpp"

#include <array>
#include <cstdio>
#include <stdexcept>
#include <utility>

#include "slurm_compat.hpp"

// Not in the public headers; all supported versions export it. The options go by value and are
// larger than two registers in each version, so a block that is larger still, filled with zeros,
// is read correctly by all of them.
struct SlurmLogOptions {
  int stderr_level, syslog_level, logfile_level;
  int rest[13];
};
extern "C" int slurm_log_alter_with_fp(SlurmLogOptions options, int facility, FILE *file);

namespace slurm {
namespace {

constexpr int kLogQuiet = 0, kLogInfo = 3;
constexpr std::size_t kMaxMessage = 1024;

thread_local std::string logged;

/// libslurm writes to its log in the thread of the call that fails.
extern "C" ssize_t keep_logged(void *, const char *text, std::size_t size)
{
  if (logged.size() < 4 * kMaxMessage)
    logged.append(text, size);
  return static_cast<ssize_t>(size);
}

/// "[2026-12-01T10:00:00.000] error: words" without what stands before the words.
std::string words_of(std::string line)
{
  if (line.starts_with("["))
    line.erase(0, std::min(line.find("] ") + 2, line.size()));
  for (const std::string_view prefix : {"error: ", "client: ", "error: "})
    if (line.starts_with(prefix))
      line.erase(0, prefix.size());
  return line;
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

void capture_messages()
{
  const cookie_io_functions_t functions{nullptr, keep_logged, nullptr, nullptr};
  FILE *file = fopencookie(nullptr, "w", functions);
  if (file == nullptr)
    throw std::runtime_error("fopencookie failed");
  setvbuf(file, nullptr, _IONBF, 0);
  slurm_log_alter_with_fp({kLogQuiet, kLogQuiet, kLogInfo, {}}, 0, file);
}

std::string take_message()
{
  const std::string text = std::exchange(logged, {});
  std::string all;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t to = std::min(text.find('\n', from), text.size());
    const std::string words = words_of(text.substr(from, to - from));
    if (!words.empty())
      all += (all.empty() ? "" : "; ") + words;
    from = to + 1;
  }
  return all.substr(0, kMaxMessage);
}

Error last_error()
{
  const int code = slurm_compat::last_error();
  std::string message = take_message();
  if (message.empty())
    message = slurm_strerror(code);
  const Cause cause = cause_of(code);
  return {cause == Cause::none ? Cause::unreachable : cause, code, message};
}

}  // namespace slurm
