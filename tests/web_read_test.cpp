// POST /api/v1/read: the spans of a text that comes with the question.
#include "tests/text_reader_support.h"
#include "tests/web_test_support.h"

using namespace askbase;
using namespace askbase::test;

namespace {

std::shared_ptr<const FakeReader> finds(std::map<std::string, double> answers, bool abstains = false,
                                        bool slow = false) {
  return std::make_shared<const FakeReader>(std::move(answers), abstains, slow);
}

std::string body(const Json& json) { return base::dump_json(json); }

}  // namespace

TEST_CASE("read: spans in the form of Hugging Face, with offsets in code points and UTF-16") {
  const qa::TextReaders readers(finds({{"Fredville", 0.9}, {"1788", 0.4}, {"café", 0.2}}),
                                finds({{"北京", 0.7}}), 1);
  TestServer server({}, &readers);
  const std::string text = "🐋 In Fredville stands the café of 1788.";
  Reply reply = server.post("/api/v1/read", body({{"question", "Where is it?"}, {"context", text}}));
  CHECK(reply.status == 200);
  CHECK(reply.headers.at("content-type").starts_with("application/json"));
  CHECK(reply.json() == Json::parse(R"([{"answer": "Fredville", "score": 0.9, "start": 5, "end": 14,
                                         "start_utf16": 6, "end_utf16": 15}])"));
  reply = server.post("/api/v1/read", body({{"question", "Where is it?"}, {"context", text}, {"top", 5}}));
  const Json spans = reply.json();
  REQUIRE(spans.size() == 3);
  const std::u32string points = base::to_code_points(text);
  double last = 1;
  for (const Json& span : spans) {
    CHECK(base::to_utf8(points.substr(span["start"].get<std::size_t>(),
                                      span["end"].get<std::size_t>() - span["start"].get<std::size_t>())) ==
          span["answer"].get<std::string>());
    CHECK(span["score"].get<double>() <= last);
    last = span["score"].get<double>();
  }
  // The Chinese reader, by the question, by the text when the question has no letters, by the field.
  for (const Json& request :
       {Json{{"question", "甲在哪里？"}, {"context", "甲在北京。"}},
        Json{{"question", "1?"}, {"context", "甲在北京。"}},
        Json{{"question", "Where is 甲?"}, {"context", "甲在北京。"}, {"lang", "zh-Hant"}}}) {
    CAPTURE(request.dump());
    const Json found = server.post("/api/v1/read", body(request)).json();
    REQUIRE(found.size() == 1);
    CHECK(found[0]["answer"] == "北京");
    CHECK(found[0]["start"] == 2);
    CHECK(found[0]["end"] == 4);
  }
}

TEST_CASE("read: nothing there, nothing sure") {
  const qa::TextReaders readers(finds({{"Fredville", 0.9}}), finds({{"北京", 0.7}}, true), 1);
  TestServer server({}, &readers);
  for (const char* context : {"", "   ", "Nothing of the kind.", "🙂🙂", "שלום עולם"}) {
    CAPTURE(context);
    const Reply reply =
        server.post("/api/v1/read", body({{"question", "Where is it?"}, {"context", context}}));
    CHECK(reply.status == 200);
    CHECK(reply.json() == Json::array());
  }
  // A reader that takes the text to hold no answer.
  CHECK(server.post("/api/v1/read", body({{"question", "甲在哪里？"}, {"context", "甲在北京。"}})).json() ==
        Json::array());
}

TEST_CASE("read: bad input") {
  const qa::TextReaders readers(finds({{"Fredville", 0.9}}), nullptr, 1);
  web::ServerOptions options;
  options.max_context_bytes = 1000;
  TestServer server(options, &readers);
  const auto problem = [&](const std::string& text, int status, const std::string& kind,
                           const std::string& field = {}) {
    CAPTURE(text.substr(0, 200));
    const Reply reply = server.post("/api/v1/read", text);
    CHECK(reply.status == status);
    CHECK(reply.headers.at("content-type").starts_with("application/problem+json"));
    const Json json = reply.json();
    CHECK(json["type"] == "urn:askbase:problem:" + kind);
    CHECK(json.value("field", "") == field);
  };
  problem("{", 400, "invalid-json");
  problem("[]", 400, "invalid-field");
  problem(R"({"context": "x"})", 400, "invalid-field", "question");
  problem(R"({"question": "  ", "context": "x"})", 400, "invalid-field", "question");
  problem(R"({"question": "Who?"})", 400, "invalid-field", "context");
  problem(R"({"question": "Who?", "context": ["x"]})", 400, "invalid-field", "context");
  problem(R"({"question": "Who?", "context": "x", "top_k": 1})", 400, "unknown-field", "top_k");
  for (const char* top : {"0", "101", "1.5", "\"1\"", "-1", "18446744073709551615", "null"}) {
    problem(std::string(R"({"question": "Who?", "context": "x", "top": )") + top + "}", 400, "invalid-field",
            "top");
  }
  problem(R"({"question": "Who?", "context": "x", "timeout_ms": 60001})", 400, "invalid-field", "timeout_ms");
  problem(R"({"question": "Who?", "context": "x", "lang": "fr"})", 400, "invalid-field", "lang");
  problem("{\"question\": \"Who?\", \"context\": \"\xFF\"}", 400, "invalid-json");
  problem(body({{"question", std::string(2001, 'a')}, {"context", "x"}}), 413, "too-large", "question");
  problem(body({{"question", "Who?"}, {"context", std::string(1001, 'a')}}), 413, "too-large", "context");
  problem(body({{"question", "甲在哪里？"}, {"context", "甲在北京。"}}), 501, "no-model");
  CHECK(server.get("/api/v1/read").status == 405);
  CHECK(Connection(server.port())
            .request("POST", "/api/v1/read", "Content-Type: text/plain\r\n", "{}")
            .status == 415);
  TestServer without;
  CHECK(without.post("/api/v1/read", R"({"question": "Who?", "context": "x"})").status == 501);
}

TEST_CASE("read: bounded in size and in time") {
  const qa::TextReaders readers(finds({{"Fredville", 0.9}}), finds({}, false, true), 1);
  TestServer server({}, &readers);
  std::string text(9 << 20, 'x');
  text += " Fredville";
  const Reply reply = server.post("/api/v1/read", body({{"question", "Where?"}, {"context", text}}));
  REQUIRE(reply.status == 200);
  CHECK(reply.json()[0]["start"] == (9 << 20) + 1);
  CHECK(Connection(server.port()).post("/api/v1/read", std::string(17 << 20, ' ')).status == 413);
  const auto begin = std::chrono::steady_clock::now();
  const Reply late = server.post(
      "/api/v1/read", body({{"question", "甲在哪里？"}, {"context", "甲在北京。"}, {"timeout_ms", 50}}));
  CHECK(late.status == 503);
  CHECK(late.json()["type"] == "urn:askbase:problem:unavailable");
  CHECK(late.headers.contains("retry-after"));
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(3));
}
