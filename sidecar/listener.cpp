// SPDX-License-Identifier: Apache-2.0
#include "listener.hpp"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "log.hpp"

namespace {

constexpr unsigned kConnections = 64;
constexpr unsigned kIdleSeconds = 60;
constexpr std::size_t kConnectionMemory = 32 * 1024;
constexpr std::size_t kMaxToken = 4096;
constexpr unsigned kTooLarge = 413;  // its name differs between versions of libmicrohttpd

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
  v6.sin6_addr = in6addr_loopback;
  const bool is_v6 = host == "[::1]";
  if (!is_v6 && inet_pton(AF_INET, host.c_str(), &v4.sin_addr) != 1)
    throw std::runtime_error("listener " + address + ": is no address");
  const auto *name = is_v6 ? reinterpret_cast<sockaddr *>(&v6) : reinterpret_cast<sockaddr *>(&v4);
  const int fd = socket(is_v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const int on = 1;
  if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      bind(fd, name, is_v6 ? sizeof v6 : sizeof v4) != 0 || listen(fd, 16) != 0)
    fail(address, "cannot listen");
  return fd;
}

/// In a time that does not tell how much of it was right.
bool same_secret(const std::string &a, const std::string &b)
{
  unsigned char difference = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i)
    difference |= static_cast<unsigned char>(a[i] ^ b[i]);
  return difference == 0;
}

std::string read_token(const std::string &path)
{
  std::ifstream in(path, std::ios::binary);
  std::string token;
  in >> token;
  return token.size() > kMaxToken ? "" : token;
}

/// What is kept of a request while its body comes.
struct Pending {
  std::string body;
  unsigned refused = 0;  ///< HTTP status, decided before the body
};

}  // namespace

struct Listener::Impl {
  Loop &loop;
  const std::string address, token_file;
  const ListenerHooks hooks;
  MHD_Daemon *daemon = nullptr;
  int epoll_fd = -1;
  Timers::Id timer = 0;
  timespec token_time{};
  std::string token;
  bool complained = false;

  Impl(Loop &l, const std::string &a, const std::string &t, ListenerHooks h)
      : loop(l), address(a), token_file(t), hooks(std::move(h))
  {
    const int fd = address.starts_with("unix:") ? listen_unix(address) : listen_tcp(address);
    daemon = MHD_start_daemon(
        MHD_USE_EPOLL, 0, nullptr, nullptr, &Impl::handle, this, MHD_OPTION_LISTEN_SOCKET, fd,
        MHD_OPTION_CONNECTION_LIMIT, kConnections, MHD_OPTION_CONNECTION_TIMEOUT, kIdleSeconds,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, kConnectionMemory, MHD_OPTION_NOTIFY_COMPLETED,
        &Impl::completed, nullptr, MHD_OPTION_END);
    if (daemon == nullptr)
      fail(address, "cannot start");
    epoll_fd = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
    loop.watch_readable(epoll_fd, [this] { run(); });
    if (!token_file.empty())
      refresh_token();
  }

  ~Impl()
  {
    loop.unwatch(epoll_fd);
    loop.cancel(timer);
    MHD_stop_daemon(daemon);
    if (address.starts_with("unix:"))
      remove_socket(address.substr(5));
  }

  void run()
  {
    MHD_run(daemon);
    loop.cancel(std::exchange(timer, 0));
    MHD_UNSIGNED_LONG_LONG wait = 0;
    if (MHD_get_timeout(daemon, &wait) == MHD_YES)
      timer = loop.after(std::chrono::milliseconds(wait), [this] { run(); });
  }

  void refresh_token()
  {
    struct stat info {};
    if (stat(token_file.c_str(), &info) != 0)
      info = {};
    if (info.st_mtim.tv_sec != token_time.tv_sec || info.st_mtim.tv_nsec != token_time.tv_nsec) {
      token_time = info.st_mtim;
      token = read_token(token_file);
    }
    if (token.empty() && !std::exchange(complained, true))
      logging::error("the token file cannot be read or is empty: no events are accepted",
                     {{"file", token_file}});
    if (!token.empty())
      complained = false;
  }

  bool authorized(MHD_Connection *connection)
  {
    if (token_file.empty())
      return true;
    refresh_token();
    const char *header = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Authorization");
    return header != nullptr && !token.empty() && same_secret(header, "Bearer " + token);
  }

  unsigned check_events(MHD_Connection *connection, const std::string &method)
  {
    if (method != "POST")
      return MHD_HTTP_METHOD_NOT_ALLOWED;
    if (!authorized(connection))
      return MHD_HTTP_UNAUTHORIZED;
    return 0;
  }

  unsigned take_events(const std::string &body)
  {
    const auto batch = protocol::parse_batch(body);
    if (!batch)
      return MHD_HTTP_BAD_REQUEST;
    hooks.events(*batch);
    return MHD_HTTP_NO_CONTENT;
  }

  MHD_Result answer_get(MHD_Connection *connection, const std::string &url)
  {
    if (url == "/healthz")
      return answer(connection, MHD_HTTP_OK, "ok\n");
    if (url == "/readyz")
      return hooks.ready() ? answer(connection, MHD_HTTP_OK, "ok\n")
                           : answer(connection, MHD_HTTP_SERVICE_UNAVAILABLE, "not ready\n");
    if (url == "/metrics")
      return answer(connection, MHD_HTTP_OK, hooks.metrics(), "text/plain; version=0.0.4");
    return answer(connection, MHD_HTTP_NOT_FOUND, "not found\n");
  }

  static MHD_Result answer(MHD_Connection *connection, unsigned status, const std::string &text,
                           const char *type = "text/plain")
  {
    MHD_Response *response = MHD_create_response_from_buffer(
        text.size(), const_cast<char *>(text.data()), MHD_RESPMEM_MUST_COPY);
    if (response == nullptr)
      return MHD_NO;
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    const MHD_Result result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
  }

  MHD_Result serve(MHD_Connection *connection, const std::string &url, const std::string &method,
                   const char *data, std::size_t *size, Pending &pending)
  {
    if (*size > 0) {
      if (pending.body.size() + *size > protocol::kMaxBatchBytes)
        pending.refused = kTooLarge;
      if (pending.refused == 0)
        pending.body.append(data, *size);
      *size = 0;
      return MHD_YES;
    }
    if (url == "/v1/events") {
      const unsigned status = pending.refused != 0 ? pending.refused : take_events(pending.body);
      return answer(connection, status, status == MHD_HTTP_NO_CONTENT ? "" : "refused\n");
    }
    if (method != "GET" && method != "HEAD")
      return answer(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "method not allowed\n");
    return answer_get(connection, url);
  }

  static MHD_Result handle(void *self, MHD_Connection *connection, const char *url,
                           const char *method, const char *, const char *data, std::size_t *size,
                           void **state) noexcept
  try {
    auto *impl = static_cast<Impl *>(self);
    if (*state == nullptr) {
      auto pending = std::make_unique<Pending>();
      if (std::strcmp(url, "/v1/events") == 0)
        pending->refused = impl->check_events(connection, method);
      *state = pending.release();
      return MHD_YES;
    }
    return impl->serve(connection, url, method, data, size, *static_cast<Pending *>(*state));
  } catch (const std::exception &error) {
    logging::error("a request could not be answered", {{"url", url}, {"error", error.what()}});
    return MHD_NO;
  }

  static void completed(void *, MHD_Connection *, void **state, MHD_RequestTerminationCode)
  {
    delete static_cast<Pending *>(*state);
    *state = nullptr;
  }
};

Listener::Listener(Loop &loop, const std::string &address, const std::string &token_file,
                   ListenerHooks hooks)
    : impl_(std::make_unique<Impl>(loop, address, token_file, std::move(hooks)))
{
}

Listener::~Listener() = default;
