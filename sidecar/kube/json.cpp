// SPDX-License-Identifier: Apache-2.0
#include "kube/json.hpp"

#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

namespace kube::json {
namespace {

/// Passes everything on to the document and stops what is nested too deeply.
class DepthLimit {
public:
  explicit DepthLimit(rapidjson::Document &to) : to_(to) {}

  bool Null() { return to_.Null(); }
  bool Bool(bool b) { return to_.Bool(b); }
  bool Int(int i) { return to_.Int(i); }
  bool Uint(unsigned u) { return to_.Uint(u); }
  bool Int64(std::int64_t i) { return to_.Int64(i); }
  bool Uint64(std::uint64_t u) { return to_.Uint64(u); }
  bool Double(double d) { return to_.Double(d); }
  bool RawNumber(const char *text, rapidjson::SizeType size, bool copy)
  {
    return to_.RawNumber(text, size, copy);
  }
  bool String(const char *text, rapidjson::SizeType size, bool copy)
  {
    return to_.String(text, size, copy);
  }
  bool Key(const char *text, rapidjson::SizeType size, bool copy)
  {
    return to_.Key(text, size, copy);
  }
  bool StartObject() { return ++depth_ <= kMaxDepth && to_.StartObject(); }
  bool EndObject(rapidjson::SizeType count) { return --depth_, to_.EndObject(count); }
  bool StartArray() { return ++depth_ <= kMaxDepth && to_.StartArray(); }
  bool EndArray(rapidjson::SizeType count) { return --depth_, to_.EndArray(count); }

private:
  rapidjson::Document &to_;
  std::size_t depth_ = 0;
};

[[noreturn]] void wrong_type(const char *expected)
{
  throw Error(std::string("expected ") + expected);
}

rapidjson::SizeType size_of(std::string_view text)
{
  return static_cast<rapidjson::SizeType>(text.size());
}

}  // namespace

Document::Document(std::string_view text)
{
  rapidjson::MemoryStream stream(text.data(), text.size());
  rapidjson::Reader reader;
  rapidjson::ParseResult result;
  const auto generate = [&](rapidjson::Document &document) {
    DepthLimit limit(document);
    result = reader.Parse<rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag>(
        stream, limit);
    return !result.IsError();
  };
  document_.Populate(generate);
  if (result.Code() == rapidjson::kParseErrorTermination)
    throw Error("nested more than " + std::to_string(kMaxDepth) + " deep");
  if (result.IsError())
    throw Error(std::string(rapidjson::GetParseError_En(result.Code())) + " at byte " +
                std::to_string(result.Offset()));
}

Value Value::operator[](const char *key) const
{
  if (!present())
    return Value();
  if (!value_->IsObject())
    wrong_type("an object");
  const auto found = value_->FindMember(key);
  return found == value_->MemberEnd() ? Value() : Value(&found->value);
}

std::string Value::string(std::string otherwise) const
{
  if (!present())
    return otherwise;
  if (!value_->IsString())
    wrong_type("a string");
  return {value_->GetString(), value_->GetStringLength()};
}

std::int64_t Value::integer(std::int64_t otherwise) const
{
  if (!present())
    return otherwise;
  if (!value_->IsInt64())
    wrong_type("a whole number");
  return value_->GetInt64();
}

bool Value::boolean(bool otherwise) const
{
  if (!present())
    return otherwise;
  if (!value_->IsBool())
    wrong_type("true or false");
  return value_->GetBool();
}

std::string Value::scalar() const
{
  if (!present() || value_->IsString())
    return string();
  if (value_->IsInt64())
    return std::to_string(value_->GetInt64());
  if (!value_->IsNumber())
    wrong_type("a string or a number");
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
  value_->Accept(writer);
  return {buffer.GetString(), buffer.GetSize()};
}

void Value::each_item(const std::function<void(Value item)> &fn) const
{
  if (!present())
    return;
  if (!value_->IsArray())
    wrong_type("a list");
  for (const auto &item : value_->GetArray())
    fn(Value(&item));
}

void Value::each_member(const std::function<void(std::string_view, Value)> &fn) const
{
  if (!present())
    return;
  if (!value_->IsObject())
    wrong_type("an object");
  for (const auto &member : value_->GetObject())
    fn({member.name.GetString(), member.name.GetStringLength()}, Value(&member.value));
}

Builder &Builder::open()
{
  writer_.StartObject();
  return *this;
}

Builder &Builder::close()
{
  writer_.EndObject();
  return *this;
}

Builder &Builder::open_list()
{
  writer_.StartArray();
  return *this;
}

Builder &Builder::close_list()
{
  writer_.EndArray();
  return *this;
}

Builder &Builder::key(std::string_view name)
{
  writer_.Key(name.data(), size_of(name));
  return *this;
}

Builder &Builder::add(std::string_view name, std::string_view value)
{
  key(name);
  writer_.String(value.data(), size_of(value));
  return *this;
}

Builder &Builder::add_int(std::string_view name, std::int64_t value)
{
  key(name);
  writer_.Int64(value);
  return *this;
}

Builder &Builder::add_bool(std::string_view name, bool value)
{
  key(name);
  writer_.Bool(value);
  return *this;
}

Builder &Builder::add_null(std::string_view name)
{
  key(name);
  writer_.Null();
  return *this;
}

}  // namespace kube::json
