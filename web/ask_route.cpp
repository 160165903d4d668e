#include <chrono>
#include <cmath>
#include <set>

#include "base/json.h"
#include "base/text.h"
#include "web/api.h"

namespace askbase::web {
namespace {

using base::Json;

constexpr int max_top = 100;
constexpr int max_timeout_ms = 60'000;
constexpr std::size_t max_session_bytes = 200;
constexpr std::size_t max_pins = 50;

// One field of the body at a time: each takes the value into the request or says what it expects.
struct AskReader {
  const ApiContext& context;
  qa::Request request;
  bool has_question = false;

  Outcome<void> read(const std::string& name, const Json& value) {
    if (name == "question") return read_question(value);
    if (name == "lang") return read_language(value);
    if (name == "top") return read_top(value);
    if (name == "explain") return read_explain(value);
    if (name == "timeout_ms") return read_timeout(value);
    if (name == "min_confidence") return read_min_confidence(value);
    if (name == "pipelines") return read_pipelines(value);
    if (name == "pins") return read_pins(value);
    if (name == "session") return read_session(value);
    return reject(400, "unknown-field",
                  "The field \"" + name +
                      "\" is not known here; there are: question, lang, top, explain, "
                      "timeout_ms, min_confidence, pipelines, pins, session.",
                  name);
  }

  Outcome<void> read_question(const Json& value) {
    if (!value.is_string()) return invalid_field("question", "a string");
    request.question = value.get<std::string>();
    has_question = true;
    if (base::trim(request.question).empty())
      return invalid_field("question", "a question, not an empty string");
    return check_length("question", request.question, context.max_question_code_points);
  }

  Outcome<void> read_language(const Json& value) {
    if (!value.is_string()) return invalid_field("lang", "\"auto\", \"en\" or \"zh\"");
    auto language = parse_language("lang", value.get_ref<const std::string&>());
    if (!language) return tl::unexpected(language.error());
    request.lang = *language;
    return {};
  }

  static bool integer_between(const Json& value, int least, int most) {
    return value.is_number_integer() &&
           (value.is_number_unsigned() ? value.get<std::uint64_t>() <= static_cast<std::uint64_t>(most)
                                       : value.get<std::int64_t>() <= most) &&
           value.get<std::int64_t>() >= least;
  }

  Outcome<void> read_top(const Json& value) {
    if (!integer_between(value, 1, max_top)) {
      return invalid_field("top", "an integer from 1 to " + std::to_string(max_top));
    }
    request.top = value.get<int>();
    return {};
  }

  Outcome<void> read_explain(const Json& value) {
    if (!value.is_boolean()) return invalid_field("explain", "true or false");
    request.explain = value.get<bool>();
    return {};
  }

  Outcome<void> read_timeout(const Json& value) {
    if (!integer_between(value, 1, max_timeout_ms)) {
      return invalid_field("timeout_ms", "an integer from 1 to " + std::to_string(max_timeout_ms));
    }
    request.timeout = std::chrono::milliseconds(value.get<int>());
    return {};
  }

  Outcome<void> read_min_confidence(const Json& value) {
    const double confidence = value.is_number() ? value.get<double>() : -1;
    if (!(confidence >= 0 && confidence <= 1)) return invalid_field("min_confidence", "a number from 0 to 1");
    request.min_confidence = confidence;
    return {};
  }

  Outcome<void> read_pipelines(const Json& value) {
    static const std::set<std::string> known = {"kb", "text", "faq"};
    const std::string expected = "an array of distinct names among \"kb\", \"text\" and \"faq\"";
    if (!value.is_array()) return invalid_field("pipelines", expected);
    std::set<std::string> seen;
    for (const Json& one : value) {
      if (!one.is_string() || !known.contains(one.get_ref<const std::string&>()) ||
          !seen.insert(one.get<std::string>()).second) {
        return invalid_field("pipelines", expected);
      }
      request.pipelines.push_back(one.get<std::string>());
    }
    return {};
  }

  Outcome<void> read_pins(const Json& value) {
    const std::string expected = "an object of at most " + std::to_string(max_pins) +
                                 " names as written in the question, each with the id of the entity meant";
    if (!value.is_object() || value.size() > max_pins) return invalid_field("pins", expected);
    for (const auto& [mention, id] : value.items()) {
      if (!id.is_string() || id.get_ref<const std::string&>().empty()) return invalid_field("pins", expected);
      request.pins[mention] = id.get<std::string>();
    }
    return {};
  }

  // Reserved for follow-up questions: checked, and without effect yet.
  Outcome<void> read_session(const Json& value) {
    if (!value.is_string() || value.get_ref<const std::string&>().size() > max_session_bytes) {
      return invalid_field("session", "a string of at most " + std::to_string(max_session_bytes) + " bytes");
    }
    return {};
  }
};

ApiResult ask(const ApiContext& context, const Json& body, const char* question_name) {
  AskReader reader{context, {}};
  for (const auto& [name, value] : body.items()) {
    if (auto read = reader.read(name, value); !read) return tl::unexpected(read.error());
  }
  if (!reader.has_question) {
    return reject(400, "invalid-field", std::string("\"") + question_name + "\" is missing.", question_name);
  }
  const auto begin = std::chrono::steady_clock::now();
  auto response = context.engine.ask(reader.request);
  if (!response) return tl::unexpected(problem_of(response.error()));
  context.metrics.count_ask(*response,
                            std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  return qa::to_json(*response);
}

// "application/json; charset=utf-8" and the like.
bool is_json_type(std::string_view type) {
  const std::size_t semicolon = std::min(type.find(';'), type.size());
  if (!equal_ignoring_case(base::trim(type.substr(0, semicolon)), "application/json")) return false;
  std::string parameter(type.substr(semicolon));
  std::erase_if(parameter, [](char c) { return c == ' ' || c == '"' || c == ';'; });
  return parameter.empty() || equal_ignoring_case(parameter, "charset=utf-8");
}

}  // namespace

Outcome<base::Language> parse_language(std::string_view name, std::string_view value) {
  if (value.empty() || value == "auto") return base::Language::unknown;
  const base::Language language = base::language_from_tag(value);
  if (language == base::Language::unknown)
    return invalid_field(std::string(name), "\"auto\", \"en\" or \"zh\"");
  return language;
}

Outcome<void> check_length(std::string_view name, std::string_view text, std::size_t limit) {
  if (base::count_code_points(text) <= limit) return {};
  return reject(413, "too-large",
                "\"" + std::string(name) + "\" is longer than " + std::to_string(limit) + " characters.",
                std::string(name));
}

Outcome<void> check_content_type(const HttpRequest& request) {
  if (is_json_type(request.header("content-type"))) return {};
  return reject(415, "unsupported-media-type",
                "The body must be JSON in UTF-8, sent with the header \"Content-Type: application/json\".");
}

ApiResult ask_json(const ApiContext& context, const HttpRequest& request) {
  if (auto type = check_content_type(request); !type) return tl::unexpected(type.error());
  auto body = base::parse_json(request.body);
  if (!body) return reject(400, "invalid-json", "The body is not JSON: " + body.error().message);
  if (!body->is_object()) {
    return reject(400, "invalid-field", "The body must be a JSON object such as {\"question\": \"...\"}.");
  }
  return ask(context, *body, "question");
}

ApiResult ask_query(const ApiContext& context, const Query& query) {
  if (auto allowed = query.allow(
          {"q", "lang", "top", "explain", "timeout_ms", "min_confidence", "pipelines", "pins", "session"});
      !allowed) {
    return tl::unexpected(allowed.error());
  }
  if (base::trim(query.get("q")).empty()) {
    return reject(400, "invalid-field", "\"q\" is missing: the question.", "q");
  }
  Json body = {{"question", std::string(query.get("q"))}};
  for (const char* name : {"lang", "session"}) {
    if (!query.get(name).empty()) body[name] = std::string(query.get(name));
  }
  // The others are written as JSON would write them; a list of pipelines may go without brackets.
  for (const char* name : {"top", "explain", "timeout_ms", "min_confidence", "pins"}) {
    if (query.get(name).empty()) continue;
    auto value = base::parse_json(query.get(name));
    body[name] = value ? std::move(*value) : Json(nullptr);
  }
  if (std::string_view names = query.get("pipelines"); !names.empty()) {
    Json list = Json::array();
    for (;;) {
      const std::size_t comma = names.find(',');
      list.push_back(std::string(base::trim(names.substr(0, comma))));
      if (comma == std::string_view::npos) break;
      names.remove_prefix(comma + 1);
    }
    body["pipelines"] = std::move(list);
  }
  return ask(context, body, "q");
}

}  // namespace askbase::web
