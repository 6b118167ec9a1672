// SPDX-License-Identifier: Apache-2.0
// The client against no slurmctld at all; with a real one it is tested end to end.
#include "catch.hpp"

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <unistd.h>

#include "slurm/libslurm_client.hpp"

using slurm::Cause;
using slurm::LibslurmClient;

namespace {

/// A slurm.conf whose slurmctld listens nowhere: port 1 of this machine.
class Conf {
public:
  Conf()
  {
    std::ofstream(path)
        << "ClusterName=test\nSlurmctldHost=localhost(127.0.0.1)\n"
           "SlurmctldPort=1\nMessageTimeout=1\nNodeName=n1\nPartitionName=p Nodes=n1\n";
  }
  ~Conf() { std::filesystem::remove(path); }
  Conf(const Conf &) = delete;
  Conf &operator=(const Conf &) = delete;

  const std::string path =
      std::filesystem::temp_directory_path() / ("slurm.conf." + std::to_string(getpid()));
};

workload::JobRequest too_long()
{
  workload::JobRequest request;
  request.gang = {"ns", "Pod", "p", "uid", ""};
  request.options.comment = std::string(2000, 'x');
  return request;
}

struct Rig {
  Loop loop;
  const Conf conf;
  std::vector<std::pair<std::string, Cause>> observed;
  std::unique_ptr<LibslurmClient> client = std::make_unique<LibslurmClient>(
      loop, slurm::ClientSettings{"test", conf.path, 2,
                                  [this](const char *rpc, const slurm::Error &error, double) {
                                    observed.emplace_back(rpc, error.cause);
                                  }});

  /// Runs the loop until `ask`, which gets the callback, is answered.
  template <typename Ask>
  slurm::Error answer_to(const Ask &ask)
  {
    const auto here = std::this_thread::get_id();
    slurm::Error answer;
    ask([&](const slurm::Error &error) {
      CHECK(std::this_thread::get_id() == here);
      answer = error;
      loop.stop();
    });
    loop.run();
    return answer;
  }
};

/// Nothing was sent: asking again with the same request would not help.
void check_what_cannot_be_sent(Rig &rig)
{
  const slurm::Error error = rig.answer_to([&](const auto &keep) {
    rig.client->allocate(too_long(), [keep](auto said, auto) { keep(said); });
  });
  CHECK(error.cause == Cause::refused);
  CHECK(error.message.find("too long") != std::string::npos);
  CHECK(rig.observed.back() == std::pair(std::string("allocate"), Cause::refused));
}

void check_look_ups(Rig &rig)
{
  const slurm::Error of_job = rig.answer_to(
      [&](const auto &keep) { rig.client->load_job(42, [keep](auto said, auto) { keep(said); }); });
  CHECK(of_job.cause == Cause::unreachable);
  CHECK_FALSE(of_job.message.empty());
  const slurm::Error of_all = rig.answer_to([&](const auto &keep) {
    rig.client->load_jobs(false, [keep](auto said, auto jobs) {
      CHECK_FALSE(jobs);  // none known is not the same as none there
      keep(said);
    });
  });
  CHECK(of_all.cause == Cause::unreachable);
}

void check_verbs(Rig &rig)
{
  CHECK(rig.answer_to([&](const auto &keep) { rig.client->cancel({}, keep); }).cause ==
        Cause::unreachable);
  CHECK(rig.observed.back() == std::pair(std::string("cancel"), Cause::unreachable));
  CHECK(rig.answer_to([&](const auto &keep) { rig.client->complete({}, 256, keep); }).cause ==
        Cause::unreachable);
  CHECK(rig.observed.back() == std::pair(std::string("complete"), Cause::unreachable));
}

/// Answers that are under way when the client goes reach nobody.
void check_end(Rig &rig)
{
  bool called = false;
  for (int i = 0; i < 20; ++i)
    rig.client->allocate(too_long(), [&](auto, auto) { called = true; });
  rig.client.reset();
  rig.loop.post([&] { rig.loop.stop(); });
  rig.loop.run();
  CHECK_FALSE(called);
}

}  // namespace

// One case: libslurm is set up once in a process.
TEST_CASE("answers of a slurmctld that cannot be had arrive in the loop, and none after the end")
{
  Rig rig;
  check_what_cannot_be_sent(rig);
  check_look_ups(rig);
  check_verbs(rig);
  check_end(rig);
}
