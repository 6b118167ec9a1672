// SPDX-License-Identifier: Apache-2.0
// A listener on a loop, and clients that speak real HTTP to it.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <curl/curl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "listener.hpp"

namespace rig {

struct Request {
  std::string method, path;
  std::string body = {};
  std::vector<std::string> headers = {};
};

struct Response {
  long status = 0;  ///< 0: no answer
  std::string body, type;
};

/// One connection, kept for all requests.
class Client {
public:
  /// `where` as in the configuration.
  explicit Client(std::string where) : where_(std::move(where)) {}
  ~Client() { curl_easy_cleanup(curl_); }
  Client(const Client &) = delete;
  Client &operator=(const Client &) = delete;

  Response send(const Request &request)
  {
    const bool is_unix = where_.starts_with("unix:");
    curl_easy_reset(curl_);
    if (is_unix)
      curl_easy_setopt(curl_, CURLOPT_UNIX_SOCKET_PATH, where_.c_str() + 5);
    const std::string url = "http://" + (is_unix ? "localhost" : where_) + request.path;
    curl_easy_setopt(curl_, CURLOPT_URL, url.c_str());
    curl_easy_setopt(curl_, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(curl_, CURLOPT_NOSIGNAL, 1L);
    curl_slist *headers = nullptr;
    for (const std::string &header : request.headers)
      headers = curl_slist_append(headers, header.c_str());
    curl_easy_setopt(curl_, CURLOPT_HTTPHEADER, headers);
    if (request.method == "POST" || request.method == "PUT") {
      curl_easy_setopt(curl_, CURLOPT_POSTFIELDSIZE, static_cast<long>(request.body.size()));
      curl_easy_setopt(curl_, CURLOPT_POSTFIELDS, request.body.data());
    }
    if (request.method == "HEAD")
      curl_easy_setopt(curl_, CURLOPT_NOBODY, 1L);
    else
      curl_easy_setopt(curl_, CURLOPT_CUSTOMREQUEST, request.method.c_str());
    const Response response = perform();
    curl_slist_free_all(headers);
    return response;
  }

private:
  static std::size_t append(char *data, std::size_t, std::size_t size, void *to)
  {
    static_cast<std::string *>(to)->append(data, size);
    return size;
  }

  Response perform()
  {
    Response response;
    curl_easy_setopt(curl_, CURLOPT_WRITEFUNCTION, &Client::append);
    curl_easy_setopt(curl_, CURLOPT_WRITEDATA, &response.body);
    if (curl_easy_perform(curl_) == CURLE_OK)
      curl_easy_getinfo(curl_, CURLINFO_RESPONSE_CODE, &response.status);
    const char *type = nullptr;
    curl_easy_getinfo(curl_, CURLINFO_CONTENT_TYPE, &type);
    response.type = type ? type : "";
    return response;
  }

  const std::string where_;
  CURL *const curl_ = curl_easy_init();
};

/// A connection on which a test says what it likes.
class Raw {
public:
  explicit Raw(const std::string &path)
  {
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    path.copy(name.sun_path, sizeof name.sun_path - 1);
    if (connect(fd_, reinterpret_cast<sockaddr *>(&name), sizeof name) != 0)
      throw std::runtime_error("cannot connect to " + path);
  }
  ~Raw() { close(fd_); }
  Raw(const Raw &) = delete;
  Raw &operator=(const Raw &) = delete;

  void say(const std::string &text)
  {
    if (send(fd_, text.data(), text.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(text.size()))
      throw std::runtime_error("cannot send");
  }
  /// Everything up to the end of the connection.
  std::string rest()
  {
    std::string all;
    char buffer[4096];
    for (ssize_t size; (size = recv(fd_, buffer, sizeof buffer, 0)) > 0;)
      all.append(buffer, static_cast<std::size_t>(size));
    return all;
  }

private:
  const int fd_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
};

class Rig {
public:
  Rig() { std::filesystem::create_directory(folder); }
  ~Rig()
  {
    listener.reset();
    std::filesystem::remove_all(folder);
  }
  Rig(const Rig &) = delete;
  Rig &operator=(const Rig &) = delete;

  void listen(const std::string &where, const std::string &tokens = "")
  {
    listener = std::make_unique<Listener>(loop, ListenerSettings{where, tokens, "", ""},
                                          ListenerHooks{[this](const protocol::Batch &batch) {
                                                          if (fail)
                                                            throw std::runtime_error("test");
                                                          batches.push_back(batch);
                                                        },
                                                        [this] { return metrics; },
                                                        [this] { return ready; }});
  }
  void listen() { listen(address); }

  /// Runs `client` in a thread of its own, and the loop until it is done. No checks in there.
  void talk(const std::function<void()> &client)
  {
    std::exception_ptr failure;
    std::thread thread([&] {
      try {
        client();
      } catch (...) {
        failure = std::current_exception();
      }
      loop.post([this] { loop.stop(); });
    });
    loop.run();
    thread.join();
    if (failure)
      std::rethrow_exception(failure);
  }
  Response send(const Request &request)
  {
    Response response;
    talk([&] { response = Client(address).send(request); });
    return response;
  }
  Response post(const std::string &body, const std::vector<std::string> &headers = {})
  {
    return send({"POST", "/v1/events", body, headers});
  }

  const std::string folder =
      std::filesystem::temp_directory_path() / ("listener_test." + std::to_string(getpid()));
  const std::string socket_path = folder + "/socket", address = "unix:" + socket_path;
  Loop loop;
  std::vector<protocol::Batch> batches;
  std::string metrics = "some 1\n";
  bool ready = true, fail = false;
  std::unique_ptr<Listener> listener;
};

}  // namespace rig
