// SPDX-License-Identifier: Apache-2.0
#include "config.hpp"

#include <arpa/inet.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>

#include <yaml-cpp/yaml.h>

#include "values.hpp"
#include "wellknown.hpp"

namespace {

constexpr std::size_t kMaxFile = 1 << 20;

class Reader {
public:
  explicit Reader(ParsedConfig &out) : out_(out) {}

  using Rows = std::vector<std::pair<const char *, std::function<void(const YAML::Node &)>>>;

  void fail(const YAML::Node &at, const std::string &what)
  {
    // A value that is not there has the place of whatever follows it.
    fail(at.IsNull() ? key_mark_ : at.Mark(), what);
  }

  void fail(const YAML::Mark &mark, const std::string &what)
  {
    out_.errors.push_back(out_.file + ":" + std::to_string(line_of(mark)) + ": " +
                          (key_.empty() ? "" : key_ + ": ") + what);
  }

  /// Each key of a mapping goes to its row; unknown and repeated keys are errors.
  void section(const YAML::Node &node, const Rows &rows)
  {
    if (!node.IsMap())
      return fail(node, "must be a mapping");
    const std::string outer = key_;
    std::set<std::string> seen;
    for (const auto &entry : node) {
      const std::string name = entry.first.IsScalar() ? entry.first.Scalar() : "";
      key_ = outer.empty() ? name : outer + "." + name;
      key_mark_ = entry.first.Mark();
      const auto row =
          std::find_if(rows.begin(), rows.end(), [&](const auto &r) { return r.first == name; });
      if (row == rows.end())
        fail(entry.first, "unknown key");
      else if (!seen.insert(name).second)
        fail(entry.first, "is there twice");
      else {
        out_.lines[key_] = line_of(key_mark_);
        row->second(entry.second);
      }
    }
    key_ = outer;
  }

  std::string text(const YAML::Node &node)
  {
    if (node.IsScalar() && !node.Scalar().empty())
      return node.Scalar();
    fail(node, "must be text");
    return {};
  }

  std::vector<std::string> list(const YAML::Node &node)
  {
    std::vector<std::string> all;
    if (!node.IsSequence()) {
      fail(node, "must be a list");
      return all;
    }
    for (const auto &item : node)
      all.push_back(text(item));
    return all;
  }

  int number(const YAML::Node &node, int least, int most)
  {
    const std::string value = node.IsScalar() ? node.Scalar() : "";
    const auto parsed = values::parse_number<int>(value, least, most);
    if (!parsed)
      fail(node,
           "must be a whole number from " + std::to_string(least) + " to " + std::to_string(most));
    return parsed.value_or(least);
  }

  template <typename T, std::size_t N>
  T choice(const YAML::Node &node, const std::array<std::pair<const char *, T>, N> &choices)
  {
    const std::string value = node.IsScalar() ? node.Scalar() : "";
    std::string names;
    for (const auto &[name, result] : choices) {
      if (value == name)
        return result;
      names += (names.empty() ? "" : ", ") + std::string(name);
    }
    fail(node, "must be one of " + names);
    return choices.front().second;
  }

private:
  static int line_of(const YAML::Mark &mark) { return mark.is_null() ? 1 : mark.line + 1; }

  ParsedConfig &out_;
  std::string key_;
  YAML::Mark key_mark_;  // of the key that was read last
};

bool is_address(const std::string &host)
{
  in6_addr parsed{};
  if (host.starts_with('[') && host.ends_with(']'))
    return inet_pton(AF_INET6, host.substr(1, host.size() - 2).c_str(), &parsed) == 1;
  return inet_pton(AF_INET, host.c_str(), &parsed) == 1;
}

/// "" or what is wrong.
std::string check_address(const std::string &address)
{
  constexpr std::size_t kMaxPath = sizeof(sockaddr_un::sun_path) - 1;
  if (address.starts_with("unix:"))
    return address.size() > 6 && address.size() <= 5 + kMaxPath && address[5] == '/'
               ? ""
               : "must be unix: and an absolute path of at most " + std::to_string(kMaxPath) +
                     " bytes";
  const auto colon = address.rfind(':');
  const std::string host = address.substr(0, colon == std::string::npos ? 0 : colon);
  const std::string port = colon == std::string::npos ? "" : address.substr(colon + 1);
  if (!values::parse_number<int>(port, 1, 65535))
    return "must be ADDRESS:PORT or unix:/path";
  return is_address(host) ? "" : "must be an IP address (IPv6 in brackets) and a port";
}

/// What the keys of the listener mean for each other. Without TLS only this machine may be heard.
void check_listener(Reader &in, const YAML::Node &root, const Config &config)
{
  const std::string &address = config.listen_address;
  const bool local = address.starts_with("unix:");
  const bool loopback = address.starts_with("127.") || address.starts_with("[::1]:");
  if (config.cert_file.empty() != config.key_file.empty())
    in.fail(root["listener"], "listener.certFile and keyFile: one without the other is of no use");
  else if (!local && !loopback && config.cert_file.empty())
    in.fail(root["listener"]["address"],
            "listener.address: must be a loopback address (127.0.0.1 or [::1]) without certFile "
            "and keyFile");
  if (config.token_file.empty() && !local)
    in.fail(root, "listener.tokenFile: is missing; only a unix: address works without");
}

Reader::Rows kubernetes_rows(Reader &in, Config &out)
{
  return {{"kubeconfig", [&](const YAML::Node &n) { out.kubeconfig = in.text(n); }},
          {"schedulerNames",
           [&](const YAML::Node &n) {
             out.scheduler_names = in.list(n);
             if (out.scheduler_names.empty())
               in.fail(n, "must not be empty");
           }},
          {"namespaces", [&](const YAML::Node &n) { out.namespaces = in.list(n); }},
          {"maxInFlightWrites",
           [&](const YAML::Node &n) { out.max_in_flight_writes = in.number(n, 1, 256); }}};
}

Reader::Rows slurm_rows(Reader &in, Config &out)
{
  return {{"conf", [&](const YAML::Node &n) { out.slurm_conf = in.text(n); }},
          {"threads", [&](const YAML::Node &n) { out.slurm_threads = in.number(n, 1, 64); }},
          {"pollSeconds", [&](const YAML::Node &n) {
             out.poll_interval = std::chrono::seconds(in.number(n, 1, 3600));
           }}};
}

Reader::Rows listener_rows(Reader &in, Config &out)
{
  return {{"address",
           [&](const YAML::Node &n) {
             const std::string address = in.text(n);
             if (const std::string problem = check_address(address); !problem.empty())
               in.fail(n, problem);
             else
               out.listen_address = address;
           }},
          {"tokenFile", [&](const YAML::Node &n) { out.token_file = in.text(n); }},
          {"certFile", [&](const YAML::Node &n) { out.cert_file = in.text(n); }},
          {"keyFile", [&](const YAML::Node &n) { out.key_file = in.text(n); }}};
}

Reader::Rows log_rows(Reader &in, Config &out)
{
  using logging::Format;
  using logging::Level;
  return {{"level",
           [&](const YAML::Node &n) {
             out.log_level = in.choice<Level, 4>(n, {{{"debug", Level::debug},
                                                      {"info", Level::info},
                                                      {"warn", Level::warn},
                                                      {"error", Level::error}}});
           }},
          {"format", [&](const YAML::Node &n) {
             out.log_format =
                 in.choice<Format, 2>(n, {{{"text", Format::text}, {"json", Format::json}}});
           }}};
}

void read_root(Reader &in, const YAML::Node &root, Config &out)
{
  in.section(
      root,
      {
          {"clusterId",
           [&](const YAML::Node &n) {
             out.cluster_id = in.text(n);
             if (!out.cluster_id.empty() && !values::is_cluster_id(out.cluster_id))
               in.fail(n, "may have 1 to 63 letters, digits, '-', '_' and '.'");
           }},
          {"kubernetes", [&](const YAML::Node &n) { in.section(n, kubernetes_rows(in, out)); }},
          {"slurm", [&](const YAML::Node &n) { in.section(n, slurm_rows(in, out)); }},
          {"listener", [&](const YAML::Node &n) { in.section(n, listener_rows(in, out)); }},
          {"log", [&](const YAML::Node &n) { in.section(n, log_rows(in, out)); }},
      });
  if (!root["clusterId"])
    in.fail(root, "clusterId: is missing");
  check_listener(in, root, out);
}

}  // namespace

std::string ParsedConfig::place(const std::string &key) const
{
  const auto line = lines.find(key);
  return file + (line == lines.end() ? "" : ":" + std::to_string(line->second)) + ": " + key + ": ";
}

ParsedConfig parse_config(const std::string &text, const std::string &file)
{
  ParsedConfig out;
  out.config.scheduler_names = {wellknown::kDefaultSchedulerName};
  out.file = file;
  Reader reader(out);
  try {
    const YAML::Node root = YAML::Load(text);
    if (root.IsMap())
      read_root(reader, root, out.config);
    else
      reader.fail(root, "must be a mapping");
  } catch (const YAML::Exception &error) {
    reader.fail(error.mark, error.msg);
  }
  return out;
}

ParsedConfig read_config(const std::string &file)
{
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  std::string text(kMaxFile + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (!in.is_open() || in.bad() || (text.empty() && errno != 0))
    return {{}, {file + ": " + std::strerror(errno)}, file, {}};
  if (text.size() > kMaxFile)
    return {{}, {file + ": is larger than 1 MiB"}, file, {}};
  return parse_config(text, file);
}
