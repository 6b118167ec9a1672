// SPDX-License-Identifier: Apache-2.0
// Job options that namespaces carry for all pods in them.
#pragma once

#include <map>
#include <string>

#include "kube/objects.hpp"
#include "workload/annotations.hpp"

namespace controller {

class Namespaces {
public:
  /// True if the options are others than before.
  bool upsert(const kube::Namespace &ns)
  {
    workload::Annotations options = workload::only_options(ns.meta.annotations);
    const auto found = options_.find(ns.meta.name);
    if (found == options_.end() ? options.empty() : found->second == options)
      return false;
    if (options.empty())
      options_.erase(found);
    else
      options_[ns.meta.name] = std::move(options);
    return true;
  }
  void remove(const kube::Namespace &ns) { options_.erase(ns.meta.name); }

  const workload::Annotations &options(const std::string &ns) const
  {
    static const workload::Annotations kNone;
    const auto found = options_.find(ns);
    return found == options_.end() ? kNone : found->second;
  }

private:
  std::map<std::string, workload::Annotations> options_;  // of those that have any
};

}  // namespace controller
