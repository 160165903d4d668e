// What the matcher's inference and its training share: its configuration as a file, and the words of a
// question. Internal to qa/.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "nn/parameters.h"
#include "qa/path_matcher.h"
#include "qa/path_matcher_network.h"

namespace askbase::qa {

inline constexpr const char* kPathMatcherKind = "path-matcher";

// Of config.json, and back. Errors: corrupt, with the member that does not fit.
base::Result<PathMatcherConfig> parse_path_matcher_config(const std::string& text);
std::string path_matcher_config_text(const PathMatcherConfig& config);

// A word of a question: as the vocabulary has it and as it is written.
struct MatchWord {
  std::string key, text;
};
// Without punctuation; a mention is mention_word, followed by the words of its type, or, where that is not
// stated, the last `tail` words of its name.
std::vector<MatchWord> match_words(std::string_view question, std::span<const MentionRange> mentions,
                                   nn::Index tail);

// A matcher with a copy of these weights: those of a PathMatcherNetwork of the same configuration and
// vocabularies.
std::shared_ptr<const PathMatcher> path_matcher_of(const PathMatcherConfig& config,
                                                   const PathVocabulary& words, const PathVocabulary& units,
                                                   const nn::Parameters<float>& p);

}  // namespace askbase::qa
