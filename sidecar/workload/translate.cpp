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

/// A typed GRES of an annotation says of which kind the ones are that the pods request.
void merge_gres(TaskShape &shape, std::vector<std::string> &errors)
{
  std::map<std::string, std::uint64_t> typed;  // name -> sum of its types
  for (const auto &[name, count] : shape.gres)
    if (const auto colon = name.find(':'); colon != std::string::npos)
      typed[name.substr(0, colon)] += count;
  for (const auto &[name, sum] : typed) {
    const auto plain = shape.gres.find(name);
    if (plain == shape.gres.end())
      continue;
    if (plain->second > sum)
      errors.push_back("a pod requests " + std::to_string(plain->second) + " " + name +
                       ", its annotation only " + std::to_string(sum));
    shape.gres.erase(plain);
  }
}

}  // namespace

Translation translate(const GangKey &gang, const std::vector<const kube::Pod *> &pods,
                      const std::vector<const Annotations *> &farther)
{
  std::vector<const Annotations *> nearest{&pods.front()->meta.annotations};
  nearest.insert(nearest.end(), farther.begin(), farther.end());
  const ParsedOptions parsed = parse_options(nearest);

  Translation out;
  append(out.errors, parsed.errors);
  append(out.warnings, parsed.warnings);
  out.request.gang = gang;
  out.request.tasks = static_cast<std::uint32_t>(pods.size());
  out.request.options = parsed.options;
  out.request.priority_class = pods.front()->priority_class;
  out.request.shape = parsed.least;
  for (const kube::Pod *pod : pods) {
    std::string problem;
    widen(out.request.shape, pod_shape(*pod, problem));
    if (!problem.empty() &&
        std::find(out.errors.begin(), out.errors.end(), problem) == out.errors.end())
      out.errors.push_back(problem);
  }
  merge_gres(out.request.shape, out.errors);
  return out;
}

}  // namespace workload
