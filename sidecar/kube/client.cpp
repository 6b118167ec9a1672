// SPDX-License-Identifier: Apache-2.0
#include "kube/client.hpp"

#include <cctype>
#include <exception>
#include <utility>

#include "wellknown.hpp"

namespace kube {

Client::~Client()
{
  *alive_ = false;
  while (!running_.empty())
    cancel(running_.begin()->first);
}

Client::Id Client::request(Call call, Done done)
{
  const Id id = ++last_id_;
  running_[id] = {std::move(call), std::move(done)};
  prepare(id);
  return id;
}

void Client::prepare(Id id)
{
  auth_.prepare([this, id, alive = alive_](const std::string &error) {
    if (!*alive || !running_.contains(id))
      return;
    if (error.empty())
      return send(id);
    http::Response response;
    response.error = "credentials: " + error;
    finish(id, response);
  });
}

void Client::send(Id id)
{
  Running &running = running_.at(id);
  http::Request request;
  request.method = running.call.method;
  request.body = running.call.body;
  request.timeout = running.call.timeout;
  request.max_body = running.call.max_body;
  request.on_data = running.call.on_data;
  request.headers = {"Accept: application/json",
                     std::string("User-Agent: ") + wellknown::kComponentName};
  if (!request.body.empty())
    request.headers.push_back("Content-Type: " + running.call.content_type);
  auth_.apply(request, running.call.path);
  try {
    running.transfer = transfers_.start(
        std::move(request), [this, id](const http::Response &response) { answered(id, response); });
  } catch (const std::exception &error) {
    http::Response response;
    response.error = error.what();
    finish(id, response);
  }
}

void Client::answered(Id id, const http::Response &response)
{
  Running &running = running_.at(id);
  running.transfer = 0;
  if (response.status == 401)
    auth_.reject();
  if (response.status == 401 && !running.repeated) {
    running.repeated = true;
    if (observer_)
      observer_(running.call, response);
    return prepare(id);
  }
  finish(id, response);
}

void Client::finish(Id id, const http::Response &response)
{
  const Running running = std::move(running_.at(id));
  running_.erase(id);
  if (observer_)
    observer_(running.call, response);
  running.done(response);
}

void Client::cancel(Id id)
{
  const auto found = running_.find(id);
  if (found == running_.end())
    return;
  transfers_.cancel(found->second.transfer);
  running_.erase(found);
}

std::string escape(std::string_view text)
{
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  for (const unsigned char c : text) {
    if (std::isalnum(c) || c == '-' || c == '.' || c == '_' || c == '~')
      out += static_cast<char>(c);
    else
      out.append({'%', kHex[c >> 4], kHex[c & 15]});
  }
  return out;
}

}  // namespace kube
