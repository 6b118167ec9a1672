// SPDX-License-Identifier: Apache-2.0
#include "http/transfers.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <exception>
#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

#include "http/easy.hpp"
#include "loop.hpp"

namespace http {
namespace {

constexpr long kConnectTimeoutMs = 10'000;
constexpr unsigned kUnackedLimitMs = 60'000;  ///< sent data that nobody acknowledges: dead peer
constexpr long kIdleConnections = 32;

struct Transfer {
  Easy easy;
  Slist headers, connect_to;
  Request request;
  Transfers::Done done;
  Transfers::Id id = 0;
  std::vector<Transfers::Id> *ready = nullptr;  ///< who has streamed data waiting
  std::string received;                         ///< the body, or the data not yet passed on
  bool too_large = false;
  bool no_memory = false;
  char error[CURL_ERROR_SIZE] = "";

  bool streams() const
  {
    const auto status = easy.info<long>(CURLINFO_RESPONSE_CODE);
    return request.on_data && status >= 200 && status < 300;
  }

  std::size_t receive(const char *data, std::size_t size) noexcept
  try {
    if (streams()) {
      if (received.empty())
        ready->push_back(id);
    } else if (received.size() + size > request.max_body) {
      too_large = true;
      return 0;
    }
    received.append(data, size);
    return size;
  } catch (...) {
    no_memory = true;
    return 0;
  }
};

extern "C" std::size_t take_body(char *data, std::size_t one, std::size_t size, void *transfer)
{
  return static_cast<Transfer *>(transfer)->receive(data, one * size);
}

extern "C" int set_up_socket(void *, curl_socket_t fd, curlsocktype)
{
  setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &kUnackedLimitMs, sizeof kUnackedLimitMs);
  return CURL_SOCKOPT_OK;
}

curl_blob blob(const std::string &text)
{
  // The Tls value outlives the handle, so libcurl need not copy it.
  return {const_cast<char *>(text.data()), text.size(), CURL_BLOB_NOCOPY};
}

void set_tls(Easy &easy, const Tls &tls)
{
  if (!tls.ca.empty()) {
    auto ca = blob(tls.ca);
    easy.set(CURLOPT_CAINFO_BLOB, &ca);
    easy.set(CURLOPT_CAPATH, static_cast<char *>(nullptr));  // else the system's would count too
  }
  if (!tls.certificate.empty()) {
    auto certificate = blob(tls.certificate), key = blob(tls.key);
    easy.set(CURLOPT_SSLCERT_BLOB, &certificate);
    easy.set(CURLOPT_SSLKEY_BLOB, &key);
  }
  if (tls.insecure) {
    easy.set(CURLOPT_SSL_VERIFYPEER, 0L);
    easy.set(CURLOPT_SSL_VERIFYHOST, 0L);
  }
}

void set_connection(Easy &easy)
{
  easy.set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  easy.set(CURLOPT_NOSIGNAL, 1L);
  easy.set(CURLOPT_CONNECTTIMEOUT_MS, kConnectTimeoutMs);
  easy.set(CURLOPT_TCP_KEEPALIVE, 1L);
  easy.set(CURLOPT_TCP_KEEPIDLE, 30L);
  easy.set(CURLOPT_TCP_KEEPINTVL, 10L);
  easy.set(CURLOPT_SOCKOPTFUNCTION, set_up_socket);
}

void set_method(Easy &easy, const Request &request)
{
  if (request.method != "GET")
    easy.set(CURLOPT_CUSTOMREQUEST, request.method.c_str());
  if (!request.body.empty() || request.method == "POST") {
    easy.set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    easy.set(CURLOPT_POSTFIELDS, request.body.data());
  }
}

void prepare(Transfer &transfer)
{
  Easy &easy = transfer.easy;
  const Request &request = transfer.request;
  set_connection(easy);
  easy.set(CURLOPT_URL, request.url.c_str());
  easy.set(CURLOPT_TIMEOUT_MS, static_cast<long>(request.timeout.count()));
  set_method(easy, request);
  for (const auto &header : request.headers)
    transfer.headers.append(header);
  transfer.headers.append("Expect:");  // no round trip before a body
  easy.set(CURLOPT_HTTPHEADER, transfer.headers.get());
  if (request.tls)
    set_tls(easy, *request.tls);
  if (request.proxy)
    easy.set(CURLOPT_PROXY, request.proxy->c_str());
  if (!request.connect_to.empty()) {
    transfer.connect_to.append("::" + request.connect_to);
    easy.set(CURLOPT_CONNECT_TO, transfer.connect_to.get());
  }
  easy.set(CURLOPT_WRITEFUNCTION, take_body);
  easy.set(CURLOPT_WRITEDATA, static_cast<void *>(&transfer));
  easy.set(CURLOPT_PRIVATE, static_cast<void *>(&transfer));
  easy.set(CURLOPT_ERRORBUFFER, static_cast<char *>(transfer.error));
}

Response response_of(Transfer &transfer, CURLcode code)
{
  Response response;
  response.status = transfer.easy.info<long>(CURLINFO_RESPONSE_CODE);
  response.seconds =
      static_cast<double>(transfer.easy.info<curl_off_t>(CURLINFO_TOTAL_TIME_T)) / 1e6;
  if (const auto wait = transfer.easy.info<curl_off_t>(CURLINFO_RETRY_AFTER); wait > 0)
    response.retry_after = std::chrono::seconds(wait);
  if (transfer.too_large)
    response.error =
        "the answer is larger than " + std::to_string(transfer.request.max_body) + " bytes";
  else if (transfer.no_memory)
    response.error = "out of memory";
  else if (code != CURLE_OK)
    response.error = transfer.error[0] != '\0' ? transfer.error : curl_easy_strerror(code);
  response.body = std::move(transfer.received);
  return response;
}

}  // namespace

void Easy::check(CURLcode code)
{
  if (code != CURLE_OK)
    throw std::runtime_error(std::string("curl_easy_setopt: ") + curl_easy_strerror(code));
}

struct Transfers::Impl {
  Loop &loop;
  CURLM *multi;
  Id last_id = 0;
  std::map<Id, std::shared_ptr<Transfer>> running;  // shared: a callback may cancel its own
  std::vector<Id> ready;
  std::exception_ptr failure;  // the first one of a round; thrown when all had their turn

  explicit Impl(Loop &l) : loop(l), multi(static_cast<CURLM *>(l.curl_multi())) {}

  std::shared_ptr<Transfer> find(Id id) const
  {
    const auto found = running.find(id);
    return found == running.end() ? nullptr : found->second;
  }

  std::shared_ptr<Transfer> take(Id id)
  {
    auto transfer = find(id);
    if (transfer) {
      curl_multi_remove_handle(multi, transfer->easy.get());
      running.erase(id);
    }
    return transfer;
  }

  template <typename Fn>
  void call(const Fn &fn) noexcept
  {
    try {
      fn();
    } catch (...) {
      if (!failure)
        failure = std::current_exception();
    }
  }

  void pass_on_data()
  {
    std::vector<Id> batch;
    batch.swap(ready);
    for (const Id id : batch) {
      const auto transfer = find(id);
      if (!transfer)
        continue;
      const std::string data = std::exchange(transfer->received, {});
      call([&] { transfer->request.on_data(data); });
    }
  }

  void finish()
  {
    // libcurl's messages end with their handles, so collect them before any callback.
    std::vector<std::pair<Id, CURLcode>> finished;
    int left = 0;
    while (const CURLMsg *message = curl_multi_info_read(multi, &left)) {
      if (message->msg != CURLMSG_DONE)
        continue;
      void *transfer = nullptr;
      curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
      finished.emplace_back(static_cast<Transfer *>(transfer)->id, message->data.result);
    }
    for (const auto &end : finished) {
      const auto transfer = take(end.first);
      if (transfer)
        call([&] { transfer->done(response_of(*transfer, end.second)); });
    }
  }
};

Transfers::Transfers(Loop &loop) : impl_(std::make_unique<Impl>(loop))
{
  curl_multi_setopt(impl_->multi, CURLMOPT_MAXCONNECTS, kIdleConnections);
  loop.on_curl_done([impl = impl_.get()] {
    impl->pass_on_data();
    impl->finish();
    if (auto failure = std::exchange(impl->failure, nullptr))
      std::rethrow_exception(failure);
  });
}

Transfers::~Transfers()
{
  impl_->loop.on_curl_done(nullptr);
  while (!impl_->running.empty())
    impl_->take(impl_->running.begin()->first);
}

Transfers::Id Transfers::start(Request request, Done done)
{
  auto transfer = std::make_shared<Transfer>();
  transfer->id = ++impl_->last_id;
  transfer->request = std::move(request);
  transfer->done = std::move(done);
  transfer->ready = &impl_->ready;
  prepare(*transfer);
  const auto result = curl_multi_add_handle(impl_->multi, transfer->easy.get());
  if (result != CURLM_OK)
    throw std::runtime_error(std::string("curl_multi_add_handle: ") + curl_multi_strerror(result));
  const Id id = transfer->id;
  impl_->running.emplace(id, std::move(transfer));
  return id;
}

void Transfers::cancel(Id id) { impl_->take(id); }

}  // namespace http
