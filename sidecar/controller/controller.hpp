// SPDX-License-Identifier: Apache-2.0
// The life of the gangs: pods on one side, Slurm jobs on the other, and what follows from either.
// Level-triggered: every event marks its gang, and reconcile() does what the gang's state asks for.
// Everything here runs in the loop's thread.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "controller/binder.hpp"
#include "controller/closer.hpp"
#include "controller/evictor.hpp"
#include "controller/gang.hpp"
#include "controller/job_sync.hpp"
#include "controller/membership.hpp"
#include "controller/node_names.hpp"
#include "controller/nodes.hpp"
#include "controller/reporter.hpp"
#include "controller/submitter.hpp"

namespace controller {

struct Settings {
  std::vector<std::string> namespaces;  ///< empty = all
  std::chrono::milliseconds poll_interval{30'000};
  /// Called for each bound pod with the time since the allocation became known here.
  std::function<void(std::chrono::milliseconds)> on_bound = [](std::chrono::milliseconds) {};
};

class Controller {
public:
  Controller(kube::Writer &writer, slurm::Client &slurm, Timers &timers, Settings settings);

  /// Loads our jobs from Slurm, until it answers; then calls `ready`. Only after that may objects
  /// of Kubernetes be shown.
  void start(std::function<void()> ready);
  /// All objects that exist have been shown once: from now on there is action.
  void begin(bool job_sets_exist);
  /// JobSets can be read, or not: their custom resource may be installed later.
  void expect_job_sets(bool exist) { membership_.expect_job_sets(exist); }
  /// No new action; what is under way ends. See idle().
  void stop();
  bool idle() const;
  bool working() const { return begun_; }

  void upsert(const kube::Pod &pod);
  void remove(const kube::Pod &pod);
  void upsert(const kube::PodGroup &group);
  void remove(const kube::PodGroup &group);
  void upsert(const kube::JobSet &job_set);
  void remove(const kube::JobSet &job_set);
  void upsert(const kube::Namespace &ns);
  void remove(const kube::Namespace &ns);
  void upsert(const kube::Node &node);
  void remove(const kube::Node &node);

  void receive(const protocol::Batch &batch) { sync_.receive(batch); }

  /// How many gangs are in which state, for metrics.
  std::map<std::string, int> count_by_state() const;
  const JobSync &sync() const { return sync_; }

private:
  struct Homeless {
    kube::Pod pod;
    std::string missing;
    bool patient = true;
    Timers::Id timer = 0;
  };

  // membership.cpp's counterpart here: where each pod lives (pods.cpp)
  void settle(const kube::Pod &pod, bool patient);
  void join(const kube::Pod &pod, const Membership::Home &home);
  void update(Gang &gang, Member &member, const kube::Pod &pod);
  void stop_holding(Member &member);
  void note_end(Gang &gang, const kube::Pod &pod);
  void wait_for(const kube::Pod &pod, const Membership::Answer &answer, bool patient);
  void leave_waiting_room(const std::string &uid);
  void resettle(const std::string &missing);
  void refresh_group(const std::string &group_uid);
  void split(Gang &gang, const std::string &pod_uid);
  void take_ended_job(Gang &gang, Member &member);

  // what Slurm says (jobs.cpp)
  void seen(const slurm::Job &job);
  void seen_live(const slurm::Job &job);
  void adopt(Gang &gang, const slurm::Job &job);
  void resolve_double(Gang &gang, const slurm::Job &job);
  void unknown(slurm::JobId id);
  void disowned(slurm::JobId id, const slurm::Error &error);
  void listed(const std::vector<slurm::Job> &jobs, JobSync::Clock::time_point begun);
  void accepted(Gang &gang, const slurm::Job &job);
  void note_start(Gang &gang, const slurm::Job &job);
  void ended(Gang &gang, const slurm::Job &job);
  void doom_after(Member &member, const slurm::Job &job);
  void lost(Gang &gang);
  void drop_job(Gang &gang);
  void kube_nodes_changed();
  void slurm_nodes_changed();
  void rules_changed();
  void retry_unfit();
  void named(std::set<std::string> slurm_names);
  bool in_scope(const std::string &ns) const;
  bool wants_news() const;
  std::optional<slurm::JobId> next_running(slurm::JobId id) const;
  std::size_t count_running() const;
  bool cares(const protocol::Hint &hint) const;
  void slurmctld_restarted();

  // what follows (reconcile.cpp)
  void mark(const workload::GangKey &key);
  void flush();
  void reconcile(Gang &gang);
  void gather(Gang &gang);
  void tend_pending(Gang &gang);
  void tend_running(Gang &gang);
  void split_surplus(Gang &gang);
  void look_again(Gang &gang);
  bool finish(Gang &gang);
  void end(Gang &gang, bool cancel, int exit_code);
  void doom(Member &member, const std::string &reason, const std::string &message);
  void doom_lost(Gang &gang);
  void explain_suspension(Gang &gang);
  std::string expected_start(Gang &gang) const;
  void report_pending(Gang &gang);
  void report_gathering(Gang &gang);
  void move_out(Gang &gang);
  void watch_room(Gang &gang);
  bool forget_if_empty(Gang &gang);

  Gang *find(const workload::GangKey &key);

  Settings settings_;
  Timers &timers_;
  Nodes nodes_;
  NodeNames node_names_;
  Membership membership_;
  Namespaces namespaces_;
  Reporter reporter_;
  Closer closer_;
  Evictor evictor_;
  Binder binder_;
  Submitter submitter_;
  JobSync sync_;

  std::map<workload::GangKey, Gang> gangs_;
  std::map<std::string, workload::GangKey> home_;             // pod UID -> gang
  std::map<std::string, Homeless> homeless_;                  // by pod UID
  std::map<std::string, std::set<std::string>> waiting_for_;  // missing object -> pod UIDs
  std::map<slurm::JobId, workload::GangKey> by_job_;          // live jobs
  std::map<slurm::JobId, slurm::Job> ended_;                  // of the first listing, until begin()

  std::set<workload::GangKey> dirty_;
  Timers::Id flush_timer_ = 0, nodes_timer_ = 0;
  bool begun_ = false, stopped_ = false;
};

}  // namespace controller
