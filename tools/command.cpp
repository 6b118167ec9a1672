// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "explain.hpp"
#include "policy_text.hpp"
#include "wellknown.hpp"

namespace {

struct Arguments {
  std::string file, ns, priority_class;
  std::vector<std::string> annotations;  // key=value
  std::optional<std::uint32_t> nodes;
};

std::string default_file()
{
  const char *slurm_conf = std::getenv("SLURM_CONF");
  return policy_path_beside(slurm_conf && *slurm_conf ? slurm_conf : kDefaultSlurmConf);
}

/// "line 3: what" as compilers write it, for editors that go there.
std::string located(const std::string &file, std::string_view error)
{
  constexpr std::string_view kLine = "line ";
  if (error.starts_with(kLine))
    return file + ":" + std::string(error.substr(kLine.size()));
  return file + ": " + std::string(error);
}

/// What the file says; without a value it cannot be read, and that was printed.
std::optional<ParsedPolicy> read_policy(const std::string &file, const Surroundings &around)
{
  std::string error;
  const std::string text = read_policy_text(file, error);
  if (!error.empty()) {
    around.err << file << ": " << error << "\n";
    return std::nullopt;
  }
  ParsedPolicy parsed = parse_policy(text, around.names);
  for (const std::string &what : parsed.errors)
    around.err << located(file, what) << "\n";
  return parsed;
}

int check(const std::string &file, const Surroundings &around)
{
  const std::optional<ParsedPolicy> parsed = read_policy(file, around);
  if (!parsed)
    return kExitUsage;
  if (!parsed->errors.empty())
    return kExitBad;
  // slurm.conf is not read here, so this may be so already.
  for (const std::string &need : check_mcs_plugin(parsed->policy, ""))
    around.out << located(file, need) << " (not looked at)\n";
  const std::size_t count = parsed->policy.rules.size();
  around.out << file << ": good; " << count << " Namespace line" << (count == 1 ? "" : "s") << "\n";
  return kExitGood;
}

/// The question of the arguments; without a value they are wrong, and that was printed.
std::optional<Question> question_of(const Arguments &arguments, const Surroundings &around)
{
  std::vector<std::string> pairs = arguments.annotations;
  if (arguments.nodes)
    pairs.push_back(std::string(wellknown::kSlinkyPrefix) +
                    "min-nodes=" + std::to_string(*arguments.nodes));
  Question question{arguments.ns, {}, arguments.priority_class};
  for (const std::string &pair : pairs) {
    const std::size_t equal = pair.find('=');
    if (equal == 0 || equal == std::string::npos) {
      around.err << "--annotation must be key=value, not \"" << pair << "\"\n";
      return std::nullopt;
    }
    if (!question.annotations.emplace(pair.substr(0, equal), pair.substr(equal + 1)).second) {
      around.err << pair.substr(0, equal) << " is given twice\n";
      return std::nullopt;
    }
  }
  return question;
}

int explain_policy(const Arguments &arguments, const Surroundings &around)
{
  const std::optional<Question> question = question_of(arguments, around);
  if (!question)
    return kExitUsage;
  const std::string file = arguments.file.empty() ? default_file() : arguments.file;
  const std::optional<ParsedPolicy> parsed = read_policy(file, around);
  if (!parsed || !parsed->errors.empty())
    return kExitUsage;
  const Answer answer = explain(parsed->policy, *question);
  around.out << to_text(answer, file);
  return answer.granted() ? kExitGood : kExitBad;
}

}  // namespace

int run_command(int argc, const char *const *argv, const Surroundings &around)
{
  Arguments arguments;
  CLI::App app{"Checks and explains k8s.conf, the policy for Kubernetes under Slurm",
               "slurm-k8s-policy"};
  app.set_version_flag("--version", "slurm-k8s-policy " SLURM_K8S_VERSION_TEXT);
  app.require_subcommand(1);
  const CLI::Validator given([](const std::string &text) { return text.empty() ? "is empty" : ""; },
                             "");

  CLI::App *checking = app.add_subcommand("check", "Says what is wrong with a k8s.conf");
  checking->add_option("FILE", arguments.file, "k8s.conf")->required();

  CLI::App *explaining =
      app.add_subcommand("explain", "Says what a workload would get, or why it is refused");
  explaining->add_option("-f,--file", arguments.file, "k8s.conf, by default beside slurm.conf");
  explaining->add_option("-n,--namespace", arguments.ns, "its Kubernetes namespace")
      ->required()
      ->check(given);
  explaining->add_option("-a,--annotation", arguments.annotations, "key=value, as often as wanted")
      ->allow_extra_args(false);
  explaining->add_option("--priority-class", arguments.priority_class,
                         "priorityClassName of its pods");
  explaining->add_option("--nodes", arguments.nodes,
                         "how many nodes it asks for, as min-nodes would");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error, around.out, around.err) == 0 ? kExitGood : kExitUsage;
  }
  return checking->parsed() ? check(arguments.file, around) : explain_policy(arguments, around);
}
