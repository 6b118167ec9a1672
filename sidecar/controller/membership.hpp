// SPDX-License-Identifier: Apache-2.0
// Knows the group objects and says to which gang a pod belongs.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "controller/gang.hpp"
#include "kube/objects.hpp"

namespace controller {

class Membership {
public:
  struct Home {
    workload::GangKey key;
    std::int64_t expected = 1;
    workload::Rank rank;
    workload::Annotations annotations;  ///< of the group object
  };
  struct Answer {
    std::optional<Home> home;
    std::string missing;  ///< without a home: the object that must appear first, as index key
    std::string message;  ///< … and in the user's words
  };

  /// `patient`: wait for a JobSet that has not been seen yet; otherwise do without its stages.
  Answer find(const kube::Pod &pod, bool patient) const;

  void upsert(const kube::PodGroup &group);
  void remove(const kube::PodGroup &group);
  void upsert(const kube::JobSet &job_set) { job_sets_[job_set.meta.uid] = job_set; }
  void remove(const kube::JobSet &job_set) { job_sets_.erase(job_set.meta.uid); }
  /// Without the JobSet CRD nobody waits for a JobSet.
  void expect_job_sets(bool expected) { expects_job_sets_ = expected; }

  static std::string index_key(const kube::PodGroup &group);
  static std::string index_key(const kube::JobSet &job_set);

private:
  std::map<std::string, kube::PodGroup> groups_;  // by index key
  std::map<std::string, kube::JobSet> job_sets_;  // by UID
  bool expects_job_sets_ = true;
};

}  // namespace controller
