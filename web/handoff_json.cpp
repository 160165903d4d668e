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

}  // namespace

Json to_json(const std::vector<std::filesystem::path>& paths, const kb::LoadOptions& options) {
  Json json;
  json["paths"] = Json::array();
  for (const auto& path : paths) json["paths"].push_back(path.string());
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
  json["first_bad"] = Json::array();
  for (const kb::BadLine& bad : report.first_bad) {
    json["first_bad"].push_back({{"where", bad.where}, {"reason", bad.reason}});
  }
  json["notices"] = report.notices;
  json["seconds"] = report.seconds;
  return json;
}

base::Result<kb::LoadReport> load_report(const Json& json) {
  return guarded<kb::LoadReport>("report", [&] {
    kb::LoadReport report;
    report.summary = read_summary(json.at("summary"));
    report.bad_lines = json.at("bad_lines").get<std::uint64_t>();
    for (const Json& bad : json.at("first_bad")) {
      report.first_bad.push_back({bad.at("where").get<std::string>(), bad.at("reason").get<std::string>()});
    }
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
