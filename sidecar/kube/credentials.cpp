// SPDX-License-Identifier: Apache-2.0
#include "kube/credentials.hpp"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "kube/kubeconfig.hpp"

namespace kube {
namespace {

constexpr std::size_t kMaxFile = 1 << 20;
constexpr char kServiceAccount[] = "/var/run/secrets/kubernetes.io/serviceaccount";

std::string environment(const char *name)
{
  const char *value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::vector<std::string> split_paths(const std::string &list)
{
  std::vector<std::string> paths;
  for (std::size_t start = 0; start <= list.size();) {
    const auto end = std::min(list.find(':', start), list.size());
    if (end > start)
      paths.push_back(list.substr(start, end - start));
    start = end + 1;
  }
  return paths;
}

Credentials in_cluster()
{
  auto host = environment("KUBERNETES_SERVICE_HOST");
  const auto port = environment("KUBERNETES_SERVICE_PORT");
  if (host.empty() || port.empty())
    throw CredentialsError(
        "no kubeconfig is configured, KUBECONFIG is not set, ~/.kube/config does "
        "not exist, and KUBERNETES_SERVICE_HOST says that this is no pod");
  if (host.find(':') != std::string::npos)
    host = "[" + host + "]";
  Credentials out;
  out.source = "in-cluster";
  out.server = "https://" + host + ":" + port;
  out.ca.file = std::string(kServiceAccount) + "/ca.crt";
  out.token.file = std::string(kServiceAccount) + "/token";
  return out;
}

int base64_value(char c)
{
  if (c >= 'A' && c <= 'Z')
    return c - 'A';
  if (c >= 'a' && c <= 'z')
    return c - 'a' + 26;
  if (c >= '0' && c <= '9')
    return c - '0' + 52;
  if (c == '+')
    return 62;
  return c == '/' ? 63 : -1;
}

}  // namespace

std::string decode_base64(std::string_view text)
{
  std::string out;
  unsigned bits = 0;
  int have = 0;
  for (const char c : text) {
    if (c == '=' || c == '\n' || c == '\r' || c == ' ')
      continue;
    const int value = base64_value(c);
    if (value < 0)
      throw CredentialsError("is not base64");
    bits = (bits << 6 | static_cast<unsigned>(value)) & 0xffffffu;
    have += 6;
    if (have >= 8) {
      have -= 8;
      out.push_back(static_cast<char>(bits >> have & 0xffu));
    }
  }
  return out;
}

std::string read_small_file(const std::string &path)
{
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  std::string text(kMaxFile + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  const auto size = static_cast<std::size_t>(in.gcount());
  if (in.bad() || !in.eof() || (size == 0 && errno != 0)) {
    const bool large = size > kMaxFile;
    throw CredentialsError(path + ": " + (large ? "is larger than 1 MiB" : std::strerror(errno)));
  }
  text.resize(size);
  return text;
}

std::string Secret::read() const { return file.empty() ? text : read_small_file(file); }

Credentials load_credentials(const std::string &path)
{
  if (!path.empty())
    return load_kubeconfig({path});
  if (const auto files = split_paths(environment("KUBECONFIG")); !files.empty())
    return load_kubeconfig(files);
  const auto home = environment("HOME");
  if (!home.empty() && std::filesystem::exists(home + "/.kube/config"))
    return load_kubeconfig({home + "/.kube/config"});
  return in_cluster();
}

}  // namespace kube
