// SPDX-License-Identifier: Apache-2.0
// Asks Slurm for a gang's nodes, and deals with every answer but success.
#pragma once

#include <functional>

#include "controller/gang.hpp"
#include "controller/namespaces.hpp"
#include "controller/nodes.hpp"
#include "controller/reporter.hpp"
#include "loop.hpp"
#include "slurm/client.hpp"
#include "workload/translate.hpp"

namespace controller {

class Submitter {
public:
  struct Hooks {
    std::function<Gang *(const workload::GangKey &)> find;
    std::function<void(const workload::GangKey &)> changed;  ///< look at the gang again
    std::function<void(Gang &, const slurm::Job &)> accepted;
    std::function<void()> list;        ///< a submission got no answer: see whether there is a job
    std::function<void()> load_nodes;  ///< Slurm has other nodes than we believe
    std::function<bool()>
        hints_come;  ///< changes are told: there is no need to try again and again
  };

  Submitter(slurm::Client &slurm, Timers &timers, const Nodes &nodes, const Namespaces &namespaces,
            Reporter &reporter, Hooks hooks)
      : slurm_(slurm),
        timers_(timers),
        nodes_(nodes),
        namespaces_(namespaces),
        reporter_(reporter),
        hooks_(std::move(hooks))
  {
  }

  /// One job for all members that wait.
  void submit(Gang &gang);
  /// The job vanished from Slurm while its pods run: asks for the very nodes they run on.
  void reclaim(Gang &gang);
  /// Slurm said no, or nothing.
  void refused(Gang &gang, const slurm::Error &error);
  /// A listing that began after the submission shows no job: it may be asked again.
  void settle(Gang &gang, std::chrono::steady_clock::time_point begun);
  /// Something changed that may turn a refusal into success.
  void forgive(Gang &gang);
  /// Slurm's nodes changed, as they do all the time on a busy cluster: soon, but not each time.
  void nudge(Gang &gang);
  bool idle() const { return in_flight_ == 0; }

private:
  workload::Translation translate(const Gang &gang,
                                  const std::vector<const kube::Pod *> &pods) const;
  void send(Gang &gang, const workload::JobRequest &request);
  void answered(Gang &gang, const slurm::Error &error, const slurm::Job &job);
  void refuse(Gang &gang, Refusal refusal, const std::string &message);
  void retry_later(Gang &gang, std::chrono::milliseconds pause);

  slurm::Client &slurm_;
  Timers &timers_;
  const Nodes &nodes_;
  const Namespaces &namespaces_;
  Reporter &reporter_;
  Hooks hooks_;
  int in_flight_ = 0;
};

}  // namespace controller
