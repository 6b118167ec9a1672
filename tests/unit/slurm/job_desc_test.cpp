// SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"

#include <stdexcept>
#include <string>

#include <unistd.h>

#include "protocol.hpp"
#include "slurm/job_desc.hpp"

using slurm::JobDesc;
using workload::JobRequest;

namespace {

JobRequest request()
{
  JobRequest made;
  made.gang = {"team-a", "PodGroup", "train", "3f1c", "1"};
  made.tasks = 3;
  made.shape = {4, 1000, {}};
  return made;
}

/// What libslurm takes for "not said".
job_desc_msg_t untouched()
{
  job_desc_msg_t desc;
  slurm_init_job_desc_msg(&desc);
  return desc;
}

std::string text(const char *value) { return value ? value : "(null)"; }

std::string tres_of(std::map<std::string, std::uint64_t> gres)
{
  JobRequest one = request();
  one.shape.gres = std::move(gres);
  return text(JobDesc(one, "c").get()->tres_per_task);
}

/// The claim of a request with that user's comment, as the plugin reads it.
protocol::Claim claim_of(const std::optional<std::string> &comment)
{
  JobRequest one = request();
  one.options.comment = comment;
  JobDesc desc(one, "prod-east");
  const auto claim = protocol::parse_claim(text(desc.get()->comment));
  REQUIRE(claim);
  return *claim;
}

}  // namespace

TEST_CASE("the claim names cluster and gang, and carries the user's comment")
{
  const protocol::Claim claim = claim_of("my \"own\" words");
  CHECK(claim.identity ==
        protocol::Identity{"prod-east", "team-a", "PodGroup", "train", "3f1c", "1"});
  CHECK(claim.comment == "my \"own\" words");
  CHECK(claim_of(std::nullopt).comment.empty());
}

TEST_CASE("a comment for which Slurm has no room is refused instead of cut")
{
  JobRequest one = request();
  one.options.comment = "";
  const std::size_t own = text(JobDesc(one, "c").get()->comment).size();
  const std::size_t key = std::string(R"(,"comment":"")").size();
  one.options.comment = std::string(protocol::kMaxCommentBytes - own - key, 'x');
  CHECK(text(JobDesc(one, "c").get()->comment).size() == protocol::kMaxCommentBytes);
  *one.options.comment += 'x';
  CHECK_THROWS_AS(JobDesc(one, "c"), std::length_error);
}

TEST_CASE("the message about a comment that is too long says how much room there is")
{
  JobRequest one = request();
  one.options.comment = std::string(1024, 'x');
  try {
    JobDesc(one, "c");
    FAIL("accepted");
  } catch (const std::length_error &error) {
    CHECK(std::string(error.what()).find("1024 bytes") != std::string::npos);
  }
}

TEST_CASE("the size of the job is that of all its pods")
{
  JobDesc desc(request(), "c");
  CHECK(desc.get()->num_tasks == 3);
  CHECK(desc.get()->min_cpus == 12);
  CHECK(desc.get()->cpus_per_task == 4);
  CHECK(desc.get()->pn_min_cpus == 4);
}

TEST_CASE("memory is asked per CPU, rounded up, and never as 0, which is the whole node")
{
  struct Row {
    std::uint32_t cpus;
    std::uint64_t mib, per_cpu;
  };
  for (const auto &[cpus, mib, per_cpu] :
       {Row{1, 1, 1}, Row{1, 96, 96}, Row{4, 1000, 250}, Row{4, 1001, 251}, Row{8, 1, 1},
        Row{3, 1024, 342}, Row{65535, 65536, 2}, Row{1, 1ull << 40, 1ull << 40}}) {
    JobRequest one = request();
    one.shape = {cpus, mib, {}};
    JobDesc desc(one, "c");
    const auto flag = static_cast<std::uint64_t>(MEM_PER_CPU);
    INFO(cpus << " CPUs, " << mib << " MiB");
    CHECK((desc.get()->pn_min_memory & flag) == flag);
    CHECK((desc.get()->pn_min_memory & ~flag) == per_cpu);
  }
}

TEST_CASE("GRES are asked per task in this Slurm's spelling")
{
  const std::string gres = std::string("gres") + slurm_compat::kGresSeparator;
  CHECK(tres_of({}) == "(null)");
  CHECK(tres_of({{"gpu", 2}}) == gres + "gpu:2");
  CHECK(tres_of({{"gpu:a100", 1}, {"nic", 3}}) == gres + "gpu:a100:1," + gres + "nic:3");
}

TEST_CASE("the job is named after its gang unless the user names it")
{
  JobRequest one = request();
  CHECK(text(JobDesc(one, "c").get()->name) == "train");
  one.options.job_name = "mine";
  CHECK(text(JobDesc(one, "c").get()->name) == "mine");
}

TEST_CASE("every text option reaches Slurm's field of that name")
{
  struct Row {
    std::optional<std::string> workload::JobOptions::*option;
    char *job_desc_msg_t::*field;
  };
  using Options = workload::JobOptions;
  for (const auto &[option, field] : {Row{&Options::account, &job_desc_msg_t::account},
                                      Row{&Options::partition, &job_desc_msg_t::partition},
                                      Row{&Options::qos, &job_desc_msg_t::qos},
                                      Row{&Options::reservation, &job_desc_msg_t::reservation},
                                      Row{&Options::wckey, &job_desc_msg_t::wckey},
                                      Row{&Options::licenses, &job_desc_msg_t::licenses},
                                      Row{&Options::constraints, &job_desc_msg_t::features}}) {
    JobRequest one = request();
    CHECK(text(JobDesc(one, "c").get()->*field) == "(null)");
    one.options.*option = "value";
    JobDesc desc(one, "c");
    CHECK(text(desc.get()->*field) == "value");
  }
}

TEST_CASE("limits and node counts are passed on, and left to Slurm when nobody says them")
{
  JobRequest one = request();
  JobDesc plain(one, "c");
  CHECK(plain.get()->time_limit == untouched().time_limit);
  CHECK(plain.get()->min_nodes == untouched().min_nodes);
  CHECK(plain.get()->max_nodes == untouched().max_nodes);
  one.options.time_limit_min = 90;
  one.options.min_nodes = 2;
  one.options.max_nodes = 5;
  JobDesc full(one, "c");
  CHECK(full.get()->time_limit == 90);
  CHECK(full.get()->min_nodes == 2);
  CHECK(full.get()->max_nodes == 5);
}

TEST_CASE("sharing is what the user wants, and the plugin's decision where nothing is said")
{
  JobRequest one = request();
  CHECK(JobDesc(one, "c").get()->shared == untouched().shared);
  one.options.sharing = workload::Sharing::exclusive;
  CHECK(JobDesc(one, "c").get()->shared == JOB_SHARED_NONE);
  one.options.sharing = workload::Sharing::user;
  CHECK(JobDesc(one, "c").get()->shared == JOB_SHARED_USER);
  one.options.sharing = workload::Sharing::any;
  CHECK(JobDesc(one, "c").get()->shared == JOB_SHARED_OK);
}

TEST_CASE("when and after what: numbers and times go as Slurm counts them")
{
  JobRequest one = request();
  one.options.begin = 1000;
  one.options.deadline = 2000;
  one.options.dependency = "afterok:12";
  one.options.switches = workload::Switches{2, 60};
  one.options.mail_user = "a@example.org";
  JobDesc desc(one, "c");
  CHECK(desc.get()->begin_time == 1000);
  CHECK(desc.get()->deadline == 2000);
  CHECK(text(desc.get()->dependency) == "afterok:12");
  CHECK(desc.get()->req_switch == 2);
  CHECK(desc.get()->wait4switch == 60);
  CHECK(text(desc.get()->mail_user) == "a@example.org");
  CHECK((desc.get()->mail_type & MAIL_JOB_FAIL) != 0);

  JobDesc plain(request(), "c");
  CHECK(plain.get()->wait4switch == untouched().wait4switch);
  CHECK(plain.get()->mail_type == untouched().mail_type);
}

TEST_CASE(
    "owner, priority and nice travel in the claim: slurmctld takes them from no ordinary user")
{
  JobRequest one = request();
  one.options.priority = 7;
  one.options.nice = -10;
  one.options.user = "bob";
  one.options.group = "physics";
  one.priority_class = "high";
  const auto claim = protocol::parse_claim(JobDesc(one, "c").get()->comment);
  REQUIRE(claim);
  CHECK(claim->user == "bob");
  CHECK(claim->group == "physics");
  CHECK(claim->priority_class == "high");
  CHECK(claim->priority == 7u);
  CHECK(claim->nice == -10);
  CHECK(JobDesc(one, "c").get()->priority == untouched().priority);
  CHECK(JobDesc(one, "c").get()->nice == untouched().nice);
}

TEST_CASE("node lists are joined for Slurm, and absent when empty")
{
  JobRequest one = request();
  CHECK(text(JobDesc(one, "c").get()->exc_nodes) == "(null)");
  CHECK(text(JobDesc(one, "c").get()->req_nodes) == "(null)");
  one.excluded_nodes = {"n1", "n2", "n10"};
  one.required_nodes = {"n7"};
  JobDesc desc(one, "c");
  CHECK(text(desc.get()->exc_nodes) == "n1,n2,n10");
  CHECK(text(desc.get()->req_nodes) == "n7");
}

TEST_CASE("a job has an owner and a folder, and no script")
{
  JobDesc desc(request(), "c");
  CHECK(desc.get()->user_id == getuid());
  CHECK(desc.get()->group_id == getgid());
  CHECK(text(desc.get()->work_dir) == "/");
  CHECK(desc.get()->script == nullptr);
}

TEST_CASE("texts stay where they are when many of them are kept")
{
  JobRequest one = request();
  for (auto field : {&workload::JobOptions::account, &workload::JobOptions::partition,
                     &workload::JobOptions::qos, &workload::JobOptions::reservation,
                     &workload::JobOptions::wckey, &workload::JobOptions::licenses,
                     &workload::JobOptions::constraints, &workload::JobOptions::job_name})
    one.options.*field = "x";
  one.excluded_nodes = {"n1"};
  JobDesc desc(one, "c");
  CHECK(text(desc.get()->work_dir) == "/");
  CHECK(text(desc.get()->name) == "x");
  CHECK(protocol::parse_claim(text(desc.get()->comment)));
}

TEST_CASE("a verb travels as the comment of the smallest request there is, and claims nothing")
{
  const protocol::Verb verb{protocol::VerbKind::cancel, 42, 0, "prod-east", "3f1c"};
  JobDesc desc(protocol::encode_verb(verb));
  const auto parsed = protocol::parse_verb(text(desc.get()->comment));
  REQUIRE(parsed);
  CHECK(parsed->job_id == 42);
  CHECK_FALSE(protocol::parse_claim(text(desc.get()->comment)));
  CHECK(desc.get()->min_nodes == 1);
  CHECK(desc.get()->num_tasks == untouched().num_tasks);
  CHECK(desc.get()->user_id == getuid());
  CHECK(desc.get()->exc_nodes == nullptr);
}
