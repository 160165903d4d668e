// Questions whose answer lies several facts away, as the matcher learns from them: prepared questions
// (docs/evaluation.md) and the knowledge base that they are about.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/memory_data.h"
#include "datasets/kb_questions.h"
#include "kb/store.h"
#include "qa/chain_search.h"
#include "qa/lexicon.h"
#include "qa/path_matcher_training.h"

namespace askbase::cli {

// Which part of the data a question belongs to: the split that it states where that is train, valid or test.
// Others (none, dev) are divided 8:1:1 by seed and id: the first eight hex digits of the SHA-256 of
// "seed:id", modulo 10, are 0 for test, 1 for valid, and train otherwise. A question's part depends on
// nothing else.
std::string_view part_of(const datasets::KbQuestion& question, std::uint64_t seed);

// The path as steps of the lexicon; nothing where it has not all of its relations. Errors: io, corrupt.
base::Result<std::optional<qa::Chain>> chain_of(const kb::View& view, const qa::Lexicon& lexicon,
                                                const std::vector<datasets::PathStep>& path);

struct PathDataOptions {
  std::string language = "en";
  std::uint64_t seed = 1;        // of the rivals that are drawn
  std::uint64_t split_seed = 1;  // of part_of()
  std::size_t most_valid = 3000;
};

struct PathDataCounts {
  std::size_t train = 0, valid = 0;
  // Whose topic stands nowhere in the question, whose path the KB has not, or is longer than what is
  // searched.
  std::size_t left_out = 0;
};

// Adds the parts train and valid to the examples of `data`, each with rivals: the other paths of its topic,
// of as many steps as the longest path of the questions or of fewer (so that stopping early or late is
// learned), those nearest to its own path before others; and its path with one step exchanged for another
// relation. Relations are said as the pipeline says them (qa::relation_step). Errors: those of the store and
// of reading questions; bad_input without a training question.
base::Result<PathDataCounts> add_path_data(const MemorySource& source, const PathDataOptions& options,
                                           qa::MatchData& data);

}  // namespace askbase::cli
