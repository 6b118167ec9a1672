// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <utility>

#include "protocol.hpp"
#include "protocol_json.hpp"

namespace protocol {
namespace {

using json::Value;

constexpr std::array<std::pair<HintKind, const char *>, 5> kHints{{
    {HintKind::job_start, "job_start"},
    {HintKind::job_end, "job_end"},
    {HintKind::jobs_changed, "jobs_changed"},
    {HintKind::nodes_changed, "nodes_changed"},
    {HintKind::rules_changed, "rules_changed"},
}};

/// A type that this build does not know (a newer plugin) still says that something changed.
bool get_hint(const Value &object, Hint &out)
{
  std::string type;
  if (!object.IsObject() || !json::get(object, "type", type))
    return false;
  if (!json::kind_of(kHints, type, out.kind))
    out.kind = HintKind::jobs_changed;
  if (out.kind == HintKind::job_start || out.kind == HintKind::job_end)
    return json::get(object, "job", out.job_id);
  return true;
}

}  // namespace

const char *to_string(HintKind kind) noexcept { return json::name_of(kHints, kind); }

std::string encode_batch(const Batch &batch)
{
  rapidjson::StringBuffer buffer;
  json::Writer writer(buffer);
  writer.StartObject();
  json::put(writer, "v", json::kVersion);
  writer.Key("epoch");
  writer.Uint64(batch.epoch);
  writer.Key("seq");
  writer.Uint64(batch.seq);
  writer.Key("events");
  writer.StartArray();
  for (const Hint &hint : batch.hints) {
    writer.StartObject();
    json::put(writer, "type", std::string_view(to_string(hint.kind)));
    if (hint.job_id != 0)
      json::put(writer, "job", hint.job_id);
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
  if (!json::parse_object(text, kMaxBatchBytes, document) || !json::get(document, "v", version) ||
      version != json::kVersion || !json::get(document, "epoch", batch.epoch) ||
      !json::get(document, "seq", batch.seq))
    return std::nullopt;
  const Value *events = json::member(document, "events");
  if (!events || !events->IsArray() || events->Size() > kMaxBatchHints)
    return std::nullopt;
  for (const Value &event : events->GetArray()) {
    Hint hint;
    if (!get_hint(event, hint))
      return std::nullopt;
    batch.hints.push_back(hint);
  }
  return batch;
}

}  // namespace protocol
