// SPDX-License-Identifier: Apache-2.0
#include "kube/json.hpp"

#include <string>
#include <vector>

#include "catch.hpp"
#include "kube/json_stream.hpp"

using kube::JsonStream;
using kube::json::Builder;
using kube::json::Document;
using kube::json::Error;

namespace {

/// The objects, without the blanks between them.
std::vector<std::string> cut(JsonStream &stream, const std::string &text)
{
  std::vector<std::string> out;
  stream.feed(text, [&](std::string_view object) {
    out.emplace_back(object.substr(object.find('{')));
    return true;
  });
  return out;
}

}  // namespace

TEST_CASE("a missing or null field is absent, a field of another type is an error")
{
  const Document document(R"({"s":"x","n":3,"big":9223372036854775808,"f":1.5,"z":null,"l":[1]})");
  const auto root = document.root();
  CHECK(root["s"].string() == "x");
  CHECK(root["none"]["deeper"].string("d") == "d");
  CHECK(root["z"].integer(5) == 5);
  CHECK(root["n"].integer() == 3);
  CHECK_THROWS_AS(root["s"].integer(), Error);
  CHECK_THROWS_AS(root["f"].integer(), Error);
  CHECK_THROWS_AS(root["big"].integer(), Error);
  CHECK_THROWS_AS(root["n"].string(), Error);
  CHECK_THROWS_AS(root["s"]["field"], Error);
  CHECK_THROWS_AS(root["l"].boolean(), Error);
  CHECK_THROWS_AS(root["s"].each_item([](kube::json::Value) {}), Error);
  CHECK_THROWS_AS(root["l"].each_member([](std::string_view, kube::json::Value) {}), Error);
}

TEST_CASE("a scalar is text, or a number as it would be written")
{
  const Document document(R"(["500m",2,1.5,true])");
  std::vector<std::string> seen;
  document.root().each_item([&](kube::json::Value value) {
    try {
      seen.push_back(value.scalar());
    } catch (const Error &) {
      seen.emplace_back("error");
    }
  });
  CHECK(seen == std::vector<std::string>{"500m", "2", "1.5", "error"});
}

TEST_CASE("text that is no JSON, or nested without end, is refused")
{
  for (const std::string bad : {"", "{", "{]", "nul", "{\"a\":1}x", "{\"a\":\"\xff\"}"}) {
    INFO(bad);
    CHECK_THROWS_AS(Document(bad), Error);
  }
  const std::string deep(64, '[');
  CHECK_NOTHROW(Document(deep + std::string(64, ']')));
  CHECK_THROWS_AS(Document(std::string(100'000, '[')), Error);
}

TEST_CASE("built JSON reads back, with every character escaped as it must be")
{
  const std::string odd = "a\"\\\n\x01\xc3\xa9";
  Builder builder;
  builder.open().add("k", odd).add_int("i", -7).add_bool("b", true).add_null("n").close();
  const Document document(builder.text());
  CHECK(document.root()["k"].string() == odd);
  CHECK(document.root()["i"].integer() == -7);
  CHECK(document.root()["b"].boolean());
  CHECK_FALSE(document.root()["n"].present());
}

TEST_CASE("a stream is cut at its objects, whatever stands in their strings")
{
  JsonStream stream(1000);
  const std::string first = R"({"a":"}\"{\\"})", second = R"({"b":{"c":[{}]}})";
  CHECK(cut(stream, first + "\n" + second + "\r\n {\"d") ==
        std::vector<std::string>{first, second});
  CHECK(cut(stream, "\":1}") == std::vector<std::string>{R"({"d":1})"});
}

TEST_CASE("a stream of something else, or of an object too large, is an error")
{
  for (const std::string bad : {"[]", "x", "}", "{}]", "\"\""}) {
    INFO(bad);
    JsonStream stream(1000);
    CHECK_THROWS_AS(cut(stream, bad), Error);
  }
  JsonStream stream(10);
  CHECK(cut(stream, "{\"a\":1}{\"a\":2}{\"a\":3}").size() == 3);
  CHECK_THROWS_AS(cut(stream, "{\"a\":\"01234567"), Error);
}
