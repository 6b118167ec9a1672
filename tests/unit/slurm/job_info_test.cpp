// SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"

#include <array>
#include <string>

#include "slurm/job_info.hpp"

using slurm::JobState;
using slurm::to_job;

namespace {

const protocol::Identity kGang{"prod-east", "team-a", "PodGroup", "train", "3f1c", "1"};

/// A job record as libslurm gives it, with its texts.
class Record {
public:
  explicit Record(std::uint32_t state = JOB_RUNNING, const std::string &nodes = "n1")
      : tag_(protocol::encode_tag(kGang)), nodes_(nodes)
  {
    set_id(info, 4711);
    info.job_state = state;
    info.admin_comment = tag_.data();
    info.nodes = nodes_.data();
    info.num_cpus = 8;
    info.num_tasks = 2;
    info.cpus_per_task = 4;
  }
  Record(const Record &) = delete;
  Record &operator=(const Record &) = delete;

  slurm::Job job() const
  {
    const auto found = to_job(info, "prod-east");
    REQUIRE(found);
    return *found;
  }

  slurm_job_info_t info{};

private:
  /// The id moved within the record in Slurm 26.05.
  template <typename Info>
  static void set_id(Info &info, std::uint32_t id)
  {
    if constexpr (requires { info.step_id.job_id; })
      info.step_id.job_id = id;
    else
      info.job_id = id;
  }

  std::string tag_, nodes_;
};

std::vector<std::string> names_of(const std::vector<slurm::NodeShare> &nodes)
{
  std::vector<std::string> names;
  for (const slurm::NodeShare &node : nodes)
    names.push_back(node.name);
  return names;
}

std::vector<std::uint32_t> cpus_of(const std::vector<slurm::NodeShare> &nodes)
{
  std::vector<std::uint32_t> cpus;
  for (const slurm::NodeShare &node : nodes)
    cpus.push_back(node.cpus);
  return cpus;
}

/// The answer to a look-up: groups of nodes with the same number of CPUs.
std::vector<slurm::NodeShare> shares(std::string nodes, std::vector<std::uint16_t> cpus,
                                     std::vector<std::uint32_t> repeats)
{
  resource_allocation_response_msg_t reply{};
  reply.node_list = nodes.data();
  reply.num_cpu_groups = static_cast<std::uint32_t>(cpus.size());
  reply.cpus_per_node = cpus.data();
  reply.cpu_count_reps = repeats.data();
  return slurm::shares_of(reply);
}

}  // namespace

TEST_CASE("a job with our cluster's tag is read with its id, size and start")
{
  Record record;
  record.info.start_time = 2000;
  const slurm::Job job = record.job();
  CHECK(job.id == 4711);
  CHECK(job.tag == kGang);
  CHECK(job.tasks == 2);
  CHECK(job.cpus_per_task == 4);
  CHECK(job.start == 2000);
}

TEST_CASE("jobs without our tag are not ours, whatever an administrator wrote about them")
{
  Record record;
  for (std::string comment :
       {std::string(), std::string(R"({"team":"x"})"), std::string("slurm-k8s.dev/tag"),
        std::string(R"({"slurm-k8s.dev/tag":{"v":1}})"),
        protocol::encode_tag({"prod-west", "team-a", "PodGroup", "train", "3f1c", "1"}),
        protocol::encode_claim({kGang, ""}), protocol::encode_tag(kGang).substr(0, 60),
        protocol::encode_tag(kGang) + "x"}) {
    INFO(comment);
    record.info.admin_comment = comment.data();
    CHECK_FALSE(to_job(record.info, "prod-east"));
  }
  record.info.admin_comment = nullptr;
  CHECK_FALSE(to_job(record.info, "prod-east"));
}

TEST_CASE("a tag in the comment, where every user may write, makes no job ours")
{
  Record record;
  std::string tag = protocol::encode_tag(kGang);
  record.info.comment = tag.data();
  record.info.admin_comment = nullptr;
  CHECK_FALSE(to_job(record.info, "prod-east"));
}

TEST_CASE("Slurm's base states are read whatever flags are set beside them")
{
  struct Row {
    std::uint32_t state;
    JobState read;
  };
  for (const auto &[state, read] :
       {Row{JOB_PENDING, JobState::PENDING}, Row{JOB_RUNNING, JobState::RUNNING},
        Row{JOB_SUSPENDED, JobState::SUSPENDED}, Row{JOB_COMPLETE, JobState::COMPLETED},
        Row{JOB_CANCELLED, JobState::CANCELLED}, Row{JOB_FAILED, JobState::FAILED},
        Row{JOB_TIMEOUT, JobState::TIMEOUT}, Row{JOB_NODE_FAIL, JobState::NODE_FAIL},
        Row{JOB_PREEMPTED, JobState::PREEMPTED}, Row{JOB_BOOT_FAIL, JobState::BOOT_FAIL},
        Row{JOB_DEADLINE, JobState::DEADLINE}, Row{JOB_OOM, JobState::OUT_OF_MEMORY}})
    for (const std::uint32_t flags :
         {0u, static_cast<std::uint32_t>(JOB_COMPLETING), static_cast<std::uint32_t>(JOB_REQUEUE),
          static_cast<std::uint32_t>(JOB_CONFIGURING)}) {
      CHECK(Record(state | flags).job().state == read);
    }
}

TEST_CASE("a job whose nodes still boot or run their prolog is configuring")
{
  CHECK_FALSE(Record(JOB_RUNNING).job().configuring);
  CHECK_FALSE(Record(JOB_RUNNING | JOB_COMPLETING).job().configuring);
  CHECK(Record(JOB_RUNNING | JOB_CONFIGURING).job().configuring);
  CHECK(Record(JOB_RUNNING | JOB_POWER_UP_NODE).job().configuring);
}

TEST_CASE("the reason is Slurm's word, and nothing when there is none")
{
  Record record(JOB_PENDING);
  CHECK(record.job().reason.empty());
  CHECK(record.job().description.empty());
  record.info.state_reason = WAIT_RESOURCES;
  std::string words = "nodes are down";
  record.info.state_desc = words.data();
  CHECK(record.job().reason == "Resources");
  CHECK(record.job().description == "nodes are down");
  record.info.state_reason = WAIT_PRIORITY;
  CHECK(record.job().reason == "Priority");
}

TEST_CASE("a task has one CPU where Slurm does not say how many")
{
  Record record;
  for (const std::uint16_t cpus : {std::uint16_t{0}, static_cast<std::uint16_t>(NO_VAL16)}) {
    record.info.cpus_per_task = cpus;
    CHECK(record.job().cpus_per_task == 1);
  }
}

TEST_CASE("only running and suspended jobs have nodes")
{
  for (const std::uint32_t state : {JOB_RUNNING, JOB_SUSPENDED})
    CHECK(Record(state, "n1").job().nodes.size() == 1);
  for (const std::uint32_t state : {JOB_PENDING, JOB_COMPLETE, JOB_CANCELLED, JOB_NODE_FAIL})
    CHECK(Record(state, "n1").job().nodes.empty());
  CHECK(Record(JOB_RUNNING, "").job().nodes.empty());
  Record record;
  record.info.nodes = nullptr;
  CHECK(record.job().nodes.empty());
}

TEST_CASE("Slurm's short node lists are expanded in its order")
{
  CHECK(names_of(Record(JOB_RUNNING, "n[8-10,2],gpu01,login").job().nodes) ==
        std::vector<std::string>{"n8", "n9", "n10", "n2", "gpu01", "login"});
  CHECK(names_of(Record(JOB_RUNNING, "rack[1-2]n[01-02]").job().nodes) ==
        std::vector<std::string>{"rack1n01", "rack1n02", "rack2n01", "rack2n02"});
}

TEST_CASE("CPUs are shared evenly, and every node has room for one task")
{
  Record record(JOB_RUNNING, "n[1-2]");
  CHECK(cpus_of(record.job().nodes) == std::vector<std::uint32_t>{4, 4});
  record.info.num_cpus = 20;
  CHECK(cpus_of(record.job().nodes) == std::vector<std::uint32_t>{10, 10});
  record.info.num_cpus = 5;
  CHECK(cpus_of(record.job().nodes) == std::vector<std::uint32_t>{4, 4});
}

TEST_CASE("shares are asked for only where nodes may hold different numbers of tasks")
{
  struct Row {
    const char *nodes;
    std::uint32_t tasks;
    bool asked;
  };
  for (const auto &[nodes, tasks, asked] : {Row{"n1", 8, false}, Row{"n[1-2]", 2, false},
                                            Row{"n[1-2]", 3, true}, Row{"n[1-4]", 4, false}}) {
    Record record(JOB_RUNNING, nodes);
    record.info.num_tasks = tasks;
    CHECK(record.job().shares_known == !asked);
  }
  CHECK(Record(JOB_PENDING).job().shares_known);
}

TEST_CASE("groups of equal nodes are unfolded in node order")
{
  CHECK(cpus_of(shares("n[1-4]", {8, 4}, {3, 1})) == std::vector<std::uint32_t>{8, 8, 8, 4});
  CHECK(cpus_of(shares("n[1-3]", {2, 4, 6}, {1, 1, 1})) == std::vector<std::uint32_t>{2, 4, 6});
  CHECK(names_of(shares("n[3,1]", {2}, {2})) == std::vector<std::string>{"n3", "n1"});
  CHECK(cpus_of(shares("n[1-2]", {2, 9, 4}, {1, 0, 1})) == std::vector<std::uint32_t>{2, 4});
}

TEST_CASE("nodes beyond the groups that Slurm sent have no CPUs rather than somebody else's memory")
{
  CHECK(cpus_of(shares("n[1-3]", {8}, {1})) == std::vector<std::uint32_t>{8, 0, 0});
  CHECK(cpus_of(shares("n[1-2]", {}, {})) == std::vector<std::uint32_t>{0, 0});
  CHECK(slurm::shares_of(resource_allocation_response_msg_t{}).empty());
}

TEST_CASE("a claim that stayed in the comment is recognised as ours and unseen")
{
  Record record;
  std::string claim = protocol::encode_claim({kGang, "words"});
  record.info.comment = claim.data();
  CHECK(slurm::is_unseen_claim(record.info, "prod-east"));
  CHECK_FALSE(slurm::is_unseen_claim(record.info, "prod-west"));
  for (std::string other :
       {std::string("words"), protocol::encode_tag(kGang), claim.substr(0, claim.size() - 1)}) {
    record.info.comment = other.data();
    CHECK_FALSE(slurm::is_unseen_claim(record.info, "prod-east"));
  }
  record.info.comment = nullptr;
  CHECK_FALSE(slurm::is_unseen_claim(record.info, "prod-east"));
}
