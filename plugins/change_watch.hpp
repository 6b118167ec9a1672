// SPDX-License-Identifier: Apache-2.0
// Sees that one of slurmctld's time stamps moved. They count whole seconds, so a change within the
// second that was told already is told again when that second is over.
#pragma once

#include <ctime>

class ChangeWatch {
public:
  /// True if there was a change since the last time that this was true.
  bool look(std::time_t stamp, std::time_t now)
  {
    if (stamp < told_ || now <= told_)
      return false;
    told_ = now;
    return true;
  }

private:
  std::time_t told_ = 0;  // when a change was told last
};
