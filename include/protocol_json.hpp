// SPDX-License-Identifier: Apache-2.0
// What the encoders and parsers of protocol.hpp have in common; nobody else includes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

namespace protocol::json {

using Writer = rapidjson::Writer<rapidjson::StringBuffer>;
using rapidjson::Value;

inline constexpr unsigned kVersion = 1;

void put(Writer &writer, const char *key, std::string_view value);
void put(Writer &writer, const char *key, std::int64_t value);

/// {"<key>":{"v":1, …}} with the inner members written by `body`.
template <class Body>
std::string wrap(const char *key, const Body &body)
{
  rapidjson::StringBuffer buffer;
  Writer writer(buffer);
  writer.StartObject();
  writer.Key(key);
  writer.StartObject();
  put(writer, "v", kVersion);
  body(writer);
  writer.EndObject();
  writer.EndObject();
  return {buffer.GetString(), buffer.GetSize()};
}

/// Null if there is none.
const Value *member(const Value &object, const char *key);

// False if the member is absent, of another type or out of range.
bool get(const Value &object, const char *key, std::string &out);  ///< or has a NUL in it
bool get(const Value &object, const char *key, std::uint32_t &out);
bool get(const Value &object, const char *key, std::uint64_t &out);
bool get(const Value &object, const char *key, std::int32_t &out);

/// True if the member is absent, or is what it should be.
template <class T>
bool get_if_there(const Value &object, const char *key, std::optional<T> &out)
{
  return !member(object, key) || get(object, key, out.emplace());
}

/// False if the text is longer than `limit` bytes, too deep, or no JSON object.
bool parse_object(std::string_view text, std::size_t limit, rapidjson::Document &document);

/// The inner object of {"<key>":{"v":1,…}}, or null.
const Value *unwrap(std::string_view text, const char *key, rapidjson::Document &document);

/// True if the text has the key in it, in whatever spelling a JSON parser reads as that key.
bool mentions(std::string_view text, std::string_view key);

/// The name that `table`, an array of pairs of kind and name, has for a kind.
template <class Table, class Kind>
const char *name_of(const Table &table, Kind kind) noexcept
{
  for (const auto &[value, name] : table)
    if (value == kind)
      return name;
  return "unknown";
}

/// The way back; false for a name that is not in the table.
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

}  // namespace protocol::json
