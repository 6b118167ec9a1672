// SPDX-License-Identifier: Apache-2.0
#include "reporter.hpp"

#include <algorithm>
#include <random>

#include "guard.hpp"
#include "slurm_abi.hpp"

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kChangeLook{100};
constexpr milliseconds kPolicyLook{1'000};
constexpr milliseconds kLongestPause{5'000};

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

}  // namespace

Reporter::Reporter()
    : hints_(new_epoch()), policy_(policy_path()), notifier_([this] { return hints_.stopped(); })
{
}

void Reporter::start()
{
  worker_.start("k8s-prep", [this] { run(); });
}

void Reporter::stop()
{
  hints_.stop();
  worker_.join();
}

void Reporter::put(const protocol::Hint &hint) { hints_.put(hint); }

void Reporter::run() noexcept
{
  while (!hints_.stopped())
    guard("prep/k8s", SLURM_ERROR, [this] {
      step();
      return SLURM_SUCCESS;
    });
}

void Reporter::step()
{
  const bool pausing = Clock::now() < next_try_;
  if (pausing || !aimed_at_ || aimed_at_->event_url.empty())
    std::this_thread::sleep_for(milliseconds(20));
  else
    hints_.wait(kChangeLook);
  refresh_policy();
  if (!aimed_at_ || aimed_at_->event_url.empty())
    return;
  look_for_changes();
  if (Clock::now() >= next_try_)
    send();
}

void Reporter::refresh_policy()
{
  const auto now = Clock::now();
  if (now < next_policy_)
    return;
  next_policy_ = now + kPolicyLook;
  policy_.refresh();
  const auto current = policy_.current();
  if (!current || current == aimed_at_)
    return;
  aimed_at_ = current;
  notifier_.aim(current->event_url, current->event_token_file, current->event_ca_file);
  next_try_ = next_beat_ = {};
  failures_ = 0;
}

void Reporter::look_for_changes()
{
  const std::time_t now = std::time(nullptr);
  if (jobs_.look(stamp_of(last_job_update), now))
    hints_.put({protocol::HintKind::jobs_changed, 0});
  if (nodes_.look(stamp_of(last_node_update), now))
    hints_.put({protocol::HintKind::nodes_changed, 0});
}

void Reporter::send()
{
  const protocol::Batch batch = hints_.peek();
  const auto now = Clock::now();
  if (batch.hints.empty() && now < next_beat_)
    return;
  if (!notifier_.post(protocol::encode_batch(batch)))
    return failed();
  hints_.sent(batch);
  if (std::exchange(failures_, 0) > 0)
    slurm_info("k8s: %s takes hints again", aimed_at_->event_url.c_str());
  next_beat_ = now + std::chrono::seconds(protocol::kHeartbeatSeconds);
}

void Reporter::failed()
{
  if (hints_.stopped())
    return;
  if (failures_++ == 0)
    slurm_error("k8s: %s takes no hints: %s; jobs are not touched by this",
                aimed_at_->event_url.c_str(), notifier_.error().c_str());
  next_try_ =
      Clock::now() + std::min(kLongestPause, milliseconds(100) * (1 << std::min(failures_, 6)));
}
