// SPDX-License-Identifier: Apache-2.0
#include "controller/job_sync.hpp"

#include <algorithm>
#include <utility>

#include "log.hpp"

namespace controller {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// Listings may take this share of slurmctld's time, and of ours: one part in two hundred.
constexpr int kRestPerListing = 200;
constexpr milliseconds kMinListingPause{1000};
/// Hints are taken for lost after this time without a sign of life.
constexpr seconds kSilence{3 * protocol::kHeartbeatSeconds};
constexpr milliseconds kSurveyPause{1000};
constexpr int kSurveyLooks = 5;
/// Until it is clear whether hints come, changes are looked for this often.
constexpr milliseconds kFirstPolls{2000};

milliseconds since(JobSync::Clock::time_point now, JobSync::Clock::time_point then)
{
  return std::chrono::duration_cast<milliseconds>(now - then);
}

}  // namespace

JobSync::JobSync(slurm::Client &slurm, Timers &timers, milliseconds poll_interval, Hooks hooks)
    : slurm_(slurm), timers_(timers), poll_interval_(poll_interval), hooks_(std::move(hooks))
{
}

void JobSync::start(std::function<void()> ready)
{
  ready_ = std::move(ready);
  started_ = timers_.now();
  list_now(false);
}

void JobSync::stop()
{
  stopped_ = true;
  for (const Timers::Id timer : {refresh_timer_, tick_timer_, retry_timer_, survey_timer_})
    timers_.cancel(timer);
}

void JobSync::list()
{
  if (listing_) {
    list_again_ = true;
    return;
  }
  list_now(false);
}

void JobSync::list_now(bool if_changed)
{
  if (listing_ || stopped_)
    return;
  listing_ = true;
  const Clock::time_point begun = timers_.now();
  slurm_.load_jobs(if_changed, [this, begun](const slurm::Error &error, const auto &jobs) {
    listed(error, jobs, begun);
  });
}

void JobSync::listed(const slurm::Error &error, const std::optional<std::vector<slurm::Job>> &jobs,
                     Clock::time_point begun)
{
  listing_ = false;
  if (stopped_)
    return;
  if (error) {
    if (failures_++ == 0)
      logging::warn("slurmctld does not list its jobs",
                    {{"cause", error.message}, {"code", error.code}});
    const milliseconds pause(std::min(10'000, 250 << std::min(failures_, 6)));
    timers_.cancel(retry_timer_);
    retry_timer_ = timers_.after(pause, [this] { list(); });
    return;
  }
  if (std::exchange(failures_, 0) > 0)
    logging::info("slurmctld lists its jobs again");
  last_listing_ = timers_.now();
  last_duration_ = since(last_listing_, begun);
  if (jobs)
    hooks_.listed(*jobs, begun);
  if (ready_) {
    std::exchange(ready_, nullptr)();
    tick();
  }
  if (std::exchange(list_again_, false))
    list_now(false);
}

/// Somebody waits for news: list soon, but never take more than our share of slurmctld's time.
void JobSync::refresh()
{
  if (refresh_timer_ || stopped_ || ready_)
    return;
  const milliseconds pause = std::max(kMinListingPause, last_duration_ * kRestPerListing);
  const milliseconds passed = since(timers_.now(), last_listing_);
  refresh_timer_ = timers_.after(std::max(milliseconds(0), pause - passed), [this] {
    refresh_timer_ = 0;
    if (hooks_.wants_news())
      list_now(true);
  });
}

/// An administrator may have suspended or shrunk a running job, of which no hint tells by itself. One
/// look-up after the other, so that the cost in any minute does not grow with the number of jobs.
void JobSync::survey()
{
  survey_left_ = hooks_.count_running();
  if (survey_timer_ == 0 && survey_left_ > 0 && !stopped_ && !ready_)
    survey_timer_ = timers_.after(kSurveyPause, [this] { survey_some(); });
}

void JobSync::survey_some()
{
  survey_timer_ = 0;
  for (int i = 0; i < kSurveyLooks && survey_left_ > 0; ++i, --survey_left_) {
    const auto next = hooks_.next_running(surveyed_);
    if (!next)
      return;
    surveyed_ = *next;
    look(*next);
  }
  if (survey_left_ > 0)
    survey_timer_ = timers_.after(kSurveyPause, [this] { survey_some(); });
}

/// Once every while: have hints stopped coming? Without them, poll.
void JobSync::tick()
{
  const Clock::time_point now = timers_.now();
  const bool silent = since(now, std::max(last_batch_, started_)) >= kSilence;
  if (silent && !said_polling_) {
    polling_ = said_polling_ = true;
    hooks_.rules_changed();  // whoever waits for a hint waits in vain
    logging::warn(
        "no events from prep/k8s: polling slurmctld instead, pods are bound later",
        {{"poll_interval_ms", poll_interval_.count()},
         {"hint", "PrepPlugins=k8s in slurm.conf, EventUrl and EventTokenFile in k8s.conf"}});
  }
  const milliseconds pause = !polling_ ? milliseconds(kSilence)
                             : silent  ? poll_interval_
                                       : std::min(poll_interval_, kFirstPolls);
  if (polling_)
    list_now(true);
  tick_timer_ =
      timers_.after(std::max(pause, last_duration_ * kRestPerListing), [this] { tick(); });
}

void JobSync::receive(const protocol::Batch &batch)
{
  if (stopped_)
    return;
  last_batch_ = timers_.now();
  if (std::exchange(polling_, false) && std::exchange(said_polling_, false))
    logging::info("prep/k8s sends events again: no more polling");
  watch_order(batch);
  for (const protocol::Hint &hint : batch.hints)
    apply(hint);
}

/// A gap means that hints were dropped; a new epoch that slurmctld was started anew.
void JobSync::watch_order(const protocol::Batch &batch)
{
  const bool restarted = have_epoch_ && batch.epoch != epoch_;
  const bool gap = have_epoch_ && !restarted && batch.seq > next_seq_;
  if (gap)
    lost_hints_ += batch.seq - next_seq_;
  const bool first = !have_epoch_;
  have_epoch_ = true;
  epoch_ = batch.epoch;
  next_seq_ = batch.seq + batch.hints.size();
  if (restarted) {
    logging::info("slurmctld was started anew", {{"epoch", epoch_}});
    hooks_.slurmctld_restarted();
  }
  if (gap)
    hooks_.rules_changed();
  if ((first || restarted || gap) && !ready_)
    list();
}

void JobSync::apply(const protocol::Hint &hint)
{
  switch (hint.kind) {
  case protocol::HintKind::job_start:
  case protocol::HintKind::job_end:
    if (hooks_.cares(hint))
      look(hint.job_id);
    break;
  case protocol::HintKind::jobs_changed:
    refresh();
    survey();
    break;
  case protocol::HintKind::nodes_changed: hooks_.nodes_changed(); break;
  case protocol::HintKind::rules_changed: hooks_.rules_changed(); break;
  }
}

void JobSync::look(slurm::JobId id)
{
  if (stopped_)
    return;
  if (!looking_.insert(id).second) {
    look_again_.insert(id);
    return;
  }
  slurm_.load_job(id, [this, id](const slurm::Error &error, const slurm::Job &job) {
    looked_up(id, error, job);
  });
}

void JobSync::looked_up(slurm::JobId id, const slurm::Error &error, const slurm::Job &job)
{
  looking_.erase(id);
  const bool again = look_again_.erase(id) > 0;
  if (stopped_)
    return;
  if (!error)
    hooks_.seen(job);
  else if (error.cause == slurm::Cause::unknown_job)
    hooks_.unknown(id);
  else if (error.cause == slurm::Cause::refused)
    hooks_.disowned(id, error);
  else
    list();  // retries until slurmctld answers
  if (again && !error)
    look(id);
}

}  // namespace controller
