#include "kb/load_predicates.h"

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "kb/load_names.h"

namespace askbase::kb {

base::Status PredicateNames::read() {
  read_ = true;
  ASKBASE_ASSIGN(const std::vector<TermId> used, view_.predicates());
  std::set<TermId> all(used.begin(), used.end());
  ASKBASE_ASSIGN(const auto type, view_.find(Term::iri(std::string(iri::rdf_type))));
  ASKBASE_ASSIGN(const auto property, view_.find(Term::iri(std::string(iri::rdf_property))));
  if (type && property) {
    ASKBASE_TRY(
        view_.match({.subject = {}, .predicate = *type, .object = *property}, [&](const Triple& fact) {
          all.insert(fact.subject);
          return true;
        }));
  }
  const auto add = [this](std::string_view name, const std::string& predicate) {
    const std::string key = base::match_key(name);
    if (key.empty()) return;
    shown_.emplace(key, name);
    const auto [known, first] = by_key_.emplace(key, predicate);
    if (!first && known->second != predicate) known->second.clear();
  };
  ASKBASE_ASSIGN(const auto label, view_.find(Term::iri(std::string(iri::rdfs_label))));
  for (const TermId id : all) {
    ASKBASE_ASSIGN(const Term predicate, view_.term(id));
    if (predicate.kind != TermKind::iri) continue;
    iris_.insert(predicate.value);
    if (predicate.value.starts_with(iri::predicate_prefix)) {
      add(decode_name(std::string_view(predicate.value).substr(iri::predicate_prefix.size())),
          predicate.value);
    }
    if (!label) continue;
    std::vector<TermId> labels;
    ASKBASE_TRY(view_.match({.subject = id, .predicate = *label, .object = {}}, [&](const Triple& fact) {
      labels.push_back(fact.object);
      return true;
    }));
    for (const TermId object : labels) {
      ASKBASE_ASSIGN(const Term text, view_.term(object));
      if (text.kind == TermKind::literal) add(text.value, predicate.value);
    }
  }
  return {};
}

base::Result<std::string> PredicateNames::find(std::string_view name) {
  if (!read_) ASKBASE_TRY(read());
  if (iris_.contains(name)) return std::string(name);
  const std::string exact = name_iri("p", name);
  if (iris_.contains(exact)) return exact;
  const std::string key = base::match_key(name);
  if (const auto known = by_key_.find(key); known != by_key_.end()) {
    if (!known->second.empty()) return known->second;
    return base::fail(base::ErrorCode::not_found,
                      "several predicates are called \"" + std::string(name) + "\"; name the one by its IRI");
  }
  // The nearest names, by letters.
  constexpr std::size_t shown = 3;
  const std::u32string wanted = base::to_code_points(key);
  const int limit = std::max(2, static_cast<int>(wanted.size()) / 3);
  std::vector<std::pair<int, std::string>> near;
  for (const auto& [other, written] : shown_) {
    const int distance = base::edit_distance(wanted, base::to_code_points(other), limit);
    const bool part =
        !key.empty() && (other.find(key) != std::string::npos || key.find(other) != std::string::npos);
    if (distance <= limit || part) near.emplace_back(distance, written);
  }
  std::sort(near.begin(), near.end());
  std::string message = "no predicate is called \"" + std::string(name) + "\"";
  for (std::size_t i = 0; i < near.size() && i < shown; ++i) {
    message += (i == 0 ? "; near ones: \"" : ", \"") + near[i].second + "\"";
  }
  return base::fail(base::ErrorCode::not_found, std::move(message));
}

}  // namespace askbase::kb
