// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "controller/reporter.hpp"

namespace {

using kube::Outcome;

/// Keeps what is asked; the test says how it went.
class Writer final : public kube::Writer {
public:
  void bind(const kube::ObjectRef &, const std::string &,
            const std::map<std::string, std::string> &, const std::map<std::string, std::string> &,
            Done) override
  {
  }
  void set_pod_condition(const kube::ObjectRef &, const kube::Condition &condition, std::int64_t,
                         Done done) override
  {
    said.push_back(condition.message);
    answers.push_back(std::move(done));
  }
  void delete_pod(const kube::ObjectRef &, std::optional<std::int64_t>, Done) override {}
  void post_event(const kube::ObjectRef &, const kube::Event &) override { ++events; }

  std::vector<std::string> said;
  std::vector<Done> answers;
  int events = 0;
};

struct Scene {
  Writer writer;
  controller::Reporter reporter{writer};
  kube::Pod pod;

  Scene() { pod.meta.uid = "uid-p"; }
  void waits(const std::string &message) { reporter.waits(pod, "cause", message); }
  void answer(std::size_t i, Outcome outcome) { writer.answers.at(i)({outcome, ""}); }
};

}  // namespace

TEST_CASE("why a pod waits is said once")
{
  Scene scene;
  scene.waits("one");
  scene.answer(0, Outcome::done);
  scene.waits("one");
  CHECK(scene.writer.said == std::vector<std::string>{"one"});
}

TEST_CASE("what could not be written is said again, without another Event")
{
  Scene scene;
  scene.waits("one");
  scene.answer(0, Outcome::failed);
  scene.waits("one");
  CHECK(scene.writer.said == std::vector<std::string>{"one", "one"});
  CHECK(scene.writer.events == 1);
}

TEST_CASE("what was refused for good is not said again and again")
{
  Scene scene;
  scene.waits("one");
  scene.answer(0, GENERATE(Outcome::rejected, Outcome::gone, Outcome::conflict));
  scene.waits("one");
  CHECK(scene.writer.said.size() == 1);
}

TEST_CASE("a failure counts only for what was said last")
{
  Scene scene;
  scene.waits("one");
  scene.waits("two");
  scene.answer(0, Outcome::failed);
  scene.waits("two");
  CHECK(scene.writer.said == std::vector<std::string>{"one", "two"});
  scene.reporter.forget("uid-p");
  scene.answer(1, Outcome::failed);
}
