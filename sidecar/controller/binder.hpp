// SPDX-License-Identifier: Apache-2.0
// Puts the pods of a gang onto the nodes of its running job.
#pragma once

#include <functional>
#include <string>

#include "controller/gang.hpp"
#include "controller/nodes.hpp"
#include "controller/reporter.hpp"
#include "kube/writer.hpp"
#include "loop.hpp"

namespace controller {

class Binder {
public:
  struct Hooks {
    std::function<Gang *(const workload::GangKey &)> find;
    std::function<void(const workload::GangKey &)> changed;  ///< look at the gang again
    std::function<void(const Gang &)> bound;                 ///< one more pod is bound
  };

  Binder(kube::Writer &writer, Timers &timers, Nodes &nodes, Reporter &reporter, Hooks hooks)
      : writer_(writer),
        timers_(timers),
        nodes_(nodes),
        reporter_(reporter),
        hooks_(std::move(hooks))
  {
  }

  /// Sends a Binding for each waiting member that has a free place. Sets `no_room` if some member
  /// has a place by Slurm's count that its Kubernetes node cannot give.
  void bind_waiting(Gang &gang);
  /// What the watch says about a member: its node may have become known.
  void observe(Member &member);
  /// The member no longer uses its node.
  void release(Member &member);
  bool idle() const { return in_flight_ == 0; }

private:
  bool lay_out(Gang &gang);
  void occupy(Member &member, const std::string &node);
  void bind(Gang &gang, Member &member, const std::string &node);
  void answered(const workload::GangKey &key, const std::string &uid,
                const kube::WriteResult &result);
  void unstick(const workload::GangKey &key, const std::string &uid);
  void failed(Gang &gang, Member &member, const kube::WriteResult &result);

  kube::Writer &writer_;
  Timers &timers_;
  Nodes &nodes_;
  Reporter &reporter_;
  Hooks hooks_;
  int in_flight_ = 0;
};

}  // namespace controller
