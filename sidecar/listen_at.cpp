// SPDX-License-Identifier: Apache-2.0
#include "listen_at.hpp"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <system_error>

namespace {

[[noreturn]] void fail(const std::string &address, const char *what)
{
  throw std::system_error(errno, std::generic_category(), "listener " + address + ": " + what);
}

/// Removes what a sidecar that was killed left there, and nothing else.
void remove_socket(const std::string &path)
{
  struct stat info {};
  if (lstat(path.c_str(), &info) == 0 && S_ISSOCK(info.st_mode))
    unlink(path.c_str());
}

int listen_unix(const std::string &address)
{
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  const std::string path = address.substr(5);
  if (path.size() >= sizeof name.sun_path)
    throw std::runtime_error("listener " + address + ": the path is too long");
  std::memcpy(name.sun_path, path.c_str(), path.size());
  remove_socket(path);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  // Who may connect is a question of the file's group.
  if (fd < 0 || bind(fd, reinterpret_cast<sockaddr *>(&name), sizeof name) != 0 ||
      chmod(path.c_str(), 0660) != 0 || listen(fd, 16) != 0)
    fail(address, errno == EADDRINUSE ? "something that is no socket is there" : "cannot listen");
  return fd;
}

int listen_tcp(const std::string &address)
{
  const auto colon = address.rfind(':');
  const auto port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(colon + 1))));
  const std::string host = address.substr(0, colon);
  sockaddr_in v4{};
  sockaddr_in6 v6{};
  v4.sin_family = AF_INET;
  v4.sin_port = port;
  v6.sin6_family = AF_INET6;
  v6.sin6_port = port;
  const bool is_v6 = host.starts_with('[') && host.ends_with(']');
  const int parsed =
      is_v6 ? inet_pton(AF_INET6, host.substr(1, host.size() - 2).c_str(), &v6.sin6_addr)
            : inet_pton(AF_INET, host.c_str(), &v4.sin_addr);
  if (parsed != 1)
    throw std::runtime_error("listener " + address + ": is no address");
  const auto *name = is_v6 ? reinterpret_cast<sockaddr *>(&v6) : reinterpret_cast<sockaddr *>(&v4);
  const int fd = socket(is_v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const int on = 1;
  if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      bind(fd, name, is_v6 ? sizeof v6 : sizeof v4) != 0 || listen(fd, 16) != 0)
    fail(address, "cannot listen");
  return fd;
}

}  // namespace

int listen_at(const std::string &address)
{
  return address.starts_with("unix:") ? listen_unix(address) : listen_tcp(address);
}

void stop_listening_at(const std::string &address)
{
  if (address.starts_with("unix:"))
    remove_socket(address.substr(5));
}
