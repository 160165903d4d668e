#include <set>

#include "tests/web_test_support.h"
#include "web/query.h"

using namespace askbase;
using namespace askbase::test;

namespace {

// Every problem has the members of RFC 9457.
Json problem(const Reply& reply, int status) {
  CHECK(reply.status == status);
  CHECK(reply.headers.at("content-type") == "application/problem+json");
  Json json = reply.json();
  CHECK(json.at("status") == status);
  CHECK(json.at("type").get<std::string>().starts_with("urn:askbase:problem:"));
  CHECK(!json.at("title").get<std::string>().empty());
  CHECK(!json.at("detail").get<std::string>().empty());
  return json;
}

}  // namespace

TEST_CASE("ask: options reach the engine, and its answer the client") {
  TestServer server;
  const Reply reply =
      server.post("/api/v1/ask", R"({"question": "首都 là \"?\"", "lang": "zh", "top": 7, "explain": true,
      "timeout_ms": 1234, "min_confidence": 0.5, "pipelines": ["kb", "faq"], "pins": {"X": "urn:x:a"}, "session": "s"})");
  CHECK(reply.status == 200);
  CHECK(reply.headers.at("content-type") == "application/json");
  CHECK(reply.headers.at("cache-control") == "no-store");
  CHECK(reply.headers.at("x-content-type-options") == "nosniff");
  const Json json = reply.json();
  CHECK(json["question"] == "首都 là \"?\"");
  CHECK(json["answers"][0]["answer"] == "echo: 首都 là \"?\"");
  CHECK(json["answers"][0]["evidence"][0]["row"] == 7);
  CHECK(json["trace"].is_object());
  const qa::Request last = server.engine().last();
  CHECK(last.lang == base::Language::chinese);
  CHECK(last.top == 7);
  CHECK(last.explain);
  CHECK(last.timeout == milliseconds(1234));
  CHECK(last.min_confidence == doctest::Approx(0.5));
  CHECK(last.pipelines == std::vector<std::string>{"kb", "faq"});
  CHECK(last.pins == std::map<std::string, std::string>{{"X", "urn:x:a"}});

  CHECK(server.post("/api/v1/ask", R"({"question": "q"})").status == 200);
  const qa::Request plain = server.engine().last();
  CHECK(plain.lang == base::Language::unknown);
  CHECK(plain.top == 5);
  CHECK(plain.timeout == milliseconds(5000));
  CHECK(plain.min_confidence < 0);
  CHECK(plain.pins.empty());

  // A question without an answer is a 200 too.
  const Reply declined = server.post("/api/v1/ask", R"({"question": "unknown"})");
  CHECK(declined.status == 200);
  CHECK(declined.json()["answers"].empty());
  CHECK(declined.json()["reason"] == "entity_unknown");
}

TEST_CASE("ask: the same by GET") {
  TestServer server;
  const Reply reply = server.get(
      "/api/v1/"
      "ask?q=Who+wrote+%22a%3Db%22?&lang=en-GB&top=2&explain=true&timeout_ms=50&pipelines=kb,text&pins=%7B%"
      "22a%22:%22urn:x:b%22%7D");
  CHECK(reply.status == 200);
  const qa::Request last = server.engine().last();
  CHECK(last.question == "Who wrote \"a=b\"?");
  CHECK(last.lang == base::Language::english);
  CHECK(last.top == 2);
  CHECK(last.explain);
  CHECK(last.pipelines == std::vector<std::string>{"kb", "text"});
  CHECK(last.pins.at("a") == "urn:x:b");
  // Bytes that a browser would encode and curl does not.
  CHECK(server.get("/api/v1/ask?q=中国的首都?").status == 200);
  CHECK(server.engine().last().question == "中国的首都?");

  for (const char* bad : {"q=", "q=%20", "", "q=a&lang=fr", "q=a&top=0", "q=a&top=x", "q=a&top=1.5",
                          "q=a&explain=yes", "q=a&pipelines=kb,web", "q=a&pipelines=kb,kb", "q=a&pins=a",
                          "q=a&nonsense=1", "q=a&q=b", "q=%ff", "question=a"}) {
    CAPTURE(bad);
    problem(server.get(std::string("/api/v1/ask?") + bad), 400);
  }
}

TEST_CASE("ask: a bad body is a 400 that names the field and what is expected") {
  TestServer server;
  const struct {
    const char *body, *field, *expected;
  } cases[] = {
      {R"({})", "question", "missing"},
      {R"({"question": 1})", "question", "string"},
      {R"({"question": null})", "question", "string"},
      {R"({"question": ["a"]})", "question", "string"},
      {R"({"question": "  "})", "question", "empty"},
      {R"({"question": "a", "qestion": "b"})", "qestion", "question, lang, top"},
      {R"({"question": "a", "lang": 3})", "lang", "\"en\""},
      {R"({"question": "a", "lang": "klingon"})", "lang", "\"en\""},
      {R"({"question": "a", "top": "5"})", "top", "1 to 100"},
      {R"({"question": "a", "top": 0})", "top", "1 to 100"},
      {R"({"question": "a", "top": -1})", "top", "1 to 100"},
      {R"({"question": "a", "top": 101})", "top", "1 to 100"},
      {R"({"question": "a", "top": 1.5})", "top", "1 to 100"},
      {R"({"question": "a", "top": 99999999999999999999999})", "top", "1 to 100"},
      {R"({"question": "a", "top": 18446744073709551615})", "top", "1 to 100"},
      {R"({"question": "a", "top": true})", "top", "1 to 100"},
      {R"({"question": "a", "explain": 1})", "explain", "true or false"},
      {R"({"question": "a", "timeout_ms": 0})", "timeout_ms", "1 to 60000"},
      {R"({"question": "a", "timeout_ms": 60001})", "timeout_ms", "1 to 60000"},
      {R"({"question": "a", "min_confidence": 2})", "min_confidence", "0 to 1"},
      {R"({"question": "a", "min_confidence": "x"})", "min_confidence", "0 to 1"},
      {R"({"question": "a", "pipelines": "kb"})", "pipelines", "array"},
      {R"({"question": "a", "pipelines": ["kb", 1]})", "pipelines", "array"},
      {R"({"question": "a", "pipelines": ["kb", "kb"]})", "pipelines", "distinct"},
      {R"({"question": "a", "pins": []})", "pins", "object"},
      {R"({"question": "a", "pins": {"x": 1}})", "pins", "id"},
      {R"({"question": "a", "pins": {"x": ""}})", "pins", "id"},
      {R"({"question": "a", "session": {}})", "session", "string"},
  };
  Connection connection(server.port());  // all over one connection: a 400 does not cost it
  for (const auto& one : cases) {
    CAPTURE(one.body);
    const Json json = problem(connection.post("/api/v1/ask", one.body), 400);
    CHECK(json.at("field") == one.field);
    CHECK(json.at("detail").get<std::string>().find(one.field) != std::string::npos);
    CHECK(json.at("detail").get<std::string>().find(one.expected) != std::string::npos);
  }
  for (const std::string& body :
       {std::string("{"), std::string("[]x"), std::string("nonsense"), std::string("\"text\""),
        std::string("[{\"question\": \"a\"}]"), std::string("{\"question\": \"\xff\"}"),
        std::string("{\"question\": \"\\ud800\"}"), std::string("{\"question\": \"a\", \"question\": \"b\"}"),
        "{\"pins\": " + std::string(100'000, '[') + std::string(100'000, ']') + "}",
        std::string(100'000, '[')}) {
    CAPTURE(body.substr(0, 60));
    problem(connection.post("/api/v1/ask", body), 400);
  }
  CHECK(server.engine().asked() == 0);
  CHECK(connection.post("/api/v1/ask", R"({"question": "still here"})").status == 200);
}

TEST_CASE("ask: sizes, types and methods") {
  TestServer server;
  const auto question = [](std::size_t length) {
    std::string text;
    for (std::size_t i = 0; i < length; ++i) text += "问";
    return R"({"question": ")" + text + R"("})";
  };
  // The limit counts characters, not bytes.
  CHECK(server.post("/api/v1/ask", question(2000)).status == 200);
  CHECK(problem(server.post("/api/v1/ask", question(2001)), 413)["field"] == "question");
  problem(server.post("/api/v1/ask", std::string((1 << 20) + 1, ' ')), 413);
  CHECK(server.post("/api/v1/ask", R"({"question": "a"})" + std::string(1'000'000, ' ')).status == 200);

  const std::string body = R"({"question": "a"})";
  for (const char* type :
       {"", "Content-Type: text/plain\r\n", "Content-Type: application/x-www-form-urlencoded\r\n",
        "Content-Type: multipart/form-data; boundary=x\r\n",
        "Content-Type: application/json; charset=latin1\r\n"}) {
    CAPTURE(type);
    Connection connection(server.port());
    const Reply reply = connection.request("POST", "/api/v1/ask", type, body);
    problem(reply, 415);
    CHECK(reply.headers.at("accept-post") == "application/json");
  }
  for (const char* type :
       {"application/json; charset=UTF-8", "Application/JSON", "application/json;charset=\"utf-8\""}) {
    CHECK(Connection(server.port())
              .request("POST", "/api/v1/ask", std::string("Content-Type: ") + type + "\r\n", body)
              .status == 200);
  }
  // No body at all: answered at once, not waited for.
  problem(Connection(server.port()).request("POST", "/api/v1/ask", "Content-Type: application/json\r\n"),
          400);

  Connection connection(server.port());
  for (const char* method : {"PUT", "DELETE", "PATCH"}) {
    const Reply reply = connection.request(method, "/api/v1/ask");
    problem(reply, 405);
    CHECK(reply.headers.at("allow") == "GET, HEAD, POST, OPTIONS");
  }
  for (const char* path :
       {"/", "/api/v1/entities", "/api/v1/suggest", "/livez", "/metrics", "/openapi.json"}) {
    const Reply reply = Connection(server.port()).post(path, "{}");
    problem(reply, 405);
    CHECK(reply.headers.at("allow") == "GET, HEAD, OPTIONS");
  }
  for (const char* path : {"/nothing", "/api", "/api/v2/ask", "/api/v1/ask/", "/api/v1/entities/",
                           "/../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/app.js/", "/.hidden", "//"}) {
    CAPTURE(path);
    problem(server.get(path), 404);
  }
}

TEST_CASE("failures inside do not show their words") {
  TestServer server;
  for (const char* question : {"throw", "throw a number", "io"}) {
    CAPTURE(question);
    Connection connection(server.port());
    const Reply reply = connection.post("/api/v1/ask", std::string("{\"question\": \"") + question + "\"}");
    problem(reply, 500);
    CHECK(reply.body.find("secret") == std::string::npos);
    for (const auto& [name, value] : reply.headers) {
      CHECK(value.find("secret") == std::string::npos);
      CHECK(name.find("exception") == std::string::npos);
    }
    CHECK(connection.get("/livez").status == 200);
  }
}

TEST_CASE("HEAD, OPTIONS and CORS") {
  TestServer plain;
  Connection connection(plain.port());
  const Reply get = connection.get("/livez");
  const Reply head = connection.request("HEAD", "/livez");
  CHECK(head.status == 200);
  CHECK(head.headers.at("content-length") == get.headers.at("content-length"));
  CHECK(head.headers.at("content-type") == get.headers.at("content-type"));
  CHECK(!head.headers.contains("accept-ranges"));
  CHECK(connection.get("/livez").body == get.body);  // the connection is in step
  const Reply options = connection.request("OPTIONS", "/api/v1/ask");
  CHECK(options.status == 204);
  CHECK(options.headers.at("allow") == "GET, HEAD, POST, OPTIONS");
  CHECK(!options.headers.contains("content-length"));
  CHECK(!options.headers.contains("access-control-allow-origin"));
  CHECK(connection.request("OPTIONS", "*").status == 204);

  TestServer open({.cors_origin = "https://example.org"});
  Connection cors(open.port());
  const Reply preflight = cors.request(
      "OPTIONS", "/api/v1/ask", "Origin: https://example.org\r\nAccess-Control-Request-Method: POST\r\n");
  CHECK(preflight.status == 204);
  CHECK(preflight.headers.at("access-control-allow-origin") == "https://example.org");
  CHECK(preflight.headers.at("access-control-allow-headers").find("Content-Type") != std::string::npos);
  CHECK(preflight.headers.at("access-control-allow-methods").find("POST") != std::string::npos);
  CHECK(cors.post("/api/v1/ask", R"({"question": "a"})").headers.at("access-control-allow-origin") ==
        "https://example.org");
  CHECK(cors.post("/api/v1/ask", "{").headers.at("access-control-allow-origin") == "https://example.org");
  CHECK(cors.get("/livez").headers.at("vary") == "Origin");
}

TEST_CASE("entities: search and view") {
  TestServer server;
  Json found = server.get("/api/v1/entities?q=fred&limit=5").json();
  REQUIRE(found["entities"].size() >= 1);
  std::set<std::string> labels;
  for (const Json& one : found["entities"]) labels.insert(one["label"].get<std::string>());
  CHECK(labels.contains("Fredville"));
  found = server.get("/api/v1/entities?q=弗里多尼亚&lang=zh").json();
  REQUIRE(found["entities"].size() == 1);
  CHECK(found["entities"][0]["id"] == "urn:x:freedonia");
  CHECK(found["entities"][0]["label"] == "弗里多尼亚");
  CHECK(found["entities"][0]["match"] == "exact");
  CHECK(server.get("/api/v1/entities?q=zzzzzz").json()["entities"].empty());
  CHECK(server.get("/api/v1/entities?q=").json()["entities"].empty());
  problem(server.get("/api/v1/entities"), 400);
  problem(server.get("/api/v1/entities?q=a&limit=0"), 400);
  problem(server.get("/api/v1/entities?q=a&limit=101"), 400);
  problem(server.get("/api/v1/entities?q=a&lang=xx"), 400);
  problem(server.get("/api/v1/entities?q=" + std::string(201, 'a')), 413);

  Json entity = server.get("/api/v1/entities/urn%3Ax%3Afreedonia?lang=en").json();
  CHECK(entity["id"] == "urn:x:freedonia");
  CHECK(entity["label"] == "Freedonia");
  CHECK(entity["types"][0]["value"] == "urn:x:Country");
  CHECK(entity["out"]["total"] == 6);
  CHECK(entity["in"]["total"] == 25);
  CHECK(!entity["out"].contains("next"));
  int names = 0;
  bool capital = false, area = false;
  for (const Json& fact : entity["out"]["facts"]) {
    if (fact.contains("is_name")) ++names;
    CHECK(fact["sources"][0]["name"] == "freedonia.nt");
    if (fact["predicate"]["value"] == "urn:x:capital") {
      capital = true;
      CHECK(fact["object"] == Json({{"type", "iri"}, {"value", "urn:x:fredville"}, {"label", "Fredville"}}));
      CHECK(fact["sources"][0]["row"] == 5);
    }
    if (fact["predicate"]["value"] == "urn:x:area") {
      area = true;
      CHECK(fact["predicate"]["unit"] == "km²");
      CHECK(fact["object"]["value"] == "1200");
      CHECK(fact["object"]["datatype"] == "http://www.w3.org/2001/XMLSchema#integer");
    }
  }
  CHECK(names == 3);
  CHECK(capital);
  CHECK(area);
  entity = server.get("/api/v1/entities/urn:x:freedonia?lang=zh-Hans").json();
  CHECK(entity["label"] == "弗里多尼亚");

  // Paging visits every fact once.
  std::set<std::string> subjects;
  int offset = 0, pages = 0;
  for (;; ++pages) {
    const Json page =
        server.get("/api/v1/entities/urn:x:freedonia?direction=in&limit=10&offset=" + std::to_string(offset))
            .json();
    CHECK(!page.contains("out"));
    CHECK(page["in"]["offset"] == offset);
    for (const Json& fact : page["in"]["facts"])
      CHECK(subjects.insert(fact["subject"]["value"].get<std::string>()).second);
    if (!page["in"].contains("next")) break;
    offset = page["in"]["next"].get<int>();
  }
  CHECK(subjects.size() == 25);
  CHECK(pages == 2);

  // Ids with every sign that means something in a URL.
  const std::string odd = "urn:x:odd/name?x=1&y=%2F#z";
  CHECK(server.get("/api/v1/entities/" + web::percent_encode(odd)).json()["label"] == "odd \"name\" <b>");
  problem(server.get("/api/v1/entities/urn:x:nobody"), 404);
  problem(server.get("/api/v1/entities/urn:x:freedonia?direction=up"), 400);
  problem(server.get("/api/v1/entities/urn:x:freedonia?limit=1001"), 400);
  problem(server.get("/api/v1/entities/urn:x:freedonia?offset=-1"), 400);
}

TEST_CASE("suggest") {
  TestServer server;
  Json json = server.get("/api/v1/suggest").json();
  CHECK(json["suggestions"].size() == 2);
  CHECK(json["suggestions"][0]["kind"] == "question");
  CHECK(server.get("/api/v1/suggest?lang=zh").json()["suggestions"][0]["text"] == "弗里多尼亚的首都是哪里？");
  CHECK(server.engine().examples_asked() == 2);
  CHECK(server.get("/api/v1/suggest?limit=1").json()["suggestions"].size() == 1);
  CHECK(server.engine().examples_asked() == 2);  // kept while the KB stays the same

  json = server.get("/api/v1/suggest?q=what+is").json();
  REQUIRE(json["suggestions"].size() == 1);
  CHECK(json["suggestions"][0]["text"] == "What is the capital of Freedonia?");

  json = server.get("/api/v1/suggest?q=area+of+Freed").json();
  REQUIRE(json["suggestions"].size() == 1);
  CHECK(json["suggestions"][0] ==
        Json({{"text", "area of Freedonia"}, {"kind", "question"}, {"id", "urn:x:freedonia"}}));
  json = server.get("/api/v1/suggest?q=Freedo").json();
  CHECK(json["suggestions"][0]["kind"] == "entity");
  json = server.get("/api/v1/suggest?q=请问弗里多").json();
  REQUIRE(json["suggestions"].size() == 1);
  CHECK(json["suggestions"][0]["text"] == "请问弗里多尼亚");
  CHECK(json["lang"] == "zh");
  // What the engine cannot answer is not suggested.
  CHECK(server.get("/api/v1/suggest?q=unknown+of+Freed").json()["suggestions"].empty());
  CHECK(server.get("/api/v1/suggest?q=area+of+Freed?").json()["suggestions"].empty());
  CHECK(server.get("/api/v1/suggest?q=F").json()["suggestions"].empty());
  problem(server.get("/api/v1/suggest?q=" + std::string(201, 'a')), 413);
  problem(server.get("/api/v1/suggest?lang=fr"), 400);

  // A change of the KB is seen.
  const int before = server.engine().examples_asked();
  add_facts(server.store(), "more.nt",
            {kb::Term::iri("urn:x:a"), kb::Term::iri("urn:x:b"), kb::Term::iri("urn:x:c")});
  REQUIRE(server.engine().refresh().has_value());
  server.get("/api/v1/suggest");
  CHECK(server.engine().examples_asked() == before + 1);
}

TEST_CASE("health and metrics") {
  TestServer server;
  CHECK(server.get("/livez").json() == Json({{"status", "ok"}}));
  const Json ready = server.get("/readyz").json();
  CHECK(ready["status"] == "ready");
  CHECK(ready["kb"]["facts"] == 37);
  server.post("/api/v1/ask", R"({"question": "a"})");
  server.post("/api/v1/ask", R"({"question": "unknown"})");
  server.post("/api/v1/ask", "{");
  server.get("/nothing");
  const Reply reply = server.get("/metrics");
  CHECK(reply.headers.at("content-type") == "text/plain; version=0.0.4; charset=utf-8");
  const auto has = [&](const std::string& line) {
    CHECK_MESSAGE(reply.body.find("\n" + line + "\n") != std::string::npos, line);
  };
  has("askbase_http_requests_total{route=\"/api/v1/ask\",code=\"200\"} 2");
  has("askbase_http_requests_total{route=\"/api/v1/ask\",code=\"400\"} 1");
  has("askbase_http_requests_total{route=\"/livez\",code=\"200\"} 1");
  has("askbase_http_requests_total{route=\"page\",code=\"404\"} 1");
  has("askbase_ask_seconds_count 2");
  has("askbase_ask_seconds_bucket{le=\"+Inf\"} 2");
  has("askbase_answers_total{kind=\"literal\",reason=\"none\"} 1");
  has("askbase_answers_total{kind=\"none\",reason=\"entity_unknown\"} 1");
  has("askbase_kb_facts 37");
  CHECK(reply.body.find("\nprocess_resident_memory_bytes ") != std::string::npos);
  // Every line is a comment or "name{labels} number"; buckets grow.
  double bucket = 0;
  for (std::size_t at = 0, end; at < reply.body.size(); at = end + 1) {
    end = reply.body.find('\n', at);
    REQUIRE(end != std::string::npos);
    const std::string line = reply.body.substr(at, end - at);
    if (line.starts_with("#")) continue;
    const std::size_t space = line.rfind(' ');
    const double value = std::stod(line.substr(space + 1));
    if (line.starts_with("askbase_ask_seconds_bucket")) {
      CHECK(value >= bucket);
      bucket = value;
    }
  }
}

TEST_CASE("the page: types, caching, security headers, compression") {
  TestServer server;
  const Reply page = server.get("/");
  CHECK(page.status == 200);
  CHECK(page.headers.at("content-type") == "text/html; charset=utf-8");
  const std::string policy = page.headers.at("content-security-policy");
  CHECK(policy.find("default-src 'self'") != std::string::npos);
  CHECK(policy.find("unsafe") == std::string::npos);
  CHECK(policy.find("frame-ancestors 'none'") != std::string::npos);
  CHECK(page.headers.at("x-content-type-options") == "nosniff");
  CHECK(page.headers.at("referrer-policy") == "no-referrer");
  // No inline script or style, no absolute URL.
  CHECK(page.body.find("<script>") == std::string::npos);
  CHECK(page.body.find("style=") == std::string::npos);
  for (const char* absolute : {"href=\"/", "src=\"/", "http://", "https://"})
    CHECK(page.body.find(absolute) == std::string::npos);
  for (const auto& [path, type] :
       std::map<std::string, std::string>{{"/app.css", "text/css; charset=utf-8"},
                                          {"/app.js", "text/javascript; charset=utf-8"},
                                          {"/favicon.svg", "image/svg+xml"},
                                          {"/docs", "text/html; charset=utf-8"},
                                          {"/openapi.json", "application/json"}}) {
    CAPTURE(path);
    Connection connection(server.port());
    const Reply file = connection.get(path);
    CHECK(file.status == 200);
    CHECK(file.headers.at("content-type") == type);
    CHECK(file.headers.at("cache-control") == "no-cache");
    const std::string tag = file.headers.at("etag");
    const Reply same = connection.get(path, "If-None-Match: " + tag + "\r\n");
    CHECK(same.status == 304);
    CHECK(!same.headers.contains("content-length"));
    CHECK(same.headers.at("etag") == tag);
    CHECK(connection.get(path, "If-None-Match: \"other\", " + tag + "\r\n").status == 304);
    CHECK(connection.get(path, "If-None-Match: \"other\"\r\n").body == file.body);
    const Reply packed = connection.get(path, "Accept-Encoding: br, gzip\r\n");
    CHECK(packed.headers.at("content-encoding") == "gzip");
    CHECK(packed.body.starts_with("\x1f\x8b"));
    CHECK(packed.body.size() < file.body.size());
    CHECK(packed.headers.at("vary") == "Accept-Encoding");
  }
}

TEST_CASE("base path, and the page from a folder") {
  TestServer server({.base_path = "/kb/askbase/"});
  CHECK(server.get("/kb/askbase/livez").status == 200);
  CHECK(server.get("/kb/askbase/").status == 200);
  CHECK(server.get("/kb/askbase/api/v1/ask?q=a").status == 200);
  const Reply redirect = server.get("/kb/askbase");
  CHECK(redirect.status == 308);
  CHECK(redirect.headers.at("location") == "askbase/");
  problem(server.get("/livez"), 404);
  problem(server.get("/kb/askbasex/livez"), 404);
  CHECK(server.get("/kb/askbase/openapi.json").json()["servers"][0]["url"] == "/kb/askbase");

  ScratchFolder folder;
  kb::Store& store = server.store();
  CHECK(!web::Server::start(store, server.engine(), {.port = 0, .base_path = "no-slash"}).has_value());
  for (const char* name : {"index.html", "new.js"}) {
    std::FILE* file = std::fopen((folder / name).c_str(), "w");
    std::fputs(name, file);
    std::fclose(file);
  }
  web::ServerOptions options;
  options.ui_folder = folder.path().string();
  TestServer custom(options);
  CHECK(custom.get("/").body == "index.html");
  CHECK(custom.get("/new.js").body == "new.js");
  problem(custom.get("/%2e%2e/%2e%2e/etc/passwd"), 404);
  problem(custom.get("/..%2fkb"), 404);
  problem(custom.get("/app.js"), 404);
}

TEST_CASE("a port in use and a host that is not ours are errors that say what to do") {
  TestServer server;
  const auto taken = web::Server::start(server.store(), server.engine(), {.port = server.port()});
  REQUIRE(!taken.has_value());
  CHECK(taken.error().code == base::ErrorCode::io);
  CHECK(taken.error().message.find(std::to_string(server.port())) != std::string::npos);
  CHECK(taken.error().hint.find("--port") != std::string::npos);
  CHECK(
      !web::Server::start(server.store(), server.engine(), {.host = "host.invalid", .port = 0}).has_value());
  CHECK(!web::Server::start(server.store(), server.engine(), {.host = "192.0.2.1", .port = 0}).has_value());
}
