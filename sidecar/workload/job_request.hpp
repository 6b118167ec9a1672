// SPDX-License-Identifier: Apache-2.0
// What is asked of Slurm for one gang, as plain values: neither Kubernetes nor libslurm types.
#pragma once

#include <cstdint>
#include <ctime>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace workload {

/// Who else may run on the job's nodes, as the user wants it.
enum class Sharing : std::uint8_t {
  exclusive,  ///< nobody
  user,       ///< jobs of the same Slurm user
  any,        ///< whom the policy lets in
};

/// At most so many switches, and how long to wait for that (unset: for as long as Slurm says).
struct Switches {
  std::uint32_t count = 0;
  std::optional<std::uint32_t> max_wait_s;

  bool operator==(const Switches &) const = default;
};

/// What a user may say about the job in annotations; unset means Slurm's or the policy's default.
struct JobOptions {
  std::optional<std::string> account, partition, qos, reservation, wckey, licenses;
  std::optional<std::string> constraints;  ///< Slurm feature expression
  std::optional<std::string> job_name;
  std::optional<std::string> comment;
  std::optional<std::uint32_t> time_limit_min;
  std::optional<std::uint32_t> min_nodes, max_nodes;
  std::optional<Sharing> sharing;
  std::optional<std::string> user, group;  ///< name or number; the policy must allow it
  std::optional<std::uint32_t> priority;
  std::optional<std::int32_t> nice;
  std::optional<std::string> dependency;  ///< Slurm's own syntax
  std::optional<std::time_t> begin, deadline;
  std::optional<Switches> switches;
  std::optional<std::string> mail_user;

  bool operator==(const JobOptions &) const = default;
};

/// The largest need of any pod of the gang, in Slurm's units; every member gets this much.
struct TaskShape {
  std::uint32_t cpus = 1;                     ///< whole CPUs, at least 1
  std::uint64_t memory_mib = 1;               ///< at least 1: Slurm takes 0 for "all of the node"
  std::map<std::string, std::uint64_t> gres;  ///< GRES name or name:type -> count

  bool operator==(const TaskShape &) const = default;
};

/// Which gang: the object that makes pods belong together.
struct GangKey {
  std::string ns;
  std::string kind;  ///< "Pod" or "PodGroup"
  std::string name;
  std::string uid;
  std::string stage;  ///< dependency stage of a JobSet, "" if there is only one

  /// Identity is the UID and the stage; the rest is for humans.
  bool operator==(const GangKey &other) const { return uid == other.uid && stage == other.stage; }
  bool operator<(const GangKey &other) const
  {
    return uid != other.uid ? uid < other.uid : stage < other.stage;
  }
};

struct JobRequest {
  GangKey gang;
  std::uint32_t tasks = 1;  ///< pods
  TaskShape shape;
  JobOptions options;
  std::string priority_class;               ///< priorityClassName of the pods, "" for none
  std::vector<std::string> excluded_nodes;  ///< Slurm node names
  std::vector<std::string>
      required_nodes;  ///< Slurm node names; only to take back nodes whose pods still run
};

}  // namespace workload
