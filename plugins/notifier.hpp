// SPDX-License-Identifier: Apache-2.0
// Sends batches of hints over HTTP. Blocks; for a thread of its own.
#pragma once

#include <functional>
#include <memory>
#include <string>

class Notifier {
public:
  /// `stopped` ends a request that is under way.
  explicit Notifier(std::function<bool()> stopped);
  ~Notifier();
  Notifier(const Notifier &) = delete;
  Notifier &operator=(const Notifier &) = delete;

  /// From now on to this address ("http://…", "https://…", "unix:/path"); files may be "".
  /// The token is read again for each request.
  void aim(const std::string &url, const std::string &token_file, const std::string &ca_file);
  /// True if the receiver took it. Otherwise error() says why not.
  bool post(const std::string &body);
  const std::string &error() const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};
