// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <vector>

#include "catch.hpp"
#include "folder.hpp"
#include "rig.hpp"

namespace {

using fake::Reply;
using fake::Request;

/// A client with credentials of the test's own.
struct Scene {
  explicit Scene(kube::Credentials credentials)
  {
    credentials.server = server.url() + credentials.server;
    auth = std::make_unique<kube::Auth>(loop, std::move(credentials));
    client = std::make_unique<kube::Client>(transfers, *auth);
  }

  http::Response get(const std::string &path = "/x")
  {
    http::Response out;
    bool done = false;
    kube::Call call;
    call.path = path;
    client->request(call, [&](const http::Response &response) {
      out = response;
      done = true;
    });
    REQUIRE(fake::run_until(loop, [&] { return done; }));
    return out;
  }
  std::string authorization(std::size_t i) const
  {
    return server.requests().at(i).header("authorization");
  }

  Loop loop;
  fake::Server server{loop};
  http::Transfers transfers{loop};
  std::unique_ptr<kube::Auth> auth;
  std::unique_ptr<kube::Client> client;
};

kube::Credentials with_token_file(const std::string &path)
{
  kube::Credentials out;
  out.token.file = path;
  return out;
}

kube::Credentials with_plugin(const std::string &command)
{
  kube::Credentials out;
  out.exec.emplace();
  out.exec->command = command;
  out.exec->api_version = "client.authentication.k8s.io/v1";
  return out;
}

/// A plugin that prints a token with a number that counts its runs.
std::string counting_plugin(const Folder &folder, const std::string &more = "")
{
  const auto count = folder.write("count", "");
  return folder.write("plugin",
                      "#!/bin/sh\necho x >>" + count + "\nn=$(wc -l <" + count +
                          ")\n"
                          "echo '{\"kind\":\"ExecCredential\",\"apiVersion\":"
                          "\"client.authentication.k8s.io/v1\",\"status\":{\"token\":\"run-'$n'\"" +
                          more + "}}'\n",
                      0755);
}

}  // namespace

TEST_CASE("requests carry the token and say who asks")
{
  Folder folder;
  Scene scene(with_token_file(folder.write("token", "secret\n")));
  scene.server.answer(200, "{}");
  CHECK(scene.get("/api/v1/pods").ok());
  CHECK(scene.authorization(0) == "Bearer secret");
  CHECK(scene.server.requests()[0].target == "/api/v1/pods");
  CHECK_FALSE(scene.server.requests()[0].header("user-agent").empty());
}

TEST_CASE("after 401 a rotated token is read and the request repeated, once")
{
  Folder folder;
  const auto path = folder.write("token", "old");
  Scene scene(with_token_file(path));
  scene.server.expect([&](const Request &, const Reply &reply) {
    folder.write("token", "new");
    reply.send(401);
  });
  SECTION("the new one is good")
  {
    scene.server.answer(200, "{}");
    CHECK(scene.get().status == 200);
    CHECK(scene.authorization(1) == "Bearer new");
  }
  SECTION("the new one is refused, too")
  {
    scene.server.answer(401);
    CHECK(scene.get().status == 401);
    CHECK(scene.server.requests().size() == 2);
  }
}

TEST_CASE("credentials that cannot be read are an answer that names the file")
{
  Scene scene(with_token_file("/nowhere/token"));
  const auto response = scene.get();
  CHECK(response.status == 0);
  CHECK(response.error.find("/nowhere/token") != std::string::npos);
  CHECK(scene.server.requests().empty());
}

TEST_CASE("a credential plugin runs once for many requests, and again after 401")
{
  Folder folder;
  Scene scene(with_plugin(counting_plugin(folder)));
  int answers = 0;
  scene.server.answer(200);
  scene.server.answer(200);
  for (int i = 0; i < 2; ++i)
    scene.client->request({}, [&](const http::Response &) { ++answers; });
  REQUIRE(fake::run_until(scene.loop, [&] { return answers == 2; }));
  CHECK(scene.authorization(0) == "Bearer run-1");
  CHECK(scene.authorization(1) == "Bearer run-1");
  scene.server.answer(401);
  scene.server.answer(200);
  CHECK(scene.get().status == 200);
  CHECK(scene.authorization(3) == "Bearer run-2");
}

TEST_CASE("a credential that has expired is fetched anew before the next request")
{
  Folder folder;
  Scene scene(
      with_plugin(counting_plugin(folder, R"(,"expirationTimestamp":"2001-01-01T00:00:00Z")")));
  scene.server.answer(200);
  scene.server.answer(200);
  scene.get();
  scene.get();
  CHECK(scene.authorization(1) == "Bearer run-2");
}

TEST_CASE("what is wrong with a credential plugin is said with its name")
{
  Folder folder;
  const struct {
    std::string script, message;
  } cases[] = {
      {"exit 3", "wait status"},
      {"echo nothing", "bad JSON"},
      {R"(echo '{"kind":"Other"}')", "no ExecCredential"},
      {R"(echo '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1"}')",
       "neither a token nor a certificate"},
      {"head -c 2000000 /dev/zero", "more than 1 MiB"},
  };
  for (const auto &one : cases) {
    Scene scene(with_plugin(folder.write("bad", "#!/bin/sh\n" + one.script + "\n", 0755)));
    const auto error = scene.get().error;
    INFO(one.script << " -> " << error);
    CHECK(error.find("/bad: ") != std::string::npos);
    CHECK(error.find(one.message) != std::string::npos);
  }
  Scene missing(with_plugin("/nowhere/plugin"));
  CHECK(missing.get().error.find("/nowhere/plugin") != std::string::npos);
}

TEST_CASE("a cancelled request is never answered, not even by its credentials")
{
  Folder folder;
  Scene scene(with_plugin(counting_plugin(folder)));
  bool answered = false;
  const auto id = scene.client->request({}, [&](const http::Response &) { answered = true; });
  scene.client->cancel(id);
  scene.server.answer(200);
  CHECK(scene.get().status == 200);
  CHECK_FALSE(answered);
  CHECK(scene.server.requests().size() == 1);
}

TEST_CASE("a client may go away while its credentials are on their way")
{
  Folder folder;
  Scene scene(with_plugin(counting_plugin(folder)));
  bool ready = false, answered = false;
  scene.client->request({}, [&](const http::Response &) { answered = true; });
  scene.auth->prepare([&](const std::string &) { ready = true; });
  scene.client.reset();
  CHECK(fake::run_until(scene.loop, [&] { return ready; }));
  CHECK_FALSE(answered);
}

TEST_CASE("every answer is observed, the repeated 401 included")
{
  Folder folder;
  Scene scene(with_token_file(folder.write("token", "t")));
  std::vector<long> seen;
  scene.client->observe(
      [&](const kube::Call &, const http::Response &response) { seen.push_back(response.status); });
  scene.server.answer(401);
  scene.server.answer(200);
  scene.get();
  CHECK(seen == std::vector<long>{401, 200});
}

TEST_CASE("the server's path prefix and its TLS name are honoured")
{
  kube::Credentials credentials;
  credentials.server = "/proxy/cluster";
  credentials.tls_server_name = "api.internal";
  Scene scene(credentials);
  scene.server.answer(200);
  CHECK(scene.get("/api").status == 200);
  CHECK(scene.server.requests()[0].target == "/proxy/cluster/api");
  CHECK(scene.server.requests()[0].header("host").starts_with("api.internal"));
}

TEST_CASE("everything but unreserved characters is escaped")
{
  CHECK(kube::escape("aZ9-._~") == "aZ9-._~");
  CHECK(kube::escape("a b/=&\xc3\xa9") == "a%20b%2F%3D%26%C3%A9");
}
