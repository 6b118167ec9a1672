// SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <unistd.h>

#include "config.hpp"

using std::chrono::seconds;

namespace {

/// The least that is a configuration, and what else is said on the lines from 3 on.
std::string with(const std::string &more)
{
  return "clusterId: prod-east\nlistener: {address: 'unix:/run/s'}\n" + more;
}

Config accepted(const std::string &text)
{
  const ParsedConfig parsed = parse_config(text, "f.yaml");
  for (const std::string &error : parsed.errors)
    UNSCOPED_INFO(error);
  CHECK(parsed.errors.empty());
  return parsed.config;
}

struct Row {
  std::string text;
  std::string error;  ///< how one of the messages begins
};

void check_errors(const std::vector<Row> &rows)
{
  for (const auto &[text, error] : rows) {
    INFO(text);
    const ParsedConfig parsed = parse_config(text, "f.yaml");
    REQUIRE(parsed.errors.size() == 1);
    CHECK(parsed.errors[0].substr(0, error.size()) == error);
  }
}

class File {
public:
  explicit File(const std::string &text) { std::ofstream(path, std::ios::binary) << text; }
  ~File() { std::filesystem::remove(path); }
  File(const File &) = delete;
  File &operator=(const File &) = delete;

  const std::string path =
      std::filesystem::temp_directory_path() / ("config_test." + std::to_string(getpid()));
};

}  // namespace

TEST_CASE("a cluster id and a way to be heard are enough; the rest has defaults")
{
  const Config config = accepted("clusterId: prod-east\nlistener: {tokenFile: /etc/token}\n");
  CHECK(config.cluster_id == "prod-east");
  CHECK(config.kubeconfig.empty());
  CHECK(config.scheduler_names == std::vector<std::string>{"slurm-bridge-scheduler"});
  CHECK(config.namespaces.empty());
  CHECK(config.max_in_flight_writes == 12);
  CHECK(config.slurm_conf.empty());
  CHECK(config.slurm_threads == 4);
  CHECK(config.poll_interval == seconds(30));
  CHECK(config.listen_address == "127.0.0.1:8090");
  CHECK(config.log_level == logging::Level::info);
  CHECK(config.log_format == logging::Format::text);
}

TEST_CASE("every key reaches its setting")
{
  const Config config = accepted("clusterId: a.b_c-1\n"
                                 "kubernetes:\n"
                                 "  kubeconfig: /k\n"
                                 "  schedulerNames: [one, two]\n"
                                 "  namespaces: [team-a]\n"
                                 "  maxInFlightWrites: 7\n"
                                 "slurm: {conf: /s, threads: 2, pollSeconds: 5}\n"
                                 "listener: {address: '[::1]:80', tokenFile: /t}\n"
                                 "log: {level: debug, format: json}\n");
  CHECK(config.cluster_id == "a.b_c-1");
  CHECK(config.kubeconfig == "/k");
  CHECK(config.scheduler_names == std::vector<std::string>{"one", "two"});
  CHECK(config.namespaces == std::vector<std::string>{"team-a"});
  CHECK(config.max_in_flight_writes == 7);
  CHECK(config.slurm_conf == "/s");
  CHECK(config.slurm_threads == 2);
  CHECK(config.poll_interval == seconds(5));
  CHECK(config.listen_address == "[::1]:80");
  CHECK(config.token_file == "/t");
  CHECK(config.log_level == logging::Level::debug);
  CHECK(config.log_format == logging::Format::json);
}

TEST_CASE("an error names file, line and key")
{
  check_errors({
      {with("log:\n  level: loud\n"), "f.yaml:4: log.level: must be one of debug, info, warn, "},
      {with("log:\n\n\n  format: xml\n"), "f.yaml:6: log.format: must be one of text, json"},
      {with("slurm: {threads: many}\n"), "f.yaml:3: slurm.threads: must be a whole number from 1 "},
      {with("kubernetes:\n  namespaces: team-a\n"), "f.yaml:4: kubernetes.namespaces: must be a "},
  });
}

TEST_CASE("keys that nobody reads are errors, not silently ignored")
{
  check_errors({
      {with("clusterID: x\n"), "f.yaml:3: clusterID: unknown key"},
      {with("log:\n  levels: info\n"), "f.yaml:4: log.levels: unknown key"},
      {with("kubernetes: {slurm: {}}\n"), "f.yaml:3: kubernetes.slurm: unknown key"},
      {with("slurm.threads: 4\n"), "f.yaml:3: slurm.threads: unknown key"},
      {with("[a, b]: 4\n"), "f.yaml:3: unknown key"},
  });
}

TEST_CASE("a key that is there twice is an error, not a matter of order")
{
  check_errors({
      {with("clusterId: other\n"), "f.yaml:3: clusterId: is there twice"},
      {with("log:\n  level: info\n  level: debug\n"), "f.yaml:5: log.level: is there twice"},
  });
}

TEST_CASE("values of another type are errors")
{
  check_errors({
      {with("log: debug\n"), "f.yaml:3: log: must be a mapping"},
      {with("slurm: [a]\n"), "f.yaml:3: slurm: must be a mapping"},
      {with("kubernetes:\n"), "f.yaml:3: kubernetes: must be a mapping"},
      {with("log:\n  level:\n\n  # more\n  format: text\n"), "f.yaml:4: log.level: must be one"},
      {with("kubernetes: {kubeconfig: [a]}\n"), "f.yaml:3: kubernetes.kubeconfig: must be text"},
      {with("kubernetes: {kubeconfig: ''}\n"), "f.yaml:3: kubernetes.kubeconfig: must be text"},
      {with("kubernetes: {kubeconfig: ~}\n"), "f.yaml:3: kubernetes.kubeconfig: must be text"},
      {with("kubernetes: {namespaces: {a: b}}\n"), "f.yaml:3: kubernetes.namespaces: must be a l"},
      {with("kubernetes:\n  namespaces:\n  - a\n  - [b]\n"), "f.yaml:6: kubernetes.namespaces: m"},
      {with("kubernetes: {schedulerNames: []}\n"), "f.yaml:3: kubernetes.schedulerNames: must not"},
      {with("log: {level: [info]}\n"), "f.yaml:3: log.level: must be one of"},
      {with("log: {level: INFO}\n"), "f.yaml:3: log.level: must be one of"},
  });
}

TEST_CASE("numbers are whole and within their limits")
{
  struct Key {
    std::string section, name;
    int most;
  };
  for (const auto &[section, name, most] :
       {Key{"kubernetes", "maxInFlightWrites", 256}, Key{"slurm", "threads", 64},
        Key{"slurm", "pollSeconds", 3600}}) {
    const auto text = [key = section + ": {" + name + ": "](const std::string &value) {
      return with(key + value + "}\n");
    };
    const std::string error = "f.yaml:3: " + section + "." + name +
                              ": must be a whole number from 1 to " + std::to_string(most);
    accepted(text("1"));
    accepted(text(std::to_string(most)));
    for (const std::string &value :
         {std::string("0"), std::string("-1"), std::to_string(most + 1), std::string("1.5"),
          std::string("'2 '"), std::string("0x2"), std::string("2s"), std::string("99999999999"),
          std::string("''"), std::string("~"), std::string("[2]")})
      check_errors({{text(value), error}});
  }
}

TEST_CASE("what cannot be done without is asked for")
{
  check_errors({
      {"listener: {address: 'unix:/run/s'}\n", "f.yaml:1: clusterId: is missing"},
      {"clusterId: c\n", "f.yaml:1: listener.tokenFile: is missing"},
      {"clusterId: c\nlistener: {address: '127.0.0.1:80'}\n", "f.yaml:1: listener.tokenFile: is m"},
  });
  CHECK(parse_config("{}", "f.yaml").errors.size() == 2);
}

TEST_CASE("a cluster id has up to 63 letters, digits and marks that need no quoting")
{
  const std::string rest = "\nlistener: {address: 'unix:/run/s'}\n";
  accepted("clusterId: " + std::string(63, 'x') + rest);
  accepted("clusterId: 42" + rest);
  for (const std::string &id :
       {std::string(64, 'x'), std::string("'a b'"), std::string("a/b"), std::string("\"a\\nb\""),
        std::string("größe"), std::string("''"), std::string("[a]"), std::string("~")})
    check_errors({{"clusterId: " + id + rest, "f.yaml:1: clusterId: m"}});
}

TEST_CASE("without TLS only this machine may be heard")
{
  const auto text = [](const std::string &address) {
    return "clusterId: c\nlistener:\n  tokenFile: /t\n  address: '" + address + "'\n";
  };
  for (const char *address :
       {"127.0.0.1:1", "127.9.9.9:65535", "[::1]:8090", "unix:/a", "unix:/run/a b.sock"})
    CHECK(accepted(text(address)).listen_address == address);
  for (const std::string &address :
       {std::string("0.0.0.0:80"), std::string("10.0.0.1:80"), std::string("[::]:80"),
        std::string("localhost:80"), std::string(":80"), std::string("::1:80"),
        std::string("127.0.0.1"), std::string("127.0.0.1:"), std::string("127.0.0.1:0"),
        std::string("127.0.0.1:65536"), std::string("127.0.0.1:http"), std::string("127.0.0.1:80 "),
        std::string("8090"), std::string("unix:"), std::string("unix:/"),
        std::string("unix:run/sock"), std::string("127.example.org:80"), std::string("127.0.0:80"),
        "unix:/" + std::string(107, 'x')})
    check_errors({{text(address), "f.yaml:4: listener.address: must be"}});
}

TEST_CASE("with TLS anybody may be heard, and a certificate needs its key")
{
  const std::string head = "clusterId: c\nlistener:\n  tokenFile: /t\n";
  for (const char *address : {"0.0.0.0:8443", "10.0.0.1:80", "[::]:8443", "127.0.0.1:1"}) {
    const Config config = accepted(head + "  address: '" + std::string(address) +
                                   "'\n  certFile: /c\n  keyFile: /k\n");
    CHECK(config.listen_address == address);
    CHECK(config.cert_file == "/c");
    CHECK(config.key_file == "/k");
  }
  check_errors({{head + "  certFile: /c\n", "f.yaml:3: listener.certFile and keyFile: one"},
                {head + "  keyFile: /k\n", "f.yaml:3: listener.certFile and keyFile: one"},
                {head + "  certFile: /c\n  keyFile: /k\n  address: localhost:80\n",
                 "f.yaml:6: listener.address: must be an IP address"}});
}

TEST_CASE("text that is no YAML names the line from which on it is none")
{
  check_errors({
      {"clusterId: c\nlog: {level: info\n", "f.yaml:3: "},
      {"clusterId: c\n\tlog: x\n", "f.yaml:2: "},
      {"clusterId: *nobody\n", "f.yaml:1: "},
  });
}

TEST_CASE("text that is no mapping is an error")
{
  check_errors({{"", "f.yaml:1: must be a mapping"},
                {"# nothing\n", "f.yaml:1: must be a mapping"},
                {"- clusterId: c\n", "f.yaml:1: must be a mapping"},
                {"clusterId\n", "f.yaml:1: must be a mapping"}});
}

TEST_CASE("all errors are found in one go")
{
  const ParsedConfig parsed =
      parse_config("clusterId: a b\nlog: {level: x, format: y}\nextra: 1\n", "f.yaml");
  CHECK(parsed.errors.size() == 5);
}

TEST_CASE("a file is read as it is")
{
  const File file(with("log: {level: warn}\n"));
  const ParsedConfig parsed = read_config(file.path);
  CHECK(parsed.errors.empty());
  CHECK(parsed.config.log_level == logging::Level::warn);
}

TEST_CASE("a file that cannot be read says why")
{
  const auto error_of = [](const std::string &path) {
    const ParsedConfig parsed = read_config(path);
    return parsed.errors.size() == 1 ? parsed.errors[0] : "";
  };
  CHECK(error_of("/nowhere/x.yaml") == "/nowhere/x.yaml: No such file or directory");
  CHECK(error_of("/") == "/: Is a directory");
  const File empty("");
  CHECK(error_of(empty.path) == empty.path + ":1: must be a mapping");
}

TEST_CASE("a file of more than 1 MiB is not taken for a configuration")
{
  const std::string text = with("#");
  const File largest(text + std::string((1 << 20) - text.size(), '#'));
  CHECK(read_config(largest.path).errors.empty());
  const File larger(text + std::string((1 << 20) - text.size() + 1, '#'));
  CHECK(read_config(larger.path).errors.size() == 1);
}
