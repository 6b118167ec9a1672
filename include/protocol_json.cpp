// SPDX-License-Identifier: Apache-2.0
#include "protocol_json.hpp"

#include <charconv>
#include <optional>
#include <utility>

#include "protocol.hpp"

namespace protocol::json {
namespace {

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

/// The ASCII character that the JSON escape at the start of `text` stands for, and its length.
std::optional<std::pair<char, std::size_t>> escaped(std::string_view text)
{
  if (text.size() >= 2 && text[0] == '\\' && text[1] == '/')
    return std::pair{'/', std::size_t{2}};
  if (text.size() < 6 || text.substr(0, 2) != "\\u")
    return std::nullopt;
  unsigned code = 0;
  const char *end = text.data() + 6;
  const auto [stop, error] = std::from_chars(text.data() + 2, end, code, 16);
  if (error != std::errc{} || stop != end || code == 0 || code > 127)
    return std::nullopt;
  return std::pair{static_cast<char>(code), std::size_t{6}};
}

}  // namespace

void put(Writer &writer, const char *key, std::string_view value)
{
  writer.Key(key);
  writer.String(value.data(), static_cast<rapidjson::SizeType>(value.size()));
}

void put(Writer &writer, const char *key, std::int64_t value)
{
  writer.Key(key);
  writer.Int64(value);
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

bool get(const Value &object, const char *key, std::int32_t &out)
{
  const Value *value = member(object, key);
  if (!value || !value->IsInt())
    return false;
  out = value->GetInt();
  return true;
}

bool parse_object(std::string_view text, std::size_t limit, rapidjson::Document &document)
{
  if (text.size() > limit || !is_shallow(text))
    return false;
  document.Parse(text.data(), text.size());
  return !document.HasParseError() && document.IsObject();
}

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

bool mentions(std::string_view text, std::string_view key)
{
  if (text.find('\\') == std::string_view::npos)
    return text.find(key) != std::string_view::npos;
  std::string plain;
  while (!text.empty()) {
    const auto [c, length] = escaped(text).value_or(std::pair{text.front(), std::size_t{1}});
    plain += c;
    text.remove_prefix(length);
  }
  return plain.find(key) != std::string::npos;
}

}  // namespace protocol::json
