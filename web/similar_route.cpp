#include <system_error>

#include "base/json.h"
#include "kb/embedding/kb_embeddings.h"
#include "kb/entity_index.h"
#include "web/api.h"

namespace askbase::web {

using base::Json;
using kb::embedding::KbEmbeddings;

// The time and size of the file tell when others were trained meanwhile.
base::Result<std::shared_ptr<const KbEmbeddings>> SimilarEntities::get(const kb::View& view) {
  const std::filesystem::path file = kb::embedding::vectors_file(folder_);
  std::error_code error;
  const auto time = std::filesystem::last_write_time(file, error);
  const auto size = error ? 0 : std::filesystem::file_size(file, error);
  const std::lock_guard lock(mutex_);
  if (error) {
    embeddings_ = nullptr;
    size_ = 0;
    return embeddings_;
  }
  if (embeddings_ == nullptr || time != time_ || size != size_) {
    ASKBASE_ASSIGN(embeddings_, KbEmbeddings::open(folder_, view));
    time_ = time;
    size_ = size;
  }
  return embeddings_;
}

namespace {

base::Result<Json> similar_json(const kb::View& view, const KbEmbeddings* embeddings, kb::TermId id,
                                const std::string& lang, std::size_t limit) {
  Json json;
  ASKBASE_ASSIGN(json["label"], kb::display_name(view, id, lang));
  json["similar"] = Json::array();
  if (embeddings == nullptr) {
    json["reason"] = "no_embeddings";
  } else {
    json["embeddings"] = {{"model", kb::embedding::model_name(embeddings->set().model.kind)},
                          {"dim", embeddings->set().model.dim},
                          {"kb_version", embeddings->set().kb_version}};
    ASKBASE_ASSIGN(const auto similar, embeddings->similar(view, id, limit));
    if (!similar) json["reason"] = "no_vector";
    if (similar) {
      for (const KbEmbeddings::Similar& one : *similar) {
        ASKBASE_ASSIGN(const kb::Term term, view.term(one.entity));
        ASKBASE_ASSIGN(const std::string label, kb::display_name(view, one.entity, lang));
        json["similar"].push_back({{"id", term.kind == kb::TermKind::blank ? "_:" + term.value : term.value},
                                   {"label", label},
                                   {"similarity", base::json_number(one.similarity, 4)}});
      }
    }
  }
  json["kb"] = {{"version", view.version()}};
  return json;
}

}  // namespace

ApiResult similar_entities(const ApiContext& context, const std::string& id, const Query& query) {
  if (auto allowed = query.allow({"lang", "limit"}); !allowed) return tl::unexpected(allowed.error());
  const std::string lang(query.get("lang"));
  if (auto language = parse_language("lang", lang); !language) return tl::unexpected(language.error());
  const auto limit = query.number("limit", 10, 1, 100);
  if (!limit) return tl::unexpected(limit.error());
  const auto view = context.engine.view();
  const kb::Term term = id.starts_with("_:") ? kb::Term::blank(id.substr(2)) : kb::Term::iri(id);
  const auto found = view->find(term);
  if (!found) return tl::unexpected(problem_of(found.error()));
  if (!*found) {
    return reject(
        404, "not-found",
        "The knowledge base has no entity with the id " + id + ". Look for its name with entities?q=NAME.");
  }
  const auto embeddings = context.similar.get(*view);
  if (!embeddings) return tl::unexpected(problem_of(embeddings.error()));
  auto json = similar_json(*view, embeddings->get(), **found, lang == "auto" ? "" : lang,
                           static_cast<std::size_t>(*limit));
  if (!json) return tl::unexpected(problem_of(json.error()));
  Json out = {{"id", id}};
  out.update(*json);
  return base::dump_json(out);
}

}  // namespace askbase::web
