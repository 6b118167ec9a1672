// SPDX-License-Identifier: Apache-2.0
#include "kube/credentials.hpp"

#include <cstdlib>
#include <string>

#include "catch.hpp"
#include "folder.hpp"
#include "kube/kubeconfig.hpp"

using kube::Credentials;
using kube::CredentialsError;
using kube::load_kubeconfig;

namespace {

const std::string kCluster = R"(
clusters:
- name: c
  cluster: {server: "https://api:6443/", certificate-authority: pki/ca.crt, tls-server-name: kubernetes}
contexts:
- name: x
  context: {cluster: c, user: u}
)";

std::string user(const std::string &fields)
{
  return "users:\n- name: u\n  user: " + fields + "\n";
}

std::string error_of(const Folder &folder, const std::string &text)
{
  try {
    load_kubeconfig({folder.write("config", text)});
  } catch (const CredentialsError &error) {
    return error.what();
  }
  return "";
}

/// Sets a variable of the environment for a while.
class Variable {
public:
  Variable(const char *name, const std::string &value) : name_(name)
  {
    const char *old = std::getenv(name);
    had_ = old != nullptr;
    old_ = had_ ? old : "";
    setenv(name, value.c_str(), 1);
  }
  ~Variable() { had_ ? setenv(name_, old_.c_str(), 1) : unsetenv(name_); }
  Variable(const Variable &) = delete;
  Variable &operator=(const Variable &) = delete;

private:
  const char *name_;
  bool had_ = false;
  std::string old_;
};

}  // namespace

TEST_CASE("a kubeconfig names server, authority and user; its paths are relative to it")
{
  Folder folder;
  const auto path =
      folder.write("config", "current-context: x\n" + kCluster +
                                 user("{client-certificate-data: Y2VydA==, client-key: key.pem}"));
  const Credentials got = load_kubeconfig({path});
  CHECK(got.server == "https://api:6443");
  CHECK(got.tls_server_name == "kubernetes");
  CHECK(got.ca.file == folder.path() + "/pki/ca.crt");
  CHECK(got.certificate.text == "cert");
  CHECK(got.key.file == folder.path() + "/key.pem");
  CHECK(got.source.find("context x") != std::string::npos);
}

TEST_CASE("several files merge, the first that has a name says what it means")
{
  Folder folder;
  const auto first = folder.write("first", "current-context: x\n" + user("{token: one}"));
  const auto second =
      folder.write("second", "current-context: y\n" + kCluster + user("{token: two}"));
  const Credentials got = load_kubeconfig({first, folder.path() + "/absent", second});
  CHECK(got.token.text == "one");
  CHECK(got.server == "https://api:6443");
}

TEST_CASE("a credential plugin is read with its arguments and environment")
{
  Folder folder;
  const auto path = folder.write("config", "current-context: x\n" + kCluster + user(R"(
    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: bin/login
      args: [get-token, "--fast"]
      env: [{name: A, value: b}]
      installHint: install it
      provideClusterInfo: true)"));
  const Credentials got = load_kubeconfig({path});
  REQUIRE(got.exec.has_value());
  CHECK(got.exec->command == folder.path() + "/bin/login");
  CHECK(got.exec->args == std::vector<std::string>{"get-token", "--fast"});
  CHECK(got.exec->env.at(0).second == "b");
  CHECK(got.exec->provide_cluster_info);
}

TEST_CASE("what is wrong with a kubeconfig is said with file and key")
{
  Folder folder;
  const std::string head = "current-context: x\n" + kCluster;
  const struct {
    std::string text, message;
  } cases[] = {
      {kCluster, "current-context: is missing"},
      {"current-context: z\n" + kCluster, "contexts: has no entry named 'z'"},
      {head, "users: has no entry named 'u'"},
      {head + user("{client-key: k}"), "users[u].user.client-certificate: is missing"},
      {head + user("{token: [a]}"), "users[u].user.token: must be text"},
      {head + user("{client-certificate-data: '!', client-key-data: aa}"),
       "client-certificate-data: is not base64"},
      {head + user("{username: me, password: x}"), "username: is no longer supported"},
      {head + user("{exec: {apiVersion: v0, command: c}}"), "exec.apiVersion: must be"},
      {head + user("{exec: {apiVersion: client.authentication.k8s.io/v1}}"), "command: is missing"},
      {head + user("{exec: {apiVersion: client.authentication.k8s.io/v1, command: c, "
                   "interactiveMode: Always}}"),
       "interactiveMode"},
      {"current-context: x\nclusters: [{name: c, cluster: {server: 'api:1'}}]\n"
       "contexts: [{name: x, context: {cluster: c}}]\n",
       "server: must start with https://"},
      {"a: [", "config:"},
      {"just text", "is no kubeconfig"},
  };
  for (const auto &one : cases) {
    const auto error = error_of(folder, one.text);
    INFO(one.message << " in: " << error);
    CHECK(error.find(folder.path() + "/config") == 0);
    CHECK(error.find(one.message) != std::string::npos);
  }
}

TEST_CASE("without a kubeconfig the pod's service account is used")
{
  const Variable none("KUBECONFIG", ""), home("HOME", "/nowhere");
  {
    const Variable host("KUBERNETES_SERVICE_HOST", "fd00::1"),
        port("KUBERNETES_SERVICE_PORT", "443");
    const Credentials got = kube::load_credentials();
    CHECK(got.server == "https://[fd00::1]:443");
    CHECK(got.token.file == "/var/run/secrets/kubernetes.io/serviceaccount/token");
  }
  const Variable host("KUBERNETES_SERVICE_HOST", "");
  CHECK_THROWS_AS(kube::load_credentials(), CredentialsError);
}

TEST_CASE("KUBECONFIG is a list of files")
{
  Folder folder;
  const auto first = folder.write("first", "current-context: x\n" + user("{token: one}"));
  const Variable list("KUBECONFIG", first + "::" + folder.write("second", kCluster));
  CHECK(kube::load_credentials().token.text == "one");
}

TEST_CASE("base64 is decoded, and what is none is refused")
{
  CHECK(kube::decode_base64("").empty());
  CHECK(kube::decode_base64("YQ==") == "a");
  CHECK(kube::decode_base64("YWJj\nZA==") == "abcd");
  CHECK(kube::decode_base64("//79") == "\xff\xfe\xfd");
  CHECK_THROWS_AS(kube::decode_base64("a-b_"), CredentialsError);
}

TEST_CASE("a file that is too large or missing is refused with its name")
{
  Folder folder;
  CHECK(kube::read_small_file(folder.write("empty", "")).empty());
  CHECK(kube::read_small_file(folder.write("small", "x")) == "x");
  for (const auto &path :
       {folder.write("large", std::string((1 << 20) + 1, 'x')), folder.path() + "/absent"}) {
    try {
      kube::read_small_file(path);
      FAIL("it was read: " << path);
    } catch (const CredentialsError &error) {
      CHECK(std::string(error.what()).find(path) == 0);
    }
  }
}
