// Questions over a knowledge base with the entity they are about and the path of relations to the answer, the
// facts and names beside them, and the published task of choosing a relation from a pool. Forms:
//
//   questions  JSON lines: {"id", "split"?, "lang"?, "question", "topic": [ids], "topic_names"?, "mention"?,
//              "path": [relations; "^r" is r followed backwards] or null, "answers": [...] or null, "hops"?,
//              "qtype"?}
//   facts      subject TAB relation TAB object
//   names      id TAB language TAB name TAB kind [TAB sources, separated by "|" or ","]
//   pools      Yu et al. 2017, "Improved Neural Relation Detection": a file of relations, one a line, and
//   lines
//              "gold TAB pool TAB question", gold and pool being line numbers from 1, separated by spaces.
//
// Files are plain, gzip or zstd. All functions are thread-safe. Errors: not_found, io, bad_input with
// file:line: reason.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace askbase::datasets {

// One relation of a path.
struct PathStep {
  std::string relation;
  bool inverse = false;
  auto operator<=>(const PathStep&) const = default;
};

// As "path" has it: "^r" is r followed backwards.
std::string path_step_text(const PathStep& step);

struct KbQuestion {
  std::string id, split, lang, question;
  std::vector<std::string> topics, topic_names;  // the names in the order of the topics, or none
  std::string mention;                           // as the data has it; empty when not stated
  std::vector<PathStep> path;                    // empty when not stated
  std::vector<std::string> answers;              // ids or strings; empty when not stated
  std::string type;                              // "qtype"
};

// Reads and joins the files in order. An id that comes twice is bad_input. A file without questions is
// bad_input.
base::Result<std::vector<KbQuestion>> read_kb_questions(const std::vector<std::filesystem::path>& paths);
// One line. Error bad_input without the place.
base::Result<KbQuestion> parse_kb_question(std::string_view line);

struct NamedFact {
  std::string subject, relation, object;
  auto operator<=>(const NamedFact&) const = default;
};
// Blank lines are skipped, and where skip_incomplete says so lines with an empty field. sink: false stops the
// reading.
base::Status read_named_facts(const std::filesystem::path& path,
                              const std::function<bool(const NamedFact&)>& sink,
                              bool skip_incomplete = false);

struct EntityName {
  std::string id, lang, name, kind, sources;  // kind: "label", "alias", "mention", "description" ...
};
base::Status read_entity_names(const std::filesystem::path& path,
                               const std::function<bool(const EntityName&)>& sink);

struct RelationPoolQuestion {
  std::string question;  // the mention is "#head_entity#"
  std::vector<std::uint32_t> gold,
      pool;  // indices into RelationPools::relations; the gold ones are in the pool, too
};
struct RelationPools {
  std::vector<std::string> relations;  // "/people/person/gender", "a.b.c..d.e.f": as the file has them
  std::vector<RelationPoolQuestion> questions;
};
// A blank line of the list of relations stays, since the others are named by their line numbers.
base::Result<RelationPools> read_relation_pools(const std::filesystem::path& relations,
                                                const std::filesystem::path& questions);

}  // namespace askbase::datasets
