// SPDX-License-Identifier: Apache-2.0
// What a workload would get: the sidecar's reading of its annotations, then the plugin's rules.
#pragma once

#include <string>
#include <vector>

#include "job_rules.hpp"
#include "policy.hpp"
#include "workload/annotations.hpp"

/// A workload as far as the policy looks at it.
struct Question {
  std::string ns;
  workload::Annotations annotations;  ///< all that count: the pod's, its group's, its namespace's
  std::string priority_class;         ///< "" for none
};

struct Answer {
  const Rule *rule = nullptr;         ///< the line that decides, or null
  std::vector<std::string> warnings;  ///< of the annotations
  std::vector<std::string> errors;    ///< with any, the sidecar submits nothing and `job` is void
  GrantedJob job;

  bool granted() const { return errors.empty() && job.refusal.empty(); }
};

/// `policy` must outlive the answer.
Answer explain(const Policy &policy, const Question &question);

/// Lines for people; `file` is the k8s.conf that the policy comes from.
std::string to_text(const Answer &answer, const std::string &file);
