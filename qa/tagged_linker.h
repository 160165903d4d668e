// Linking with a tagger: the lexical linker's names, told how probable each is as what the question is about,
// and names for what the tagger found beside them: common words ("it"), slips of the pen, and, where asked
// for, names that only hold the words. Tagged words that nothing in the KB is called are Links::unknown.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "qa/linker.h"
#include "qa/mention_tagger.h"

namespace askbase::qa {

// Each language's questions are read by its tagger, questions in neither by the English one; null: that
// language is linked by the words of names alone. Without both it links as the lexical linker does.
// Thread-safe.
std::unique_ptr<EntityLinker> make_tagged_linker(std::shared_ptr<const MentionTagger> english,
                                                 std::shared_ptr<const MentionTagger> chinese,
                                                 const LinkOptions& options = {});

// The candidates of all mentions in one list, each entity once: by how probable the mention is (its length
// where no tagger looked), how well the name fits, and how much is known of the entity. At most `limit`.
struct RankedEntity {
  const Mention* mention = nullptr;
  const Candidate* candidate = nullptr;
  float score = 0;
};
std::vector<RankedEntity> ranked_entities(const Links& links, std::size_t limit);

}  // namespace askbase::qa
