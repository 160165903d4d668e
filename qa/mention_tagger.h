// Which words of a question name the thing that it is about, found by how the question is put, not by looking
// names up: a BiLSTM-CRF tagger (Huang, Xu and Yu 2015; Ma and Hovy 2016 for the characters) over word
// vectors, the letters of each word and its casing, or over Chinese characters and their pairs. So it also
// finds names that no knowledge base has.
//
//   ASKBASE_ASSIGN(const auto tagger, MentionTagger::load("models/en-tagger"));
//   tagger->tag("who wrote the wind in the willows?").spans.front();   // "the wind in the willows", 0.98
//
// A model is of one language; text of others goes through it without harm, but what it says of that means
// little. The network is qa/mention_network.h, its training qa/mention_tagger_training.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace askbase::qa {

// Places are half-open, in code points and in bytes of the question as given.
struct TaggedToken {
  std::uint32_t begin = 0, end = 0;
  std::uint32_t begin_byte = 0, end_byte = 0;
  float inside = 0;  // probability of being part of some mention
};

struct TaggedSpan {
  std::uint32_t begin = 0, end = 0;
  std::uint32_t begin_byte = 0, end_byte = 0;
  std::uint32_t first = 0, last = 0;  // tokens
  // That a mention begins at `begin` and ends at `end`: the sum over all taggings of the sentence that have
  // this very mention, by forward and backward sums around it. Exact, not a product of the tokens' own
  // probabilities. Of spans that overlap the probabilities sum to at most 1.
  float probability = 0;
};

struct MentionTags {
  std::vector<TaggedToken> tokens;  // words and punctuation; each Han character by itself
  std::vector<TaggedSpan> best;     // of the one most probable tagging, in the order of the question
  std::vector<TaggedSpan> spans;    // of all taggings, the most probable first; these may overlap
};

struct TagOptions {
  float least_probability = 0.01F;  // of a span to be listed in MentionTags::spans
  std::size_t max_spans = 32;       // so many at most
};

// Immutable; any number of threads may ask it.
class MentionTagger {
 public:
  // Longer mentions are not listed, and tokens after the first max_tokens are not looked at (inside is 0).
  static constexpr std::size_t max_mention_tokens = 40, max_tokens = 4096;

  // A model folder of kind "mention-tagger". Errors: those of nn/model_folder.h, corrupt for sizes or tables
  // that do not fit.
  static base::Result<std::shared_ptr<const MentionTagger>> load(const std::filesystem::path& folder);
  virtual ~MentionTagger() = default;

  // "en" or "zh".
  virtual const std::string& language() const = 0;

  // Of valid UTF-8. Time is linear in the text; a usual question takes well below a millisecond.
  virtual MentionTags tag(std::string_view question, const TagOptions& options = {}) const = 0;
};

}  // namespace askbase::qa
