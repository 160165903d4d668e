// Word vectors trained by others: wink-embeddings (one JSON file), GloVe and word2vec text.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace askbase::datasets {

struct WordVectors {
  std::size_t dimensions = 0;
  std::vector<std::string> words;  // in the file's order, the most frequent first
  std::vector<float> values;       // words.size() rows of `dimensions`
};

// Keeps the words that `wanted(rank, word)` says, rank counting the file's words from 0. Streams the file,
// plain or compressed: memory is that of what is kept, and of one line or list of words.
// Forms: JSON with "dimensions", "words": [...] and "vectors": {"word": [numbers ...]}, where numbers after
// the first `dimensions` are left out; lines "word number ... number", after an optional line "count
// dimensions". Errors: not_found, io, bad_input (file:line, or the word, and what is wrong).
base::Result<WordVectors> read_word_vectors(
    const std::filesystem::path& path,
    const std::function<bool(std::size_t rank, const std::string& word)>& wanted);

}  // namespace askbase::datasets
