#include "web/documents_route.h"

#include <array>
#include <string_view>

#include "base/json.h"
#include "base/log.h"
#include "reader/document_load.h"
#include "web/api.h"
#include "web/query.h"

namespace askbase::web {
namespace {

using base::Json;

// Takes as long whatever the difference is, so that a token cannot be found out piece by piece.
bool same_secret(std::string_view a, std::string_view b) {
  unsigned char difference = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < a.size(); ++i)
    difference |= static_cast<unsigned char>(a[i] ^ b[b.empty() ? 0 : i % b.size()]);
  return difference == 0;
}

Outcome<std::string> text_field(const Json& body, const std::string& name) {
  const auto field = body.find(name);
  if (field == body.end() || field->is_null()) return std::string();
  if (!field->is_string()) return invalid_field(name, "text");
  return field->get<std::string>();
}

Outcome<reader::Document> document_of(const Json& body) {
  constexpr std::array<std::string_view, 6> known = {"id", "text", "title", "lang", "url", "date"};
  for (const auto& [name, value] : body.items()) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      return reject(400, "unknown-field", "\"" + name + "\" is no field of a document.", name);
  }
  if (!body.contains("text")) return invalid_field("text", "the document's text");
  reader::Document document;
  document.source = "api";
  for (const auto& [name, place] : {std::pair<const char*, std::string*>{"id", &document.id},
                                    {"text", &document.text},
                                    {"title", &document.title},
                                    {"lang", &document.lang},
                                    {"url", &document.url},
                                    {"date", &document.date}}) {
    auto text = text_field(body, name);
    if (!text) return tl::unexpected(text.error());
    *place = std::move(*text);
  }
  if (document.id.empty()) return invalid_field("id", "a name for the document, its own");
  return document;
}

// The change is durable whatever happens here; answers come from the old state if they must.
void refresh(const WriteContext& context) {
  if (const base::Status refreshed = context.engine.refresh(); !refreshed)
    base::log_error("answers still come from the state before the change: " + refreshed.error().message);
}

}  // namespace

Outcome<void> check_write(const WriteContext& context, const HttpRequest& request) {
  if (!context.token.empty()) {
    constexpr std::string_view scheme = "Bearer ";
    const std::string_view sent = request.header("authorization");
    const bool bearer =
        sent.size() > scheme.size() && equal_ignoring_case(sent.substr(0, scheme.size()), scheme);
    if (!bearer || !same_secret(sent.substr(scheme.size()), context.token)) {
      return reject(401, "unauthorized", "Changes need the header \"Authorization: Bearer TOKEN\".");
    }
  }
  if (context.store.storage().read_only())
    return reject(403, "read-only", "This server has the knowledge base for reading only.");
  return {};
}

Outcome<HttpResponse> put_document(const WriteContext& context, const HttpRequest& request) {
  if (auto type = check_content_type(request); !type) return tl::unexpected(type.error());
  auto body = base::parse_json(request.body);
  if (!body) return reject(400, "invalid-json", "The body is not JSON: " + body.error().message);
  if (!body->is_object()) {
    return reject(400, "invalid-field",
                  "The body must be a JSON object such as {\"id\": \"...\", \"text\": \"...\"}.");
  }
  auto document = document_of(*body);
  if (!document) return tl::unexpected(document.error());
  const std::string id = document->id;
  const auto summary = reader::put_documents(context.store, {std::move(*document)});
  if (!summary) return tl::unexpected(problem_of(summary.error()));
  if (summary->unchanged == 0) refresh(context);
  const char* change = summary->added > 0 ? "added" : summary->replaced > 0 ? "replaced" : "unchanged";
  const Json out = {
      {"id", id}, {"change", change}, {"documents", summary->documents}, {"passages", summary->passages}};
  return HttpResponse{summary->added > 0 ? 201 : 200,
                      "application/json",
                      base::dump_json(out),
                      {{"Cache-Control", "no-store"}}};
}

Outcome<HttpResponse> delete_document(const WriteContext& context, const std::string& id) {
  const auto summary = reader::delete_document(context.store, id);
  if (!summary) return tl::unexpected(problem_of(summary.error()));
  refresh(context);
  return HttpResponse{204, "", "", {}};
}

}  // namespace askbase::web
