// What the memory network learns from: questions with a gold fact (docs/evaluation.md) and the knowledge base
// that they are about.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "datasets/kb_questions.h"
#include "kb/store.h"
#include "qa/fact_memory_training.h"

namespace askbase::cli {

struct MemorySource {
  std::filesystem::path kb, questions;
};
// "KB:FILE". Error invalid_argument.
base::Result<MemorySource> memory_source(const std::string& text);
base::Result<std::vector<MemorySource>> memory_sources(const std::vector<std::string>& texts);

struct MemoryDataOptions {
  std::string language = "en";
  std::uint64_t seed = 1;
  double valid_share = 0;         // of the training questions, where no split is called valid or dev
  std::size_t most_valid = 4000;  // of those of a split called so, spread evenly; 0: all
  bool test = false;              // read the split called test, too
};

struct MemoryQuestions {
  qa::MemoryData data;
  std::vector<qa::MemoryExample> test;
  std::uint64_t left_out =
      0;  // whose topic stands in no known way in the question, or whose fact is not there
};

// Questions of other languages, without a topic or with a path of several steps are passed over. Errors:
// those of the store and of reading questions; bad_input without a training question.
base::Result<MemoryQuestions> read_memory_questions(const std::vector<MemorySource>& sources,
                                                    const MemoryDataOptions& options);

// Where the topic is named in the question: by what the data calls the mention, or by the longest of the
// topic's names that stands in it. Errors: corrupt, io.
base::Result<std::optional<qa::MemoryMention>> mention_place(const kb::View& view,
                                                             const datasets::KbQuestion& question,
                                                             kb::TermId topic);

// Words of training questions (twice or more) and of predicates, and the `most_frequent` first ones of the
// file of vectors; without a file `dimensions` numbers each, unknown. Errors: those of reading vectors.
base::Result<qa::MemoryWords> memory_words(const qa::MemoryData& data, const std::filesystem::path& vectors,
                                           std::size_t most_frequent, std::size_t dimensions);

}  // namespace askbase::cli
