// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <utility>

#include <strings.h>

#include "protocol.hpp"
#include "protocol_json.hpp"

namespace protocol {
namespace {

using json::Value;
using json::Writer;

constexpr char kVerbKey[] = "slurm-k8s.dev/verb";
constexpr std::size_t kMaxNodeName = 255;

constexpr std::array<std::pair<VerbKind, const char *>, 5> kVerbs{{
    {VerbKind::complete, "complete"},
    {VerbKind::cancel, "cancel"},
    {VerbKind::update, "update"},
    {VerbKind::drain, "drain"},
    {VerbKind::resume, "resume"},
}};

/// One node and no more: Slurm reads commas and brackets as lists, and ALL as every node.
bool is_node_name(std::string_view name)
{
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  };
  if (name.empty() || name.size() > kMaxNodeName)
    return false;
  return std::all_of(name.begin(), name.end(), plain) &&
         strcasecmp(std::string(name).c_str(), "ALL") != 0;
}

bool is_our_reason(std::string_view reason)
{
  return reason.size() > kReasonPrefix.size() && reason.size() <= kMaxReasonBytes &&
         reason.substr(0, kReasonPrefix.size()) == kReasonPrefix &&
         one_line(std::string(reason)) == reason;
}

bool get_node(const Value &object, Verb &verb)
{
  if (!json::get(object, "node", verb.node) || !is_node_name(verb.node))
    return false;
  return verb.kind == VerbKind::resume ||
         (json::get(object, "reason", verb.reason) && is_our_reason(verb.reason));
}

bool get_update(const Value &object, Verb &verb)
{
  return json::get_if_there(object, "excludedNodes", verb.excluded_nodes) &&
         json::get_if_there(object, "timeLimit", verb.time_limit_min) &&
         json::get_if_there(object, "nice", verb.nice) &&
         (verb.excluded_nodes || verb.time_limit_min || verb.nice);
}

bool get_job(const Value &object, Verb &verb)
{
  if (!json::get(object, "job", verb.job_id) || verb.job_id == 0 ||
      !json::get(object, "uid", verb.uid) || verb.uid.empty())
    return false;
  switch (verb.kind) {
  case VerbKind::complete: return json::get(object, "status", verb.status);
  case VerbKind::update: return get_update(object, verb);
  default: return true;
  }
}

void put_job(Writer &writer, const Verb &verb)
{
  json::put(writer, "job", verb.job_id);
  json::put(writer, "uid", verb.uid);
  if (verb.kind == VerbKind::complete)
    json::put(writer, "status", verb.status);
  if (verb.excluded_nodes)
    json::put(writer, "excludedNodes", *verb.excluded_nodes);
  if (verb.time_limit_min)
    json::put(writer, "timeLimit", *verb.time_limit_min);
  if (verb.nice)
    json::put(writer, "nice", *verb.nice);
}

void put_node(Writer &writer, const Verb &verb)
{
  json::put(writer, "node", verb.node);
  if (verb.kind == VerbKind::drain)
    json::put(writer, "reason", verb.reason);
}

}  // namespace

const char *to_string(VerbKind kind) noexcept { return json::name_of(kVerbs, kind); }

std::string encode_verb(const Verb &verb)
{
  return json::wrap(kVerbKey, [&](Writer &writer) {
    json::put(writer, "verb", std::string_view(to_string(verb.kind)));
    json::put(writer, "cluster", verb.cluster);
    if (verb.is_for_node())
      put_node(writer, verb);
    else
      put_job(writer, verb);
  });
}

std::optional<Verb> parse_verb(std::string_view text)
{
  rapidjson::Document document;
  const Value *inner = json::unwrap(text, kVerbKey, document);
  Verb verb;
  std::string kind;
  if (!inner || !json::get(*inner, "verb", kind) || !json::kind_of(kVerbs, kind, verb.kind) ||
      !json::get(*inner, "cluster", verb.cluster))
    return std::nullopt;
  const bool whole = verb.is_for_node() ? get_node(*inner, verb) : get_job(*inner, verb);
  return whole ? std::optional(std::move(verb)) : std::nullopt;
}

bool looks_like_verb(std::string_view text) { return json::mentions(text, kVerbKey); }

}  // namespace protocol
