// SPDX-License-Identifier: Apache-2.0
#include "reporter.hpp"

#include <algorithm>
#include <ctime>
#include <utility>

#include "guard.hpp"
#include "slurm_abi.hpp"

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kChangeLook{100};
constexpr milliseconds kPolicyLook{1'000};
/// job_submit/k8s looks at the file on its own: whoever hears of a change must not be faster.
constexpr milliseconds kPolicyInForce{3'000};

/// Differs with each start, so that the receiver knows that numbers begin anew.
std::uint64_t new_epoch()
{
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<milliseconds>(now).count());
}

std::time_t stamp_of(const std::time_t &shared)
{
  return __atomic_load_n(&shared, __ATOMIC_RELAXED);
}

bool same_receivers(const Policy &a, const Policy &b)
{
  return a.event_urls == b.event_urls && a.event_token_file == b.event_token_file &&
         a.event_ca_file == b.event_ca_file;
}

}  // namespace

Reporter::Reporter() : policy_(policy_path()) {}

void Reporter::start()
{
  worker_.start("k8s-prep", [this] { run(); });
}

void Reporter::stop()
{
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    woken_.notify_all();
  }
  worker_.join();
  for (const auto &channel : channels_)
    channel->stop();
  channels_.clear();
}

void Reporter::put(const protocol::Hint &hint)
{
  const std::lock_guard lock(mutex_);
  for (const auto &channel : channels_)
    channel->put(hint);
}

void Reporter::run() noexcept
{
  for (;;) {
    guard("prep/k8s", SLURM_ERROR, [this] {
      follow_policy();
      look_for_changes();
      return SLURM_SUCCESS;
    });
    std::unique_lock lock(mutex_);
    if (woken_.wait_for(lock, kChangeLook, [this] { return stopped_; }))
      return;
  }
}

void Reporter::follow_policy()
{
  const auto now = Clock::now();
  if (now < next_policy_)
    return;
  next_policy_ = now + kPolicyLook;
  if (policy_.refresh())
    tell_policy_ = now + kPolicyInForce;
  if (tell_policy_ && now >= *tell_policy_) {
    tell_policy_.reset();
    put({protocol::HintKind::rules_changed, 0});
  }
  const auto current = policy_.current();
  if (!current || current == aimed_at_)
    return;
  const bool keep = aimed_at_ && same_receivers(*aimed_at_, *current);
  aimed_at_ = current;
  if (keep)
    return;
  Channels fresh;
  for (const std::string &url : current->event_urls)
    fresh.push_back(std::make_unique<EventChannel>(new_epoch(), url, current->event_token_file,
                                                   current->event_ca_file));
  const std::lock_guard lock(mutex_);
  channels_.swap(fresh);
  // The old ones end when the lock is gone: `fresh` was made before it.
}

void Reporter::look_for_changes()
{
  const std::time_t now = std::time(nullptr);
  if (jobs_.look(stamp_of(last_job_update), now))
    put({protocol::HintKind::jobs_changed, 0});
  if (nodes_.look(stamp_of(last_node_update), now))
    put({protocol::HintKind::nodes_changed, 0});
  const std::time_t rules = std::max(stamp_of(last_part_update), stamp_of(last_resv_update));
  if (rules_.look(rules, now))
    put({protocol::HintKind::rules_changed, 0});
}
