// SPDX-License-Identifier: Apache-2.0
#include "log.hpp"

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>

namespace logging {
namespace {

Format current_format = Format::text;

spdlog::logger &logger()
{
  static const auto kLogger = [] {
    auto made = std::make_shared<spdlog::logger>("slurm-k8s",
                                                 std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %l %v");
    made->flush_on(spdlog::level::trace);
    return made;
  }();
  return *kLogger;
}

spdlog::level::level_enum to_spdlog(Level level)
{
  switch (level) {
  case Level::debug: return spdlog::level::debug;
  case Level::info: return spdlog::level::info;
  case Level::warn: return spdlog::level::warn;
  case Level::error: return spdlog::level::err;
  }
  return spdlog::level::info;
}

const char *name_of(Level level)
{
  switch (level) {
  case Level::debug: return "debug";
  case Level::info: return "info";
  case Level::warn: return "warning";
  case Level::error: return "error";
  }
  return "info";
}

using JsonWriter = rapidjson::Writer<rapidjson::StringBuffer>;

void put(JsonWriter &json, std::string_view text)
{
  json.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
}

std::string in_quotes(std::string_view text)
{
  rapidjson::StringBuffer buffer;
  JsonWriter json(buffer);
  put(json, text);
  return buffer.GetString();
}

/// A value with spaces, quotes or control characters (a remote's text, say) must not look like
/// further fields or further lines.
bool needs_quotes(std::string_view text)
{
  for (const char c : text)
    if (static_cast<unsigned char>(c) <= ' ' || c == '"' || c == '=' || c == '\\' || c == 0x7f)
      return true;
  return text.empty();
}

std::string render_text(std::string_view text, Fields fields)
{
  std::string line(text);
  for (const Field &field : fields) {
    line += ' ';
    line += field.key;
    line += '=';
    line += needs_quotes(field.value) ? in_quotes(field.value) : field.value;
  }
  return line;
}

std::string render_json(Level level, std::string_view text, Fields fields)
{
  rapidjson::StringBuffer buffer;
  JsonWriter json(buffer);
  json.StartObject();
  json.Key("level");
  json.String(name_of(level));
  json.Key("message");
  put(json, text);
  for (const Field &field : fields) {
    put(json, field.key);
    if (field.number)
      json.RawValue(field.value.data(), field.value.size(), rapidjson::kNumberType);
    else
      put(json, field.value);
  }
  json.EndObject();
  return buffer.GetString();
}

void write(Level level, std::string_view text, Fields fields)
{
  const spdlog::level::level_enum at = to_spdlog(level);
  if (!logger().should_log(at))
    return;
  const std::string line = render(current_format, level, text, fields);
  const std::size_t from = current_format == Format::json ? 1 : 0;  // the pattern opened the brace
  logger().log(at, spdlog::string_view_t(line.data() + from, line.size() - from));
}

}  // namespace

std::string render(Format format, Level level, std::string_view text, Fields fields)
{
  return format == Format::json ? render_json(level, text, fields) : render_text(text, fields);
}

void set_up(Level level, Format format)
{
  current_format = format;
  logger().set_level(to_spdlog(level));
  logger().set_pattern(format == Format::json ? "{\"time\":\"%Y-%m-%dT%H:%M:%S.%e%z\",%v"
                                              : "%Y-%m-%dT%H:%M:%S.%e%z %l %v");
}

void debug(std::string_view text, Fields fields) { write(Level::debug, text, fields); }
void info(std::string_view text, Fields fields) { write(Level::info, text, fields); }
void warn(std::string_view text, Fields fields) { write(Level::warn, text, fields); }
void error(std::string_view text, Fields fields) { write(Level::error, text, fields); }

}  // namespace logging
