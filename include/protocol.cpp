// SPDX-License-Identifier: Apache-2.0
#include "protocol.hpp"

#include <array>
#include <utility>

#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

namespace protocol {
namespace {

using Writer = rapidjson::Writer<rapidjson::StringBuffer>;
using rapidjson::Value;

constexpr char kClaimKey[] = "slurm-k8s.dev/claim";
constexpr char kTagKey[] = "slurm-k8s.dev/tag";
constexpr char kVerbKey[] = "slurm-k8s.dev/verb";
constexpr unsigned kVersion = 1;

void put(Writer &writer, const char *key, std::string_view value)
{
  writer.Key(key);
  writer.String(value.data(), static_cast<rapidjson::SizeType>(value.size()));
}

void put(Writer &writer, const char *key, std::uint64_t value)
{
  writer.Key(key);
  writer.Uint64(value);
}

void put(Writer &writer, const Identity &identity)
{
  put(writer, "cluster", identity.cluster);
  put(writer, "namespace", identity.ns);
  put(writer, "kind", identity.kind);
  put(writer, "name", identity.name);
  put(writer, "uid", identity.uid);
  if (!identity.stage.empty())
    put(writer, "stage", identity.stage);
}

/// {"<key>":{"v":1, …}} with the inner members written by `body`.
template <class Body>
std::string wrap(const char *key, Body body)
{
  rapidjson::StringBuffer buffer;
  Writer writer(buffer);
  writer.StartObject();
  writer.Key(key);
  writer.StartObject();
  put(writer, "v", std::uint64_t{kVersion});
  body(writer);
  writer.EndObject();
  writer.EndObject();
  return {buffer.GetString(), buffer.GetSize()};
}

const Value *member(const Value &object, const char *key)
{
  const auto found = object.FindMember(key);
  return found == object.MemberEnd() ? nullptr : &found->value;
}

bool get(const Value &object, const char *key, std::string &out)
{
  const Value *value = member(object, key);
  if (!value || !value->IsString())
    return false;
  out.assign(value->GetString(), value->GetStringLength());
  // A NUL would be cut off by every C string on the way: two texts for one meaning.
  return out.find('\0') == std::string::npos;
}

bool get(const Value &object, const char *key, std::uint32_t &out)
{
  const Value *value = member(object, key);
  if (!value || !value->IsUint())
    return false;
  out = value->GetUint();
  return true;
}

bool get(const Value &object, const char *key, std::uint64_t &out)
{
  const Value *value = member(object, key);
  if (!value || !value->IsUint64())
    return false;
  out = value->GetUint64();
  return true;
}

bool get(const Value &object, Identity &out)
{
  const bool complete = get(object, "cluster", out.cluster) && get(object, "namespace", out.ns) &&
                        get(object, "kind", out.kind) && get(object, "name", out.name) &&
                        get(object, "uid", out.uid);
  if (!complete || out.cluster.empty() || out.ns.empty() || out.uid.empty())
    return false;
  return !member(object, "stage") || get(object, "stage", out.stage);
}

/// The nesting of honest messages is three at most; anything deeper is not ours, and recursion
/// of the parser on hostile input must not use up slurmctld's stack.
bool is_shallow(std::string_view text)
{
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (++depth > 4)
        return false;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return true;
}

bool parse_object(std::string_view text, std::size_t limit, rapidjson::Document &document)
{
  if (text.size() > limit || !is_shallow(text))
    return false;
  document.Parse(text.data(), text.size());
  return !document.HasParseError() && document.IsObject();
}

/// The inner object of {"<key>":{"v":1,…}}, or null.
const Value *unwrap(std::string_view text, const char *key, rapidjson::Document &document)
{
  if (!parse_object(text, kMaxCommentBytes, document) || document.MemberCount() != 1)
    return nullptr;
  const Value *inner = member(document, key);
  std::uint32_t version = 0;
  if (!inner || !inner->IsObject() || !get(*inner, "v", version) || version != kVersion)
    return nullptr;
  return inner;
}

bool contains_key(std::string_view text, const char *key)
{
  return text.find(key) != std::string_view::npos;
}

/// Optional texts of a claim.
constexpr std::array<std::pair<const char *, std::string Claim::*>, 4> kClaimTexts{{
    {"comment", &Claim::comment},
    {"user", &Claim::user},
    {"group", &Claim::group},
    {"priorityClass", &Claim::priority_class},
}};

constexpr std::array<std::pair<VerbKind, const char *>, 2> kVerbs{{
    {VerbKind::complete, "complete"},
    {VerbKind::cancel, "cancel"},
}};

constexpr std::array<std::pair<HintKind, const char *>, 4> kHints{{
    {HintKind::job_start, "job_start"},
    {HintKind::job_end, "job_end"},
    {HintKind::jobs_changed, "jobs_changed"},
    {HintKind::nodes_changed, "nodes_changed"},
}};

template <class Table, class Kind>
const char *name_of(const Table &table, Kind kind) noexcept
{
  for (const auto &[value, name] : table)
    if (value == kind)
      return name;
  return "unknown";
}

template <class Table, class Kind>
bool kind_of(const Table &table, const std::string &name, Kind &out)
{
  for (const auto &[value, text] : table)
    if (name == text) {
      out = value;
      return true;
    }
  return false;
}

/// A type that this build does not know (a newer plugin) still says that something changed.
bool get(const Value &object, Hint &out)
{
  std::string type;
  if (!object.IsObject() || !get(object, "type", type))
    return false;
  if (!kind_of(kHints, type, out.kind))
    out.kind = HintKind::jobs_changed;
  if (out.kind == HintKind::job_start || out.kind == HintKind::job_end)
    return get(object, "job", out.job_id);
  return true;
}

}  // namespace

const char *to_string(VerbKind kind) noexcept { return name_of(kVerbs, kind); }
const char *to_string(HintKind kind) noexcept { return name_of(kHints, kind); }

std::string encode_claim(const Claim &claim)
{
  return wrap(kClaimKey, [&](Writer &writer) {
    put(writer, claim.identity);
    for (const auto &[key, field] : kClaimTexts)
      if (!(claim.*field).empty())
        put(writer, key, claim.*field);
  });
}

std::optional<Claim> parse_claim(std::string_view text)
{
  rapidjson::Document document;
  const Value *inner = unwrap(text, kClaimKey, document);
  Claim claim;
  if (!inner || !get(*inner, claim.identity))
    return std::nullopt;
  for (const auto &[key, field] : kClaimTexts)
    if (member(*inner, key) && !get(*inner, key, claim.*field))
      return std::nullopt;
  return claim;
}

bool looks_like_claim(std::string_view text) { return contains_key(text, kClaimKey); }

std::string encode_refusal(std::string_view uid, std::string_view reason)
{
  return "k8s: " + std::string(reason) + " [gang " + std::string(uid) + "]";
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
  return wrap(kTagKey, [&](Writer &writer) { put(writer, identity); });
}

std::optional<Identity> parse_tag(std::string_view text)
{
  rapidjson::Document document;
  const Value *inner = unwrap(text, kTagKey, document);
  Identity identity;
  if (!inner || !get(*inner, identity))
    return std::nullopt;
  return identity;
}

bool looks_like_tag(std::string_view text) { return contains_key(text, kTagKey); }

std::string encode_verb(const Verb &verb)
{
  return wrap(kVerbKey, [&](Writer &writer) {
    put(writer, "verb", std::string_view(to_string(verb.kind)));
    put(writer, "job", std::uint64_t{verb.job_id});
    if (verb.kind == VerbKind::complete)
      put(writer, "status", std::uint64_t{verb.status});
    put(writer, "cluster", verb.cluster);
    put(writer, "uid", verb.uid);
  });
}

std::optional<Verb> parse_verb(std::string_view text)
{
  rapidjson::Document document;
  const Value *inner = unwrap(text, kVerbKey, document);
  Verb verb;
  std::string kind;
  if (!inner || !get(*inner, "verb", kind) || !kind_of(kVerbs, kind, verb.kind) ||
      !get(*inner, "job", verb.job_id) || verb.job_id == 0 ||
      !get(*inner, "cluster", verb.cluster) || !get(*inner, "uid", verb.uid))
    return std::nullopt;
  if (verb.kind == VerbKind::complete && !get(*inner, "status", verb.status))
    return std::nullopt;
  return verb;
}

bool looks_like_verb(std::string_view text) { return contains_key(text, kVerbKey); }

std::string encode_batch(const Batch &batch)
{
  rapidjson::StringBuffer buffer;
  Writer writer(buffer);
  writer.StartObject();
  put(writer, "v", std::uint64_t{kVersion});
  put(writer, "epoch", batch.epoch);
  put(writer, "seq", batch.seq);
  writer.Key("events");
  writer.StartArray();
  for (const Hint &hint : batch.hints) {
    writer.StartObject();
    put(writer, "type", std::string_view(to_string(hint.kind)));
    if (hint.job_id != 0)
      put(writer, "job", std::uint64_t{hint.job_id});
    writer.EndObject();
  }
  writer.EndArray();
  writer.EndObject();
  return {buffer.GetString(), buffer.GetSize()};
}

std::optional<Batch> parse_batch(std::string_view text)
{
  rapidjson::Document document;
  std::uint32_t version = 0;
  Batch batch;
  if (!parse_object(text, kMaxBatchBytes, document) || !get(document, "v", version) ||
      version != kVersion || !get(document, "epoch", batch.epoch) ||
      !get(document, "seq", batch.seq))
    return std::nullopt;
  const Value *events = member(document, "events");
  if (!events || !events->IsArray() || events->Size() > kMaxBatchHints)
    return std::nullopt;
  for (const Value &event : events->GetArray()) {
    Hint hint;
    if (!get(event, hint))
      return std::nullopt;
    batch.hints.push_back(hint);
  }
  return batch;
}

}  // namespace protocol
