// SPDX-License-Identifier: Apache-2.0
#include "kube/exec_plugin.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <utility>

#include "kube/json.hpp"

extern "C" {
#include <sys/pidfd.h>  // glibc 2.36 forgot to declare these functions as C
}

extern char **environ;

namespace kube {
namespace {

constexpr std::size_t kMaxOutput = 1 << 20;
constexpr auto kTimeout = std::chrono::seconds(60);

std::string exec_info(const Credentials &credentials)
{
  json::Builder info;
  info.open().add("apiVersion", credentials.exec->api_version).add("kind", "ExecCredential");
  info.key("spec").open().add_bool("interactive", false);
  if (credentials.exec->provide_cluster_info)
    info.key("cluster").open().add("server", credentials.server).close();
  return info.close().close().text();
}

std::vector<std::string> environment_of(const Credentials &credentials)
{
  std::vector<std::string> all;
  for (char **entry = environ; *entry != nullptr; ++entry)
    all.emplace_back(*entry);
  for (const auto &[name, value] : credentials.exec->env)
    all.push_back(name + "=" + value);
  all.push_back("KUBERNETES_EXEC_INFO=" + exec_info(credentials));
  return all;
}

std::vector<char *> pointers(std::vector<std::string> &texts)
{
  std::vector<char *> all;
  for (std::string &text : texts)
    all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

/// The program's process id; `output` becomes the reading end of its standard output.
pid_t spawn(const Credentials &credentials, int &output)
{
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    throw CredentialsError(std::string("pipe: ") + std::strerror(errno));
  std::vector<std::string> args{credentials.exec->command};
  args.insert(args.end(), credentials.exec->args.begin(), credentials.exec->args.end());
  std::vector<std::string> env = environment_of(credentials);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  pid_t pid = -1;
  const int error = posix_spawnp(&pid, args.front().c_str(), &actions, nullptr,
                                 pointers(args).data(), pointers(env).data());
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (error != 0) {
    close(ends[0]);
    const std::string &hint = credentials.exec->install_hint;
    throw CredentialsError(std::strerror(error) + (hint.empty() ? "" : "; " + hint));
  }
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  output = ends[0];
  return pid;
}

std::chrono::system_clock::time_point parse_time(const std::string &text)
{
  std::tm parts{};
  const char *end = strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
  if (end == nullptr)
    throw CredentialsError("status.expirationTimestamp is no RFC 3339 time");
  long offset = 0;
  if (*end == '.')
    end += std::strspn(end + 1, "0123456789") + 1;
  if ((*end == '+' || *end == '-') && std::strlen(end) >= 6)
    offset = (*end == '-' ? -1 : 1) * (std::atol(end + 1) * 3600 + std::atol(end + 4) * 60);
  return std::chrono::system_clock::from_time_t(timegm(&parts) - offset);
}

}  // namespace

ExecCredential parse_exec_credential(const ExecPlugin &plugin, const std::string &text)
try {
  const json::Document document(text);
  const json::Value root = document.root();
  if (root["kind"].string() != "ExecCredential" ||
      root["apiVersion"].string() != plugin.api_version)
    throw CredentialsError("it printed no ExecCredential of " + plugin.api_version);
  const json::Value status = root["status"];
  ExecCredential out;
  out.token = status["token"].string();
  out.certificate = status["clientCertificateData"].string();
  out.key = status["clientKeyData"].string();
  if (out.token.empty() && out.certificate.empty())
    throw CredentialsError("it printed neither a token nor a certificate");
  if (out.certificate.empty() != out.key.empty())
    throw CredentialsError("it printed a certificate without a key or the reverse");
  if (const auto expires = status["expirationTimestamp"].string(); !expires.empty())
    out.expires = parse_time(expires);
  return out;
} catch (const json::Error &error) {
  throw CredentialsError(std::string("it printed bad JSON: ") + error.what());
}

struct ExecRun::Impl {
  Loop &loop;
  ExecPlugin plugin;
  Done done;
  int output = -1, process = -1;
  pid_t pid = -1;
  std::string text;
  Timers::Id timer = 0;

  Impl(Loop &l, const Credentials &credentials, Done d)
      : loop(l), plugin(*credentials.exec), done(std::move(d))
  {
    try {
      pid = spawn(credentials, output);
      process = pidfd_open(pid, 0);
    } catch (const CredentialsError &error) {
      timer = loop.after({}, [this, what = std::string(error.what())] { finish(what, {}); });
      return;
    }
    loop.watch_readable(output, [this] { read_output(); });
    timer = loop.after(kTimeout, [this] { finish("it took longer than a minute", {}); });
  }

  ~Impl() { close_all(); }

  void close_all()
  {
    loop.cancel(timer);
    if (output >= 0) {
      loop.unwatch(output);
      close(std::exchange(output, -1));
    }
    if (process >= 0) {
      loop.unwatch(process);
      close(std::exchange(process, -1));
    }
    if (pid > 0) {
      kill(pid, SIGKILL);
      waitpid(std::exchange(pid, -1), nullptr, 0);
    }
  }

  void read_output()
  {
    char buffer[16 * 1024];
    const ssize_t size = read(output, buffer, sizeof buffer);
    if (size < 0 && (errno == EAGAIN || errno == EINTR))
      return;
    if (size > 0) {
      text.append(buffer, static_cast<std::size_t>(size));
      if (text.size() > kMaxOutput)
        finish("it printed more than 1 MiB", {});
      return;
    }
    loop.unwatch(output);
    close(std::exchange(output, -1));
    loop.watch_readable(process, [this] { ended(); });
  }

  void ended()
  {
    int status = 0;
    if (waitpid(std::exchange(pid, -1), &status, 0) < 0 || !WIFEXITED(status) ||
        WEXITSTATUS(status) != 0)
      return finish("it failed, wait status " + std::to_string(status), {});
    try {
      finish("", parse_exec_credential(plugin, text));
    } catch (const CredentialsError &error) {
      finish(error.what(), {});
    }
  }

  void finish(const std::string &error, const ExecCredential &credential)
  {
    close_all();
    const Done call = std::move(done);  // it may destroy us
    call(error.empty() ? "" : plugin.command + ": " + error, credential);
  }
};

ExecRun::ExecRun(Loop &loop, const Credentials &credentials, Done done)
    : impl_(std::make_unique<Impl>(loop, credentials, std::move(done)))
{
}

ExecRun::~ExecRun() = default;

}  // namespace kube
