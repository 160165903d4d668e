#include "kb/embedding/kb_embeddings.h"

#include <algorithm>
#include <set>

#include "base/interrupt.h"
#include "kb/entity_index.h"

namespace askbase::kb::embedding {

namespace {

namespace fs = std::filesystem;

bool is_literal(TermId id) { return id_type(id) != IdType::iri && id_type(id) != IdType::blank; }

class Numbers {
 public:
  explicit Numbers(std::vector<TermId>& ids) : ids_(ids) {}
  std::uint32_t of(TermId id) {
    const auto [at, added] = numbers_.try_emplace(id.bits, static_cast<std::uint32_t>(ids_.size()));
    if (added) ids_.push_back(id);
    return at->second;
  }

 private:
  std::vector<TermId>& ids_;
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_;
};

// Predicates whose objects are words, not things.
base::Result<std::set<TermId>> word_predicates(const View& view) {
  std::set<TermId> out;
  ASKBASE_ASSIGN(const LabelPredicates names, label_predicates(view.snapshot()));
  std::set<std::string> iris = names.labels;
  iris.insert(names.aliases.begin(), names.aliases.end());
  for (const std::string_view more : {iri::rdfs_comment, iri::unit, iri::wording}) iris.emplace(more);
  for (const std::string& one : iris) {
    ASKBASE_ASSIGN(const auto id, view.find(Term::iri(one)));
    if (id) out.insert(*id);
  }
  return out;
}

base::Result<std::optional<TermId>> find_named(const View& view, const std::string& name) {
  if (name.starts_with('<') || name.starts_with('"') || name.starts_with("_:")) {
    const auto term = parse_ntriples(name);
    if (!term) return std::nullopt;
    return view.find(*term);
  }
  return view.find(Term::iri(name));
}

void keep_rows(nn::Matrix<float>& table, const std::vector<std::uint32_t>& rows) {
  nn::Matrix<float> kept(static_cast<Index>(rows.size()), table.cols());
  for (std::size_t i = 0; i < rows.size(); ++i)
    std::copy_n(table.row(rows[i]), table.cols(), kept.row(static_cast<Index>(i)));
  table = std::move(kept);
}

}  // namespace

fs::path vectors_file(const fs::path& kb_folder) { return kb_folder / "embeddings" / "vectors.safetensors"; }
fs::path checkpoint_file(const fs::path& kb_folder) {
  return kb_folder / "embeddings" / "checkpoint.safetensors";
}

base::Result<KbFacts> read_kb_facts(const View& view, const KbFactOptions& options) {
  KbFacts out;
  out.version = view.version();
  out.kb_facts = view.facts();
  Numbers entities(out.entities), relations(out.relations);
  ASKBASE_ASSIGN(const std::set<TermId> words, word_predicates(view));
  std::uint64_t seen = 0;
  ASKBASE_TRY(view.match({}, [&](const Triple& triple) {
    if ((++seen & 0xFFFF) == 0 && base::interrupted()) return false;
    if (is_literal(triple.object) && (!options.literals || words.contains(triple.predicate))) return true;
    const std::uint32_t head = entities.of(triple.subject), relation = relations.of(triple.predicate);
    out.facts.push_back({head, relation, entities.of(triple.object)});
    return true;
  }));
  ASKBASE_TRY(base::check_interrupt());
  return out;
}

base::Status name_set(const View& view, const KbFacts& facts, EmbeddingSet& set) {
  const auto name = [&](const std::vector<TermId>& ids, std::vector<std::string>& names,
                        std::vector<std::uint64_t>& bits) -> base::Status {
    names.clear();
    bits.clear();
    for (const TermId id : ids) {
      ASKBASE_ASSIGN(const Term term, view.term(id));
      names.push_back(to_ntriples(term));
      bits.push_back(id.bits);
    }
    return {};
  };
  ASKBASE_TRY(name(facts.entities, set.entities, set.entity_ids));
  ASKBASE_TRY(name(facts.relations, set.relations, set.relation_ids));
  set.kb_version = facts.version;
  set.kb_facts = facts.kb_facts;
  return {};
}

base::Status bind_names(const View& view, EmbeddingSet& set) {
  const std::size_t had = set.relations.size();
  const auto bind = [&](std::vector<std::string>& names, std::vector<std::uint64_t>& ids,
                        std::vector<std::uint32_t>& rows) -> base::Status {
    ids.clear();
    std::vector<std::string> kept;
    for (std::size_t i = 0; i < names.size(); ++i) {
      ASKBASE_ASSIGN(const auto id, find_named(view, names[i]));
      if (!id) continue;
      ids.push_back(id->bits);
      ASKBASE_ASSIGN(const Term term, view.term(*id));
      kept.push_back(to_ntriples(term));
      rows.push_back(static_cast<std::uint32_t>(i));
    }
    names = std::move(kept);
    return {};
  };
  std::vector<std::uint32_t> entities, relations;
  const std::size_t entity_count = set.entities.size();
  ASKBASE_TRY(bind(set.entities, set.entity_ids, entities));
  ASKBASE_TRY(bind(set.relations, set.relation_ids, relations));
  if (entities.empty()) {
    return base::fail(
        base::ErrorCode::invalid_argument,
        "the knowledge base has none of the " + std::to_string(entity_count) + " entities of these vectors",
        "they belong to another knowledge base, or name their entities differently");
  }
  keep_rows(set.tables.entities, entities);
  if (set.reciprocal) {
    const std::size_t count = relations.size();
    for (std::size_t i = 0; i < count; ++i)
      relations.push_back(relations[i] + static_cast<std::uint32_t>(had));
  }
  keep_rows(set.tables.relations, relations);
  set.trained_entities = set.entities.size();
  set.kb_version = view.version();
  set.kb_facts = view.facts();
  return {};
}

base::Result<std::shared_ptr<const KbEmbeddings>> KbEmbeddings::open(const fs::path& kb_folder,
                                                                     const View& view) {
  const fs::path file = vectors_file(kb_folder);
  auto set = load(file);
  if (!set && set.error().code == base::ErrorCode::not_found) {
    return base::fail(base::ErrorCode::not_found, "this knowledge base has no embeddings yet",
                      "train them: askbase --kb " + kb_folder.string() + " embed");
  }
  if (!set) return tl::unexpected(std::move(set.error()));
  fs::path graph = file;
  graph.replace_extension(".hnsw");
  return make(std::move(*set), view, graph);
}

base::Result<std::shared_ptr<const KbEmbeddings>> KbEmbeddings::make(EmbeddingSet set, const View& view,
                                                                     const fs::path& graph_file) {
  const auto other_kb = [] {
    return base::fail(base::ErrorCode::invalid_argument,
                      "the embeddings beside this knowledge base are of another one",
                      "train them anew: askbase embed");
  };
  if (!set.of_kb()) return other_kb();
  // Ids are never given anew: a few that still mean the same tell that it is the same KB.
  const std::size_t count = set.entities.size(), stride = std::max<std::size_t>(1, count / 16);
  for (std::size_t i = 0; i < count; i += stride) {
    const auto term = view.term(TermId{set.entity_ids[i]});
    if (!term && term.error().code != base::ErrorCode::not_found) return tl::unexpected(term.error());
    if (!term || to_ntriples(*term) != set.entities[i]) return other_kb();
  }
  std::shared_ptr<KbEmbeddings> out(new KbEmbeddings());
  out->set_ = std::move(set);
  out->model_ = Model<float>::make(out->set_.model);
  out->graph_file_ = graph_file;
  for (std::size_t i = 0; i < out->set_.entity_ids.size(); ++i)
    out->rows_.emplace(out->set_.entity_ids[i], static_cast<std::uint32_t>(i));
  for (std::size_t i = 0; i < out->set_.relation_ids.size(); ++i)
    out->relation_rows_.emplace(out->set_.relation_ids[i], static_cast<std::uint32_t>(i));
  return std::shared_ptr<const KbEmbeddings>(std::move(out));
}

std::optional<std::uint32_t> KbEmbeddings::row(TermId entity) const {
  const auto found = rows_.find(entity.bits);
  return found == rows_.end() ? std::nullopt : std::optional(found->second);
}
std::optional<std::uint32_t> KbEmbeddings::relation_row(TermId relation) const {
  const auto found = relation_rows_.find(relation.bits);
  return found == relation_rows_.end() ? std::nullopt : std::optional(found->second);
}

base::Result<std::vector<NewFact>> KbEmbeddings::new_facts(const View& view, TermId entity) const {
  constexpr std::size_t enough = 64;
  std::vector<NewFact> facts;
  for (const Side missing : {Side::head, Side::tail}) {
    Pattern pattern;
    (missing == Side::head ? pattern.subject : pattern.object) = entity;
    const std::size_t limit = missing == Side::head ? enough / 2 : enough;
    std::size_t seen = 0;
    ASKBASE_TRY(view.match(pattern, [&](const Triple& triple) {
      const auto other = row(missing == Side::head ? triple.object : triple.subject);
      const auto relation = relation_row(triple.predicate);
      if (other && relation) facts.push_back({missing, *other, *relation});
      return facts.size() < limit && ++seen < 10'000;
    }));
  }
  return facts;
}

base::Result<std::optional<std::vector<float>>> KbEmbeddings::vector(const View& view, TermId entity) const {
  if (const auto known = row(entity)) {
    const float* begin = set_.tables.entities.row(*known);
    return std::vector<float>(begin, begin + set_.tables.entities.cols());
  }
  ASKBASE_ASSIGN(const auto facts, new_facts(view, entity));
  return warm_start(*model_, set_, facts);
}

const NeighbourIndex& KbEmbeddings::neighbours() const {
  std::call_once(neighbours_made_,
                 [&] { neighbours_ = NeighbourIndex::open(set_.tables.entities.view(), graph_file_); });
  return *neighbours_;
}

base::Result<std::optional<std::vector<KbEmbeddings::Similar>>> KbEmbeddings::similar(
    const View& view, TermId entity, std::size_t count) const {
  ASKBASE_ASSIGN(const auto own, vector(view, entity));
  if (!own) return std::optional<std::vector<Similar>>();
  const bool changed = view.version() != set_.kb_version;
  std::vector<Similar> out;
  // Entities may have lost their facts since: some more are asked for.
  for (const Neighbour& one : neighbours().nearest(*own, changed ? 2 * count + 16 : count, row(entity))) {
    if (out.size() == count) break;
    const TermId id = this->entity(one.row);
    if (changed) {
      ASKBASE_ASSIGN(const std::uint64_t as_subject,
                     view.count({.subject = id, .predicate = {}, .object = {}}, 1));
      ASKBASE_ASSIGN(const std::uint64_t as_object,
                     view.count({.subject = {}, .predicate = {}, .object = id}, 1));
      if (as_subject + as_object == 0) continue;
    }
    out.push_back({id, one.similarity});
  }
  return out;
}

base::Result<EmbeddingSet> KbEmbeddings::extended(const View& view, std::uint64_t* added) const {
  ASKBASE_ASSIGN(const KbFacts facts, read_kb_facts(view));
  std::vector<std::pair<TermId, std::vector<float>>> rows;
  for (const TermId entity : facts.entities) {
    if (row(entity)) continue;
    ASKBASE_TRY(base::check_interrupt());
    ASKBASE_ASSIGN(auto made, vector(view, entity));
    if (made) rows.emplace_back(entity, std::move(*made));
  }
  EmbeddingSet out = set_;
  const Index before = out.tables.entities.rows(), width = out.tables.entities.cols();
  nn::Matrix<float> table(before + static_cast<Index>(rows.size()), width);
  std::copy_n(out.tables.entities.data(), before * width, table.data());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ASKBASE_ASSIGN(const Term term, view.term(rows[i].first));
    out.entities.push_back(to_ntriples(term));
    out.entity_ids.push_back(rows[i].first.bits);
    std::copy_n(rows[i].second.data(), width, table.row(before + static_cast<Index>(i)));
  }
  out.tables.entities = std::move(table);
  out.kb_version = view.version();
  out.kb_facts = view.facts();
  if (added != nullptr) *added = rows.size();
  return out;
}

}  // namespace askbase::kb::embedding
