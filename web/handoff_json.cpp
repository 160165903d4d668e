#include "web/handoff_json.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace askbase::web {
namespace {

using base::Json;

constexpr std::array<std::string_view, 4> layout_names = {"automatic", "rows", "triples", "labels"};

// Reading throws inside nlohmann/json when a member is absent or of another type; it ends here.
template <typename T, typename Read>
base::Result<T> guarded(const char* what, Read read) {
  try {
    return read();
  } catch (const Json::exception&) {
    return base::fail(base::ErrorCode::bad_input,
                      std::string("the other process sent a ") + what + " that is not understood",
                      "the running server and this program are of different versions: restart the server");
  }
}

kb::UpdateSummary read_summary(const Json& json) {
  kb::UpdateSummary summary;
  for (const Json& one : json.at("sources")) {
    summary.sources.push_back({one.at("source").get<std::string>(), one.at("facts").get<std::uint64_t>(),
                               one.at("added").get<std::uint64_t>(), one.at("removed").get<std::uint64_t>()});
  }
  summary.added = json.at("added").get<std::uint64_t>();
  summary.removed = json.at("removed").get<std::uint64_t>();
  summary.facts = json.at("facts").get<std::uint64_t>();
  return summary;
}

Json paths_json(const std::vector<std::filesystem::path>& paths) {
  Json json = Json::array();
  for (const auto& path : paths) json.push_back(path.string());
  return json;
}

Json bad_json(const std::vector<kb::BadLine>& first_bad) {
  Json json = Json::array();
  for (const kb::BadLine& bad : first_bad) json.push_back({{"where", bad.where}, {"reason", bad.reason}});
  return json;
}

std::vector<kb::BadLine> read_bad(const Json& json) {
  std::vector<kb::BadLine> first_bad;
  for (const Json& bad : json)
    first_bad.push_back({bad.at("where").get<std::string>(), bad.at("reason").get<std::string>()});
  return first_bad;
}

reader::DocumentSummary read_document_summary(const Json& json) {
  reader::DocumentSummary summary;
  summary.added = json.at("added").get<std::uint64_t>();
  summary.replaced = json.at("replaced").get<std::uint64_t>();
  summary.removed = json.at("removed").get<std::uint64_t>();
  summary.unchanged = json.at("unchanged").get<std::uint64_t>();
  summary.documents = json.at("documents").get<std::uint64_t>();
  summary.passages = json.at("passages").get<std::uint64_t>();
  return summary;
}

}  // namespace

Json to_json(const std::vector<std::filesystem::path>& paths, const kb::LoadOptions& options) {
  Json json;
  json["paths"] = paths_json(paths);
  json["source"] = options.source;
  json["format"] = kb::format_name(options.format);
  json["skip_bad"] = options.skip_bad;
  json["wordings"] = options.wordings;
  json["alias_predicates"] = options.alias_predicates;
  json["layout"] = layout_names.at(static_cast<std::size_t>(options.table.layout));
  json["id_column"] = options.table.id_column;
  json["label_column"] = options.table.label_column;
  json["split"] = options.table.split;
  json["base_iri"] = options.base_iri;
  json["threads"] = options.threads;
  return json;
}

base::Result<LoadJob> load_job(const Json& json) {
  return guarded<LoadJob>("load", [&] {
    LoadJob job;
    for (const Json& path : json.at("paths")) job.paths.emplace_back(path.get<std::string>());
    job.options.source = json.at("source").get<std::string>();
    // "unknown" is no format's name: told by the file's name then.
    job.options.format =
        kb::format_from_name(json.at("format").get<std::string>()).value_or(kb::Format::unknown);
    job.options.skip_bad = json.at("skip_bad").get<bool>();
    job.options.wordings = json.at("wordings").get<bool>();
    job.options.alias_predicates = json.at("alias_predicates").get<std::vector<std::string>>();
    const auto layout =
        std::find(layout_names.begin(), layout_names.end(), json.at("layout").get<std::string>());
    if (layout != layout_names.end()) {
      job.options.table.layout = static_cast<kb::TableLayout>(layout - layout_names.begin());
    }
    job.options.table.id_column = json.at("id_column").get<std::string>();
    job.options.table.label_column = json.at("label_column").get<std::string>();
    job.options.table.split = json.at("split").get<std::map<std::string, std::string>>();
    job.options.base_iri = json.at("base_iri").get<std::string>();
    job.options.threads = json.at("threads").get<std::size_t>();
    return job;
  });
}

Json to_json(const DeleteRequest& request) {
  return {{"source", request.source},
          {"subject", request.subject},
          {"predicate", request.predicate},
          {"object", request.object}};
}

base::Result<DeleteRequest> delete_request(const Json& json) {
  return guarded<DeleteRequest>("delete", [&] {
    return DeleteRequest{json.at("source").get<std::string>(), json.at("subject").get<std::string>(),
                         json.at("predicate").get<std::string>(), json.at("object").get<std::string>()};
  });
}

Json to_json(const kb::UpdateSummary& summary) {
  Json json;
  json["sources"] = Json::array();
  for (const kb::SourceChange& one : summary.sources) {
    json["sources"].push_back(
        {{"source", one.source}, {"facts", one.facts}, {"added", one.added}, {"removed", one.removed}});
  }
  json["added"] = summary.added;
  json["removed"] = summary.removed;
  json["facts"] = summary.facts;
  return json;
}

base::Result<kb::UpdateSummary> update_summary(const Json& json) {
  return guarded<kb::UpdateSummary>("summary", [&] { return read_summary(json); });
}

Json to_json(const kb::LoadReport& report) {
  Json json = {{"summary", to_json(report.summary)}, {"bad_lines", report.bad_lines}};
  json["first_bad"] = bad_json(report.first_bad);
  json["notices"] = report.notices;
  json["seconds"] = report.seconds;
  return json;
}

base::Result<kb::LoadReport> load_report(const Json& json) {
  return guarded<kb::LoadReport>("report", [&] {
    kb::LoadReport report;
    report.summary = read_summary(json.at("summary"));
    report.bad_lines = json.at("bad_lines").get<std::uint64_t>();
    report.first_bad = read_bad(json.at("first_bad"));
    report.notices = json.at("notices").get<std::vector<std::string>>();
    report.seconds = json.at("seconds").get<double>();
    return report;
  });
}

Json to_json(const std::vector<std::filesystem::path>& paths, const reader::DocumentLoadOptions& options) {
  Json json;
  json["paths"] = paths_json(paths);
  json["source"] = options.source;
  json["format"] = options.format ? reader::document_format_name(*options.format) : "";
  json["skip_bad"] = options.skip_bad;
  json["tokens"] = options.passages.tokens;
  json["overlap"] = options.passages.overlap;
  json["whole"] = options.passages.whole;
  json["spooled_input"] = options.spooled_input.string();
  json["threads"] = options.threads;
  return json;
}

base::Result<DocumentsJob> documents_job(const Json& json) {
  return guarded<DocumentsJob>("load of documents", [&] {
    DocumentsJob job;
    for (const Json& path : json.at("paths")) job.paths.emplace_back(path.get<std::string>());
    job.options.source = json.at("source").get<std::string>();
    job.options.format = reader::document_format_from_name(json.at("format").get<std::string>());
    job.options.skip_bad = json.at("skip_bad").get<bool>();
    job.options.passages.tokens = json.at("tokens").get<std::size_t>();
    job.options.passages.overlap = json.at("overlap").get<std::size_t>();
    job.options.passages.whole = json.at("whole").get<bool>();
    job.options.spooled_input = json.at("spooled_input").get<std::string>();
    job.options.threads = json.at("threads").get<std::size_t>();
    return job;
  });
}

Json to_json(const DeleteDocumentsRequest& request) {
  return {{"document", request.document}, {"source", request.source}};
}

base::Result<DeleteDocumentsRequest> delete_documents_request(const Json& json) {
  return guarded<DeleteDocumentsRequest>("delete of documents", [&] {
    return DeleteDocumentsRequest{json.at("document").get<std::string>(),
                                  json.at("source").get<std::string>()};
  });
}

Json to_json(const reader::DocumentSummary& summary) {
  return {{"added", summary.added},         {"replaced", summary.replaced},   {"removed", summary.removed},
          {"unchanged", summary.unchanged}, {"documents", summary.documents}, {"passages", summary.passages}};
}

base::Result<reader::DocumentSummary> document_summary(const Json& json) {
  return guarded<reader::DocumentSummary>("summary", [&] { return read_document_summary(json); });
}

Json to_json(const reader::DocumentLoadReport& report) {
  return {{"summary", to_json(report.summary)},
          {"bad", report.bad},
          {"first_bad", bad_json(report.first_bad)},
          {"notices", report.notices},
          {"seconds", report.seconds}};
}

base::Result<reader::DocumentLoadReport> document_report(const Json& json) {
  return guarded<reader::DocumentLoadReport>("report", [&] {
    reader::DocumentLoadReport report;
    report.summary = read_document_summary(json.at("summary"));
    report.bad = json.at("bad").get<std::uint64_t>();
    report.first_bad = read_bad(json.at("first_bad"));
    report.notices = json.at("notices").get<std::vector<std::string>>();
    report.seconds = json.at("seconds").get<double>();
    return report;
  });
}

Json to_json(const base::Error& error) {
  return {{"code", base::error_code_name(error.code)}, {"message", error.message}, {"hint", error.hint}};
}

base::Result<base::Error> error_of(const Json& json) {
  return guarded<base::Error>("failure", [&] {
    base::Error error{base::ErrorCode::internal, json.at("message").get<std::string>(),
                      json.at("hint").get<std::string>()};
    const std::string code = json.at("code").get<std::string>();
    for (int i = 0; i <= static_cast<int>(base::ErrorCode::internal); ++i) {
      if (base::error_code_name(static_cast<base::ErrorCode>(i)) == code)
        error.code = static_cast<base::ErrorCode>(i);
    }
    return error;
  });
}

}  // namespace askbase::web
