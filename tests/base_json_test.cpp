#include <cmath>
#include <doctest/doctest.h>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/text.h"

namespace askbase::base {
namespace {

std::string problem(std::string_view text, std::size_t max_depth = 64) {
  const Result<Json> parsed = parse_json(text, max_depth);
  if (parsed) return "";
  CHECK(parsed.error().code == ErrorCode::bad_input);
  return parsed.error().message;
}

TEST_CASE("values as they stand in the text") {
  const std::vector<std::string> texts = {"null",
                                          "true",
                                          "-12",
                                          "18446744073709551615",
                                          "0.5",
                                          "\"中\\u0041😀\"",
                                          "[]",
                                          "{}",
                                          R"([1,[2,{"b":[],"a":{"z":null}}],"x"])"};
  for (const std::string& text : texts) {
    const Result<Json> parsed = parse_json(text);
    REQUIRE(parsed.has_value());
    CHECK(*parsed == Json::parse(text));
  }
  CHECK(dump_json(*parse_json(" {\"b\" : 1 , \"a\":[ true , {\"c\":\"\\n\"} ]}\n")) ==
        R"({"b":1,"a":[true,{"c":"\n"}]})");
  CHECK(parse_json("\xEF\xBB\xBF{}").has_value());
}

TEST_CASE("random values survive") {
  std::mt19937 random(23);
  const std::function<Json(int)> value = [&](int depth) -> Json {
    switch (random() % (depth > 0 ? 7 : 5)) {
      case 0:
        return nullptr;
      case 1:
        return random() % 2 == 0;
      case 2:
        return static_cast<std::int64_t>(random()) - (1LL << 31);
      case 3:
        return static_cast<double>(random()) / 1024.0;
      case 4: {
        std::u32string points;
        for (std::size_t i = random() % 6; i > 0; --i) points += U"a\"\\\n\t中é😀\u0001"[random() % 9];
        return to_utf8(points);
      }
      case 5: {
        Json array = Json::array();
        for (std::size_t i = random() % 4; i > 0; --i) array.push_back(value(depth - 1));
        return array;
      }
      default: {
        Json object = Json::object();
        for (std::size_t i = random() % 4; i > 0; --i) object["k" + std::to_string(i)] = value(depth - 1);
        return object;
      }
    }
  };
  for (int round = 0; round < 500; ++round) {
    const Json original = value(5);
    for (const int indent : {-1, 2}) {
      const Result<Json> parsed = parse_json(dump_json(original, indent));
      REQUIRE(parsed.has_value());
      CHECK(*parsed == original);
    }
  }
}

TEST_CASE("problems are named with their place") {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "line 1, column 1"},
      {"[1,\n 2,\n x]", "line 3, column 2"},
      {"{\"a\":1,}", "line 1, column 8"},
      {"[1,2", "line 1, column 5"},
      {"[1] x", "line 1, column 5"},
      {"{\"中国\":tru}", "line 1, column 10"},
      {"{'a':1}", "line 1, column 2"},
      {"[01]", "line 1, column 3"},
      {"[NaN]", "line 1, column 2"},
      {"\"\\ud800\"", "line 1"},
      {"\"a\tb\"", "line 1, column 3"},
      {"[1e999]", "line 1"},
      {"\"中\xFF\"", "line 1, column 3 (byte 4)"},
      {"[\"\xED\xA0\x80\"]", "not valid UTF-8"},
      {"/* no */ 1", "line 1, column 1"},
  };
  for (const auto& [text, place] : cases) {
    CAPTURE(text);
    const std::string message = problem(text);
    CAPTURE(message);
    CHECK(message.find(place) != std::string::npos);
    CHECK(message.find('\n') == std::string::npos);
  }
}

TEST_CASE("a key may stand once in an object") {
  CHECK(problem(R"({"a":1,"b":{"a":2}})") == "");
  CHECK(problem("{\"a\":1,\n\"\\u0061\":2}").find("duplicate key \"a\"") != std::string::npos);
  CHECK(problem("{\"a\":1,\n\"a\":2}").find("line 2, column 3") != std::string::npos);
}

TEST_CASE("depth is bounded while parsing") {
  CHECK(problem("[[1]]", 2) == "");
  CHECK(problem("[[[1]]]", 2).find("nested deeper than 2 levels") != std::string::npos);
  CHECK(problem("[[[1]]]", 2).find("line 1, column 3") != std::string::npos);
  CHECK(problem("1", 0) == "");
  CHECK(problem("[]", 0) != "");
  std::string arrays(100000, '['), objects;
  for (int i = 0; i < 100000; ++i) objects += "{\"a\":";
  CHECK(problem(arrays).find("nested deeper") != std::string::npos);
  CHECK(problem(objects).find("nested deeper") != std::string::npos);
  CHECK(problem(arrays + std::string(100000, ']')).find("nested deeper") != std::string::npos);
}

TEST_CASE("many keys take linear time") {
  std::string text = "{";
  for (int i = 0; i < 200000; ++i) text += (i > 0 ? ",\"k" : "\"k") + std::to_string(i) + "\":1";
  const Result<Json> parsed = parse_json(text + "}");
  REQUIRE(parsed.has_value());
  CHECK(parsed->size() == 200000);
}

TEST_CASE("printing") {
  CHECK(dump_json(Json("a\xFFz")) == "\"a\uFFFDz\"");
  CHECK(dump_json(Json(json_number(0.1F))) == "0.1");
  CHECK(dump_json(Json(json_number(2.0 / 3.0))) == "0.666667");
  CHECK(dump_json(Json(json_number(2.0 / 3.0, 3))) == "0.667");
  CHECK(dump_json(Json(json_number(1e-9))) == "1e-09");
  CHECK(dump_json(Json(json_number(0))) == "0.0");
  CHECK(dump_json(Json(json_number(std::numeric_limits<double>::quiet_NaN()))) == "null");
  CHECK(json_number(-123456.789, 6) == -123457);
  CHECK(dump_json(Json{{"a", 1}}, 2) == "{\n  \"a\": 1\n}");
}

TEST_CASE("numbers of a file within bounds") {
  const Json object = parse_json(R"({"n": 3, "x": 0.5, "text": "3"})").value();
  CHECK(whole_number(object, "n", 3, 3, "c.json").value() == 3);
  CHECK(number_between(object, "x", 0, 0.95, "c.json").value() == 0.5);
  CHECK(number_between(object, "n", 0, 4, "c.json").value() == 3);
  for (const char* name : {"text", "x", "absent"}) {
    CHECK(whole_number(object, name, 0, 9, "c.json").error().code == ErrorCode::corrupt);
  }
  CHECK(whole_number(object, "n", 4, 9, "c.json").error().message ==
        "c.json: \"n\" is no number from 4 to 9");
  CHECK(whole_number(object, "n", 0, 2, "c.json").error().code == ErrorCode::corrupt);
  CHECK(number_between(object, "n", 0, 0.95, "c.json").error().message ==
        "c.json: \"n\" is no number from 0 to 0.95");
  CHECK(number_between(object, "text", 0, 9, "c.json").error().code == ErrorCode::corrupt);
}

}  // namespace
}  // namespace askbase::base
