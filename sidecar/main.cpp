// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>
#include <string>

#include "app.hpp"
#include "check.hpp"
#include "config.hpp"
#include "kube/credentials.hpp"
#include "log.hpp"

namespace {

/// A bad configuration: a restart cannot help.
constexpr int kExitConfig = 2;

int check(const ParsedConfig &parsed)
{
  const CheckedFiles files = parsed.errors.empty() ? check_files(parsed) : CheckedFiles{};
  for (const auto *errors : {&parsed.errors, &files.errors})
    for (const std::string &error : *errors)
      std::fprintf(stderr, "%s\n", error.c_str());
  if (!parsed.errors.empty() || !files.errors.empty())
    return kExitConfig;
  std::printf("%s: good; API server %s\n", parsed.file.c_str(), files.api_server.c_str());
  return 0;
}

}  // namespace

int main(int argc, char **argv)
try {
  std::string file = "/etc/slurm-k8s/sidecar.yaml";
  bool only_check = false;
  CLI::App options{"Lets Slurm schedule Kubernetes pods"};
  options.add_option("-c,--config", file, "configuration file")->capture_default_str();
  options.add_flag("--check", only_check,
                   "read the configuration, say what is wrong with it, and end");
  options.set_version_flag("--version", "slurm-k8s-sidecar " SLURM_K8S_VERSION_TEXT);
  CLI11_PARSE(options, argc, argv);

  const ParsedConfig parsed = read_config(file);
  if (only_check || !parsed.errors.empty())
    return check(parsed);
  logging::set_up(parsed.config.log_level, parsed.config.log_format);
  App(parsed.config).run();
  return 0;
} catch (const kube::CredentialsError &error) {
  logging::error("cannot start", {{"cause", error.what()}});
  return kExitConfig;
} catch (const std::exception &error) {
  logging::error("cannot go on", {{"cause", error.what()}});
  return 1;
}
