// SPDX-License-Identifier: Apache-2.0
#include "kube/api_writer.hpp"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <ctime>
#include <utility>

#include "kube/backoff.hpp"
#include "kube/json.hpp"
#include "log.hpp"
#include "wellknown.hpp"

namespace kube {
namespace {

using std::chrono::milliseconds;

constexpr int kTries = 6;
constexpr auto kFirstBackoff = milliseconds(100);
constexpr auto kLongestBackoff = milliseconds(5'000);
constexpr std::size_t kMaxEvents = 10'000;
constexpr std::size_t kMaxNote = 1'024;
constexpr std::size_t kMaxMessage = 1'024;

std::string pod_path(const ObjectRef &pod)
{
  return "/api/v1/namespaces/" + escape(pod.ns) + "/pods/" + escape(pod.name);
}

std::string subject_of(const ObjectRef &pod, const std::string &condition)
{
  return pod.uid + "/" + condition;
}

std::string message_of(const http::Response &response)
{
  if (!response.error.empty())
    return response.error;
  try {
    const json::Document document(response.body);
    if (auto message = document.root()["message"].string(); !message.empty())
      return message.substr(0, kMaxMessage);
  } catch (const json::Error &) {
    // Not a Status: a proxy, perhaps.
  }
  return "HTTP " + std::to_string(response.status) + " " + response.body.substr(0, 200);
}

std::string timestamp(bool micro)
{
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const std::time_t seconds = std::chrono::duration_cast<std::chrono::seconds>(now).count();
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[40];
  const auto size = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  std::string out(text, size);
  if (micro) {
    const auto fraction =
        std::chrono::duration_cast<std::chrono::microseconds>(now).count() % 1'000'000;
    const auto digits = std::to_string(fraction);
    out += "." + std::string(6 - digits.size(), '0') + digits;
  }
  return out + "Z";
}

/// At most `size` bytes, without half a character at the end.
std::string cut(const std::string &text, std::size_t size)
{
  if (text.size() <= size)
    return text;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xc0u) == 0x80u)
    --size;
  return text.substr(0, size);
}

/// A name no two Events share; the object's name is in it for people who read lists.
std::string event_name(const ObjectRef &regarding, std::uint64_t number)
{
  std::string name = regarding.name.substr(0, 200);
  while (!name.empty() && !std::isalnum(static_cast<unsigned char>(name.back())))
    name.pop_back();
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto stamp = static_cast<std::uint64_t>(
                         std::chrono::duration_cast<std::chrono::microseconds>(now).count()) *
                         1'000 +
                     number % 1'000;
  char text[20];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(stamp));
  return name + "." + text;
}

void add_map(json::Builder &body, std::string_view key,
             const std::map<std::string, std::string> &map)
{
  body.key(key).open();
  for (const auto &[name, value] : map)
    body.add(name, value);
  body.close();
}

/// That the object of this UID is no more, in the API server's words: those of its storage, of a
/// deletion that it judges itself, and of a patch. No name of an object has spaces in it.
bool is_other_incarnation(const std::string &message)
{
  for (const char *words : {"Precondition failed: UID in precondition: ",
                            "the UID in the precondition (", "uid mismatch: the provided object "})
    if (message.find(words) != std::string::npos)
      return true;
  return false;
}

bool may_repeat(const http::Response &response)
{
  return response.status == 0 || !response.error.empty() || response.status == 401 ||
         response.status == 429 || response.status >= 500;
}

std::string event_body(const ObjectRef &regarding, const Event &event, const std::string &instance,
                       const std::string &ns, std::uint64_t number)
{
  json::Builder body;
  body.open().add("apiVersion", "events.k8s.io/v1").add("kind", "Event");
  body.key("metadata")
      .open()
      .add("name", event_name(regarding, number))
      .add("namespace", ns)
      .close();
  body.add("eventTime", timestamp(true))
      .add("reportingController", wellknown::kComponentName)
      .add("reportingInstance", instance)
      .add("action", event.action)
      .add("reason", event.reason)
      .add("type", event.warning ? "Warning" : "Normal")
      .add("note", cut(event.note, kMaxNote));
  body.key("regarding").open();
  body.add("apiVersion", regarding.api_version).add("kind", regarding.kind);
  body.add("namespace", regarding.ns).add("name", regarding.name).add("uid", regarding.uid);
  return body.close().close().text();
}

}  // namespace

WriteResult judge_write(const http::Response &response)
{
  if (response.ok())
    return {Outcome::done, ""};
  const std::string message = message_of(response);
  if (may_repeat(response))
    return {Outcome::failed, message};
  if (response.status == 404)
    return {Outcome::gone, message};
  if (response.status == 409)
    return {is_other_incarnation(message) ? Outcome::gone : Outcome::conflict, message};
  return {Outcome::rejected, message};
}

WriteResult judge_bind(const http::Response &response, const std::string &node)
{
  WriteResult result = judge_write(response);
  // A Binding of ours whose answer was lost: it is so.
  if (response.status == 409 &&
      result.message.find("is already assigned to node \"" + node + "\"") != std::string::npos)
    return {Outcome::done, ""};
  return result;
}

ApiWriter::ApiWriter(Client &client, Timers &timers, int max_in_flight, std::string instance)
    : client_(client),
      timers_(timers),
      max_in_flight_(max_in_flight),
      instance_(std::move(instance))
{
}

void ApiWriter::bind(const ObjectRef &pod, const std::string &node,
                     const std::map<std::string, std::string> &labels,
                     const std::map<std::string, std::string> &annotations, Done done)
{
  json::Builder body;
  body.open().add("apiVersion", "v1").add("kind", "Binding");
  body.key("metadata").open().add("name", pod.name).add("namespace", pod.ns).add("uid", pod.uid);
  add_map(body, "labels", labels);
  add_map(body, "annotations", annotations);
  body.close();
  body.key("target").open().add("apiVersion", "v1").add("kind", "Node").add("name", node).close();
  body.close();
  Write write;
  write.call.method = "POST";
  write.call.label = "bind";
  write.call.path = pod_path(pod) + "/binding";
  write.call.body = body.text();
  write.judge = [node](const http::Response &response) { return judge_bind(response, node); };
  write.done = std::move(done);
  queue_.drop(subject_of(pod, "PodScheduled"));  // it would say False of a pod that is bound
  enqueue(std::move(write));
}

void ApiWriter::set_pod_condition(const ObjectRef &pod, const Condition &condition,
                                  std::int64_t observed_generation, Done done)
{
  json::Builder body;
  body.open();
  body.key("metadata").open().add("uid", pod.uid).close();
  body.key("status").open().key("conditions").open_list().open();
  body.add("type", condition.type)
      .add("status", condition.status)
      .add("reason", condition.reason)
      .add("message", cut(condition.message, kMaxMessage))
      .add("lastTransitionTime", timestamp(false));
  if (observed_generation > 0)
    body.add_int("observedGeneration", observed_generation);
  body.close().close_list().close().close();
  Write write;
  // What goes before a deletion is as urgent as that.
  const bool deletes = condition.type == "DisruptionTarget";
  write.kind = deletes ? Write::Kind::urgent : Write::Kind::patch;
  write.subject = subject_of(pod, condition.type);
  write.call.method = "PATCH";
  write.call.label = "pod status";
  write.call.content_type = "application/strategic-merge-patch+json";
  write.call.path = pod_path(pod) + "/status?fieldManager=" + wellknown::kComponentName;
  write.call.body = body.text();
  write.judge = judge_write;
  write.done = std::move(done);
  enqueue(std::move(write));
}

void ApiWriter::delete_pod(const ObjectRef &pod, std::optional<std::int64_t> grace_s, Done done)
{
  json::Builder body;
  body.open().add("apiVersion", "v1").add("kind", "DeleteOptions");
  body.key("preconditions").open().add("uid", pod.uid).close();
  if (grace_s)
    body.add_int("gracePeriodSeconds", *grace_s);
  body.close();
  Write write;
  write.call.method = "DELETE";
  write.call.label = "delete pod";
  write.call.path = pod_path(pod);
  write.call.body = body.text();
  write.judge = judge_write;
  write.done = std::move(done);
  enqueue(std::move(write));
}

void ApiWriter::post_event(const ObjectRef &regarding, const Event &event)
{
  if (queue_.events() >= kMaxEvents) {
    ++lost_events_;
    return;
  }
  const std::string ns = regarding.ns.empty() ? "default" : regarding.ns;
  Write write;
  write.kind = Write::Kind::event;
  write.call.method = "POST";
  write.call.label = "event";
  write.call.path = "/apis/events.k8s.io/v1/namespaces/" + escape(ns) + "/events";
  write.call.body = event_body(regarding, event, instance_, ns, ++last_event_);
  write.judge = [](const http::Response &response) {
    // A lost answer to the first try: it is there.
    const WriteResult result = judge_write(response);
    return response.status == 409 ? WriteResult{Outcome::done, ""} : result;
  };
  write.done = [this, ns, reason = event.reason, name = regarding.name](const WriteResult &result) {
    // The namespace may be on its way out; then nobody reads it either.
    if (result.outcome == Outcome::done || result.outcome == Outcome::gone)
      return;
    ++lost_events_;
    logging::warn("event not written",
                  {{"object", ns + "/" + name}, {"reason", reason}, {"cause", result.message}});
  };
  enqueue(std::move(write));
}

void ApiWriter::enqueue(Write write)
{
  queue_.put(std::move(write));
  pump();
}

void ApiWriter::pump()
{
  while (in_flight_ < max_in_flight_) {
    auto write = queue_.take();
    if (!write)
      return;
    send(std::move(*write));
  }
}

void ApiWriter::send(Write write)
{
  ++in_flight_;
  ++write.tries;
  Call call = write.call;
  client_.request(std::move(call),
                  [this, write = std::move(write)](const http::Response &response) mutable {
                    --in_flight_;
                    answered(std::move(write), response);
                    pump();
                  });
}

void ApiWriter::answered(Write write, const http::Response &response)
{
  const WriteResult result = write.judge(response);
  if (result.outcome == Outcome::failed && write.tries < kTries && !queue_.superseded(write))
    return retry(std::move(write), result, response);
  finish(write, result);
}

void ApiWriter::retry(Write write, const WriteResult &result, const http::Response &response)
{
  const auto pause = backoff(write.tries, response.retry_after, kFirstBackoff, kLongestBackoff);
  ++waiting_;
  timers_.after(pause, [this, write = std::move(write), result]() mutable {
    --waiting_;
    if (queue_.superseded(write))
      finish(write, result);
    else
      queue_.put_back(std::move(write));
    pump();
  });
}

void ApiWriter::finish(const Write &write, const WriteResult &result)
{
  queue_.end(write);
  write.done(result);
}

}  // namespace kube
