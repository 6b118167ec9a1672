// SPDX-License-Identifier: Apache-2.0
#include "http/transfers.hpp"

#include <string>
#include <vector>

#include "catch.hpp"
#include "server.hpp"
#include "loop.hpp"

namespace {

using std::chrono::milliseconds;

struct Scene {
  /// The answer to a request that is made now.
  http::Response ask(http::Request request)
  {
    http::Response out;
    bool done = false;
    transfers.start(std::move(request), [&](http::Response response) {
      out = std::move(response);
      done = true;
    });
    CHECK_FALSE(done);  // never from within start()
    REQUIRE(fake::run_until(loop, [&] { return done; }));
    return out;
  }
  http::Request get(const std::string &path = "/")
  {
    http::Request request;
    request.url = server.url() + path;
    request.proxy = "";
    return request;
  }

  Loop loop;
  fake::Server server{loop};
  http::Transfers transfers{loop};
};

}  // namespace

TEST_CASE("method, headers and body go out as asked, and the answer comes back whole")
{
  Scene scene;
  scene.server.answer(201, "made");
  http::Request request = scene.get("/things");
  request.method = "POST";
  request.headers = {"X-One: 1", "Content-Type: application/json"};
  request.body = "{}";
  const http::Response response = scene.ask(request);
  CHECK(response.ok());
  CHECK(response.status == 201);
  CHECK(response.body == "made");
  const fake::Request &seen = scene.server.requests().at(0);
  CHECK(seen.method == "POST");
  CHECK(seen.target == "/things");
  CHECK(seen.body == "{}");
  CHECK(seen.header("x-one") == "1");
  CHECK(seen.header("content-type") == "application/json");
  CHECK(seen.header("expect").empty());
}

TEST_CASE("a POST without a body and a DELETE with one are what they say")
{
  Scene scene;
  scene.server.answer(200);
  scene.server.answer(200);
  http::Request post = scene.get(), del = scene.get();
  post.method = "POST";
  del.method = "DELETE";
  del.body = "why";
  scene.ask(post);
  scene.ask(del);
  CHECK(scene.server.requests().at(0).header("content-length") == "0");
  CHECK(scene.server.requests().at(1).method == "DELETE");
  CHECK(scene.server.requests().at(1).body == "why");
}

TEST_CASE("requests one after the other share a connection, at the same time they do not")
{
  Scene scene;
  for (int i = 0; i < 3; ++i)
    scene.server.answer(200);
  for (int i = 0; i < 3; ++i)
    scene.ask(scene.get());
  CHECK(scene.server.connections() == 1);

  std::vector<fake::Reply> waiting;
  for (int i = 0; i < 2; ++i)
    scene.server.expect([&](const fake::Request &, const fake::Reply &r) { waiting.push_back(r); });
  int done = 0;
  for (int i = 0; i < 2; ++i)
    scene.transfers.start(scene.get(), [&](const http::Response &) { ++done; });
  REQUIRE(fake::run_until(scene.loop, [&] { return waiting.size() == 2; }));
  CHECK(scene.server.connections() == 2);
  for (const fake::Reply &reply : waiting)
    reply.send(200);
  REQUIRE(fake::run_until(scene.loop, [&] { return done == 2; }));
}

TEST_CASE("a refusal has its status, body and Retry-After")
{
  Scene scene;
  scene.server.answer(429, "slow down", "Retry-After: 7\r\n");
  const http::Response response = scene.ask(scene.get());
  CHECK_FALSE(response.ok());
  CHECK(response.error.empty());
  CHECK(response.status == 429);
  CHECK(response.body == "slow down");
  CHECK(response.retry_after == std::chrono::seconds(7));
}

TEST_CASE("a body over the limit is an error, one at the limit is not")
{
  Scene scene;
  scene.server.answer(200, std::string(100, 'x'));
  scene.server.answer(200, std::string(101, 'x'));
  http::Request request = scene.get();
  request.max_body = 100;
  CHECK(scene.ask(request).body.size() == 100);
  CHECK(scene.ask(request).error == "the answer is larger than 100 bytes");
}

TEST_CASE("no server, no answer, half an answer: each has an error and is not ok")
{
  Scene scene;
  http::Request nobody = scene.get();
  nobody.url = "http://127.0.0.1:1/";
  CHECK(scene.ask(nobody).status == 0);
  CHECK_FALSE(scene.ask(nobody).error.empty());

  http::Request impatient = scene.get();
  impatient.timeout = milliseconds(30);
  CHECK_FALSE(scene.ask(impatient).error.empty());  // the script is empty: no answer

  scene.server.otherwise([](const fake::Request &, const fake::Reply &reply) {
    reply.raw("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
    reply.cut();
  });
  const http::Response half = scene.ask(scene.get());
  CHECK(half.status == 200);
  CHECK_FALSE(half.error.empty());
  CHECK_FALSE(half.ok());

  scene.server.otherwise([](const fake::Request &, const fake::Reply &reply) {
    reply.raw("this is not HTTP\r\n\r\n");
    reply.cut();
  });
  CHECK_FALSE(scene.ask(scene.get()).ok());
}

TEST_CASE("a streamed answer comes as it is sent, and its body is not kept")
{
  Scene scene;
  std::string got;
  std::unique_ptr<fake::Reply> reply;
  scene.server.expect([&](const fake::Request &, const fake::Reply &r) {
    reply = std::make_unique<fake::Reply>(r);
    r.begin();
    r.piece("one");
  });
  http::Request request = scene.get();
  request.max_body = 4;  // not for streams
  request.on_data = [&](std::string_view data) { got += data; };
  std::optional<http::Response> end;
  scene.transfers.start(request, [&](http::Response response) { end = std::move(response); });
  REQUIRE(fake::run_until(scene.loop, [&] { return got == "one"; }));
  CHECK_FALSE(end);
  reply->piece("two");
  reply->end();
  REQUIRE(fake::run_until(scene.loop, [&] { return end.has_value(); }));
  CHECK(got == "onetwo");
  CHECK(end->ok());
  CHECK(end->body.empty());
}

TEST_CASE("an error answer to a stream is a body, not data")
{
  Scene scene;
  scene.server.answer(410, "gone");
  http::Request request = scene.get();
  bool data = false;
  request.on_data = [&](std::string_view) { data = true; };
  const http::Response response = scene.ask(request);
  CHECK(response.status == 410);
  CHECK(response.body == "gone");
  CHECK_FALSE(data);
}

TEST_CASE("a cancelled request is silent, also when its own data cancels it")
{
  Scene scene;
  bool done = false;
  int pieces = 0;
  http::Transfers::Id id = 0;
  scene.server.expect([](const fake::Request &, const fake::Reply &r) {
    r.begin();
    r.piece("one");
    r.piece("two");
    r.end();
  });
  http::Request request = scene.get();
  request.on_data = [&](std::string_view) {
    ++pieces;
    scene.transfers.cancel(id);
  };
  id = scene.transfers.start(request, [&](const http::Response &) { done = true; });
  REQUIRE(fake::run_until(scene.loop, [&] { return pieces > 0; }));
  fake::settle(scene.loop);
  CHECK(pieces == 1);
  CHECK_FALSE(done);
  scene.transfers.cancel(id);
  scene.transfers.cancel(0);
}

TEST_CASE("an answer may start the next request")
{
  Scene scene;
  scene.server.answer(200, "first");
  scene.server.answer(200, "second");
  std::string second;
  scene.transfers.start(scene.get(), [&](const http::Response &) {
    scene.transfers.start(scene.get(),
                          [&](const http::Response &response) { second = response.body; });
  });
  REQUIRE(fake::run_until(scene.loop, [&] { return !second.empty(); }));
  CHECK(second == "second");
}

TEST_CASE("an exception in one answer's handler does not keep the next from coming")
{
  Scene scene;
  scene.server.answer(200);
  scene.server.answer(200);
  int done = 0;
  for (int i = 0; i < 2; ++i)
    scene.transfers.start(scene.get(), [&](const http::Response &) {
      ++done;
      throw std::runtime_error("on purpose");
    });
  CHECK(fake::run_until(scene.loop, [&] { return done == 2; }));
}

TEST_CASE("connect_to goes elsewhere than the URL says, and the server sees the URL's host")
{
  Scene scene;
  scene.server.answer(200);
  http::Request request = scene.get();
  request.connect_to = scene.server.url().substr(std::string("http://").size());
  request.url = "http://kubernetes.example/x";
  CHECK(scene.ask(request).ok());
  CHECK(scene.server.requests().at(0).header("host") == "kubernetes.example");
}

TEST_CASE("what still runs when the transfers end is never answered")
{
  Loop loop;
  fake::Server server(loop);
  bool done = false;
  {
    http::Transfers transfers(loop);
    http::Request request;
    request.url = server.url();
    request.proxy = "";
    transfers.start(request, [&](const http::Response &) { done = true; });
    REQUIRE(fake::run_until(loop, [&] { return !server.requests().empty(); }));
  }
  fake::settle(loop);
  CHECK_FALSE(done);
}
