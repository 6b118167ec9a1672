// SPDX-License-Identifier: Apache-2.0
#include "workload/translate.hpp"

#include <algorithm>

#include "workload/pod_shape.hpp"

namespace workload {
namespace {

void append(std::vector<std::string> &to, const std::vector<std::string> &more)
{
  to.insert(to.end(), more.begin(), more.end());
}

}  // namespace

Translation translate(const GangKey &gang, const std::vector<const kube::Pod *> &pods,
                      const Annotations *group_annotations)
{
  std::vector<const Annotations *> nearest{&pods.front()->meta.annotations};
  if (group_annotations)
    nearest.push_back(group_annotations);
  const ParsedOptions parsed = parse_options(nearest);

  Translation out;
  append(out.errors, parsed.errors);
  append(out.warnings, parsed.warnings);
  out.request.gang = gang;
  out.request.tasks = static_cast<std::uint32_t>(pods.size());
  out.request.options = parsed.options;
  out.request.shape = parsed.least;
  for (const kube::Pod *pod : pods) {
    std::string problem;
    widen(out.request.shape, pod_shape(*pod, problem));
    if (!problem.empty() &&
        std::find(out.errors.begin(), out.errors.end(), problem) == out.errors.end())
      out.errors.push_back(problem);
  }
  return out;
}

}  // namespace workload
