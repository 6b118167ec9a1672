// SPDX-License-Identifier: Apache-2.0
// JSON from a remote: parsed within bounds, read by accessors that name what is wrong.
#pragma once

#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace kube::json {

/// The text is no JSON, exceeds a limit, or a field has another type than expected.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

constexpr std::size_t kMaxDepth = 64;

/// A view of one value; lives as long as its Document. A null or missing field is absent.
/// The accessors throw Error if the value or field has the wrong type.
class Value {
public:
  explicit Value(const rapidjson::Value *value = nullptr) : value_(value) {}

  bool present() const { return value_ != nullptr && !value_->IsNull(); }
  bool is_string() const { return present() && value_->IsString(); }

  /// The field of an object; absent in an absent one.
  Value operator[](const char *key) const;

  /// The value itself, or `otherwise` if absent. Numbers may be sent as text only where the
  /// caller says so; integers must be whole.
  std::string string(std::string otherwise = {}) const;
  std::int64_t integer(std::int64_t otherwise = 0) const;
  bool boolean(bool otherwise = false) const;
  /// A string, or a number written as one: what quantities may be.
  std::string scalar() const;

  void each_item(const std::function<void(Value item)> &fn) const;
  void each_member(const std::function<void(std::string_view key, Value value)> &fn) const;

private:
  const rapidjson::Value *value_;
};

class Document {
public:
  /// Throws Error.
  explicit Document(std::string_view text);
  Value root() const { return Value(&document_); }

private:
  rapidjson::Document document_;
};

/// Builds one JSON text; keys and values alternate as in RapidJSON's Writer.
class Builder {
public:
  Builder &open();        ///< {
  Builder &close();       ///< }
  Builder &open_list();   ///< [
  Builder &close_list();  ///< ]
  Builder &key(std::string_view name);
  Builder &add(std::string_view name, std::string_view value);
  Builder &add_int(std::string_view name, std::int64_t value);
  Builder &add_bool(std::string_view name, bool value);
  Builder &add_null(std::string_view name);
  std::string text() const { return {buffer_.GetString(), buffer_.GetSize()}; }

private:
  rapidjson::StringBuffer buffer_;
  rapidjson::Writer<rapidjson::StringBuffer> writer_{buffer_};
};

}  // namespace kube::json
