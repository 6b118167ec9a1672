// SPDX-License-Identifier: Apache-2.0
#include "controller/controller.hpp"

#include <algorithm>

#include "log.hpp"

namespace controller {

Controller::Controller(kube::Writer &writer, slurm::Client &slurm, Timers &timers,
                       Settings settings)
    : settings_(std::move(settings)),
      timers_(timers),
      node_names_(slurm, timers, [this](std::set<std::string> names) { named(std::move(names)); }),
      reporter_(writer),
      closer_(slurm, timers),
      evictor_(writer, timers),
      binder_(writer, timers, nodes_, reporter_,
              {[this](const workload::GangKey &key) { return find(key); },
               [this](const workload::GangKey &key) { mark(key); },
               [this](const Gang &gang) {
                 settings_.on_bound(std::chrono::duration_cast<std::chrono::milliseconds>(
                     timers_.now() - gang.running_since));
               }}),
      submitter_(slurm, timers, nodes_, namespaces_, reporter_,
                 {[this](const workload::GangKey &key) { return find(key); },
                  [this](const workload::GangKey &key) { mark(key); },
                  [this](Gang &gang, const slurm::Job &job) { accepted(gang, job); },
                  [this] { sync_.list(); }, [this] { node_names_.load(); },
                  [this] { return !sync_.polling(); }}),
      sync_(slurm, timers, settings_.poll_interval,
            {[this](const slurm::Job &job) { seen(job); }, [this](slurm::JobId id) { unknown(id); },
             [this](slurm::JobId id, const slurm::Error &error) { disowned(id, error); },
             [this](const std::vector<slurm::Job> &jobs, JobSync::Clock::time_point begun) {
               listed(jobs, begun);
             },
             [this] { slurm_nodes_changed(); }, [this] { rules_changed(); },
             [this] { slurmctld_restarted(); }, [this] { return wants_news(); },
             [this](slurm::JobId id) { return next_running(id); },
             [this] { return count_running(); },
             [this](const protocol::Hint &hint) { return cares(hint); }})
{
}

void Controller::start(std::function<void()> ready)
{
  node_names_.load();
  sync_.start(std::move(ready));
}

void Controller::begin(bool job_sets_exist)
{
  begun_ = true;
  ended_.clear();
  membership_.expect_job_sets(job_sets_exist);
  // Jobs whose pods are gone, or of namespaces that are not ours to look after.
  for (auto entry = gangs_.begin(); entry != gangs_.end();) {
    Gang &gang = (entry++)->second;
    if (!gang.job || !gang.members.empty())
      continue;
    gang.member_deleted = true;  // nobody saw how they ended
    if (!in_scope(gang.key.ns)) {
      drop_job(gang);
      forget_if_empty(gang);
    }
  }
  for (const auto &[key, gang] : gangs_)
    mark(key);
}

void Controller::stop()
{
  stopped_ = true;
  sync_.stop();
  node_names_.stop();
  timers_.cancel(flush_timer_);
  timers_.cancel(nodes_timer_);
}

bool Controller::idle() const { return binder_.idle() && submitter_.idle(); }

Gang *Controller::find(const workload::GangKey &key)
{
  const auto found = gangs_.find(key);
  return found == gangs_.end() ? nullptr : &found->second;
}

bool Controller::wants_news() const
{
  if (!closer_.idle())
    return true;
  for (const auto &[id, key] : by_job_)
    if (gangs_.at(key).pending())
      return true;
  return false;
}

std::optional<slurm::JobId> Controller::next_running(slurm::JobId id) const
{
  auto entry = by_job_.upper_bound(id);
  for (std::size_t i = 0; i < by_job_.size(); ++i, ++entry) {
    if (entry == by_job_.end())
      entry = by_job_.begin();
    if (const Gang &gang = gangs_.at(entry->second); !gang.pending() && !gang.ending)
      return entry->first;
  }
  return std::nullopt;
}

std::size_t Controller::count_running() const
{
  return static_cast<std::size_t>(
      std::count_if(by_job_.begin(), by_job_.end(),
                    [this](const auto &entry) { return !gangs_.at(entry.second).pending(); }));
}

/// A start is news only for a job that we know as waiting; the rest is answered by the reply to
/// the submission or belongs to others.
bool Controller::cares(const protocol::Hint &hint) const
{
  const auto found = by_job_.find(hint.job_id);
  if (found == by_job_.end())
    return closer_.closing(hint.job_id);
  const Gang &gang = gangs_.at(found->second);
  return hint.kind == protocol::HintKind::job_end || gang.pending() || gang.job->configuring;
}

void Controller::slurmctld_restarted()
{
  closer_.hurry();
  rules_changed();
}

std::map<std::string, int> Controller::count_by_state() const
{
  std::map<std::string, int> count{{"Gathering", 0}, {"Refused", 0}, {"Submitting", 0},
                                   {"Queued", 0},    {"Running", 0}, {"Ending", 0},
                                   {"Done", 0}};
  for (const auto &[key, gang] : gangs_) {
    const bool waits = std::any_of(gang.members.begin(), gang.members.end(),
                                   [](const auto &entry) { return entry.second.active(); });
    ++count[gang.ending                      ? "Ending"
            : gang.submitting || gang.unsure ? "Submitting"
            : gang.pending()                 ? "Queued"
            : gang.job                       ? "Running"
            : gang.refusal != Refusal::none  ? "Refused"
            : waits                          ? "Gathering"
                                             : "Done"];
  }
  return count;
}

}  // namespace controller
