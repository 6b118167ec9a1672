// SPDX-License-Identifier: Apache-2.0
// Where the API server is and how we prove who we are: from a kubeconfig or from within a cluster.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace kube {

/// The message names the file and the key.
struct CredentialsError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A program that prints an ExecCredential (client.authentication.k8s.io/v1 or v1beta1).
struct ExecPlugin {
  std::string api_version, command, install_hint;
  std::vector<std::string> args;
  std::vector<std::pair<std::string, std::string>> env;
  bool provide_cluster_info = false;
};

/// Either the text or the file of a secret; files are read again as they rotate.
struct Secret {
  std::string text, file;
  bool given() const { return !text.empty() || !file.empty(); }
  /// Throws CredentialsError.
  std::string read() const;
};

struct Credentials {
  std::string source;  ///< for messages: the kubeconfig and context, or "in-cluster"
  std::string server;  ///< https://host:port, perhaps with a path, without a slash at the end
  std::string tls_server_name;
  std::optional<std::string> proxy;
  Secret ca;
  bool insecure = false;
  Secret token, certificate, key;
  std::optional<ExecPlugin> exec;
};

/// `path`, else the files of $KUBECONFIG, else ~/.kube/config if it exists, else in-cluster.
/// Throws CredentialsError.
Credentials load_credentials(const std::string &path = {});

/// Text of a file of at most 1 MiB. Throws CredentialsError.
std::string read_small_file(const std::string &path);

/// Throws CredentialsError.
std::string decode_base64(std::string_view text);

}  // namespace kube
