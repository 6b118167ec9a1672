// SPDX-License-Identifier: Apache-2.0
// How long job_submit/k8s holds slurmctld up for one native job: loads the plugin as slurmctld does, and
// calls its hook. Prints count, median, 99th percentile and maximum in microseconds.
//   hook_time libslurmfull.so job_submit_k8s.so COUNT
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <dlfcn.h>

#include <slurm/slurm.h>

namespace {

using Hook = int (*)(job_desc_msg_t *, std::uint32_t, char **);

template <class Function>
Function find(void *library, const char *name)
{
  void *symbol = dlsym(library, name);
  if (!symbol) {
    std::fprintf(stderr, "hook_time: no %s: %s\n", name, dlerror());
    std::exit(1);
  }
  return reinterpret_cast<Function>(symbol);
}

void *load(const char *path, int flags)
{
  void *library = dlopen(path, flags);
  if (!library) {
    std::fprintf(stderr, "hook_time: %s\n", dlerror());
    std::exit(1);
  }
  return library;
}

double micros(const std::vector<double> &sorted, double share)
{
  return sorted.at(static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1)));
}

}  // namespace

int main(int argc, char **argv)
{
  if (argc != 4)
    return 2;
  void *slurm = load(argv[1], RTLD_NOW | RTLD_GLOBAL);
  find<void (*)(const char *)>(slurm, "slurm_init")(nullptr);
  void *plugin = load(argv[2], RTLD_LAZY);
  if (find<int (*)()>(plugin, "init")() != SLURM_SUCCESS)
    return 1;
  const auto hook = find<Hook>(plugin, "job_submit");

  job_desc_msg_t job{};
  std::string comment(200, 'x'), name = "native";
  job.comment = comment.data();
  job.name = name.data();
  std::vector<double> took;
  const int count = std::atoi(argv[3]);
  for (int i = 0; i < count; ++i) {
    char *message = nullptr;
    const auto begun = std::chrono::steady_clock::now();
    const int rc = hook(&job, 1000, &message);
    const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - begun;
    if (rc != SLURM_SUCCESS)
      return 1;
    took.push_back(time.count());
  }
  find<void (*)()>(plugin, "fini")();
  std::sort(took.begin(), took.end());
  std::printf("%zu %.3f %.3f %.3f\n", took.size(), micros(took, 0.5), micros(took, 0.99),
              took.back());
}
