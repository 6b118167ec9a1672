// SPDX-License-Identifier: Apache-2.0
// Tells the owner of a pod why it waits: the PodScheduled condition and an Event, each written
// only when there is something new to say.
#pragma once

#include <map>
#include <string>

#include "controller/gang.hpp"
#include "kube/writer.hpp"

namespace controller {

class Reporter {
public:
  explicit Reporter(kube::Writer &writer) : writer_(writer) {}

  /// PodScheduled=False/Unschedulable with `message`; one FailedScheduling Event per `cause`
  /// (a text that stays the same while only details of the message move).
  void waits(const kube::Pod &pod, const std::string &cause, const std::string &message);
  /// A Warning that needs no action of ours, once per text and pod.
  void warn(const kube::Pod &pod, const std::string &reason, const std::string &note);
  void scheduled(const kube::Pod &pod, const std::string &node, slurm::JobId job);
  void forget(const std::string &uid) { said_.erase(uid); }

private:
  struct Said {
    std::string cause, message;
    std::map<std::string, bool> warnings;
  };

  void unsay(const std::string &uid, const std::string &message);

  kube::Writer &writer_;
  std::map<std::string, Said> said_;  // by pod UID
};

}  // namespace controller
