// SPDX-License-Identifier: Apache-2.0
#include "check.hpp"

#include <string>
#include <utility>

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
  const Config &config = parsed.config;
  for (const auto &[key, file] : {std::pair("listener.tokenFile", config.token_file),
                                  {"listener.certFile", config.cert_file},
                                  {"listener.keyFile", config.key_file}})
    if (!file.empty())
      look(key, [&path = file] { kube::read_small_file(path); });
  return out;
}
