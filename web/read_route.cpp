// POST /api/v1/read: a question about a text that comes with it.
#include <chrono>
#include <cstdint>

#include "base/json.h"
#include "base/text.h"
#include "web/api.h"

namespace askbase::web {
namespace {

using base::Json;

constexpr int max_top = 100;
constexpr int max_timeout_ms = 60'000;

struct ReadRequest {
  std::string question, text;
  base::Language lang = base::Language::unknown;
  int top = 1;
  int timeout_ms = 5000;
};

Outcome<std::string> required_text(const Json& body, const std::string& name, const std::string& expected) {
  const auto field = body.find(name);
  if (field == body.end()) return reject(400, "invalid-field", "\"" + name + "\" is missing.", name);
  if (!field->is_string()) return invalid_field(name, expected);
  return field->get<std::string>();
}

Outcome<int> integer_field(const Json& value, const std::string& name, int least, int most) {
  // What does not fit 64 bits with a sign is parsed as unsigned or as a fraction.
  const bool fits =
      value.is_number_integer() &&
      (!value.is_number_unsigned() || value.get<std::uint64_t>() <= static_cast<std::uint64_t>(most)) &&
      value.get<std::int64_t>() >= least && value.get<std::int64_t>() <= most;
  if (fits) return value.get<int>();
  return invalid_field(name, "an integer from " + std::to_string(least) + " to " + std::to_string(most));
}

Outcome<ReadRequest> request_of(const ApiContext& context, const Json& body) {
  ReadRequest out;
  for (const auto& [name, value] : body.items()) {
    if (name == "question" || name == "context") continue;
    if (name == "top" || name == "timeout_ms") {
      auto number = integer_field(value, name, 1, name == "top" ? max_top : max_timeout_ms);
      if (!number) return tl::unexpected(number.error());
      (name == "top" ? out.top : out.timeout_ms) = *number;
    } else if (name == "lang") {
      if (!value.is_string()) return invalid_field("lang", "\"auto\", \"en\" or \"zh\"");
      auto language = parse_language("lang", value.get_ref<const std::string&>());
      if (!language) return tl::unexpected(language.error());
      out.lang = *language;
    } else {
      return reject(400, "unknown-field",
                    "The field \"" + name +
                        "\" is not known here; there are: question, context, top, lang, timeout_ms.",
                    name);
    }
  }
  auto question = required_text(body, "question", "a string");
  if (!question) return tl::unexpected(question.error());
  if (base::trim(*question).empty()) return invalid_field("question", "a question, not an empty string");
  if (auto length = check_length("question", *question, context.max_question_code_points); !length)
    return tl::unexpected(length.error());
  auto text = required_text(body, "context", "a string: the text to read");
  if (!text) return tl::unexpected(text.error());
  if (text->size() > context.max_context_bytes) {
    return reject(413, "too-large",
                  "\"context\" is longer than " + std::to_string(context.max_context_bytes) +
                      " bytes. Load it as a document, and ask about the documents.",
                  "context");
  }
  out.question = std::move(*question);
  out.text = std::move(*text);
  return out;
}

// The language that is asked for, else that of the question, else that of the text, else English.
base::Language language_of(const ReadRequest& request) {
  if (request.lang != base::Language::unknown) return request.lang;
  for (const std::string& text : {request.question, request.text.substr(0, 4096)}) {
    const base::Language told = base::detect_language(text);
    if (told != base::Language::unknown) return told;
  }
  return base::Language::english;
}

Json spans_json(const std::string& text, const reader::Reading& reading) {
  Json out = Json::array();
  if (!reading.answered || reading.spans.empty()) return out;
  const base::OffsetMap offsets(text);
  for (const reader::ReadSpan& span : reading.spans) {
    const std::size_t from = offsets.byte(span.begin), to = offsets.byte(span.end);
    out.push_back({{"answer", text.substr(from, to - from)},
                   {"score", base::json_number(span.confidence, 4)},
                   {"start", span.begin},
                   {"end", span.end},
                   {"start_utf16", offsets.utf16(span.begin)},
                   {"end_utf16", offsets.utf16(span.end)}});
  }
  return out;
}

}  // namespace

ApiResult read_json(const ApiContext& context, const HttpRequest& request) {
  if (auto type = check_content_type(request); !type) return tl::unexpected(type.error());
  auto body = base::parse_json(request.body);
  if (!body) return reject(400, "invalid-json", "The body is not JSON: " + body.error().message);
  if (!body->is_object()) {
    return reject(400, "invalid-field",
                  "The body must be a JSON object such as {\"question\": \"...\", \"context\": \"...\"}.");
  }
  const auto read = request_of(context, *body);
  if (!read) return tl::unexpected(read.error());
  const base::Language language = language_of(*read);
  if (context.readers == nullptr || !context.readers->reads(language)) {
    return reject(501, "no-model",
                  language == base::Language::chinese
                      ? "This server has no model that reads Chinese (zh-reader)."
                      : "This server has no model that reads English (en-reader).");
  }
  const qa::Deadline deadline{std::chrono::milliseconds(read->timeout_ms)};
  const std::string_view texts[] = {read->text};
  const auto readings = context.readers->read(language, read->question, texts,
                                              {.top = static_cast<std::size_t>(read->top)}, deadline);
  if (!readings) return tl::unexpected(problem_of(readings.error()));
  return base::dump_json(spans_json(read->text, readings->front()));
}

}  // namespace askbase::web
