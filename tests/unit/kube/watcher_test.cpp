// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include "catch.hpp"
#include "kube/reflector.hpp"
#include "rig.hpp"

namespace {

using fake::Reply;
using fake::Request;

std::string pod(const std::string &name, int version, const std::string &uid = "")
{
  return R"({"metadata":{"namespace":"ns","name":")" + name + R"(","uid":")" +
         (uid.empty() ? "uid-" + name : uid) + R"(","resourceVersion":")" +
         std::to_string(version) + R"("}})";
}

std::string event(const std::string &type, const std::string &object)
{
  return R"({"type":")" + type + R"(","object":)" + object + "}\n";
}

std::string bookmark(int version, bool end)
{
  return event("BOOKMARK",
               R"({"metadata":{"resourceVersion":")" + std::to_string(version) + "\"" +
                   (end ? R"(,"annotations":{"k8s.io/initial-events-end":"true"})" : "") + "}}");
}

std::string status(int code, const std::string &reason)
{
  return R"({"kind":"Status","code":)" + std::to_string(code) + R"(,"reason":")" + reason +
         R"(","message":"said )" + reason + "\"}";
}

bool has(const Request &request, const std::string &text)
{
  return request.target.find(text) != std::string::npos;
}

/// A reflector of pods and all that it told.
struct Scene : rig::Rig {
  explicit Scene(bool custom = false) : collection{"/api/v1/pods", "spec.nodeName=", "pods", custom}
  {
  }

  const kube::Collection collection;
  std::vector<std::string> told;
  int synced = 0;
  kube::Reflector<kube::Pod> reflector{
      client,
      timers,
      collection,
      {[this](const kube::Pod &p) { told.push_back("+" + p.meta.name); },
       [this](const kube::Pod &p) { told.push_back("-" + p.meta.uid); }, [this] { ++synced; }}};

  /// The next request gets a stream that stays open after `text`.
  void stream(const std::string &text)
  {
    server.expect([this, text](const Request &, const Reply &reply) {
      reply.begin();
      reply.piece(text);
      streams.push_back(reply);
    });
  }
  /// The first stream: two pods and everything is there.
  void start_with_two()
  {
    stream(event("ADDED", pod("a", 1)) + event("ADDED", pod("b", 2)) + bookmark(5, true));
    reflector.start();
    REQUIRE(until([&] { return synced == 1; }));
  }
  bool told_is(const std::vector<std::string> &expected)
  {
    return until([&] { return told.size() >= expected.size(); }) && told == expected;
  }

  std::vector<Reply> streams;
};

}  // namespace

TEST_CASE("one watch brings what exists and then what changes")
{
  Scene scene;
  scene.start_with_two();
  CHECK(has(scene.server.requests()[0], "sendInitialEvents=true"));
  CHECK(has(scene.server.requests()[0], "fieldSelector=spec.nodeName%3D"));
  scene.streams[0].piece(event("MODIFIED", pod("a", 6)) + event("DELETED", pod("b", 7)) +
                         event("ADDED", pod("c", 8)));
  CHECK(scene.told_is({"+a", "+b", "+a", "-uid-b", "+c"}));
  CHECK(scene.reflector.size() == 2);
  CHECK(scene.server.requests().size() == 1);
}

TEST_CASE("a stream that ends goes on from the last bookmark, not from the beginning")
{
  Scene scene;
  scene.start_with_two();
  scene.stream(event("ADDED", pod("c", 43)));
  scene.streams[0].piece(bookmark(42, false));
  scene.streams[0].end();
  CHECK(scene.told_is({"+a", "+b", "+c"}));
  CHECK(has(scene.server.requests()[1], "resourceVersion=42"));
  CHECK_FALSE(has(scene.server.requests()[1], "sendInitialEvents"));
  CHECK(scene.synced == 1);
}

TEST_CASE("a connection that breaks within an object loses nothing")
{
  Scene scene;
  scene.start_with_two();
  scene.stream(event("ADDED", pod("c", 7)) + event("ADDED", pod("d", 8)));
  scene.streams[0].piece(event("MODIFIED", pod("a", 6)) +
                         event("ADDED", pod("c", 7)).substr(0, 30));
  REQUIRE(scene.until([&] { return scene.told.size() == 3; }));
  scene.streams[0].cut();
  CHECK(scene.told_is({"+a", "+b", "+a", "+c", "+d"}));
  CHECK(has(scene.server.requests()[1], "resourceVersion=6"));
}

TEST_CASE("objects arrive whole however the stream is cut into pieces")
{
  Scene scene;
  const std::string text = event("ADDED", pod("a", 1)) + bookmark(5, true);
  scene.server.expect([&](const Request &, const Reply &reply) {
    reply.begin();
    for (const char c : text)
      reply.piece(std::string(1, c));
  });
  scene.reflector.start();
  CHECK(scene.until([&] { return scene.synced == 1; }));
  CHECK(scene.told == std::vector<std::string>{"+a"});
}

TEST_CASE("what went away while nobody watched is told after an expired version")
{
  Scene scene;
  scene.start_with_two();
  scene.stream(event("ADDED", pod("b", 2)) + event("ADDED", pod("c", 90)) + bookmark(91, true));
  scene.streams[0].piece(event("ERROR", status(410, "Expired")));
  REQUIRE(scene.until([&] { return scene.synced == 2; }));
  CHECK(has(scene.server.requests()[1], "sendInitialEvents=true"));
  CHECK(scene.told == std::vector<std::string>{"+a", "+b", "+c", "-uid-a"});
}

TEST_CASE("410 as the answer to a watch begins anew as well")
{
  Scene scene;
  scene.start_with_two();
  scene.server.answer(410, status(410, "Expired"));
  scene.stream(event("ADDED", pod("b", 2)) + bookmark(91, true));
  scene.streams[0].end();
  REQUIRE(scene.until([&] { return scene.synced == 2; }));
  CHECK(scene.told.back() == "-uid-a");
}

TEST_CASE("a server that is busy is left alone for as long as it asks")
{
  Scene scene;
  scene.server.answer(429, status(429, "TooManyRequests"), "Retry-After: 7\r\n");
  scene.stream(event("ADDED", pod("a", 1)) + bookmark(5, true));
  scene.reflector.start();
  REQUIRE(scene.until([&] { return scene.synced == 1; }));
  REQUIRE(scene.timers.pauses.size() == 1);
  CHECK(scene.timers.pauses[0] >= std::chrono::seconds(7));
}

TEST_CASE("pauses between failures grow, within bounds")
{
  Scene scene;
  for (int i = 0; i < 12; ++i)
    scene.server.answer(500, status(500, "InternalError"));
  scene.stream(bookmark(5, true));
  scene.reflector.start();
  REQUIRE(scene.until([&] { return scene.synced == 1; }));
  REQUIRE(scene.timers.pauses.size() == 12);
  CHECK(scene.timers.pauses[0] <= std::chrono::milliseconds(300));
  CHECK(scene.timers.pauses[11] >= std::chrono::seconds(30));
  CHECK(scene.timers.pauses[11] <= std::chrono::seconds(45));
}

TEST_CASE("an API server without WatchList is listed page by page, then watched")
{
  Scene scene;
  scene.server.answer(422, status(422, "Invalid"));
  scene.server.answer(200, R"({"metadata":{"continue":"t/1="},"items":[)" + pod("a", 1) + "]}");
  scene.server.answer(200, R"({"metadata":{"resourceVersion":"9"},"items":[)" + pod("b", 2) + "]}");
  scene.stream(event("ADDED", pod("c", 10)));
  scene.reflector.start();
  CHECK(scene.told_is({"+a", "+b", "+c"}));
  CHECK(scene.synced == 1);
  CHECK(has(scene.server.requests()[2], "continue=t%2F1%3D"));
  CHECK(has(scene.server.requests()[3], "resourceVersion=9"));
}

TEST_CASE("a list whose continue token expires begins anew and forgets nothing")
{
  Scene scene;
  scene.server.answer(400, status(400, "BadRequest"));
  scene.server.answer(200, R"({"metadata":{"continue":"t"},"items":[)" + pod("a", 1) + "]}");
  scene.server.answer(410, status(410, "Expired"));
  scene.server.answer(200, R"({"metadata":{"resourceVersion":"9"},"items":[)" + pod("b", 2) + "]}");
  scene.reflector.start();
  REQUIRE(scene.until([&] { return scene.synced == 1; }));
  CHECK(scene.told == std::vector<std::string>{"+a", "+b", "-uid-a"});
  CHECK_FALSE(has(scene.server.requests()[3], "continue="));
}

TEST_CASE("a custom collection that does not exist yet counts as empty until it does")
{
  Scene scene(true);
  for (int i = 0; i < 3; ++i)
    scene.server.answer(404, "404 page not found");
  scene.server.expect([&](const Request &, const Reply &reply) { scene.streams.push_back(reply); });
  scene.reflector.start();
  REQUIRE(scene.until([&] { return scene.streams.size() == 1; }));
  CHECK(scene.synced == 1);
  CHECK(scene.reflector.absent());
  scene.streams[0].begin();
  scene.streams[0].piece(event("ADDED", pod("a", 1)) + bookmark(5, true));
  REQUIRE(scene.until([&] { return scene.synced == 2; }));
  CHECK_FALSE(scene.reflector.absent());
  CHECK(scene.told == std::vector<std::string>{"+a"});
}

TEST_CASE("one 404 at the start is not believed")
{
  Scene scene(true);
  scene.server.answer(404, "404 page not found");
  scene.server.answer(503, status(503, "ServiceUnavailable"));
  scene.server.answer(404, "404 page not found");
  scene.stream(event("ADDED", pod("a", 1)) + bookmark(5, true));
  scene.reflector.start();
  REQUIRE(scene.until([&] { return scene.synced == 1; }));
  CHECK_FALSE(scene.reflector.absent());
  CHECK(scene.told == std::vector<std::string>{"+a"});
}

TEST_CASE("what is known survives any number of 404s")
{
  const bool custom = GENERATE(false, true);
  Scene scene(custom);
  scene.start_with_two();
  for (int i = 0; i < 10; ++i)
    scene.server.answer(404, "<html>not found</html>");
  scene.stream(event("DELETED", pod("b", 7)));
  scene.streams[0].end();
  CHECK(scene.told_is({"+a", "+b", "-uid-b"}));
  CHECK(scene.synced == 1);
  CHECK_FALSE(scene.reflector.absent());
  CHECK(scene.timers.pauses.back() >= std::chrono::seconds(30));
}

TEST_CASE("a core collection is never absent")
{
  Scene scene;
  for (int i = 0; i < 10; ++i)
    scene.server.answer(404, "404 page not found");
  scene.stream(event("ADDED", pod("a", 1)) + bookmark(5, true));
  scene.reflector.start();
  REQUIRE(scene.until([&] { return scene.synced == 1; }));
  CHECK(scene.told == std::vector<std::string>{"+a"});
  CHECK(scene.server.requests().size() == 11);
}

TEST_CASE("a custom collection whose objects were all deleted may go away")
{
  Scene scene(true);
  scene.start_with_two();
  for (int i = 0; i < 3; ++i)
    scene.server.answer(404, "404 page not found");
  scene.streams[0].piece(event("DELETED", pod("a", 6)) + event("DELETED", pod("b", 7)));
  scene.streams[0].end();
  REQUIRE(scene.until([&] { return scene.synced == 2; }));
  CHECK(scene.reflector.absent());
}

TEST_CASE("a malformed object is passed over and the others arrive")
{
  Scene scene;
  scene.stream(event("ADDED", R"({"metadata":{"namespace":"ns","name":"x","uid":7}})") +
               event("ADDED", pod("b", 2)) + bookmark(5, true));
  scene.reflector.start();
  REQUIRE(scene.until([&] { return scene.synced == 1; }));
  CHECK(scene.told == std::vector<std::string>{"+b"});
}

TEST_CASE("an object that becomes malformed is not taken for deleted")
{
  Scene scene;
  scene.start_with_two();
  scene.stream(event("ADDED", R"({"metadata":{"namespace":"ns","name":"a","uid":7}})") +
               event("ADDED", pod("b", 2)) + bookmark(91, true));
  scene.streams[0].piece(event("ERROR", status(410, "Gone")));
  REQUIRE(scene.until([&] { return scene.synced == 2; }));
  CHECK(scene.told == std::vector<std::string>{"+a", "+b"});
}

TEST_CASE("a name that comes back as another object is a removal and an addition")
{
  Scene scene;
  scene.start_with_two();
  scene.streams[0].piece(event("MODIFIED", pod("a", 9, "uid-second")));
  CHECK(scene.told_is({"+a", "+b", "-uid-a", "+a"}));
}

TEST_CASE("a stream that is no JSON is abandoned and begun again after a pause")
{
  Scene scene;
  scene.stream("<html>proxy</html>");
  scene.stream(event("ADDED", pod("a", 1)) + bookmark(5, true));
  scene.reflector.start();
  REQUIRE(scene.until([&] { return scene.synced == 1; }));
  CHECK(scene.timers.pauses.size() == 1);
  CHECK(scene.timers.pauses[0] >= std::chrono::milliseconds(200));
}

TEST_CASE("an object larger than the limit does not fill the memory")
{
  Scene scene;
  scene.server.expect([](const Request &, const Reply &reply) {
    reply.begin();
    reply.piece(R"({"type":"ADDED","object":{"metadata":{"name":")");
    for (int i = 0; i < 20 && reply.connected(); ++i)
      reply.piece(std::string(1 << 20, 'x'));
  });
  scene.stream(bookmark(5, true));
  scene.reflector.start();
  REQUIRE(scene.until([&] { return scene.synced == 1; }));
  CHECK(scene.told.empty());
}

TEST_CASE("nothing is told after stop")
{
  Scene scene;
  scene.start_with_two();
  scene.reflector.stop();
  scene.streams[0].piece(event("ADDED", pod("c", 6)));
  fake::settle(scene.loop);
  CHECK(scene.told.size() == 2);
  CHECK(scene.server.requests().size() == 1);
}
