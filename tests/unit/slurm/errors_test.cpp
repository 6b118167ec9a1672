// SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"

#include <cerrno>
#include <initializer_list>
#include <string>
#include <thread>
#include <vector>

#include "protocol.hpp"
#include "slurm/errors.hpp"
#include "slurm_compat.hpp"

// Exported by libslurm for SPANK plugins: the way into its log.
extern "C" void slurm_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

using slurm::Cause;
using slurm::cause_of;
using slurm::refusal_of;

namespace {

/// libslurm logs `text` as it does with err_msg of a job_submit plugin.
void log_line(const std::string &text) { slurm_error("%s", text.c_str()); }

void log_refusal(const std::string &uid, const std::string &reason)
{
  log_line(protocol::encode_refusal(uid, reason));
}

/// Takes libslurm's log over, which works once in a process.
void capture()
{
  static const bool kDone = (slurm::capture_log(), true);
  CHECK(kDone);
}

void check_cause(Cause cause, std::initializer_list<int> codes)
{
  for (const int code : codes) {
    INFO(code << ": " << slurm_strerror(code));
    CHECK(cause_of(code) == cause);
  }
}

}  // namespace

TEST_CASE("no error number is no error") { CHECK(cause_of(0) == Cause::none); }

TEST_CASE("what went wrong on the way is asked again, because it may have arrived")
{
  check_cause(Cause::unreachable,
              {SLURM_ERROR, ECONNREFUSED, ETIMEDOUT, EPIPE, SLURM_UNEXPECTED_MSG_ERROR,
               SLURM_COMMUNICATIONS_CONNECTION_ERROR, SLURM_COMMUNICATIONS_RECEIVE_ERROR,
               SLURM_PROTOCOL_AUTHENTICATION_ERROR, SLURMCTLD_COMMUNICATIONS_CONNECTION_ERROR,
               SLURMCTLD_COMMUNICATIONS_RECEIVE_ERROR, SLURMCTLD_COMMUNICATIONS_SHUTDOWN_ERROR,
               ESLURM_AUTH_CRED_INVALID, ESLURM_AUTH_UNPACK, ESLURM_PROTOCOL_INCOMPLETE_PACKET});
}

TEST_CASE("a slurmctld that is not in charge, or not yet, is asked again")
{
  CHECK(cause_of(ESLURM_IN_STANDBY_MODE) == Cause::unreachable);
  CHECK(cause_of(ESLURM_DISABLED) == Cause::unreachable);
}

TEST_CASE("what no node can satisfy waits for other nodes")
{
  check_cause(Cause::unfit,
              {ESLURM_REQUESTED_NODE_CONFIG_UNAVAILABLE, ESLURM_REQUESTED_PART_CONFIG_UNAVAILABLE,
               ESLURM_TOO_MANY_REQUESTED_CPUS, ESLURM_INVALID_TASK_MEMORY, ESLURM_NODE_NOT_AVAIL});
}

TEST_CASE("policy, limits and bad values are refusals")
{
  check_cause(Cause::refused,
              {ESLURM_INVALID_PARTITION_NAME, ESLURM_ACCESS_DENIED, ESLURM_INVALID_ACCOUNT,
               ESLURM_INVALID_QOS, ESLURM_ACCOUNTING_POLICY, ESLURM_INVALID_TIME_LIMIT,
               ESLURM_INVALID_FEATURE, ESLURM_INVALID_LICENSES, ESLURM_RESERVATION_INVALID,
               ESLURM_INVALID_GRES, protocol::kVerbRefused});
  check_cause(Cause::unknown_node, {ESLURM_INVALID_NODE_NAME});
}

TEST_CASE("a job id that slurmctld does not know is not taken for an end, nor for a refusal")
{
  CHECK(cause_of(ESLURM_INVALID_JOB_ID) == Cause::unknown_job);
}

TEST_CASE("a refusal is told once, to the gang that it is about")
{
  capture();
  log_refusal("uid-a", "namespace team-a may not use account x");
  log_refusal("uid-b", "too large");
  CHECK(refusal_of("uid-c").empty());
  CHECK(refusal_of("uid-a") == "namespace team-a may not use account x");
  CHECK(refusal_of("uid-a").empty());
  CHECK(refusal_of("uid-b") == "too large");
}

TEST_CASE("a gang whose UID another one's begins with does not get its refusal")
{
  capture();
  log_refusal("uid-12", "not yours");
  CHECK(refusal_of("uid-1").empty());
  CHECK(refusal_of("uid-12") == "not yours");
}

TEST_CASE("of several refusals of one gang the newest counts")
{
  capture();
  log_refusal("uid-a", "first");
  log_refusal("uid-a", "second");
  CHECK(refusal_of("uid-a") == "second");
  CHECK(refusal_of("uid-a").empty());
}

TEST_CASE("other lines of libslurm's log are no refusals")
{
  capture();
  log_line("Unable to contact slurm controller (connect failure)");
  log_line("k8s: half a refusal [gang uid-a");
  CHECK(refusal_of("uid-a").empty());
  CHECK(refusal_of("").empty());
}

TEST_CASE("a refusal survives a flood of other lines after it, as long as somebody reads")
{
  capture();
  log_refusal("uid-a", "kept");
  for (int i = 0; i < 900; ++i) {
    log_line("another line of the log that is of no interest to anybody");
    if (i % 100 == 0)
      CHECK(refusal_of("uid-z").empty());
  }
  CHECK(refusal_of("uid-a") == "kept");
}

TEST_CASE("refusals that nobody asks for are forgotten in the end")
{
  capture();
  log_refusal("uid-old", "forgotten");
  for (int i = 0; i < 1'100; ++i) {
    log_line("line");
    refusal_of("uid-z");
  }
  CHECK(refusal_of("uid-old").empty());
}

TEST_CASE("refusals of many threads reach their own gangs")
{
  capture();
  std::vector<std::thread> threads;
  std::vector<std::string> heard(8);
  for (std::size_t i = 0; i < heard.size(); ++i)
    threads.emplace_back([&heard, i] {
      const std::string uid = "uid-" + std::to_string(i);
      for (int round = 0; round < 50; ++round) {
        log_refusal(uid, "reason " + std::to_string(i));
        heard[i] = refusal_of(uid);
        if (heard[i] != "reason " + std::to_string(i))
          return;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  for (std::size_t i = 0; i < heard.size(); ++i)
    CHECK(heard[i] == "reason " + std::to_string(i));
}

TEST_CASE("an error carries Slurm's number, and the plugin's words if it has any for that gang")
{
  capture();
  log_refusal("uid-a", "namespace team-a may not use partition gpu");
  errno = ESLURM_INVALID_PARTITION_NAME;
  const slurm::Error other = slurm::last_error("uid-b");
  CHECK(other.message == slurm_strerror(ESLURM_INVALID_PARTITION_NAME));
  errno = ESLURM_INVALID_PARTITION_NAME;
  const slurm::Error error = slurm::last_error("uid-a");
  CHECK(error.cause == Cause::denied);
  CHECK(error.code == ESLURM_INVALID_PARTITION_NAME);
  CHECK(error.message == "namespace team-a may not use partition gpu");
}

TEST_CASE("a call that failed without a number is an error all the same")
{
  errno = 0;
  CHECK(slurm::last_error().cause == Cause::unreachable);
}
