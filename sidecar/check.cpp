// SPDX-License-Identifier: Apache-2.0
#include "check.hpp"

#include "kube/credentials.hpp"

CheckedFiles check_files(const ParsedConfig &parsed)
{
  CheckedFiles out;
  const auto look = [&](const char *key, const auto &read) {
    try {
      read();
    } catch (const kube::CredentialsError &error) {
      out.errors.push_back(parsed.place(key) + error.what());
    }
  };
  look("kubernetes.kubeconfig", [&] {
    const auto credentials = kube::load_credentials(parsed.config.kubeconfig);
    out.api_server = credentials.server + " (" + credentials.source + ")";
  });
  look("listener.tokenFile", [&] {
    if (!parsed.config.token_file.empty())
      kube::read_small_file(parsed.config.token_file);
  });
  return out;
}
