// SPDX-License-Identifier: Apache-2.0
#include "controller/node_names.hpp"

#include <chrono>
#include <utility>

#include "log.hpp"

namespace controller {
namespace {

constexpr std::chrono::seconds kRetry{10};

}  // namespace

void NodeNames::load()
{
  if (stopped_)
    return;
  if (loading_) {
    again_ = true;
    return;
  }
  loading_ = true;
  slurm_.load_node_names(
      [this](const slurm::Error &error, auto names) { answered(error, std::move(names)); });
}

void NodeNames::stop()
{
  stopped_ = true;
  timers_.cancel(timer_);
}

void NodeNames::answered(const slurm::Error &error, std::optional<std::set<std::string>> names)
{
  loading_ = false;
  if (error) {
    logging::warn("slurmctld does not tell its nodes", {{"cause", error.message}});
    timers_.cancel(timer_);
    timer_ = timers_.after(kRetry, [this] {
      timer_ = 0;
      load();
    });
  } else if (names) {
    loaded_(std::move(*names));
  }
  if (std::exchange(again_, false))
    load();
}

}  // namespace controller
