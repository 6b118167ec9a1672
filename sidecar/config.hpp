// SPDX-License-Identifier: Apache-2.0
// The sidecar's configuration file (YAML).
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "log.hpp"

struct Config {
  std::string cluster_id;

  std::string kubeconfig;                    ///< "" = $KUBECONFIG, ~/.kube/config, in-cluster
  std::vector<std::string> scheduler_names;  ///< never empty
  std::vector<std::string> namespaces;       ///< empty = all
  int max_in_flight_writes = 12;

  std::string slurm_conf;  ///< "" = Slurm's own search
  int slurm_threads = 4;
  std::chrono::milliseconds poll_interval{30'000};

  std::string listen_address = "127.0.0.1:8090";  ///< address and port, or unix:/path
  std::string token_file;                         ///< what prep/k8s proves itself with
  std::string cert_file, key_file;                ///< of the listener's TLS; both or none

  logging::Level log_level = logging::Level::info;
  logging::Format log_format = logging::Format::text;
};

struct ParsedConfig {
  Config config;
  /// "FILE:LINE: key: what is wrong"; with any, config is not usable
  std::vector<std::string> errors;
  std::string file;
  std::map<std::string, int> lines;  ///< of the keys that are there

  /// How a message about this key begins; without a line if the key is not there.
  std::string place(const std::string &key) const;
};

/// Never throws on bad text; `file` is for messages.
ParsedConfig parse_config(const std::string &text, const std::string &file);
/// As parse_config; a file that cannot be read is an error like others.
ParsedConfig read_config(const std::string &file);
