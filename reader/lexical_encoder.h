// Vectors and word tags of Chinese characters by LAC, the lexical analysis network of Jiao, Sun and Sun 2018
// ("Chinese lexical analysis with deep bi-GRU-CRF network"), in the small form that the Python package jieba
// ships: character vectors, two bidirectional GRU layers, and a CRF over tags that join word borders, parts
// of speech and names ("n-B", "n-I", "PER-B", ...). It runs forward only: its weights are taken over as they
// are, and what it says of a text is the input of the reader in reader/char_network.h.
//
//   u = sigmoid(x_u + U_u h)   r = sigmoid(x_r + U_r h)   c = tanh(x_c + U_c (r * h))   [x_u; x_r; x_c] = W x
//   + b h' = (1 - u) * h + u * c                     (Cho et al. 2014: the reset gate acts before the
//   product)
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "nn/crf.h"
#include "nn/embedding.h"
#include "nn/linear.h"
#include "nn/packing.h"

namespace askbase::reader {

// Characters and their rows in the table of vectors.
class CharVocabulary {
 public:
  // Lines of the file: one character each, or a name of several letters, of which "OOV_NUM", "OOV_ALPHA",
  // "OOV_HANZ" and "OOV" (required) stand for characters that have no line. Errors: corrupt.
  static base::Result<CharVocabulary> parse(std::string_view text);
  std::string text() const;

  nn::Index size() const { return static_cast<nn::Index>(lines_.size()); }
  std::int32_t row(char32_t c) const;

 private:
  std::vector<std::string> lines_;
  std::unordered_map<char32_t, std::int32_t> rows_;
  std::int32_t number_ = 0, letter_ = 0, han_ = 0, other_ = 0;
};

struct LexicalSizes {
  nn::Index vocabulary = 0, dimensions = 128, hidden = 128, tags = 57;
};

// Immutable; any number of threads, each with its own cache. Parameters are frozen.
class LexicalEncoder {
 public:
  struct Cache {
    nn::Packing packing;
    nn::Matrix<float> layer, packed, gates, reset, state, emission;
    nn::CrfCache crf;
    std::vector<nn::Index> tags;
  };

  // Adds "lexical.characters.weight" (vocabulary, dimensions); for layers l0, l1 and directions f, r
  // "lexical.l0f.input.weight" (3H, in), ".input.bias", ".gates.weight" (2H, H), ".candidate.weight" (H, H);
  // "lexical.emission.weight" (tags, 2H), ".bias", and those of nn::Crf under "lexical.crf".
  LexicalEncoder(nn::Parameters<float>& p, const LexicalSizes& sizes);

  // Of characters by their rows, sentence by sentence: the upper layer's states, y (rows, 2H), and the best
  // tags [rows].
  void forward(const nn::Parameters<float>& p, std::span<const std::int32_t> rows,
               const nn::Segments& sentences, nn::View<float> y, std::span<std::uint8_t> tags, Cache& cache,
               const nn::Context& context) const;

  const LexicalSizes& sizes() const { return sizes_; }
  nn::Index states() const { return 2 * sizes_.hidden; }
  const nn::Embedding<float>& characters() const { return characters_; }

 private:
  struct Direction {
    nn::Linear<float> input, gates, candidate;
  };
  void run(const nn::Parameters<float>& p, const Direction& direction, bool reverse, nn::View<float> y,
           Cache& cache, const nn::Context& context) const;

  LexicalSizes sizes_;
  nn::Embedding<float> characters_;
  Direction directions_[2][2];
  nn::Linear<float> emission_;
  nn::Crf<float> crf_;
};

// The folder "lac_small" of jieba 0.42 (Debian: /usr/lib/python3/dist-packages/jieba/lac_small), which holds
// the weights in the form of PaddlePaddle. Errors: not_found, io, corrupt.
struct LexicalSource {
  CharVocabulary vocabulary;
  LexicalSizes sizes;
  std::vector<std::uint8_t> word_begins;  // by tag: whether it begins a word
  std::filesystem::path folder;
};
base::Result<LexicalSource> open_lac(const std::filesystem::path& folder);
base::Status fill_lac(const LexicalSource& source, nn::Parameters<float>& p);

}  // namespace askbase::reader
