// openapi.json describes what exists: every path answers, every response is as its schema says, every field
// of the request is taken, and nothing is left out.
#include <fstream>
#include <set>

#include "tests/text_reader_support.h"
#include "tests/web_test_support.h"

using namespace askbase;
using namespace askbase::test;

namespace {

Json read_api() {
  std::ifstream file(source_folder() / "web" / "ui" / "openapi.json");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  return base::parse_json(text).value();
}

// The part of JSON Schema that the description uses. Members that a schema does not name are errors.
class Validator {
 public:
  explicit Validator(const Json& api) : api_(api) {}

  const Json& resolve(const Json& schema) const {
    if (!schema.contains("$ref")) return schema;
    return api_.at(Json::json_pointer(schema["$ref"].get<std::string>().substr(1)));
  }

  // What is wrong; empty when nothing is.
  std::string check(const Json& value, const Json& reference, const std::string& at = "$") const {
    const Json& schema = resolve(reference);
    if (schema.contains("oneOf")) {
      for (const Json& one : schema["oneOf"]) {
        if (check(value, one, at).empty()) return {};
      }
      return at + " is none of the alternatives: " + value.dump();
    }
    if (schema.contains("const") && value != schema["const"]) return at + " is not the constant";
    if (schema.contains("enum")) {
      bool among = false;
      for (const Json& one : schema["enum"]) among |= value == one;
      if (!among) return at + " is not in the enumeration: " + value.dump();
    }
    const std::string type = schema.value("type", "");
    const bool right = type.empty() || (type == "string" && value.is_string()) ||
                       (type == "integer" && value.is_number_integer()) ||
                       (type == "number" && value.is_number()) || (type == "boolean" && value.is_boolean()) ||
                       (type == "array" && value.is_array()) || (type == "object" && value.is_object());
    if (!right) return at + " is not " + type + ": " + value.dump();
    if (value.is_array() && schema.contains("items")) {
      for (std::size_t i = 0; i < value.size(); ++i) {
        if (auto wrong = check(value[i], schema["items"], at + "[" + std::to_string(i) + "]"); !wrong.empty())
          return wrong;
      }
    }
    if (value.is_object() && (schema.contains("properties") || schema.contains("additionalProperties"))) {
      const Json properties = schema.value("properties", Json::object());
      for (const auto& [name, member] : value.items()) {
        const std::string inner = at + "." + name;
        if (properties.contains(name)) {
          if (auto wrong = check(member, properties[name], inner); !wrong.empty()) return wrong;
        } else if (schema.contains("additionalProperties") && schema["additionalProperties"].is_object()) {
          if (auto wrong = check(member, schema["additionalProperties"], inner); !wrong.empty()) return wrong;
        } else {
          return inner + " is not described";
        }
      }
      for (const Json& name : schema.value("required", Json::array())) {
        if (!value.contains(name.get<std::string>()))
          return at + "." + name.get<std::string>() + " is missing";
      }
    }
    return {};
  }

 private:
  const Json& api_;
};

}  // namespace

TEST_CASE("openapi: every response is as described") {
  const Json api = read_api();
  const Validator validator(api);
  const qa::TextReaders readers(
      std::make_shared<FakeReader>(std::map<std::string, double>{{"Fredville", 0.8}}), nullptr, 1);
  TestServer server({}, &readers);
  Connection connection(server.port());
  CHECK(connection.get("/openapi.json").json()["paths"] == api["paths"]);

  std::set<std::string> seen;
  const auto check = [&](const std::string& path, const std::string& method, const Reply& reply) {
    CAPTURE(path);
    CAPTURE(reply.status);
    REQUIRE(api["paths"].contains(path));
    const Json& responses = api["paths"][path][method]["responses"];
    REQUIRE(responses.contains(std::to_string(reply.status)));
    seen.insert(path + " " + method);
    const Json& content = validator.resolve(responses[std::to_string(reply.status)])["content"];
    const std::string type = reply.headers.at("content-type");
    const std::string plain = type.substr(0, type.find(';'));
    REQUIRE_MESSAGE(content.contains(plain), plain);
    if (plain.ends_with("json")) CHECK(validator.check(reply.json(), content[plain]["schema"]) == "");
  };
  for (const char* body : {R"({"question": "a", "explain": true})", R"({"question": "quote"})",
                           R"({"question": "unknown"})", R"({"question": 1})", R"({"question": "io"})"}) {
    check("/api/v1/ask", "post", connection.post("/api/v1/ask", body));
  }
  check("/api/v1/ask", "post", Connection(server.port()).request("POST", "/api/v1/ask", "", "x"));
  check("/api/v1/ask", "post", Connection(server.port()).post("/api/v1/ask", std::string(2 << 20, ' ')));
  for (const char* body :
       {R"({"question": "Which town?", "context": "It is Fredville."})",
        R"({"question": "Which town?", "context": ""})", R"({"question": "哪里？", "context": "甲在北京。"})",
        R"({"question": "Which?"})"}) {
    check("/api/v1/read", "post", connection.post("/api/v1/read", body));
  }
  check("/api/v1/read", "post", Connection(server.port()).request("POST", "/api/v1/read", "", "x"));
  check("/api/v1/ask", "get", connection.get("/api/v1/ask?q=a"));
  check("/api/v1/ask", "get", connection.get("/api/v1/ask"));
  check("/api/v1/entities", "get", connection.get("/api/v1/entities?q=fred"));
  check("/api/v1/entities", "get", connection.get("/api/v1/entities"));
  check("/api/v1/entities/{id}", "get", connection.get("/api/v1/entities/urn:x:freedonia?limit=10"));
  check("/api/v1/entities/{id}", "get", connection.get("/api/v1/entities/urn:x:none"));
  check("/api/v1/entities/{id}/similar", "get", connection.get("/api/v1/entities/urn:x:freedonia/similar"));
  check("/api/v1/entities/{id}/similar", "get", connection.get("/api/v1/entities/urn:x:none/similar"));
  check("/api/v1/suggest", "get", connection.get("/api/v1/suggest?q=area+of+Freed"));
  for (const char* path : {"/livez", "/readyz", "/metrics", "/openapi.json", "/docs", "/"})
    check(path, "get", connection.get(path));
  for (const char* body : {R"({"id": "a", "text": "A whale."})", R"({"id": "a", "text": "A ship."})",
                           R"({"id": "a", "text": "A ship."})", R"({"id": "a"})"}) {
    check("/api/v1/documents", "post", connection.post("/api/v1/documents", body));
  }
  check("/api/v1/documents", "post", Connection(server.port()).request("POST", "/api/v1/documents", "", "x"));
  check("/api/v1/documents/{id}", "delete", connection.request("DELETE", "/api/v1/documents/none", ""));

  for (const auto& [path, methods] : api["paths"].items()) {
    for (const auto& [method, operation] : methods.items())
      CHECK_MESSAGE(seen.contains(path + " " + method), path);
  }
}

void check_read_fields(const Json& api, Connection& connection) {
  const Json& fields = api["components"]["schemas"]["ReadRequest"]["properties"];
  const Json body = {
      {"question", "Which?"}, {"context", "x"}, {"top", 100}, {"lang", "en-GB"}, {"timeout_ms", 60000}};
  CHECK(fields.size() == body.size());
  for (const auto& [name, value] : body.items()) CHECK_MESSAGE(fields.contains(name), name);
  CHECK(connection.post("/api/v1/read", body.dump()).status == 501);  // without a model, all else being well
  const std::string known =
      connection.post("/api/v1/read", R"({"x": 1})").json()["detail"].get<std::string>();
  for (const auto& [name, schema] : fields.items()) CHECK(known.find(name) != std::string::npos);
}

TEST_CASE("openapi: every field and parameter is taken, and no other") {
  const Json api = read_api();
  const Validator validator(api);
  TestServer server;
  Connection connection(server.port());
  const std::map<std::string, std::string> values = {{"question", "\"a\""},
                                                     {"lang", "\"zh-Hant\""},
                                                     {"top", "100"},
                                                     {"explain", "false"},
                                                     {"timeout_ms", "60000"},
                                                     {"min_confidence", "0"},
                                                     {"pipelines", "[\"kb\",\"text\",\"faq\"]"},
                                                     {"pins", "{}"},
                                                     {"session", "\"s\""}};
  const Json& fields = api["components"]["schemas"]["AskRequest"]["properties"];
  std::string all;
  for (const auto& [name, schema] : fields.items()) {
    REQUIRE_MESSAGE(values.contains(name), name);
    all += (all.empty() ? "{\"" : ", \"") + name + "\": " + values.at(name);
  }
  CHECK(fields.size() == values.size());
  CHECK(connection.post("/api/v1/ask", all + "}").status == 200);
  check_read_fields(api, connection);

  // What the server says it knows is what is described.
  const std::string known = connection.post("/api/v1/ask", R"({"x": 1})").json()["detail"].get<std::string>();
  for (const auto& [name, schema] : fields.items()) CHECK(known.find(name) != std::string::npos);

  for (const char* path :
       {"/api/v1/ask", "/api/v1/entities", "/api/v1/entities/urn:x:freedonia", "/api/v1/suggest"}) {
    CAPTURE(path);
    const std::string detail =
        connection.get(std::string(path) + "?nonsense=1").json()["detail"].get<std::string>();
    const std::string key = std::string(path).ends_with("freedonia") ? "/api/v1/entities/{id}" : path;
    std::string described;
    for (const Json& one : api["paths"][key]["get"]["parameters"]) {
      if (one["in"] != "query") continue;
      described += (described.empty() ? "" : ", ") + one["name"].get<std::string>();
    }
    CHECK(detail.find("there are: " + described + ".") != std::string::npos);
  }
}
