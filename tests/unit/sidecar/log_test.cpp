// SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <fcntl.h>
#include <rapidjson/document.h>
#include <unistd.h>

#include "log.hpp"

using logging::Format;
using logging::Level;
using logging::render;

namespace {

/// What is written to standard error while it lives.
class Captured {
public:
  Captured()
  {
    REQUIRE(pipe2(ends_, O_CLOEXEC | O_NONBLOCK) == 0);
    saved_ = dup(STDERR_FILENO);
    dup2(ends_[1], STDERR_FILENO);
  }
  ~Captured()
  {
    dup2(saved_, STDERR_FILENO);
    for (const int fd : {ends_[0], ends_[1], saved_})
      close(fd);
    logging::set_up(Level::info, Format::text);
  }
  Captured(const Captured &) = delete;
  Captured &operator=(const Captured &) = delete;

  std::vector<std::string> lines()
  {
    std::vector<std::string> all;
    char buffer[4096];
    for (ssize_t size; (size = read(ends_[0], buffer, sizeof buffer)) > 0;)
      text_.append(buffer, static_cast<std::size_t>(size));
    for (std::size_t end; (end = text_.find('\n')) != std::string::npos;) {
      all.push_back(text_.substr(0, end));
      text_.erase(0, end + 1);
    }
    return all;
  }

private:
  int ends_[2] = {-1, -1}, saved_ = -1;
  std::string text_;
};

rapidjson::Document parsed(const std::string &line)
{
  rapidjson::Document document;
  document.Parse(line.data(), line.size());
  INFO(line);
  REQUIRE_FALSE(document.HasParseError());
  REQUIRE(document.IsObject());
  return document;
}

std::string text_of(const std::string &value)
{
  return render(Format::text, Level::info, "message", {{"key", value}});
}

}  // namespace

TEST_CASE("plain values stay plain in text")
{
  CHECK(render(Format::text, Level::info, "pod bound", {}) == "pod bound");
  CHECK(render(Format::text, Level::info, "pod bound",
               {{"pod", "ns/p-0"}, {"node", std::string("n1")}, {"job", 4711}}) ==
        "pod bound pod=ns/p-0 node=n1 job=4711");
  CHECK(text_of("größe") == "message key=größe");
}

TEST_CASE("a value cannot pass for further fields or lines")
{
  struct Row {
    std::string value, written;
  };
  for (const auto &[value, written] :
       {Row{"", R"("")"}, Row{"a b", R"("a b")"}, Row{"a=b", R"("a=b")"},
        Row{"say \"no\"", R"("say \"no\"")"}, Row{"a\\b", R"("a\\b")"},
        Row{"a\nlevel=error", R"("a\nlevel=error")"}, Row{"a\rb", R"("a\rb")"},
        Row{"a\tb", R"("a\tb")"}, Row{"\x1b[2J", R"("\u001B[2J")"},
        Row{std::string("a\0b", 3), R"("a\u0000b")"}})
    CHECK(text_of(value) == "message key=" + written);
}

TEST_CASE("a JSON line is one object that gives every value back")
{
  const std::string hostile("\"}\n{\"level\":\"error\"\\\t\0\x1b", 23);
  const auto line = parsed(render(Format::json, Level::warn, "a \"message\"", {{"key", hostile}}));
  CHECK(std::string(line["level"].GetString()) == "warning");
  CHECK(std::string(line["message"].GetString()) == "a \"message\"");
  CHECK(std::string(line["key"].GetString(), line["key"].GetStringLength()) == hostile);
  CHECK(line.MemberCount() == 3);
}

TEST_CASE("numbers are numbers in JSON, text that looks like one stays text")
{
  const auto line = parsed(render(Format::json, Level::info, "m",
                                  {{"small", std::numeric_limits<std::int64_t>::min()},
                                   {"large", std::numeric_limits<std::uint64_t>::max()},
                                   {"text", "42"}}));
  CHECK(line["small"].GetInt64() == std::numeric_limits<std::int64_t>::min());
  CHECK(line["large"].GetUint64() == std::numeric_limits<std::uint64_t>::max());
  CHECK(line["text"].IsString());
}

TEST_CASE("lines below the level are not written, all others are")
{
  Captured captured;
  for (int least = 0; least < 4; ++least) {
    logging::set_up(static_cast<Level>(least), Format::text);
    logging::debug("one");
    logging::info("two");
    logging::warn("three");
    logging::error("four");
    CHECK(captured.lines().size() == static_cast<std::size_t>(4 - least));
  }
}

TEST_CASE("a text line begins with time and level, and takes nothing for a format")
{
  Captured captured;
  logging::set_up(Level::info, Format::text);
  logging::warn("{} %s %v 100%", {{"key", "{0} %n"}});
  const auto lines = captured.lines();
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].substr(0, 2) == "20");
  const std::string end = R"( warning {} %s %v 100% key="{0} %n")";
  REQUIRE(lines[0].size() > end.size());
  CHECK(lines[0].substr(lines[0].size() - end.size()) == end);
}

TEST_CASE("a JSON line that was written has time, level and message, whatever they hold")
{
  Captured captured;
  logging::set_up(Level::info, Format::json);
  logging::error("{} %v\n", {{"error", "two\nlines"}, {"code", 404}});
  const auto lines = captured.lines();
  REQUIRE(lines.size() == 1);
  const auto line = parsed(lines[0]);
  CHECK(std::string(line["time"].GetString()).size() ==
        std::string("2026-01-01T00:00:00.000+00:00").size());
  CHECK(std::string(line["level"].GetString()) == "error");
  CHECK(std::string(line["message"].GetString()) == "{} %v\n");
  CHECK(std::string(line["error"].GetString()) == "two\nlines");
  CHECK(line["code"].GetInt() == 404);
}
