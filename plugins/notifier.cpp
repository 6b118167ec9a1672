// SPDX-License-Identifier: Apache-2.0
#include "notifier.hpp"

#include <curl/curl.h>

#include <fstream>
#include <new>
#include <utility>

namespace {

constexpr long kConnectMs = 1'000;
constexpr long kTotalMs = 3'000;
constexpr std::size_t kMaxAnswer = 16 * 1024;  ///< nothing in it is of interest
constexpr std::size_t kMaxToken = 4'096;

struct FreeEasy {
  void operator()(CURL *handle) const { curl_easy_cleanup(handle); }
};
struct FreeList {
  void operator()(curl_slist *list) const { curl_slist_free_all(list); }
};

std::string read_token(const std::string &path)
{
  std::string token;
  if (!path.empty())
    std::ifstream(path) >> token;
  return token.size() <= kMaxToken ? token : "";
}

}  // namespace

struct Notifier::Impl {
  std::function<bool()> stopped;
  std::unique_ptr<CURL, FreeEasy> easy;
  std::string url, socket, token_file, ca_file, error;
  std::size_t received = 0;

  static std::size_t receive(char *, std::size_t one, std::size_t count, void *self)
  {
    auto &total = static_cast<Impl *>(self)->received;
    total += one * count;
    return total > kMaxAnswer ? 0 : one * count;
  }

  static int progress(void *self, curl_off_t, curl_off_t, curl_off_t, curl_off_t)
  {
    return static_cast<Impl *>(self)->stopped() ? 1 : 0;
  }

  void set_up()
  {
    easy.reset(curl_easy_init());
    if (!easy)
      throw std::bad_alloc();
    CURL *handle = easy.get();
    curl_easy_setopt(handle, CURLOPT_URL, url.c_str());
    if (!socket.empty())
      curl_easy_setopt(handle, CURLOPT_UNIX_SOCKET_PATH, socket.c_str());
    if (!ca_file.empty())
      curl_easy_setopt(handle, CURLOPT_CAINFO, ca_file.c_str());
    curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(handle, CURLOPT_PROXY, "");  // slurmctld's environment has no say here
    curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS, kConnectMs);
    curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, kTotalMs);
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, &Impl::receive);
    curl_easy_setopt(handle, CURLOPT_WRITEDATA, this);
    curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, &Impl::progress);
    curl_easy_setopt(handle, CURLOPT_XFERINFODATA, this);
    curl_easy_setopt(handle, CURLOPT_NOPROGRESS, 0L);
  }

  bool post(const std::string &body)
  {
    if (!easy)
      set_up();
    curl_slist *list = curl_slist_append(nullptr, "Content-Type: application/json");
    list = curl_slist_append(list, "Expect:");
    if (const std::string token = read_token(token_file); !token.empty())
      list = curl_slist_append(list, ("Authorization: Bearer " + token).c_str());
    const std::unique_ptr<curl_slist, FreeList> headers(list);
    received = 0;
    curl_easy_setopt(easy.get(), CURLOPT_HTTPHEADER, headers.get());
    curl_easy_setopt(easy.get(), CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
    curl_easy_setopt(easy.get(), CURLOPT_POSTFIELDS, body.c_str());
    const CURLcode code = curl_easy_perform(easy.get());
    long status = 0;
    curl_easy_getinfo(easy.get(), CURLINFO_RESPONSE_CODE, &status);
    error = code != CURLE_OK ? curl_easy_strerror(code) : "HTTP status " + std::to_string(status);
    return code == CURLE_OK && status >= 200 && status < 300;
  }
};

Notifier::Notifier(std::function<bool()> stopped) : impl_(std::make_unique<Impl>())
{
  impl_->stopped = std::move(stopped);
}

Notifier::~Notifier() = default;

void Notifier::aim(const std::string &url, const std::string &token_file,
                   const std::string &ca_file)
{
  impl_->easy.reset();
  const bool is_unix = url.starts_with("unix:");
  impl_->url = is_unix ? "http://localhost/v1/events" : url;
  impl_->socket = is_unix ? url.substr(5) : "";
  impl_->token_file = token_file;
  impl_->ca_file = ca_file;
}

bool Notifier::post(const std::string &body) { return impl_->post(body); }

const std::string &Notifier::error() const { return impl_->error; }
