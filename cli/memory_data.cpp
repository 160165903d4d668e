#include "cli/memory_data.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/interrupt.h"
#include "base/progress.h"
#include "base/text.h"
#include "base/tokenize.h"
#include "datasets/kb_questions.h"
#include "datasets/word_vectors.h"
#include "kb/entity_index.h"
#include "kb/store.h"
#include "nn/random.h"
#include "qa/lexicon.h"
#include "qa/path_text.h"

namespace askbase::cli {

namespace {

constexpr std::size_t most_candidates = 8;
constexpr std::size_t most_facts = 5000;  // of an entity that are looked at, in each direction

// The code points of the question in which the words of the text stand; nothing
// where they do not.
std::optional<qa::MemoryMention> place_of(const std::vector<base::Token>& question, std::string_view text) {
  std::vector<std::string> words;
  for (const base::Token& token : base::tokenize_characters(text)) {
    if (!token.key.empty()) words.push_back(token.key);
  }
  if (words.empty()) return std::nullopt;
  for (std::size_t begin = 0; begin < question.size(); ++begin) {
    std::size_t at = begin, word = 0;
    std::size_t last = begin;
    while (word < words.size() && at < question.size()) {
      if (question[at].key.empty()) {  // punctuation inside a name
        if (word == 0) break;
        ++at;
      } else if (question[at].key == words[word]) {
        last = at++;
        ++word;
      } else {
        break;
      }
    }
    if (word == words.size()) return qa::MemoryMention{question[begin].begin, question[last].end};
  }
  return std::nullopt;
}

class SourceReader {
 public:
  SourceReader(const kb::View& view, const qa::Lexicon& lexicon, const MemoryDataOptions& options,
               MemoryQuestions& out)
      : view_(view), lexicon_(lexicon), options_(options), out_(out), first_(out.data.predicates.size()) {
    out_.data.first_predicates.push_back(static_cast<std::uint32_t>(first_));
    for (const qa::Predicate& predicate : lexicon.predicates()) {
      std::vector<std::string> mine, other;
      for (const qa::RelationText& text : predicate.texts) {
        if (text.origin == qa::RelationText::Origin::identifier) continue;
        const bool fits = text.lang.empty() || text.lang.substr(0, 2) == options.language;
        (fits ? mine : other).push_back(text.text);
      }
      out_.data.predicates.push_back(qa::memory_predicate(
          predicate.iri, mine.empty() ? other : mine,
          predicate.kind == qa::ValueKind::entity ? "" : qa::value_kind_name(predicate.kind)));
    }
  }

  // Nothing for a question that cannot be learned from.
  base::Result<std::optional<qa::MemoryExample>> example(const datasets::KbQuestion& question) {
    qa::MemoryExample example;
    ASKBASE_ASSIGN(const auto topic, view_.find(kb::Term::iri(question.topics[0])));
    ASKBASE_ASSIGN(const auto relation, view_.find(kb::Term::iri(question.path[0].relation)));
    if (!topic || !relation) return std::nullopt;
    const auto predicate = lexicon_.predicate_index(*relation);
    if (!predicate) return std::nullopt;
    example.path = path_of(*predicate, question.path[0].inverse);
    ASKBASE_ASSIGN(const std::optional<qa::MemoryMention> mention, mention_place(view_, question, *topic));
    if (!mention) return std::nullopt;
    example.question = question.question;
    example.mention = *mention;
    const base::OffsetMap places(example.question);
    const std::string text = example.question.substr(places.byte(mention->begin),
                                                     places.byte(mention->end) - places.byte(mention->begin));
    ASKBASE_ASSIGN(std::vector<kb::EntityMatch> matches, kb::find_exact(view_, text));
    const auto right = std::find_if(matches.begin(), matches.end(),
                                    [&](const kb::EntityMatch& match) { return match.entity == *topic; });
    if (right != matches.end()) {
      std::rotate(matches.begin(), right, right + 1);
    } else {
      kb::EntityMatch match;
      match.entity = *topic;
      ASKBASE_ASSIGN(match.name.text, kb::display_name(view_, *topic, options_.language));
      ASKBASE_ASSIGN(const std::uint64_t facts,
                     view_.count({.subject = *topic, .predicate = {}, .object = {}}, 64));
      match.facts = static_cast<std::uint32_t>(facts);
      matches.insert(matches.begin(), std::move(match));
    }
    for (const kb::EntityMatch& match : matches) {
      if (example.candidates.size() == most_candidates) break;
      if (lexicon_.is_schema(match.entity)) continue;
      ASKBASE_ASSIGN(std::vector<std::uint32_t> paths, paths_of(match.entity));
      example.candidates.push_back({match.name.text, match.facts, std::move(paths)});
    }
    if (example.candidates.empty()) return std::nullopt;
    const auto& own = example.candidates[0].paths;
    if (std::find(own.begin(), own.end(), example.path) == own.end()) return std::nullopt;
    return example;
  }

 private:
  std::uint32_t path_of(std::size_t predicate, bool inverse) const {
    return static_cast<std::uint32_t>(2 * (first_ + predicate) + (inverse ? 1 : 0));
  }

  base::Result<std::vector<std::uint32_t>> paths_of(kb::TermId entity) {
    if (const auto known = paths_.find(entity.bits); known != paths_.end()) return known->second;
    std::set<std::uint32_t> paths;
    for (const bool inverse : {false, true}) {
      std::size_t looked = 0;
      const kb::Pattern pattern = inverse ? kb::Pattern{.subject = {}, .predicate = {}, .object = entity}
                                          : kb::Pattern{.subject = entity, .predicate = {}, .object = {}};
      ASKBASE_TRY(view_.match(pattern, [&](const kb::Triple& fact) {
        if (const auto index = lexicon_.predicate_index(fact.predicate))
          paths.insert(path_of(*index, inverse));
        return ++looked < most_facts;
      }));
    }
    return paths_[entity.bits] = {paths.begin(), paths.end()};
  }

  const kb::View& view_;
  const qa::Lexicon& lexicon_;
  const MemoryDataOptions& options_;
  MemoryQuestions& out_;
  std::size_t first_;  // of the lexicon's predicates among all
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> paths_;
};

base::Status read_source(const MemorySource& source, const MemoryDataOptions& options, MemoryQuestions& out) {
  ASKBASE_ASSIGN(const auto store, kb::Store::open(source.kb, kb::OpenMode::read_only));
  ASKBASE_ASSIGN(const auto view, store->view());
  ASKBASE_ASSIGN(const auto lexicon, qa::Lexicon::build(*view));
  ASKBASE_ASSIGN(const auto questions, datasets::read_kb_questions({source.questions}));
  SourceReader reader(*view, *lexicon, options, out);
  base::Progress progress("reading " + source.questions.string(), questions.size(), "questions");
  std::size_t valid = 0;
  const auto is_valid = [](const datasets::KbQuestion& question) {
    return question.split == "valid" || question.split == "dev";
  };
  for (const datasets::KbQuestion& question : questions) valid += is_valid(question) ? 1 : 0;
  const std::size_t every =
      options.most_valid == 0
          ? 1
          : std::max<std::size_t>(1, (valid + options.most_valid - 1) / options.most_valid);
  std::size_t done = 0, nth = 0;
  for (const datasets::KbQuestion& question : questions) {
    progress.update(++done);
    ASKBASE_TRY(base::check_interrupt());
    const bool test = question.split == "test";
    if (question.lang != options.language || question.topics.empty() || question.path.size() != 1) continue;
    if (test && !options.test) continue;
    if (is_valid(question) && nth++ % every != 0) continue;
    ASKBASE_ASSIGN(std::optional<qa::MemoryExample> example, reader.example(question));
    if (!example) {
      ++out.left_out;
    } else {
      (test ? out.test : is_valid(question) ? out.data.valid : out.data.train).push_back(std::move(*example));
    }
  }
  progress.finish();
  return {};
}

}  // namespace

base::Result<std::optional<qa::MemoryMention>> mention_place(const kb::View& view,
                                                             const datasets::KbQuestion& question,
                                                             kb::TermId topic) {
  const std::vector<base::Token> tokens = base::tokenize_characters(question.question);
  if (!question.mention.empty()) {
    if (const auto place = place_of(tokens, question.mention)) return place;
  }
  std::optional<qa::MemoryMention> best;
  ASKBASE_ASSIGN(const std::vector<kb::EntityName> names, kb::names_of(view, topic));
  for (const kb::EntityName& name : names) {
    const auto place = place_of(tokens, name.text);
    if (place && (!best || place->end - place->begin > best->end - best->begin)) best = place;
  }
  return best;
}

base::Result<MemorySource> memory_source(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == text.size()) {
    return base::fail(base::ErrorCode::invalid_argument, "--data \"" + text + "\" is not KB:FILE",
                      "for example --data sq-kb:sq/questions.jsonl");
  }
  return MemorySource{text.substr(0, colon), text.substr(colon + 1)};
}

base::Result<std::vector<MemorySource>> memory_sources(const std::vector<std::string>& texts) {
  std::vector<MemorySource> sources;
  for (const std::string& text : texts) {
    ASKBASE_ASSIGN(MemorySource source, memory_source(text));
    sources.push_back(std::move(source));
  }
  return sources;
}

base::Result<MemoryQuestions> read_memory_questions(const std::vector<MemorySource>& sources,
                                                    const MemoryDataOptions& options) {
  MemoryQuestions out;
  for (const MemorySource& source : sources) ASKBASE_TRY(read_source(source, options, out));
  qa::MemoryData& data = out.data;
  if (data.valid.empty() && options.valid_share > 0) {
    nn::Random random(options.seed);
    random.shuffle(data.train);
    const auto kept = static_cast<std::size_t>(options.valid_share * static_cast<double>(data.train.size()));
    data.valid.assign(data.train.end() - static_cast<std::ptrdiff_t>(kept), data.train.end());
    data.train.resize(data.train.size() - kept);
  }
  if (data.train.empty()) {
    return base::fail(base::ErrorCode::bad_input, "no question to learn from",
                      "questions need \"topic\", a \"path\" of one step and "
                      "the language of --lang; "
                      "datasets prepare makes such files");
  }
  return out;
}

base::Result<qa::MemoryWords> memory_words(const qa::MemoryData& data, const std::filesystem::path& vectors,
                                           std::size_t most_frequent, std::size_t dimensions) {
  std::map<std::string, std::size_t> counts;
  for (const qa::MemoryExample& example : data.train) {
    for (const std::string& word : qa::path_words(example.question)) ++counts[word];
  }
  std::set<std::string> wanted;
  for (const auto& [word, count] : counts) {
    if (count > 1) wanted.insert(word);
  }
  for (const qa::MemoryPredicate& predicate : data.predicates) {
    for (const std::string* text : {&predicate.name, &predicate.context, &predicate.object}) {
      for (std::string& word : qa::path_words(*text)) wanted.insert(std::move(word));
    }
  }
  qa::MemoryWords out;
  out.dimensions = static_cast<nn::Index>(dimensions);
  std::unordered_map<std::string, std::size_t> place;
  datasets::WordVectors given;
  if (!vectors.empty()) {
    ASKBASE_ASSIGN(given,
                   datasets::read_word_vectors(vectors, [&](std::size_t rank, const std::string& word) {
                     return rank < most_frequent || wanted.contains(base::match_key(word));
                   }));
    out.dimensions = static_cast<nn::Index>(given.dimensions);
    for (std::size_t i = 0; i < given.words.size(); ++i) {
      std::string key = base::match_key(given.words[i]);
      // Of spellings that meet the most frequent one counts; texts of several
      // words are none.
      if (key.empty() || qa::path_words(key) != std::vector<std::string>{key}) continue;
      wanted.insert(key);
      place.emplace(std::move(key), i);
    }
  }
  const auto width = static_cast<std::size_t>(out.dimensions);
  for (const std::string& word : wanted) {
    out.words.push_back(word);
    const auto found = place.find(word);
    if (found == place.end()) {
      out.vectors.resize(out.vectors.size() + width, 0);
    } else {
      const float* row = given.values.data() + found->second * width;
      out.vectors.insert(out.vectors.end(), row, row + width);
    }
  }
  return out;
}

}  // namespace askbase::cli
