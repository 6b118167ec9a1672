// SPDX-License-Identifier: Apache-2.0
// Which nodes Slurm has, loaded when that may have changed.
#pragma once

#include <functional>
#include <set>
#include <string>

#include "loop.hpp"
#include "slurm/client.hpp"

namespace controller {

class NodeNames {
public:
  /// `loaded` is called with all names when they may be others than before.
  NodeNames(slurm::Client &slurm, Timers &timers, std::function<void(std::set<std::string>)> loaded)
      : slurm_(slurm), timers_(timers), loaded_(std::move(loaded))
  {
  }

  /// At once, or after the load that is under way; until slurmctld answers.
  void load();
  void stop();

private:
  void answered(const slurm::Error &error, std::optional<std::set<std::string>> names);

  slurm::Client &slurm_;
  Timers &timers_;
  std::function<void(std::set<std::string>)> loaded_;
  Timers::Id timer_ = 0;
  bool loading_ = false, again_ = false, stopped_ = false;
};

}  // namespace controller
