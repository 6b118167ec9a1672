// SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"
#include "listener_rig.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

using rig::Client;
using rig::Raw;
using rig::Request;
using rig::Response;
using rig::Rig;

namespace {

const std::string kEmpty = protocol::encode_batch({7, 1, {}});

std::string head_of_post(std::size_t length)
{
  return "POST /v1/events HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: " +
         std::to_string(length) + "\r\n\r\n";
}

/// As a process leaves it that is killed.
void leave_socket(const std::string &path)
{
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  path.copy(name.sun_path, sizeof name.sun_path - 1);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  REQUIRE(bind(fd, reinterpret_cast<sockaddr *>(&name), sizeof name) == 0);
  close(fd);
}

/// A loopback address that nobody listens at.
std::string free_address()
{
  sockaddr_in name{};
  socklen_t size = sizeof name;
  name.sin_family = AF_INET;
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  REQUIRE(bind(fd, reinterpret_cast<sockaddr *>(&name), sizeof name) == 0);
  REQUIRE(getsockname(fd, reinterpret_cast<sockaddr *>(&name), &size) == 0);
  close(fd);
  return "127.0.0.1:" + std::to_string(ntohs(name.sin_port));
}

}  // namespace

TEST_CASE("hints arrive as they were sent")
{
  using protocol::HintKind;
  Rig rig;
  rig.listen();
  const protocol::Batch sent{7, 100, {{HintKind::job_end, 42}, {HintKind::nodes_changed, 0}}};
  const Response response = rig.post(protocol::encode_batch(sent));
  CHECK(response.status == 204);
  CHECK(response.body.empty());
  REQUIRE(rig.batches.size() == 1);
  CHECK(rig.batches[0].epoch == 7);
  CHECK(rig.batches[0].seq == 100);
  REQUIRE(rig.batches[0].hints.size() == 2);
  CHECK(rig.batches[0].hints[0].kind == HintKind::job_end);
  CHECK(rig.batches[0].hints[0].job_id == 42);
  CHECK(rig.batches[0].hints[1].kind == HintKind::nodes_changed);
}

TEST_CASE("a body that is no batch is refused and nobody hears of it")
{
  Rig rig;
  rig.listen();
  for (const std::string &body :
       {std::string(), std::string("{"), std::string("[]"), std::string("{}"),
        std::string(R"({"v":2,"epoch":1,"seq":1,"events":[]})"),
        std::string(R"({"v":1,"epoch":1,"seq":1,"events":[{"type":"job_end"}]})"),
        std::string(100'000, '['), std::string("\0", 1)}) {
    INFO(body.substr(0, 60));
    CHECK(rig.post(body).status == 400);
  }
  CHECK(rig.batches.empty());
}

TEST_CASE("a body may have 256 KiB and not a byte more")
{
  Rig rig;
  rig.listen();
  std::string body = kEmpty;
  body.resize(protocol::kMaxBatchBytes, ' ');
  CHECK(rig.post(body).status == 204);
  CHECK(rig.post(body + " ").status == 413);
  CHECK(rig.post(body, {"Transfer-Encoding: chunked"}).status == 204);
  CHECK(rig.post(body + " ", {"Transfer-Encoding: chunked"}).status == 413);
  CHECK(rig.post(std::string(8 << 20, 'x')).status == 413);
  CHECK(rig.batches.size() == 2);
}

TEST_CASE("requests on one connection know nothing of each other")
{
  Rig rig;
  rig.listen();
  std::vector<long> statuses;
  rig.talk([&] {
    Client client(rig.address);
    for (const std::string &body : {std::string(300'000, 'x'), kEmpty, std::string("{"), kEmpty})
      statuses.push_back(client.send({"POST", "/v1/events", body}).status);
    statuses.push_back(client.send({"GET", "/healthz"}).status);
  });
  CHECK(statuses == std::vector<long>{413, 204, 400, 204, 200});
  CHECK(rig.batches.size() == 2);
}

TEST_CASE("a body that comes in pieces is put together")
{
  Rig rig;
  rig.listen();
  std::string answer;
  rig.talk([&] {
    Raw raw(rig.socket_path);
    raw.say(head_of_post(kEmpty.size()));
    for (const char c : kEmpty)
      raw.say(std::string(1, c));
    answer = raw.rest();
  });
  CHECK(answer.find(" 204 ") != std::string::npos);
  CHECK(rig.batches.size() == 1);
}

TEST_CASE("a body that breaks off is not heard, and the listener goes on")
{
  Rig rig;
  rig.listen();
  rig.talk([&] {
    Raw raw(rig.socket_path);
    raw.say(head_of_post(kEmpty.size() + 1) + kEmpty);
  });
  CHECK(rig.send({"GET", "/healthz"}).status == 200);
  CHECK(rig.batches.empty());
}

TEST_CASE("what is no HTTP gets no further than its own connection")
{
  Rig rig;
  rig.listen();
  std::string answer;
  rig.talk([&] {
    Raw raw(rig.socket_path);
    raw.say("\x16\x03\x01 hello\r\n\r\n");
    answer = raw.rest();
  });
  CHECK(answer.find(" 200 ") == std::string::npos);
  CHECK(rig.send({"GET", "/healthz"}).status == 200);
}

TEST_CASE("each page answers to its methods and to no others")
{
  Rig rig;
  rig.listen();
  struct Row {
    Request request;
    long status;
  };
  for (const auto &[request, status] :
       {Row{{"GET", "/healthz"}, 200}, Row{{"HEAD", "/healthz"}, 200},
        Row{{"GET", "/healthz?verbose"}, 200}, Row{{"POST", "/healthz", "x"}, 405},
        Row{{"DELETE", "/readyz"}, 405}, Row{{"POST", "/metrics", kEmpty}, 405},
        Row{{"GET", "/v1/events"}, 405}, Row{{"HEAD", "/v1/events"}, 405},
        Row{{"PUT", "/v1/events", kEmpty}, 405}, Row{{"DELETE", "/v1/events"}, 405},
        Row{{"POST", "/v1/events/", kEmpty}, 405}, Row{{"GET", "/"}, 404},
        Row{{"GET", "/metrics/"}, 404}, Row{{"GET", "/v2/events"}, 404}}) {
    INFO(request.method << " " << request.path);
    CHECK(rig.send(request).status == status);
  }
  CHECK(rig.batches.empty());
}

TEST_CASE("readiness follows the sidecar, health does not")
{
  Rig rig;
  rig.listen();
  CHECK(rig.send({"GET", "/readyz"}).status == 200);
  rig.ready = false;
  CHECK(rig.send({"GET", "/readyz"}).status == 503);
  CHECK(rig.send({"GET", "/healthz"}).status == 200);
}

TEST_CASE("metrics are those of the moment, in Prometheus' text format, however long")
{
  Rig rig;
  rig.listen();
  Response response = rig.send({"GET", "/metrics"});
  CHECK(response.status == 200);
  CHECK(response.type == "text/plain; version=0.0.4");
  CHECK(response.body == "some 1\n");
  rig.metrics = std::string(1 << 20, 'x');
  CHECK(rig.send({"GET", "/metrics"}).body == rig.metrics);
}

TEST_CASE("a failure while hints are taken costs that request only")
{
  Rig rig;
  rig.listen();
  rig.fail = true;
  CHECK(rig.post(kEmpty).status == 0);
  rig.fail = false;
  CHECK(rig.post(kEmpty).status == 204);
}

TEST_CASE("the listener can go while requests are under way")
{
  Rig rig;
  rig.listen();
  std::unique_ptr<Raw> raw;
  rig.talk([&] {
    raw = std::make_unique<Raw>(rig.socket_path);
    raw->say(head_of_post(100) + "{");
    Client(rig.address).send({"GET", "/healthz"});
  });
  rig.listener.reset();
  rig.talk([] {});
  CHECK(rig.batches.empty());
}

TEST_CASE("a socket that a killed sidecar left behind is replaced, and ours is removed at the end")
{
  Rig rig;
  leave_socket(rig.socket_path);
  rig.listen();
  CHECK(rig.send({"GET", "/healthz"}).status == 200);
  rig.listener.reset();
  CHECK_FALSE(std::filesystem::exists(rig.socket_path));
}

TEST_CASE("whatever else lies at the path stays there")
{
  Rig rig;
  std::ofstream(rig.socket_path) << "precious";
  CHECK_THROWS_WITH(rig.listen(), Catch::Matchers::StartsWith("listener " + rig.address +
                                                              ": something that is no socket"));
  std::string text;
  std::ifstream(rig.socket_path) >> text;
  CHECK(text == "precious");
}

TEST_CASE("what took the place of our socket stays there at the end")
{
  Rig rig;
  rig.listen();
  std::filesystem::remove(rig.socket_path);
  std::ofstream(rig.socket_path) << "precious";
  rig.listener.reset();
  CHECK(std::filesystem::exists(rig.socket_path));
}

TEST_CASE("the group of the socket may connect, others may not")
{
  Rig rig;
  rig.listen();
  using std::filesystem::perms;
  CHECK(std::filesystem::status(rig.socket_path).permissions() ==
        (perms::owner_read | perms::owner_write | perms::group_read | perms::group_write));
}

TEST_CASE("an address of this machine works like a socket")
{
  Rig rig;
  const std::string address = free_address();
  rig.listen(address);
  Response response;
  rig.talk([&] { response = Client(address).send({"POST", "/v1/events", kEmpty}); });
  CHECK(response.status == 204);
}

TEST_CASE("an address that cannot be had is named")
{
  Rig rig, other;
  const std::string address = free_address();
  rig.listen(address);
  for (const std::string &wanted :
       {address, std::string("127.example.org:80"), std::string("unix:/nowhere/socket"),
        "unix:/" + std::string(200, 'x')}) {
    try {
      Listener(rig.loop, {wanted, "", "", ""}, {});
      FAIL("listens at " << wanted);
    } catch (const std::runtime_error &error) {
      CHECK(std::string(error.what()).find(wanted) != std::string::npos);
    }
  }
}
