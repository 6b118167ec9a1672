// SPDX-License-Identifier: Apache-2.0
#include "controller/closer.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

#include "log.hpp"

namespace controller {
namespace {

/// Pause before the verb is asked again or its effect is looked at.
std::chrono::milliseconds pause(int attempts)
{
  return std::chrono::milliseconds(std::min(30'000, 500 << std::min(attempts, 6)));
}

}  // namespace

void Closer::complete(const slurm::Job &job, int exit_code)
{
  start(job, false, static_cast<std::uint32_t>(exit_code & 0xff) << 8);
}

void Closer::cancel(const slurm::Job &job) { start(job, true, 0); }

void Closer::start(const slurm::Job &job, bool cancel, std::uint32_t wait_status)
{
  if (closing(job.id))
    return;
  logging::info("ending job", {{"job", job.id},
                               {"gang", job.tag.ns + "/" + job.tag.name},
                               {"verb", cancel ? "cancel" : "complete"},
                               {"wait_status", wait_status}});
  jobs_.emplace(job.id, Closing{job, cancel, wait_status, timers_.now()});
  ask(job.id);
}

void Closer::ask(slurm::JobId id)
{
  Closing &closing = jobs_.at(id);
  if (closing.asking)
    return;
  timers_.cancel(closing.timer);
  closing.asking = true;
  ++closing.attempts;
  auto done = [this, id](const slurm::Error &error) { answered(id, error); };
  if (closing.cancel)
    slurm_.cancel(closing.job, done);
  else
    slurm_.complete(closing.job, closing.wait_status, done);
}

void Closer::answered(slurm::JobId id, const slurm::Error &error)
{
  const auto found = jobs_.find(id);
  if (found == jobs_.end())
    return;
  Closing &closing = found->second;
  closing.asking = false;
  if (error)
    logging::warn("ending the job was not accepted",
                  {{"job", id},
                   {"gang", closing.job.tag.ns + "/" + closing.job.tag.name},
                   {"code", error.code},
                   {"cause", error.message}});
  // Accepted is not done: look whether it happened, and ask again if it did not.
  closing.timer = timers_.after(pause(closing.attempts), [this, id] { look(id); });
}

void Closer::look(slurm::JobId id)
{
  slurm_.load_job(id, [this, id](const slurm::Error &error, const slurm::Job &job) {
    if (!closing(id))
      return;
    if (!error)
      observe(job);
    // An unknown id after a restart of slurmctld may come back; a full listing decides.
    if (closing(id))
      ask(id);
  });
}

void Closer::observe(const slurm::Job &job)
{
  if (slurm::is_end(job.state))
    drop(job.id);
}

void Closer::forget_absent(const std::set<slurm::JobId> &listed,
                           std::chrono::steady_clock::time_point begun)
{
  std::vector<slurm::JobId> gone;
  for (const auto &[id, closing] : jobs_)
    if (!listed.contains(id) && closing.since < begun)
      gone.push_back(id);
  for (const slurm::JobId id : gone)
    drop(id);
}

void Closer::drop(slurm::JobId id)
{
  const auto found = jobs_.find(id);
  if (found == jobs_.end())
    return;
  timers_.cancel(found->second.timer);
  jobs_.erase(found);
}

void Closer::hurry()
{
  for (auto &[id, closing] : jobs_)
    if (!closing.asking)
      ask(id);
}

}  // namespace controller
