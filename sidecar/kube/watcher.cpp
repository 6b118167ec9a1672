// SPDX-License-Identifier: Apache-2.0
#include "kube/watcher.hpp"

#include <chrono>
#include <random>
#include <utility>

#include "kube/backoff.hpp"
#include "kube/decode.hpp"
#include "log.hpp"

namespace kube {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t kMaxObject = 8 << 20;
constexpr std::size_t kMaxPage = 256 << 20;
constexpr int kPageObjects = 500;
constexpr auto kAbsentRetry = seconds(30);
constexpr int kAbsentTries = 3;
constexpr auto kFirstBackoff = milliseconds(200);
constexpr auto kLongestBackoff = seconds(30);
constexpr char kInitialEventsEnd[] = "k8s.io/initial-events-end";

/// Between 5 and 10 minutes, so that the watches of many clients do not end together.
int watch_seconds()
{
  static thread_local std::minstd_rand random{std::random_device{}()};
  return std::uniform_int_distribution<int>(300, 600)(random);
}

}  // namespace

Watcher::Watcher(Client &client, Timers &timers, Collection collection, Handler handler)
    : client_(client),
      timers_(timers),
      collection_(std::move(collection)),
      handler_(std::move(handler))
{
}

Watcher::~Watcher() { stop(); }

void Watcher::start()
{
  started_ = true;
  go();
}

void Watcher::stop()
{
  started_ = false;
  client_.cancel(std::exchange(request_, 0));
  timers_.cancel(std::exchange(timer_, 0));
}

void Watcher::go()
{
  timer_ = 0;
  if (!started_)
    return;
  if (step_ == Step::list)
    fetch_page();
  else
    open_watch();
}

void Watcher::again(milliseconds pause)
{
  timers_.cancel(timer_);
  timer_ = timers_.after(pause, [this] { go(); });
}

std::string Watcher::query() const
{
  return collection_.field_selector.empty()
             ? ""
             : "&fieldSelector=" + escape(collection_.field_selector);
}

void Watcher::open_watch()
{
  const int timeout = watch_seconds();
  Call call;
  call.label = "watch";
  call.path = collection_.path +
              "?watch=1&allowWatchBookmarks=true&timeoutSeconds=" + std::to_string(timeout) +
              query();
  if (step_ == Step::watch_list) {
    call.path += "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
    begin();
  } else {
    call.path += "&resourceVersion=" + escape(resource_version_);
  }
  // The server ends a watch itself; this is for one that does not.
  call.timeout = seconds(timeout + 30);
  call.on_data = [this](std::string_view data) { receive(data); };
  stream_ = std::make_unique<JsonStream>(kMaxObject);
  progress_ = expired_ = false;
  trouble_.clear();
  request_ = client_.request(std::move(call), [this](const http::Response &response) {
    request_ = 0;
    stream_ended(response);
  });
}

void Watcher::receive(std::string_view data)
{
  if (!trouble_.empty() || expired_)
    return;
  try {
    stream_->feed(data, [this](std::string_view text) { return take_event(text); });
  } catch (const json::Error &error) {
    trouble_ = error.what();
  }
  if (!started_ || (trouble_.empty() && !expired_))
    return;
  client_.cancel(std::exchange(request_, 0));
  if (expired_)
    return start_over("the resource version expired");
  http::Response response;
  response.error = trouble_;
  failed(response);
}

bool Watcher::take_event(std::string_view text)
{
  const json::Document document(text);
  const json::Value event = document.root();
  const std::string type = event["type"].string();
  const json::Value object = event["object"];
  progress_ = true;
  failures_ = 0;
  if (type == "ERROR") {
    take_error(object);
    return false;
  }
  if (type == "BOOKMARK")
    take_bookmark(object);
  else if (type == "DELETED")
    guarded(object, handler_.deleted);
  else
    guarded(object, handler_.seen);
  // While what exists is still coming, a version from among it is no place to go on from.
  if (!listing_)
    resource_version_ = object["metadata"]["resourceVersion"].string(resource_version_);
  return started_;
}

void Watcher::take_bookmark(json::Value object)
{
  const json::Value meta = object["metadata"];
  if (listing_ && meta["annotations"][kInitialEventsEnd].string() == "true")
    complete(meta["resourceVersion"].string());
}

void Watcher::take_error(json::Value status)
{
  const auto reason = status["reason"].string();
  expired_ = status["code"].integer() == 410 || reason == "Expired" || reason == "Gone";
  if (!expired_)
    trouble_ = status["message"].string(reason.empty() ? "an error without a message" : reason);
}

/// An object that cannot be understood is passed over: the others must not suffer from it.
void Watcher::guarded(json::Value object, const std::function<void(json::Value)> &fn)
{
  try {
    fn(object);
  } catch (const json::Error &error) {
    logging::warn(
        "object passed over",
        {{"collection", collection_.name}, {"object", name_of(object)}, {"cause", error.what()}});
  }
}

void Watcher::begin()
{
  listing_ = true;
  handler_.begins();
}

void Watcher::complete(const std::string &resource_version)
{
  if (!resource_version.empty() && std::exchange(absent_, false))
    logging::info("collection is there now", {{"collection", collection_.name}});
  resource_version_ = resource_version;
  listing_ = false;
  step_ = Step::watch;
  failures_ = not_found_ = 0;
  handler_.complete();
}

void Watcher::stream_ended(const http::Response &response)
{
  if (response.status == 200) {
    // The usual end, or a lost connection: go on from where we are.
    if (listing_ || !progress_)
      ++failures_;
    if (listing_)
      logging::warn("watch ended before everything was there",
                    {{"collection", collection_.name}, {"cause", response.error}});
    return again(failures_ == 0 ? milliseconds(0)
                                : backoff(failures_, {}, kFirstBackoff, kLongestBackoff));
  }
  if (response.status == 410)
    return start_over("the resource version expired");
  const bool refused = response.status == 400 || response.status == 422;
  if (step_ == Step::watch_list && refused) {
    logging::info("the API server has no WatchList: listing", {{"collection", collection_.name}});
    no_watch_list_ = true;
    step_ = Step::list;
    return again({});
  }
  failed(response);
}

void Watcher::start_over(const std::string &why)
{
  logging::info("listing again", {{"collection", collection_.name}, {"cause", why}});
  step_ = no_watch_list_ ? Step::list : Step::watch_list;
  continue_.clear();
  again(failures_++ == 0 ? milliseconds(0)
                         : backoff(failures_, {}, kFirstBackoff, kLongestBackoff));
}

void Watcher::failed(const http::Response &response)
{
  if (response.status == 404 && collection_.custom && handler_.empty())
    return not_found();
  not_found_ = 0;
  ++failures_;
  const auto pause = backoff(failures_, response.retry_after, kFirstBackoff, kLongestBackoff);
  const auto cause = response.error.empty() ? response.body.substr(0, 300) : response.error;
  logging::warn("cannot watch", {{"collection", collection_.name},
                                 {"status", response.status},
                                 {"cause", cause},
                                 {"again_in_ms", pause.count()}});
  continue_.clear();  // a list begins anew
  again(pause);
}

void Watcher::not_found()
{
  if (!absent_ && ++not_found_ >= kAbsentTries) {
    logging::info("the API server does not have this collection (yet)",
                  {{"collection", collection_.name}});
    absent_ = true;
    begin();
    complete("");
  }
  step_ = no_watch_list_ ? Step::list : Step::watch_list;
  continue_.clear();
  again(absent_ ? kAbsentRetry : backoff(not_found_, {}, kFirstBackoff, kLongestBackoff));
}

void Watcher::fetch_page()
{
  Call call;
  call.label = "list";
  call.max_body = kMaxPage;
  call.path = collection_.path + "?limit=" + std::to_string(kPageObjects) + query();
  if (continue_.empty())
    begin();
  else
    call.path += "&continue=" + escape(continue_);
  request_ = client_.request(std::move(call), [this](const http::Response &response) {
    request_ = 0;
    page_arrived(response);
  });
}

void Watcher::page_arrived(const http::Response &response)
{
  if (response.status == 410)
    return start_over("the list expired");
  if (!response.ok())
    return failed(response);
  try {
    const json::Document document(response.body);
    const json::Value root = document.root();
    root["items"].each_item([this](json::Value object) { guarded(object, handler_.seen); });
    continue_ = root["metadata"]["continue"].string();
    if (continue_.empty())
      complete(root["metadata"]["resourceVersion"].string());
  } catch (const json::Error &error) {
    http::Response bad = response;
    bad.error = error.what();
    return failed(bad);
  }
  if (started_)
    go();
}

}  // namespace kube
