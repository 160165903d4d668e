#include "qa/tagged_linker.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "qa/linking.h"

namespace askbase::qa {

namespace {

constexpr std::size_t max_tagged_spans = 4;  // looked up in one question
constexpr float least_looked_up = 0.1F;      // probability
constexpr float sure = 0.5F;                 // a common word so probable is meant as a name
constexpr float part_score = 0.55F;          // of a name that holds the mention's words and nothing else

// How much of either text's words the other has, 0 .. 1: 2 |both| / (|a| + |b|), in Chinese of characters.
float common_words(const std::string& a, const std::string& b) {
  const auto pieces = [](const std::string& key) {
    std::multiset<std::string> out;
    std::string word;
    for (const char32_t c : base::to_code_points(key)) {
      if (c == U' ' || base::is_han(c)) {
        if (!word.empty()) out.insert(std::move(word));
        word.clear();
      }
      if (base::is_han(c)) {
        out.insert(base::to_utf8(std::u32string(1, c)));
      } else if (c != U' ') {
        base::append_utf8(word, c);
      }
    }
    if (!word.empty()) out.insert(word);
    return out;
  };
  const std::multiset<std::string> left = pieces(a), right = pieces(b);
  std::vector<std::string> both;
  std::set_intersection(left.begin(), left.end(), right.begin(), right.end(), std::back_inserter(both));
  const std::size_t all = left.size() + right.size();
  return all == 0 ? 0 : 2 * static_cast<float>(both.size()) / static_cast<float>(all);
}

// Shorter forms of a name of several words: without its first word, without its last, and these two alone.
std::vector<std::string> shorter_forms(const std::string& key) {
  const std::size_t first = key.find(' '), last = key.rfind(' ');
  if (first == std::string::npos) return {};
  std::vector<std::string> forms{key.substr(first + 1), key.substr(0, last)};
  if (first != last) forms.push_back(key.substr(0, first) + key.substr(last));
  return forms;
}

class TaggedLinker : public EntityLinker {
 public:
  TaggedLinker(std::shared_ptr<const MentionTagger> english, std::shared_ptr<const MentionTagger> chinese,
               const LinkOptions& options)
      : english_(std::move(english)), chinese_(std::move(chinese)), options_(options) {}

  base::Result<Links> link(Question& question, const kb::View& view, const Lexicon& lexicon,
                           const std::map<std::string, kb::TermId>& pins,
                           const Deadline& deadline) const override {
    Linking linking(question, view, lexicon, pins, deadline, options_);
    const auto& tagger = question.language == base::Language::chinese ? chinese_ : english_;
    if (tagger) linking.set_tags(tagger->tag(question.text));
    return linking.run();
  }

 private:
  std::shared_ptr<const MentionTagger> english_, chinese_;
  LinkOptions options_;
};

}  // namespace

void Linking::set_tags(const MentionTags& tags) {
  links_.tagged = true;
  for (const TaggedSpan& span : tags.spans) {
    std::size_t first = 0;
    while (first < units().size() && units()[first].end <= span.begin) ++first;
    std::size_t last = first;
    while (last < units().size() && units()[last].begin < span.end) ++last;
    if (first == last) continue;
    // Spans that differ in punctuation alone are the same units.
    const auto known = std::find_if(tags_.begin(), tags_.end(), [&](const TaggedUnits& other) {
      return other.first == first && other.last == last;
    });
    if (known != tags_.end()) {
      known->probability = std::min(1.0F, known->probability + span.probability);
    } else {
      tags_.push_back({first, last, span.probability});
    }
  }
  std::stable_sort(tags_.begin(), tags_.end(),
                   [](const TaggedUnits& a, const TaggedUnits& b) { return a.probability > b.probability; });
}

float Linking::tagged(std::size_t first, std::size_t last) const {
  for (const TaggedUnits& span : tags_) {
    if (span.first == first && span.last == last) return span.probability;
  }
  return 0;
}

base::Status Linking::find_tagged_names() {
  std::size_t looked_up = 0;
  for (const TaggedUnits& span : tags_) {
    if (span.probability < least_looked_up || looked_up == max_tagged_spans || deadline_.passed()) break;
    ++looked_up;
    const auto known = std::find_if(
        links_.mentions.begin(), links_.mentions.end(),
        [&](const Mention& mention) { return mention.first == span.first && mention.last == span.last; });
    if (known != links_.mentions.end()) {
      if (span.probability >= sure) known->weak = false;
      if (options_.parts_of_names || known->candidates.empty()) {
        ASKBASE_TRY(look_up_tagged(*known, known->candidates.empty()));
      }
      continue;
    }
    Mention mention = new_mention(span.first, span.last);
    ASKBASE_TRY(look_up_tagged(mention, true));
    if (mention.candidates.empty()) continue;
    mention.weak = span.probability < sure && mention.exact &&
                   is_common(span.first, span.last, units_key(question_, span.first, span.last));
    links_.mentions.push_back(std::move(mention));
  }
  return {};
}

base::Status Linking::look_up_tagged(Mention& mention, bool exactly) {
  const std::string key = units_key(question_, mention.first, mention.last);
  const bool named_already = !mention.candidates.empty();
  if (exactly) {
    ASKBASE_ASSIGN(const std::vector<kb::EntityMatch> matches, kb::find_exact(view_, key));
    for (const kb::EntityMatch& match : matches) add_candidate(mention, match);
    mention.exact = !mention.candidates.empty() || !mention.values.empty();
  }
  if (mention.candidates.empty()) {
    ASKBASE_ASSIGN(const std::vector<kb::EntityMatch> matches,
                   names_near({mention.first, mention.last}, key));
    for (const kb::EntityMatch& match : matches) {
      if (!named_inside({mention.first, mention.last}, match.entity)) add_candidate(mention, match);
    }
    const float least = options_.parts_of_names ? 0.0F : least_slip_score;
    std::erase_if(mention.candidates, [&](const Candidate& candidate) { return candidate.score < least; });
  }
  if (options_.parts_of_names) {
    ASKBASE_TRY(add_parts_of_names(mention, key, key));
    if (mention.candidates.empty()) {
      for (const std::string& form : shorter_forms(key)) {
        ASKBASE_TRY(add_parts_of_names(mention, key, form));
      }
    }
  }
  if (!named_already) {
    std::stable_sort(mention.candidates.begin(), mention.candidates.end(),
                     [](const Candidate& a, const Candidate& b) { return a.score > b.score; });
  }
  return {};
}

base::Status Linking::add_parts_of_names(Mention& mention, const std::string& key, const std::string& words) {
  if (mention.candidates.size() >= options_.max_candidates) return {};
  ASKBASE_ASSIGN(const std::vector<kb::EntityMatch> matches,
                 kb::search(view_, words, "", options_.max_candidates));
  for (const kb::EntityMatch& match : matches) {
    const std::size_t before = mention.candidates.size();
    add_candidate(mention, match);
    if (mention.candidates.size() == before) continue;
    if (match.match == kb::MatchKind::exact && words == key) continue;
    Candidate& candidate = mention.candidates.back();
    candidate.score = part_score * common_words(key, base::match_key(candidate.name));
  }
  return {};
}

void Linking::find_tagged_unknown_names() {
  const auto overlaps = [](const TaggedUnits& span, std::size_t first, std::size_t last) {
    return span.first < last && first < span.last;
  };
  for (const TaggedUnits& span : tags_) {
    if (span.probability < sure) break;
    const bool named =
        std::any_of(links_.mentions.begin(), links_.mentions.end(), [&](const Mention& mention) {
          return !mention.weak && (!mention.candidates.empty() || !mention.values.empty()) &&
                 overlaps(span, mention.first, mention.last);
        });
    if (named) continue;
    // The whole of it, where the words alone told a part.
    std::erase_if(links_.unknown,
                  [&](const auto& other) { return span.first <= other.first && other.second <= span.last; });
    const bool told = std::any_of(links_.unknown.begin(), links_.unknown.end(), [&](const auto& other) {
      return overlaps(span, other.first, other.second);
    });
    if (!told) links_.unknown.emplace_back(span.first, span.last);
  }
}

std::unique_ptr<EntityLinker> make_tagged_linker(std::shared_ptr<const MentionTagger> english,
                                                 std::shared_ptr<const MentionTagger> chinese,
                                                 const LinkOptions& options) {
  return std::make_unique<TaggedLinker>(std::move(english), std::move(chinese), options);
}

std::vector<RankedEntity> ranked_entities(const Links& links, std::size_t limit) {
  constexpr float untagged = 0.02F, by_prominence = 0.02F;
  std::size_t longest = 1;
  for (const Mention& mention : links.mentions) longest = std::max(longest, mention.length());
  std::vector<RankedEntity> all;
  for (const Mention& mention : links.mentions) {
    const float share = static_cast<float>(mention.length()) / static_cast<float>(longest);
    const float weight = mention.tagged + untagged * share * (mention.weak ? 0.1F : 1.0F);
    for (const Candidate& candidate : mention.candidates) {
      all.push_back(
          {&mention, &candidate, weight * (candidate.score + by_prominence * candidate.prominence)});
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const RankedEntity& a, const RankedEntity& b) { return a.score > b.score; });
  std::set<std::uint64_t> seen;
  std::erase_if(
      all, [&](const RankedEntity& entity) { return !seen.insert(entity.candidate->entity.bits).second; });
  if (all.size() > limit) all.resize(limit);
  return all;
}

}  // namespace askbase::qa
