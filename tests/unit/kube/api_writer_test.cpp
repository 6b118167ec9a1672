// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "catch.hpp"
#include "kube/api_writer.hpp"
#include "kube/json.hpp"
#include "rig.hpp"

namespace {

using fake::Reply;
using fake::Request;
using kube::Outcome;

const kube::ObjectRef kPod{"v1", "Pod", "ns", "p", "uid-p"};
const kube::ObjectRef kOther{"v1", "Pod", "ns", "q", "uid-q"};

std::string status(const std::string &message)
{
  return R"({"kind":"Status","message":")" + message + "\"}";
}

http::Response answer(long code, const std::string &body)
{
  http::Response out;
  out.status = code;
  out.body = body;
  return out;
}

struct Scene : rig::Rig {
  kube::ApiWriter writer{client, timers, 2, "sidecar-1"};
  std::vector<Outcome> outcomes;
  std::vector<Reply> open;

  kube::Writer::Done note()
  {
    return [this](const kube::WriteResult &result) { outcomes.push_back(result.outcome); };
  }
  void bind(const kube::ObjectRef &pod = kPod)
  {
    writer.bind(pod, "n1", {{"l", "1"}}, {{"a", "2"}}, note());
  }
  void say(const std::string &condition, const std::string &text)
  {
    writer.set_pod_condition(kPod, {condition, "False", "Reason", text}, 0, note());
  }
  /// Requests stay open until the test answers them.
  void hold_all()
  {
    server.otherwise([this](const Request &, const Reply &reply) { open.push_back(reply); });
  }
  bool outcomes_are(const std::vector<Outcome> &expected)
  {
    return until([&] { return outcomes.size() >= expected.size(); }) && outcomes == expected;
  }
};

}  // namespace

TEST_CASE("a binding carries UID, labels and annotations in one request")
{
  Scene scene;
  scene.server.answer(201, "{}");
  scene.bind();
  REQUIRE(scene.outcomes_are({Outcome::done}));
  const Request &request = scene.server.requests()[0];
  CHECK(request.method == "POST");
  CHECK(request.target == "/api/v1/namespaces/ns/pods/p/binding");
  const kube::json::Document body(request.body);
  const auto meta = body.root()["metadata"];
  CHECK(meta["uid"].string() == "uid-p");
  CHECK(meta["labels"]["l"].string() == "1");
  CHECK(meta["annotations"]["a"].string() == "2");
  CHECK(body.root()["target"]["name"].string() == "n1");
  CHECK(scene.writer.idle());
}

TEST_CASE("answers to a write mean what the API server means by them")
{
  const std::string refused = R"(Operation cannot be fulfilled on pods \"uid\": )";
  const struct {
    long code;
    std::string message;
    Outcome outcome;
  } cases[] = {
      {200, "", Outcome::done},
      {201, "", Outcome::done},
      {404, "pods \\\"p\\\" not found", Outcome::gone},
      {409,
       refused + "StorageError: invalid object, Code: 4, Key: /registry/pods/ns/p, "
                 "ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in "
                 "precondition: a, UID in object meta: b",
       Outcome::gone},
      {409,
       refused + "the UID in the precondition (a) does not match the UID in record (b). The "
                 "object might have been deleted and then recreated",
       Outcome::gone},
      {409,
       refused + "uid mismatch: the provided object specified uid a, and no existing object "
                 "was found",
       Outcome::gone},
      {409, "pod p is already assigned to node \\\"n2\\\"", Outcome::conflict},
      {409, "pod fluid-0 is already assigned to node \\\"n2\\\"", Outcome::conflict},
      {409, "pod fluid-0 is already assigned to node \\\"n1\\\"", Outcome::done},
      {409, "pod uid is being deleted, cannot be assigned to a host", Outcome::conflict},
      {403, "forbidden", Outcome::rejected},
      {422, "invalid", Outcome::rejected},
      {401, "", Outcome::failed},
      {429, "busy", Outcome::failed},
      {500, "oops", Outcome::failed},
      {0, "", Outcome::failed},
  };
  for (const auto &one : cases) {
    INFO(one.code << " " << one.message);
    CHECK(kube::judge_bind(answer(one.code, status(one.message)), "n1").outcome == one.outcome);
  }
}

TEST_CASE("a binding whose answer was lost is found to be done")
{
  Scene scene;
  scene.server.expect([](const Request &, const Reply &reply) { reply.cut(); });
  scene.server.answer(409, status(R"(pod p is already assigned to node \"n1\")"));
  scene.bind();
  CHECK(scene.outcomes_are({Outcome::done}));
}

TEST_CASE("a busy API server is asked again after the time it names, and only so often")
{
  Scene scene;
  SECTION("and takes it then")
  {
    scene.server.answer(429, status("busy"), "Retry-After: 3\r\n");
    scene.server.answer(201, "{}");
    scene.bind();
    REQUIRE(scene.outcomes_are({Outcome::done}));
    REQUIRE(scene.timers.pauses.size() == 1);
    CHECK(scene.timers.pauses[0] >= std::chrono::seconds(3));
  }
  SECTION("and never takes it")
  {
    scene.server.otherwise(
        [](const Request &, const Reply &reply) { reply.send(503, status("away")); });
    scene.bind();
    REQUIRE(scene.outcomes_are({Outcome::failed}));
    CHECK(scene.server.requests().size() == 6);
    CHECK(scene.writer.idle());
  }
}

TEST_CASE("what repetition cannot change is not repeated")
{
  Scene scene;
  scene.server.answer(403, status("no"));
  scene.bind();
  REQUIRE(scene.outcomes_are({Outcome::rejected}));
  CHECK(scene.server.requests().size() == 1);
}

TEST_CASE("bindings and deletions go first, events last, and only so many at one time")
{
  Scene scene;
  scene.hold_all();
  scene.bind();
  scene.bind();
  scene.writer.post_event(kPod, {false, "Scheduled", "Binding", "note"});
  scene.say("PodScheduled", "waits");
  scene.say("DisruptionTarget", "ended");
  scene.bind(kOther);
  scene.writer.delete_pod(kPod, 0, scene.note());
  REQUIRE(scene.until([&] { return scene.open.size() == 2; }));
  fake::settle(scene.loop);
  CHECK(scene.open.size() == 2);
  CHECK(scene.writer.queued() == 5);
  for (std::size_t i = 0; i < 5; ++i) {
    scene.open[i].send(200, "{}");
    REQUIRE(scene.until([&] { return scene.open.size() == i + 3; }));
  }
  const auto &sent = scene.server.requests();
  CHECK(sent[2].body.find("DisruptionTarget") != std::string::npos);
  CHECK(sent[3].target.ends_with("/q/binding"));
  CHECK(sent[4].method == "DELETE");
  CHECK(sent[5].body.find("PodScheduled") != std::string::npos);
  CHECK(sent[6].target.ends_with("/events"));
}

TEST_CASE("of what is said about a pod only the newest is sent, and after what is under way")
{
  Scene scene;
  scene.hold_all();
  for (const char *text : {"one", "two", "three"})
    scene.say("PodScheduled", text);
  CHECK(scene.outcomes == std::vector<Outcome>{Outcome::failed});
  REQUIRE(scene.until([&] { return scene.open.size() == 1; }));
  fake::settle(scene.loop);
  CHECK(scene.open.size() == 1);
  SECTION("the first is not tried again") { scene.open[0].send(503, status("away")); }
  SECTION("the first arrives") { scene.open[0].send(200, "{}"); }
  REQUIRE(scene.until([&] { return scene.open.size() == 2; }));
  scene.open[1].send(200, "{}");
  REQUIRE(scene.until([&] { return scene.outcomes.size() == 3; }));
  CHECK(scene.outcomes[2] == Outcome::done);
  CHECK(scene.server.requests()[1].body.find("three") != std::string::npos);
  CHECK(scene.writer.idle());
}

TEST_CASE("that a pod waits is not said after its binding")
{
  Scene scene;
  scene.hold_all();
  SECTION("where it waits for its turn")
  {
    scene.bind(kOther);
    scene.bind(kOther);
    scene.say("PodScheduled", "waits");
    scene.bind();
    CHECK(scene.outcomes == std::vector<Outcome>{Outcome::failed});
  }
  SECTION("where it would have to be tried again")
  {
    scene.say("PodScheduled", "waits");
    scene.bind();
    REQUIRE(scene.until([&] { return scene.open.size() == 2; }));
    scene.open[0].send(503, status("busy"));
  }
  for (std::size_t i = 0; !scene.writer.idle(); ++i) {
    REQUIRE(scene.until([&] { return scene.open.size() > i; }));
    scene.open[i].send(201, "{}");
    fake::settle(scene.loop);
  }
  CHECK(scene.server.requests().back().target.ends_with("/p/binding"));
}

TEST_CASE("a patch between two tries is dropped when its pod is bound")
{
  Scene scene;
  scene.server.answer(503, status("busy"));
  scene.server.answer(201, "{}");
  scene.timers.hold = true;
  scene.say("PodScheduled", "waits");
  REQUIRE(scene.until([&] { return scene.timers.held.size() == 1; }));
  scene.bind();
  REQUIRE(scene.until([&] { return scene.outcomes.size() == 1; }));
  scene.timers.held[0]();
  CHECK(scene.outcomes == std::vector<Outcome>{Outcome::done, Outcome::failed});
  CHECK(scene.server.requests().size() == 2);
  CHECK(scene.writer.idle());
}

TEST_CASE("a condition is patched strategically, for this incarnation of the pod only")
{
  Scene scene;
  scene.server.answer(200, "{}");
  scene.writer.set_pod_condition(kPod, {"PodScheduled", "False", "Unschedulable", "why"}, 4,
                                 scene.note());
  REQUIRE(scene.outcomes_are({Outcome::done}));
  const Request &request = scene.server.requests()[0];
  CHECK(request.method == "PATCH");
  CHECK(request.header("content-type") == "application/strategic-merge-patch+json");
  const kube::json::Document body(request.body);
  CHECK(body.root()["metadata"]["uid"].string() == "uid-p");
  body.root()["status"]["conditions"].each_item([](kube::json::Value condition) {
    CHECK(condition["message"].string() == "why");
    CHECK(condition["observedGeneration"].integer() == 4);
  });
}

TEST_CASE("a deletion names the incarnation, and the grace period only if there is one")
{
  Scene scene;
  scene.server.answer(200, "{}");
  scene.server.answer(404, status("not found"));
  scene.writer.delete_pod(kPod, std::nullopt, scene.note());
  REQUIRE(scene.outcomes_are({Outcome::done}));
  scene.writer.delete_pod(kPod, 0, scene.note());
  REQUIRE(scene.outcomes_are({Outcome::done, Outcome::gone}));
  const kube::json::Document first(scene.server.requests()[0].body);
  const kube::json::Document second(scene.server.requests()[1].body);
  CHECK(first.root()["preconditions"]["uid"].string() == "uid-p");
  CHECK_FALSE(first.root()["gracePeriodSeconds"].present());
  CHECK(second.root()["gracePeriodSeconds"].integer(-1) == 0);
}

TEST_CASE("an event's note is cut between characters, and its name is one that is allowed")
{
  Scene scene;
  scene.server.answer(201, "{}");
  kube::ObjectRef pod = kPod;
  pod.name = std::string(199, 'a') + ".b";  // ends in a dot where it is cut
  std::string note(1023, 'x');
  note += "\xc3\xa9";
  scene.writer.post_event(pod, {true, "FailedScheduling", "Scheduling", note});
  REQUIRE(scene.until([&] { return scene.writer.idle(); }));
  const kube::json::Document body(scene.server.requests()[0].body);
  CHECK(body.root()["note"].string() == std::string(1023, 'x'));
  const auto name = body.root()["metadata"]["name"].string();
  CHECK(name.size() <= 253);
  CHECK(name.find("..") == std::string::npos);
  CHECK(body.root()["type"].string() == "Warning");
  CHECK(body.root()["regarding"]["uid"].string() == "uid-p");
}

TEST_CASE("events that cannot be written are counted, those of a namespace that goes are not")
{
  Scene scene;
  scene.server.answer(403, status("no"));
  scene.server.answer(404, status("namespaces \\\"ns\\\" not found"));
  scene.writer.post_event(kPod, {false, "A", "B", "c"});
  REQUIRE(scene.until([&] { return scene.writer.idle(); }));
  scene.writer.post_event(kPod, {false, "A", "B", "c"});
  REQUIRE(scene.until([&] { return scene.writer.idle(); }));
  CHECK(scene.writer.lost_events() == 1);
}
