// Makes files that askbase loads and evaluates with from the files of a benchmark (docs/evaluation.md).
//
//   DIR/facts.nt          the facts, as N-Triples
//   DIR/names.nt          labels and aliases of entities and predicates
//   DIR/questions.jsonl   docs/evaluation.md's questions with the gold fact: topic, path, mention
//
// The same input gives the same bytes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace askbase::datasets {

// simplequestions-fb, simplequestions-wd, zh_gold, metaqa, pathquestion, triples, ...: what may be prepared.
std::vector<std::string> preparable();

struct PrepareOptions {
  // Of names that come with sources: those that have no other source are left out. Names that were taken from
  // the questions to be answered would give the answers away.
  std::vector<std::string> left_out_sources = {"bubo-test", "bubo-valid"};
  // Relations of "triples" whose objects are further names of the subject.
  std::vector<std::string> alias_relations = {"别名"};
  // The IRIs of entities and predicates that have none of their own. Required.
  std::function<std::string(std::string_view name)> entity_iri, predicate_iri;
};

struct PrepareReport {
  std::uint64_t facts = 0, entities = 0, predicates = 0;
  std::uint64_t facts_left_out = 0;  // with an empty field
  std::uint64_t labelled = 0;        // entities with a label
  std::uint64_t names = 0;           // labels and aliases, those of predicates too
  std::uint64_t names_left_out = 0;  // by left_out_sources
  std::uint64_t questions = 0;
  std::uint64_t questions_left_out = 0;  // those without answers
  std::vector<std::string> files;        // written, names inside the folder
};

// Files are told apart by what is in them (datasets/benchmarks.h), their order does not matter but for the
// order of facts and questions. The folder is made where it is missing. Errors: invalid_argument (no such
// benchmark, no facts and no questions among the files), bad_input with file:line: reason, not_found, io.
base::Result<PrepareReport> prepare(const std::string& benchmark,
                                    const std::vector<std::filesystem::path>& files,
                                    const std::filesystem::path& out, const PrepareOptions& options);

}  // namespace askbase::datasets
