// SPDX-License-Identifier: Apache-2.0
// The API server's own speed: one Binding and one Event for each pod of a namespace, as the sidecar
// writes them, with nothing else to do. Prints pods, seconds and pods per second.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "http/transfers.hpp"
#include "kube/api_writer.hpp"
#include "kube/auth.hpp"
#include "kube/client.hpp"
#include "kube/reflector.hpp"
#include "loop.hpp"
#include "wellknown.hpp"

namespace {

using Clock = std::chrono::steady_clock;

class Bench {
public:
  Bench(const std::string &kubeconfig, const std::string &ns, int in_flight)
      : auth_(loop_, kube::load_credentials(kubeconfig)),
        client_(transfers_, auth_),
        writer_(client_, loop_, in_flight, "bench"),
        nodes_(client_, loop_, {"/api/v1/nodes", "", "nodes"},
               {[this](const kube::Node &n) { names_.push_back(n.meta.name); },
                [](const kube::Node &) {}, [this] { pods_.start(); }}),
        pods_(client_, loop_, {"/api/v1/namespaces/" + kube::escape(ns) + "/pods", "", "pods"},
              {[this](const kube::Pod &p) { waiting_.emplace(p.meta.name, p); },
               [](const kube::Pod &) {}, [this] { run(); }})
  {
  }

  int go()
  {
    nodes_.start();
    loop_.run();
    return failed_ == 0 && bound_ > 0 ? 0 : 1;
  }

private:
  void run()
  {
    if (begun_ != Clock::time_point{})
      return;
    begun_ = Clock::now();
    std::size_t next = 0;
    for (const auto &[name, pod] : waiting_) {
      const std::string &node = names_.at(next++ % names_.size());
      const kube::ObjectRef ref{"v1", "Pod", pod.meta.ns, name, pod.meta.uid};
      writer_.bind(
          ref, node, {{wellknown::kJobIdLabel, "1"}}, {{wellknown::kSlurmNodeAnnotation, node}},
          [this, ref, node](const kube::WriteResult &result) { bound(ref, node, result); });
    }
    look();
  }

  void bound(const kube::ObjectRef &ref, const std::string &node, const kube::WriteResult &result)
  {
    if (result.outcome != kube::Outcome::done) {
      ++failed_;
      std::fprintf(stderr, "%s: %s\n", ref.name.c_str(), result.message.c_str());
      return;
    }
    ++bound_;
    writer_.post_event(ref, {false, "Scheduled", "Binding", "Successfully assigned to " + node});
  }

  void look()
  {
    if (!writer_.idle()) {
      loop_.after(std::chrono::milliseconds(1), [this] { look(); });
      return;
    }
    const double seconds = std::chrono::duration<double>(Clock::now() - begun_).count();
    std::printf("%d %.4f %.1f\n", bound_, seconds, bound_ / seconds);
    loop_.stop();
  }

  Loop loop_;
  http::Transfers transfers_{loop_};
  kube::Auth auth_;
  kube::Client client_;
  kube::ApiWriter writer_;
  std::vector<std::string> names_;
  std::map<std::string, kube::Pod> waiting_;
  kube::Reflector<kube::Node> nodes_;
  kube::Reflector<kube::Pod> pods_;
  Clock::time_point begun_{};
  int bound_ = 0, failed_ = 0;
};

}  // namespace

int main(int argc, char **argv)
{
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s KUBECONFIG NAMESPACE WRITES_IN_FLIGHT\n", argv[0]);
    return 2;
  }
  return Bench(argv[1], argv[2], std::atoi(argv[3])).go();
}
