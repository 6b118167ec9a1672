// SPDX-License-Identifier: Apache-2.0
#include "server.hpp"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace fake {

class Connection : public std::enable_shared_from_this<Connection> {
public:
  Connection(Server &server, int fd, int number) : server_(server), fd_(fd), number_(number) {}
  ~Connection() { close_now(); }
  Connection(const Connection &) = delete;
  Connection &operator=(const Connection &) = delete;

  void write(const std::string &bytes)
  {
    out_ += bytes;
    if (timer_ == 0)
      flush();
  }

  void close_now()
  {
    server_.loop_.cancel(std::exchange(timer_, 0));
    if (fd_ < 0)
      return;
    server_.loop_.unwatch(fd_);
    close(std::exchange(fd_, -1));
  }

  void drop()
  {
    const auto self = shared_from_this();
    const int fd = fd_;
    close_now();
    server_.forget(fd);
  }

  void readable()
  {
    const auto self = shared_from_this();
    char buffer[64 * 1024];
    const ssize_t size = recv(fd_, buffer, sizeof buffer, MSG_DONTWAIT);
    if (size <= 0)
      return drop();
    in_.append(buffer, static_cast<std::size_t>(size));
    while (fd_ >= 0 && take_request()) {
    }
  }

private:
  void flush()
  {
    timer_ = 0;
    while (fd_ >= 0 && !out_.empty()) {
      const ssize_t size = ::send(fd_, out_.data(), out_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
      if (size < 0 && errno == EAGAIN) {
        timer_ = server_.loop_.after(std::chrono::milliseconds(1), [this] { flush(); });
        return;
      }
      if (size < 0)
        return drop();
      out_.erase(0, static_cast<std::size_t>(size));
    }
  }

  bool take_request()
  {
    const auto head_end = in_.find("\r\n\r\n");
    if (head_end == std::string::npos)
      return false;
    Request request = parse_head(in_.substr(0, head_end + 2));
    const std::string text = request.header("content-length");
    std::size_t length = 0;
    std::from_chars(text.data(), text.data() + text.size(), length);
    if (in_.size() < head_end + 4 + length)
      return false;
    request.body = in_.substr(head_end + 4, length);
    in_.erase(0, head_end + 4 + length);
    server_.serve(std::move(request), Reply(weak_from_this()));
    return true;
  }

  Request parse_head(const std::string &head) const
  {
    Request request;
    request.connection = number_;
    const auto first_end = head.find("\r\n");
    const auto method_end = head.find(' ');
    request.method = head.substr(0, method_end);
    request.target = head.substr(method_end + 1, head.rfind(' ', first_end) - method_end - 1);
    for (std::size_t from = first_end + 2; from < head.size();) {
      const auto end = head.find("\r\n", from), colon = head.find(": ", from);
      std::string name = head.substr(from, colon - from);
      std::transform(name.begin(), name.end(), name.begin(),
                     [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      request.headers[name] = head.substr(colon + 2, end - colon - 2);
      from = end + 2;
    }
    return request;
  }

  Server &server_;
  int fd_;
  const int number_;
  std::string in_, out_;
  Timers::Id timer_ = 0;
};

namespace {

std::string head_of(int status, const std::string &extra)
{
  return "HTTP/1.1 " + std::to_string(status) + " Status\r\nContent-Type: application/json\r\n" +
         extra;
}

}  // namespace

void Reply::send(int status, const std::string &body, const std::string &extra) const
{
  raw(head_of(status, extra) + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
      body);
}

void Reply::begin(int status, const std::string &extra) const
{
  raw(head_of(status, extra) + "Transfer-Encoding: chunked\r\n\r\n");
}

void Reply::piece(std::string_view data) const
{
  char size[20];
  std::snprintf(size, sizeof size, "%zx\r\n", data.size());
  raw(size + std::string(data) + "\r\n");
}

void Reply::end() const { raw("0\r\n\r\n"); }

void Reply::raw(const std::string &bytes) const
{
  if (const auto connection = connection_.lock())
    connection->write(bytes);
}

void Reply::cut() const
{
  if (const auto connection = connection_.lock())
    connection->drop();
}

bool Reply::connected() const { return !connection_.expired(); }

Server::Server(Loop &loop) : loop_(loop), fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))
{
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto *address = reinterpret_cast<sockaddr *>(&name);
  socklen_t size = sizeof name;
  if (fd_ < 0 || bind(fd_, address, size) != 0 || listen(fd_, 64) != 0 ||
      getsockname(fd_, address, &size) != 0)
    throw std::runtime_error(std::string("fake server: ") + std::strerror(errno));
  port_ = ntohs(name.sin_port);
  loop_.watch_readable(fd_, [this] { accept_one(); });
}

Server::~Server()
{
  connections_.clear();
  loop_.unwatch(fd_);
  close(fd_);
}

std::string Server::url() const { return "http://127.0.0.1:" + std::to_string(port_); }

void Server::answer(int status, const std::string &body, const std::string &extra)
{
  expect([=](const Request &, const Reply &reply) { reply.send(status, body, extra); });
}

void Server::accept_one()
{
  const int fd = accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0)
    return;
  const auto connection = std::make_shared<Connection>(*this, fd, ++accepted_);
  connections_[fd] = connection;
  loop_.watch_readable(fd, [raw = connection.get()] { raw->readable(); });
}

void Server::serve(Request request, const Reply &reply)
{
  requests_.push_back(request);
  Handler handler = otherwise_;
  if (!script_.empty()) {
    handler = std::move(script_.front());
    script_.pop_front();
  }
  if (handler)
    handler(request, reply);
}

void Server::forget(int fd) { connections_.erase(fd); }

bool run_until(Loop &loop, const std::function<bool()> &done, std::chrono::milliseconds limit)
{
  bool late = false;
  std::function<void()> look;
  Timers::Id next = 0;
  const auto end = loop.after(limit, [&] {
    late = true;
    loop.stop();
  });
  look = [&] {
    if (done())
      loop.stop();
    else
      next = loop.after(std::chrono::milliseconds(1), look);
  };
  look();
  if (!done())
    loop.run();
  loop.cancel(end);
  loop.cancel(next);
  return !late;
}

void settle(Loop &loop)
{
  int rounds = 0;
  run_until(loop, [&] { return ++rounds > 20; });
}

}  // namespace fake
