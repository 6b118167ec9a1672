// SPDX-License-Identifier: Apache-2.0
#include "kube/kubeconfig.hpp"

#include <yaml-cpp/yaml.h>

#include <filesystem>

namespace kube {
namespace {

struct File {
  std::string path;
  YAML::Node root;
};

/// A mapping in a file, with the words that name it in messages.
struct Section {
  const File *file = nullptr;
  std::string key;
  YAML::Node node;

  [[noreturn]] void fail(const std::string &field, const std::string &what) const
  {
    throw CredentialsError(file->path + ": " + key + (field.empty() ? "" : "." + field) + ": " +
                           what);
  }

  std::string text(const char *field) const
  {
    const YAML::Node value = node[field];
    if (!value || value.IsNull())
      return {};
    if (!value.IsScalar())
      fail(field, "must be text");
    return value.Scalar();
  }

  bool flag(const char *field) const
  {
    const auto value = text(field);
    if (!value.empty() && value != "true" && value != "false")
      fail(field, "must be true or false");
    return value == "true";
  }

  /// A path as the file means it: relative to the file.
  std::string resolve(const std::string &name) const
  {
    if (name.empty() || name.front() == '/')
      return name;
    return (std::filesystem::absolute(file->path).parent_path() / name).lexically_normal().string();
  }

  /// `field`-data (base64) goes before `field` (a path).
  Secret secret(const std::string &field) const
  {
    Secret secret;
    const auto data_field = field + "-data";
    try {
      secret.text = decode_base64(text(data_field.c_str()));
    } catch (const CredentialsError &error) {
      fail(data_field, error.what());
    }
    if (secret.text.empty())
      secret.file = resolve(text(field.c_str()));
    return secret;
  }
};

File read_file(const std::string &path)
{
  try {
    File file{path, YAML::Load(read_small_file(path))};
    if (!file.root.IsMap())
      throw CredentialsError(path + ": is no kubeconfig");
    return file;
  } catch (const YAML::Exception &error) {
    throw CredentialsError(path + ":" + std::to_string(error.mark.line + 1) + ": " + error.msg);
  }
}

/// The entry called `name` of a list such as `clusters`, its part `inner`.
Section find(const std::vector<File> &files, const char *list, const char *inner,
             const std::string &name)
{
  for (const File &file : files) {
    const YAML::Node entries = file.root[list];
    if (!entries || !entries.IsSequence())
      continue;
    for (const auto &entry : entries) {
      if (!entry.IsMap() || !entry["name"] || !entry["name"].IsScalar() ||
          entry["name"].Scalar() != name)
        continue;
      Section section{&file, std::string(list) + "[" + name + "]." + inner, entry[inner]};
      if (!section.node || !section.node.IsMap())
        section.fail("", "is missing");
      return section;
    }
  }
  throw CredentialsError(files.front().path + ": " + list + ": has no entry named '" + name + "'");
}

std::string current_context(const std::vector<File> &files)
{
  for (const File &file : files) {
    const auto name = Section{&file, "current-context", file.root}.text("current-context");
    if (!name.empty())
      return name;
  }
  throw CredentialsError(files.front().path + ": current-context: is missing");
}

void read_cluster(const Section &cluster, Credentials &out)
{
  out.server = cluster.text("server");
  if (!out.server.starts_with("https://") && !out.server.starts_with("http://"))
    cluster.fail("server", "must start with https:// or http://");
  while (out.server.back() == '/')
    out.server.pop_back();
  out.ca = cluster.secret("certificate-authority");
  out.insecure = cluster.flag("insecure-skip-tls-verify");
  out.tls_server_name = cluster.text("tls-server-name");
  if (auto proxy = cluster.text("proxy-url"); !proxy.empty())
    out.proxy = std::move(proxy);
}

ExecPlugin read_exec(const Section &exec)
{
  ExecPlugin plugin;
  plugin.api_version = exec.text("apiVersion");
  if (plugin.api_version != "client.authentication.k8s.io/v1" &&
      plugin.api_version != "client.authentication.k8s.io/v1beta1")
    exec.fail("apiVersion", "must be client.authentication.k8s.io/v1 or v1beta1");
  plugin.command = exec.text("command");
  if (plugin.command.empty())
    exec.fail("command", "is missing");
  if (plugin.command.find('/') != std::string::npos)  // a bare name is looked for in $PATH
    plugin.command = exec.resolve(plugin.command);
  if (exec.text("interactiveMode") == "Always")
    exec.fail("interactiveMode", "Always is impossible: nobody is there to answer");
  plugin.install_hint = exec.text("installHint");
  plugin.provide_cluster_info = exec.flag("provideClusterInfo");
  for (const auto &arg : exec.node["args"])
    plugin.args.push_back(arg.as<std::string>());
  for (const auto &entry : exec.node["env"]) {
    const Section variable{exec.file, exec.key + ".env", entry};
    plugin.env.emplace_back(variable.text("name"), variable.text("value"));
  }
  return plugin;
}

void read_user(const Section &user, Credentials &out)
{
  out.token.text = user.text("token");
  out.token.file = user.resolve(user.text("tokenFile"));
  if (!out.token.file.empty())
    out.token.text.clear();  // as client-go: the file wins
  out.certificate = user.secret("client-certificate");
  out.key = user.secret("client-key");
  if (out.certificate.given() != out.key.given())
    user.fail(out.key.given() ? "client-certificate" : "client-key", "is missing");
  if (user.node["exec"] && user.node["exec"].IsMap())
    out.exec = read_exec({user.file, user.key + ".exec", user.node["exec"]});
  for (const char *old : {"username", "password", "auth-provider"}) {
    if (user.node[old])
      user.fail(old, "is no longer supported by Kubernetes");
  }
}

}  // namespace

Credentials load_kubeconfig(const std::vector<std::string> &paths)
{
  std::vector<File> files;
  for (const auto &path : paths) {
    if (paths.size() == 1 || std::filesystem::exists(path))
      files.push_back(read_file(path));
  }
  if (files.empty())
    throw CredentialsError(paths.front() +
                           ": does not exist, nor do the other files of KUBECONFIG");

  Credentials out;
  try {
    const auto name = current_context(files);
    out.source = files.front().path + " context " + name;
    const Section context = find(files, "contexts", "context", name);
    read_cluster(find(files, "clusters", "cluster", context.text("cluster")), out);
    if (const auto user = context.text("user"); !user.empty())
      read_user(find(files, "users", "user", user), out);
  } catch (const YAML::Exception &error) {
    throw CredentialsError(files.front().path + ": " + error.what());
  }
  return out;
}

}  // namespace kube
