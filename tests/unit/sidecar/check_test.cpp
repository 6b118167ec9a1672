// SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"

#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

#include "check.hpp"

namespace {

const std::string kKubeconfig = "apiVersion: v1\nkind: Config\ncurrent-context: c\n"
                                "clusters: [{name: k, cluster: {server: 'https://k:6443'}}]\n"
                                "users: [{name: u, user: {token: t}}]\n"
                                "contexts: [{name: c, context: {cluster: k, user: u}}]\n";

struct Scene {
  Scene() { std::filesystem::create_directory(folder); }
  ~Scene() { std::filesystem::remove_all(folder); }
  Scene(const Scene &) = delete;
  Scene &operator=(const Scene &) = delete;

  void write(const std::string &name, const std::string &text) const
  {
    std::ofstream(folder + "/" + name, std::ios::binary) << text;
  }
  CheckedFiles check() const
  {
    const ParsedConfig parsed =
        parse_config("clusterId: c\nkubernetes:\n  kubeconfig: " + folder +
                         "/kubeconfig\nlistener:\n  tokenFile: " + folder + "/token\n",
                     "f.yaml");
    REQUIRE(parsed.errors.empty());
    return check_files(parsed);
  }

  const std::string folder =
      std::filesystem::temp_directory_path() / ("check_test." + std::to_string(getpid()));
};

}  // namespace

TEST_CASE("files that are there are good, and the API server is named")
{
  const Scene scene;
  scene.write("kubeconfig", kKubeconfig);
  scene.write("token", "secret\n");
  const CheckedFiles checked = scene.check();
  CHECK(checked.errors.empty());
  CHECK(checked.api_server.starts_with("https://k:6443 ("));
}

TEST_CASE("each file that cannot be read is named with file, line and key of the configuration")
{
  const Scene scene;
  const CheckedFiles checked = scene.check();
  REQUIRE(checked.errors.size() == 2);
  CHECK(checked.errors[0].starts_with("f.yaml:3: kubernetes.kubeconfig: " + scene.folder));
  CHECK(checked.errors[1].starts_with("f.yaml:5: listener.tokenFile: " + scene.folder));
}

TEST_CASE("a file that is no kubeconfig is named as well")
{
  const Scene scene;
  scene.write("kubeconfig", "[]");
  scene.write("token", "secret\n");
  const CheckedFiles checked = scene.check();
  REQUIRE(checked.errors.size() == 1);
  CHECK(checked.errors[0].starts_with("f.yaml:3: kubernetes.kubeconfig: " + scene.folder));
}

TEST_CASE("the place of a key that is not there is the file")
{
  const ParsedConfig parsed = parse_config("clusterId: c\n", "f.yaml");
  CHECK(parsed.place("clusterId") == "f.yaml:1: clusterId: ");
  CHECK(parsed.place("kubernetes.kubeconfig") == "f.yaml: kubernetes.kubeconfig: ");
}
