// SPDX-License-Identifier: Apache-2.0
// A controller between a Kubernetes and a Slurm that exist only in memory, and a clock that the
// test turns. For decisions; what the real ones do is tested end to end.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "controller/controller.hpp"

namespace harness {

using std::chrono::milliseconds;
using std::chrono::seconds;

class Clock final : public Timers {
public:
  Id after(milliseconds delay, std::function<void()> fn) override
  {
    timers_[{now_ + delay, ++last_}] = std::move(fn);
    return last_;
  }
  void cancel(Id id) override
  {
    std::erase_if(timers_, [&](const auto &entry) { return entry.first.second == id; });
  }
  std::chrono::steady_clock::time_point now() const override { return now_; }

  /// Runs what is due now and in the time that passes, in order.
  void pass(milliseconds time)
  {
    const auto end = now_ + time;
    while (!timers_.empty() && timers_.begin()->first.first <= end) {
      const auto due = timers_.begin();
      now_ = std::max(now_, due->first.first);
      const auto fn = std::move(due->second);
      timers_.erase(due);
      fn();
    }
    now_ = end;
  }

private:
  std::map<std::pair<std::chrono::steady_clock::time_point, Id>, std::function<void()>> timers_;
  std::chrono::steady_clock::time_point now_{std::chrono::hours(1)};
  Id last_ = 0;
};

struct Binding {
  std::string pod, node;
  std::map<std::string, std::string> labels, annotations;
};

class Kube final : public kube::Writer {
public:
  void bind(const kube::ObjectRef &pod, const std::string &node,
            const std::map<std::string, std::string> &labels,
            const std::map<std::string, std::string> &annotations, Done done) override
  {
    bindings.push_back({pod.name, node, labels, annotations});
    held.push_back([done, result = next_bind] { done(result); });
    if (!hold_answers)
      answer();
  }
  void set_pod_condition(const kube::ObjectRef &pod, const kube::Condition &condition, std::int64_t,
                         Done done) override
  {
    conditions.emplace_back(pod.name, condition);
    done({kube::Outcome::done, ""});
  }
  void delete_pod(const kube::ObjectRef &pod, std::optional<std::int64_t> grace_s,
                  Done done) override
  {
    deletions.emplace_back(pod.name, grace_s.value_or(-1));
    done({next_delete, "test"});
  }
  void post_event(const kube::ObjectRef &regarding, const kube::Event &event) override
  {
    events.emplace_back(regarding.name, event);
  }

  void answer()
  {
    std::vector<std::function<void()>> now;
    now.swap(held);
    for (const auto &fn : now)
      fn();
  }
  int events_of(const std::string &reason) const
  {
    return static_cast<int>(std::count_if(events.begin(), events.end(), [&](const auto &entry) {
      return entry.second.reason == reason;
    }));
  }

  std::vector<Binding> bindings;
  std::vector<std::pair<std::string, kube::Condition>> conditions;
  std::vector<std::pair<std::string, std::int64_t>> deletions;
  std::vector<std::pair<std::string, kube::Event>> events;
  kube::WriteResult next_bind{kube::Outcome::done, ""};
  kube::Outcome next_delete = kube::Outcome::done;
  bool hold_answers = false;
  std::vector<std::function<void()>> held;
};

class Slurm final : public slurm::Client {
public:
  void allocate(const workload::JobRequest &request,
                std::function<void(slurm::Error, slurm::Job)> done) override
  {
    requests.push_back(request);
    if (allocate_error) {
      if (lost_reply)
        make(request);
      done(allocate_error, {});
      return;
    }
    const slurm::Job job = make(request);
    held.push_back([done, job] { done({}, job); });
    if (!hold_replies)
      answer();
  }
  void load_job(slurm::JobId id, std::function<void(slurm::Error, slurm::Job)> done) override
  {
    ++look_ups;
    const auto found = jobs.find(id);
    if (unreachable)
      done({slurm::Cause::unreachable, 1, "down"}, {});
    else if (no_plugin)
      done({slurm::Cause::refused, 0, "slurmctld runs without job_submit/k8s"}, {});
    else if (found == jobs.end())
      done({slurm::Cause::unknown_job, 2017, "Invalid job id specified"}, {});
    else
      done({}, found->second);
  }
  void
  load_jobs(bool,
            std::function<void(slurm::Error, std::optional<std::vector<slurm::Job>>)> done) override
  {
    ++listings;
    if (unreachable) {
      const auto fail = [done] { done({slurm::Cause::unreachable, 1, "down"}, std::nullopt); };
      clock ? static_cast<void>(clock->after(failure_takes, fail)) : fail();
      return;
    }
    std::vector<slurm::Job> all;
    for (const auto &[id, job] : jobs)
      all.push_back(job);
    done({}, all);
  }
  void load_node_names(
      std::function<void(slurm::Error, std::optional<std::set<std::string>>)> done) override
  {
    ++name_loads;
    if (unreachable)
      done({slurm::Cause::unreachable, 1, "down"}, std::nullopt);
    else
      done({}, node_names);
  }
  void complete(const slurm::Job &job, std::uint32_t status,
                std::function<void(slurm::Error)> done) override
  {
    completed.emplace_back(job.id, status);
    if (!unreachable)
      jobs.at(job.id).state = status == 0 ? slurm::JobState::COMPLETED : slurm::JobState::FAILED;
    done(unreachable ? slurm::Error{slurm::Cause::unreachable, 1, "down"} : slurm::Error{});
  }
  void cancel(const slurm::Job &job, std::function<void(slurm::Error)> done) override
  {
    cancelled.push_back(job.id);
    if (!unreachable)
      jobs.at(job.id).state = slurm::JobState::CANCELLED;
    done(unreachable ? slurm::Error{slurm::Cause::unreachable, 1, "down"} : slurm::Error{});
  }

  slurm::Job make(const workload::JobRequest &request)
  {
    slurm::Job job;
    job.id = ++last_id;
    job.tag = {"test",           request.gang.ns,   request.gang.kind, request.gang.name,
               request.gang.uid, request.gang.stage};
    job.tasks = request.tasks;
    job.cpus_per_task = request.shape.cpus;
    if (!nodes.empty()) {
      job.state = slurm::JobState::RUNNING;
      job.nodes = nodes;
    } else {
      job.reason = "Resources";
    }
    return jobs[job.id] = job;
  }
  void answer()
  {
    std::vector<std::function<void()>> now;
    now.swap(held);
    for (const auto &fn : now)
      fn();
  }

  std::map<slurm::JobId, slurm::Job> jobs;
  slurm::JobId last_id = 100;
  std::vector<slurm::NodeShare> nodes;  ///< what the next job gets; empty: it waits
  std::vector<workload::JobRequest> requests;
  std::vector<std::pair<slurm::JobId, std::uint32_t>> completed;
  std::vector<slurm::JobId> cancelled;
  slurm::Error allocate_error;
  bool lost_reply = false, hold_replies = false, unreachable = false;
  bool no_plugin = false;
  Timers *clock = nullptr;  ///< with it, listings fail only after this time
  milliseconds failure_takes{0};
  int look_ups = 0, listings = 0, name_loads = 0;
  std::optional<std::set<std::string>> node_names;
  std::vector<std::function<void()>> held;
};

inline kube::Pod pod(const std::string &name, const std::string &group = "")
{
  kube::Pod made;
  made.meta.name = name;
  made.meta.ns = "ns";
  made.meta.uid = "uid-" + name;
  made.phase = "Pending";
  if (!group.empty())
    made.meta.labels["scheduling.x-k8s.io/pod-group"] = group;
  made.containers.push_back({"main", {{"cpu", 1000}, {"memory", 1 << 30}}, false});
  return made;
}

inline kube::PodGroup group(const std::string &name, std::int64_t min_member)
{
  kube::PodGroup made;
  made.meta.name = name;
  made.meta.ns = "ns";
  made.meta.uid = "uid-group-" + name;
  made.min_member = min_member;
  return made;
}

inline kube::Node node(const std::string &name)
{
  kube::Node made;
  made.meta.name = name;
  made.ready = true;
  made.allocatable = {{"cpu", 8000}, {"memory", 32ll << 30}, {"pods", 110}};
  return made;
}

/// The three of them, started, with nodes n0…n3 in Kubernetes.
struct Scene {
  Clock clock;
  Kube kube;
  Slurm slurm;
  std::unique_ptr<controller::Controller> controller;
  std::uint64_t seq = 1;

  Scene() { restart(); }

  /// A new sidecar that is shown what exists, as after kill -9.
  void restart(const std::vector<kube::Pod> &pods = {},
               const std::vector<kube::PodGroup> &groups = {})
  {
    clock = Clock();
    controller =
        std::make_unique<controller::Controller>(kube, slurm, clock, controller::Settings{});
    controller->start([&] {
      for (int i = 0; i < 4; ++i)
        controller->upsert(node("n" + std::to_string(i)));
      for (const kube::PodGroup &g : groups)
        controller->upsert(g);
      for (const kube::Pod &p : pods)
        controller->upsert(p);
      controller->begin(true);
    });
    settle();
    hint({});
  }
  void settle() { clock.pass(milliseconds(0)); }
  void hint(std::vector<protocol::Hint> hints)
  {
    protocol::Batch batch{7, seq, std::move(hints)};
    seq += batch.hints.size();
    controller->receive(batch);
    settle();
  }
  void show(const kube::Pod &p)
  {
    controller->upsert(p);
    settle();
  }
  /// Slurm starts the job and says so.
  void run(slurm::JobId id, std::vector<slurm::NodeShare> on)
  {
    slurm.jobs.at(id).state = slurm::JobState::RUNNING;
    slurm.jobs.at(id).nodes = std::move(on);
    hint({{protocol::HintKind::job_start, id}});
  }
  void end(slurm::JobId id, slurm::JobState state)
  {
    slurm.jobs.at(id).state = state;
    hint({{protocol::HintKind::job_end, id}});
  }
  /// The pod as the API server has it after our Binding number `i`.
  kube::Pod bound(kube::Pod p, std::size_t i) const
  {
    const Binding &binding = kube.bindings.at(i);
    p.node_name = binding.node;
    p.meta.labels.insert(binding.labels.begin(), binding.labels.end());
    p.phase = "Running";
    return p;
  }
};

inline kube::Pod finished(kube::Pod p, int code = 0)
{
  p.phase = code == 0 ? "Succeeded" : "Failed";
  p.container_statuses.push_back({"main", true, code, "2026-01-01T00:00:00Z"});
  return p;
}

}  // namespace harness
