// SPDX-License-Identifier: Apache-2.0
// Listening sockets by the address in the configuration.
#pragma once

#include <string>

/// A socket that listens at "ADDRESS:PORT" or "unix:/path"; the file's group may connect to the
/// latter. The caller closes it. Throws std::runtime_error.
int listen_at(const std::string &address);
/// Removes the file of a unix socket that nobody listens at any more.
void stop_listening_at(const std::string &address);
