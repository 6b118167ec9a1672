// SPDX-License-Identifier: Apache-2.0
#include "listener.hpp"

#include <microhttpd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <exception>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <utility>
#include <vector>

#include "listen_at.hpp"
#include "log.hpp"

namespace {

constexpr unsigned kConnections = 64;
constexpr unsigned kIdleSeconds = 60;
constexpr std::size_t kConnectionMemory = 32 * 1024;
constexpr std::size_t kMaxToken = 4096;
constexpr std::size_t kMaxPem = 64 * 1024;
constexpr std::chrono::seconds kCertificateLook{10};
constexpr unsigned kTooLarge = 413;  // its name differs between versions of libmicrohttpd

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

struct Certificate {
  std::string cert, key;  // PEM
  bool operator==(const Certificate &) const = default;
};

/// Throws std::runtime_error.
Certificate read_certificate(const std::string &cert_file, const std::string &key_file)
{
  const auto read = [](const std::string &path) {
    std::ifstream in(path, std::ios::binary);
    std::string text(kMaxPem + 1, '\0');
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(in.gcount()));
    if (text.empty() || text.size() > kMaxPem)
      throw std::runtime_error(path + " cannot be read, is empty, or is larger than 64 KiB");
    return text;
  };
  return {read(cert_file), read(key_file)};
}

/// What is kept of a request while its body comes.
struct Pending {
  std::string body;
  unsigned refused = 0;  ///< HTTP status, decided before the body
};

}  // namespace

struct Listener::Impl {
  Loop &loop;
  const ListenerSettings settings;
  const ListenerHooks hooks;
  MHD_Daemon *daemon = nullptr;
  int epoll_fd = -1;
  Timers::Id timer = 0, cert_timer = 0;
  timespec token_time{};
  std::string token;
  bool complained = false;
  Certificate certificate;  // libmicrohttpd keeps pointers into it

  Impl(Loop &l, ListenerSettings s, ListenerHooks h)
      : loop(l), settings(std::move(s)), hooks(std::move(h))
  {
    if (!settings.cert_file.empty())
      certificate = read_certificate(settings.cert_file, settings.key_file);
    start();
    if (!settings.cert_file.empty())
      follow_certificate();
    if (!settings.token_file.empty())
      refresh_token();
  }

  ~Impl()
  {
    loop.cancel(cert_timer);
    stop();
    stop_listening_at(settings.address);
  }

  void start()
  {
    const std::string &address = settings.address;
    const int fd = listen_at(address);
    std::vector<MHD_OptionItem> tls;
    if (!certificate.cert.empty()) {
      tls.push_back({MHD_OPTION_HTTPS_MEM_CERT, 0, certificate.cert.data()});
      tls.push_back({MHD_OPTION_HTTPS_MEM_KEY, 0, certificate.key.data()});
    }
    unsigned flags = MHD_USE_EPOLL;
    if (!tls.empty())
      flags |= MHD_USE_TLS;
    tls.push_back({MHD_OPTION_END, 0, nullptr});
    daemon = MHD_start_daemon(
        flags, 0, nullptr, nullptr, &Impl::handle, this, MHD_OPTION_LISTEN_SOCKET, fd,
        MHD_OPTION_CONNECTION_LIMIT, kConnections, MHD_OPTION_CONNECTION_TIMEOUT, kIdleSeconds,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, kConnectionMemory, MHD_OPTION_NOTIFY_COMPLETED,
        &Impl::completed, nullptr, MHD_OPTION_ARRAY, tls.data(), MHD_OPTION_END);
    if (daemon == nullptr) {
      close(fd);
      throw std::runtime_error(
          "listener " + address + ": cannot start" +
          (certificate.cert.empty() ? "" : ", is there a key that fits the certificate?"));
    }
    epoll_fd = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
    loop.watch_readable(epoll_fd, [this] { run(); });
  }

  void stop()
  {
    if (daemon == nullptr)
      return;
    loop.unwatch(epoll_fd);
    loop.cancel(std::exchange(timer, 0));
    MHD_stop_daemon(std::exchange(daemon, nullptr));
  }

  /// A new certificate is taken into use by a new start: senders try again by themselves.
  void follow_certificate()
  {
    cert_timer = loop.after(kCertificateLook, [this] {
      try {
        Certificate fresh = read_certificate(settings.cert_file, settings.key_file);
        if (fresh != certificate)
          replace_certificate(std::move(fresh));
      } catch (const std::runtime_error &error) {
        logging::error("the certificate before it stays in use", {{"cause", error.what()}});
      }
      follow_certificate();
    });
  }

  void replace_certificate(Certificate fresh)
  {
    stop();
    std::swap(certificate, fresh);
    try {
      start();
      logging::info("the listener has a new certificate", {{"file", settings.cert_file}});
    } catch (const std::runtime_error &) {
      std::swap(certificate, fresh);  // the pair does not fit, or is only half written
      start();
      throw;
    }
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
    const std::string &token_file = settings.token_file;
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
    if (settings.token_file.empty())
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

Listener::Listener(Loop &loop, ListenerSettings settings, ListenerHooks hooks)
    : impl_(std::make_unique<Impl>(loop, std::move(settings), std::move(hooks)))
{
}

Listener::~Listener() = default;
