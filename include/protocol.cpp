// SPDX-License-Identifier: Apache-2.0
#include "protocol.hpp"

#include <array>
#include <utility>

#include "protocol_json.hpp"

namespace protocol {
namespace {

using json::Value;
using json::Writer;

constexpr char kClaimKey[] = "slurm-k8s.dev/claim";
constexpr char kTagKey[] = "slurm-k8s.dev/tag";

void put_identity(Writer &writer, const Identity &identity)
{
  json::put(writer, "cluster", identity.cluster);
  json::put(writer, "namespace", identity.ns);
  json::put(writer, "kind", identity.kind);
  json::put(writer, "name", identity.name);
  json::put(writer, "uid", identity.uid);
  if (!identity.stage.empty())
    json::put(writer, "stage", identity.stage);
}

bool get_identity(const Value &object, Identity &out)
{
  const bool complete = json::get(object, "cluster", out.cluster) &&
                        json::get(object, "namespace", out.ns) &&
                        json::get(object, "kind", out.kind) &&
                        json::get(object, "name", out.name) && json::get(object, "uid", out.uid);
  if (!complete || out.cluster.empty() || out.ns.empty() || out.uid.empty())
    return false;
  return !json::member(object, "stage") || json::get(object, "stage", out.stage);
}

/// Optional texts of a claim.
constexpr std::array<std::pair<const char *, std::string Claim::*>, 4> kClaimTexts{{
    {"comment", &Claim::comment},
    {"user", &Claim::user},
    {"group", &Claim::group},
    {"priorityClass", &Claim::priority_class},
}};

}  // namespace

std::string encode_claim(const Claim &claim)
{
  return json::wrap(kClaimKey, [&](Writer &writer) {
    put_identity(writer, claim.identity);
    for (const auto &[key, field] : kClaimTexts)
      if (!(claim.*field).empty())
        json::put(writer, key, claim.*field);
    if (claim.priority)
      json::put(writer, "priority", *claim.priority);
    if (claim.nice)
      json::put(writer, "nice", *claim.nice);
  });
}

std::optional<Claim> parse_claim(std::string_view text)
{
  rapidjson::Document document;
  const Value *inner = json::unwrap(text, kClaimKey, document);
  Claim claim;
  if (!inner || !get_identity(*inner, claim.identity))
    return std::nullopt;
  for (const auto &[key, field] : kClaimTexts)
    if (json::member(*inner, key) && !json::get(*inner, key, claim.*field))
      return std::nullopt;
  if (!json::get_if_there(*inner, "priority", claim.priority) ||
      !json::get_if_there(*inner, "nice", claim.nice))
    return std::nullopt;
  return claim;
}

bool looks_like_claim(std::string_view text) { return json::mentions(text, kClaimKey); }

std::string one_line(std::string text)
{
  for (char &c : text)
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f)
      c = '?';
  return text;
}

std::string encode_refusal(std::string_view uid, std::string_view reason)
{
  return one_line("k8s: " + std::string(reason) + " [gang " + std::string(uid) + "]");
}

std::optional<std::string> parse_refusal(std::string_view line, std::string_view uid)
{
  constexpr std::string_view kBegin = "k8s: ";
  const std::string end = " [gang " + std::string(uid) + "]";
  const auto from = line.find(kBegin);
  const auto to = line.rfind(end);
  if (from == std::string_view::npos || to == std::string_view::npos || from + kBegin.size() > to)
    return std::nullopt;
  return std::string(line.substr(from + kBegin.size(), to - from - kBegin.size()));
}

std::string encode_tag(const Identity &identity)
{
  return json::wrap(kTagKey, [&](Writer &writer) { put_identity(writer, identity); });
}

std::optional<Identity> parse_tag(std::string_view text)
{
  rapidjson::Document document;
  const Value *inner = json::unwrap(text, kTagKey, document);
  Identity identity;
  if (!inner || !get_identity(*inner, identity))
    return std::nullopt;
  return identity;
}

bool looks_like_tag(std::string_view text) { return json::mentions(text, kTagKey); }

}  // namespace protocol
