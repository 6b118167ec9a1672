// SPDX-License-Identifier: Apache-2.0
// Structured log lines: a constant text and key=value fields, as text or JSON, to standard error.
#pragma once

#include <concepts>
#include <initializer_list>
#include <string>
#include <string_view>

namespace logging {

enum class Level { debug, info, warn, error };
enum class Format { text, json };

struct Field {
  std::string_view key;
  std::string value;
  bool number = false;

  Field(std::string_view k, std::string_view v) : key(k), value(v) {}
  Field(std::string_view k, const std::string &v) : key(k), value(v) {}
  Field(std::string_view k, const char *v) : key(k), value(v) {}
  Field(std::string_view k, std::integral auto v) : key(k), value(std::to_string(v)), number(true)
  {
  }
};
using Fields = std::initializer_list<Field>;

/// Before the first call lines go out at level info as text. Not for use beside other threads.
void set_up(Level level, Format format);

/// Callable from any thread; a line is written whole.
void debug(std::string_view text, Fields fields = {});
void info(std::string_view text, Fields fields = {});
void warn(std::string_view text, Fields fields = {});
void error(std::string_view text, Fields fields = {});

/// One line without its time and level, as it would be written; for tests.
std::string render(Format format, Level level, std::string_view text, Fields fields);

}  // namespace logging
