// The routes below /api/v1/: each takes a request apart, asks the engine or the KB, and words the result as
// JSON (docs/http.md). All functions are thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "kb/store.h"
#include "qa/answer.h"
#include "qa/engine.h"
#include "qa/text_readers.h"
#include "web/http_message.h"
#include "web/metrics.h"
#include "web/problem.h"
#include "web/query.h"

namespace askbase::kb::embedding {
class KbEmbeddings;
}

namespace askbase::web {

// The engine's example questions, asked for once per state of the KB and language. Thread-safe.
class ExampleQuestions {
 public:
  base::Result<std::vector<std::string>> get(const qa::Engine& engine, base::Language lang);

 private:
  struct Entry {
    std::uint64_t version = 0;
    std::vector<std::string> questions;
  };
  std::mutex mutex_;
  std::map<base::Language, Entry> entries_;
};

// The KB's embeddings, read when they are first asked for, and anew when others were trained. Thread-safe.
class SimilarEntities {
 public:
  explicit SimilarEntities(std::filesystem::path kb_folder) : folder_(std::move(kb_folder)) {}
  // Null when none were trained. Errors: corrupt, io, unsupported, invalid_argument (of another KB).
  base::Result<std::shared_ptr<const kb::embedding::KbEmbeddings>> get(const kb::View& view);

 private:
  const std::filesystem::path folder_;
  std::mutex mutex_;
  std::shared_ptr<const kb::embedding::KbEmbeddings> embeddings_;
  std::filesystem::file_time_type time_;
  std::uintmax_t size_ = 0;
};

struct ApiContext {
  const qa::Engine& engine;
  Metrics& metrics;
  ExampleQuestions& examples;
  SimilarEntities& similar;
  std::size_t max_question_code_points = 2000;
  const qa::TextReaders* readers = nullptr;  // null: nothing is read
  std::size_t max_context_bytes = 10 << 20;
};

using ApiResult = Outcome<std::string>;  // a JSON document

// Problem 415 unless the body is said to be JSON.
Outcome<void> check_content_type(const HttpRequest& request);

// POST: {question, lang?, top?, explain?, timeout_ms?, min_confidence?, pipelines?, pins?, session?}.
ApiResult ask_json(const ApiContext& context, const HttpRequest& request);
// GET: q= and the same options as parameters.
ApiResult ask_query(const ApiContext& context, const Query& query);

// POST /read: {question, context, top?, lang?, timeout_ms?} -> [{answer, score, start, end, start_utf16,
// end_utf16}], the best first; none when nothing in the context answers.
ApiResult read_json(const ApiContext& context, const HttpRequest& request);

// GET /entities?q=&lang=&limit=
ApiResult search_entities(const ApiContext& context, const Query& query);
// GET /entities/{id}?lang=&limit=&offset=&direction=
ApiResult show_entity(const ApiContext& context, const std::string& id, const Query& query);
// GET /entities/{id}/similar?lang=&limit=
ApiResult similar_entities(const ApiContext& context, const std::string& id, const Query& query);
// GET /suggest?q=&lang=&limit=
ApiResult suggest(const ApiContext& context, const Query& query);

// A language parameter: "auto" or empty (unknown), "en", "zh", or a longer tag of these.
Outcome<base::Language> parse_language(std::string_view name, std::string_view value);
// Problem 413 when the text has more code points than the limit.
Outcome<void> check_length(std::string_view name, std::string_view text, std::size_t limit);

}  // namespace askbase::web
