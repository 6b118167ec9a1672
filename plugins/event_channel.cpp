// SPDX-License-Identifier: Apache-2.0
#include "event_channel.hpp"

#include <algorithm>
#include <utility>

#include "guard.hpp"

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLongestPause{5'000};

}  // namespace

EventChannel::EventChannel(std::uint64_t epoch, const std::string &url,
                           const std::string &token_file, const std::string &ca_file)
    : url_(url), hints_(epoch), notifier_([this] { return hints_.stopped(); })
{
  notifier_.aim(url, token_file, ca_file);
  worker_.start("k8s-events", [this] { run(); });
}

EventChannel::~EventChannel()
{
  hints_.stop();
  worker_.join();
}

void EventChannel::run() noexcept
{
  while (!hints_.stopped())
    guard("prep/k8s", SLURM_ERROR, [this] {
      step();
      return SLURM_SUCCESS;
    });
}

void EventChannel::step()
{
  const auto pause = next_try_ - Clock::now();
  if (pause > pause.zero()) {
    hints_.rest(std::chrono::ceil<milliseconds>(pause));
    return;
  }
  const auto until_beat = std::chrono::ceil<milliseconds>(next_beat_ - Clock::now());
  const bool any = hints_.wait(std::max(until_beat, milliseconds(0)));
  if (hints_.stopped() || (!any && Clock::now() < next_beat_))
    return;
  const protocol::Batch batch = hints_.peek();
  if (!notifier_.post(protocol::encode_batch(batch)))
    return failed();
  hints_.sent(batch);
  if (std::exchange(failures_, 0) > 0)
    slurm_info("k8s: %s takes hints again", url_.c_str());
  next_beat_ = Clock::now() + std::chrono::seconds(protocol::kHeartbeatSeconds);
}

void EventChannel::failed()
{
  if (hints_.stopped())
    return;
  if (failures_++ == 0)
    slurm_error("k8s: %s takes no hints: %s; jobs are not touched by this", url_.c_str(),
                notifier_.error().c_str());
  next_try_ =
      Clock::now() + std::min(kLongestPause, milliseconds(100) * (1 << std::min(failures_, 6)));
}
