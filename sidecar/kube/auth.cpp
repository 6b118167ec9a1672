// SPDX-License-Identifier: Apache-2.0
#include "kube/auth.hpp"

#include <algorithm>
#include <utility>

namespace kube {
namespace {

using std::chrono::seconds;

// Mounted tokens rotate long before they expire; client-go looks once a minute, too.
constexpr auto kFilesGoodFor = seconds(60);
constexpr auto kExpiryLeeway = seconds(10);
constexpr auto kForever = std::chrono::hours(24 * 365);

std::string trim(const std::string &text)
{
  const char *blanks = " \t\r\n";
  const auto from = text.find_first_not_of(blanks);
  return from == std::string::npos ? ""
                                   : text.substr(from, text.find_last_not_of(blanks) - from + 1);
}

/// "https://", "host:port", "/path" of a server's URL.
struct Server {
  std::string scheme, authority, rest;
};

Server split(const std::string &url)
{
  const auto host = url.find("://") + 3, path = std::min(url.find('/', host), url.size());
  Server out{url.substr(0, host), url.substr(host, path - host), url.substr(path)};
  // libcurl keeps the URL's port unless it is told one.
  if (out.authority.find(':', out.authority.rfind(']') + 1) == std::string::npos)
    out.authority += out.scheme == "https://" ? ":443" : ":80";
  return out;
}

bool same(const http::Tls &a, const http::Tls &b)
{
  return a.ca == b.ca && a.certificate == b.certificate && a.key == b.key &&
         a.insecure == b.insecure;
}

}  // namespace

Auth::Auth(Loop &loop, Credentials credentials) : loop_(loop), credentials_(std::move(credentials))
{
}

bool Auth::fresh() const { return Clock::now() < good_until_; }

void Auth::prepare(Ready ready)
{
  if (!running_ && !fresh()) {
    if (credentials_.exec) {
      waiting_.push_back(std::move(ready));
      run_plugin();
      return;
    }
    try {
      read_files();
    } catch (const CredentialsError &error) {
      ready(error.what());
      return;
    }
  }
  if (running_)
    waiting_.push_back(std::move(ready));
  else
    ready("");
}

void Auth::read_files()
{
  http::Tls tls;
  tls.ca = credentials_.ca.read();
  tls.insecure = credentials_.insecure;
  tls.certificate = credentials_.certificate.read();
  tls.key = credentials_.key.read();
  if (!from_plugin_.certificate.empty()) {
    tls.certificate = from_plugin_.certificate;
    tls.key = from_plugin_.key;
  }
  token_ = from_plugin_.token.empty() ? trim(credentials_.token.read()) : from_plugin_.token;
  // Connections are kept per set of certificates: change it only when it did change.
  if (!tls_ || !same(*tls_, tls))
    tls_ = std::make_shared<const http::Tls>(std::move(tls));
  good_until_ = Clock::now() + kFilesGoodFor;
}

void Auth::run_plugin()
{
  running_ = std::make_unique<ExecRun>(
      loop_, credentials_, [this](const std::string &error, const ExecCredential &credential) {
        if (!error.empty())
          return finish(error);
        from_plugin_ = credential;
        try {
          read_files();
        } catch (const CredentialsError &failure) {
          return finish(failure.what());
        }
        good_until_ =
            credential.expires ? *credential.expires - kExpiryLeeway : Clock::now() + kForever;
        finish("");
      });
}

void Auth::finish(const std::string &error)
{
  const auto ended = std::move(running_);
  std::vector<Ready> waiting;
  waiting.swap(waiting_);
  for (const Ready &ready : waiting)
    ready(error);
}

void Auth::apply(http::Request &request, const std::string &path) const
{
  request.url = credentials_.server + path;
  if (!credentials_.tls_server_name.empty()) {
    // The certificate is checked for the URL's host, so that becomes the name it must have.
    const Server server = split(credentials_.server);
    request.connect_to = server.authority;
    request.url = server.scheme + credentials_.tls_server_name + server.rest + path;
  }
  request.tls = tls_;
  request.proxy = credentials_.proxy;
  if (!token_.empty())
    request.headers.push_back("Authorization: Bearer " + token_);
}

void Auth::reject() { good_until_ = {}; }

}  // namespace kube
