#include "cli/simple_systems.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/language.h"
#include "base/text.h"
#include "base/tokenize.h"
#include "cli/baseline.h"
#include "cli/memory_data.h"
#include "datasets/naive_bayes.h"
#include "kb/entity_index.h"
#include "qa/learned.h"
#include "qa/lexicon.h"
#include "qa/path_text.h"

namespace askbase::cli {

namespace {

using datasets::KbQuestion;
using datasets::PathStep;
using datasets::SimplePrediction;

constexpr std::size_t most_facts = 5000;  // of an entity that are looked at, in each direction
constexpr std::size_t most_entities = 200;

std::string_view part_of(std::string_view text, std::uint32_t begin, std::uint32_t end) {
  const base::OffsetMap places(text);
  return text.substr(places.byte(begin), places.byte(end) - places.byte(begin));
}

template <typename T>
std::optional<double> chance(const std::vector<T>& scores, std::size_t right) {
  double best = 0;
  for (const T score : scores) {
    if (score > scores[right]) return 0.0;
    best += score == scores[right] ? 1 : 0;
  }
  return 1 / best;
}

class Systems : public SimpleSystems {
 public:
  Systems(std::shared_ptr<const kb::View> view, std::shared_ptr<const qa::Lexicon> lexicon)
      : view_(std::move(view)), lexicon_(std::move(lexicon)) {}

  base::Status read_models(const std::filesystem::path& folder) {
    for (const bool chinese : {false, true}) {
      Models& models = chinese ? chinese_ : english_;
      const std::string prefix = chinese ? "zh-" : "en-";
      if (std::filesystem::is_directory(folder / (prefix + "memory"))) {
        ASKBASE_ASSIGN(models.models.memory, qa::FactMemory::load(folder / (prefix + "memory")));
      }
      if (std::filesystem::is_directory(folder / (prefix + "matcher"))) {
        ASKBASE_ASSIGN(models.models.matcher, qa::PathMatcher::load(folder / (prefix + "matcher")));
      }
    }
    return {};
  }

  // Of the languages that are asked in.
  void encode(const std::vector<KbQuestion>& questions) {
    std::set<std::string> languages;
    bool inverse = false;
    for (const KbQuestion& question : questions) {
      languages.insert(question.lang);
      for (const PathStep& step : question.path) inverse = inverse || step.inverse;
    }
    for (const std::string& language : languages) {
      Models& models = of(language);
      models.codes = qa::encode_relations(*lexicon_, models.models, base::language_from_tag(language));
    }
    for (std::size_t p = 0; p < lexicon_->predicates().size(); ++p) {
      paths_.push_back(static_cast<std::uint32_t>(qa::path_of(p, false)));
      if (inverse) paths_.push_back(static_cast<std::uint32_t>(qa::path_of(p, true)));
    }
  }

  base::Status learn(const std::vector<KbQuestion>& train) {
    std::vector<datasets::NaiveBayes::Example> examples;
    for (const KbQuestion& question : train) {
      if (question.path.size() != 1 || question.topics.empty()) continue;
      ASKBASE_ASSIGN(const auto words, words_beside_mention(question));
      if (words) examples.push_back({*words, datasets::path_step_text(question.path[0])});
    }
    if (!examples.empty()) bayes_ = std::make_unique<datasets::NaiveBayes>(examples);
    return {};
  }

  bool has_baseline() const override { return bayes_ != nullptr; }
  bool has_memory(const std::string& lang) const override { return of(lang).models.memory != nullptr; }

  base::Result<SimplePrediction> from_findings(const KbQuestion& question,
                                               const qa::Findings& findings) const override {
    SimplePrediction out;
    const qa::FoundReading* best = nullptr;
    std::unordered_set<std::string> seen;
    const auto consider = [&](const std::string& id) {
      if (!id.empty() && out.entities.size() < most_entities && seen.insert(id).second)
        out.entities.push_back(id);
    };
    for (const qa::FoundReading& reading : findings.readings) {
      consider(reading.subject);
      if (best == nullptr && !reading.path.empty() && reading.answers_total > 0) best = &reading;
    }
    for (const qa::FoundMention& mention : findings.mentions) {
      for (const qa::FoundCandidate& candidate : mention.candidates) consider(candidate.id);
    }
    ASKBASE_ASSIGN(out.topic_named, topic_named(question, findings));
    if (best == nullptr) return out;
    out.subject = best->subject;
    for (const qa::FoundStep& step : best->path) out.path.push_back({step.predicate, step.inverse});
    if (best->mention >= 0) out.mention = findings.mentions[static_cast<std::size_t>(best->mention)].text;
    ASKBASE_ASSIGN(out.object, object_right(out.subject, out.path, question.answers));
    return out;
  }

  base::Result<SimplePrediction> by_memory(const KbQuestion& question,
                                           const qa::Findings& findings) const override {
    const Models& models = of(question.lang);
    SimplePrediction out;
    std::vector<qa::MemoryMention> mentions;
    std::vector<qa::MemorySlot> slots;
    struct Place {
      const qa::FoundMention* mention;
      const qa::FoundCandidate* candidate;
      std::uint32_t path;
    };
    std::vector<Place> places;
    for (const qa::FoundMention& mention : findings.mentions) {
      // Longer names come first; parts of them, and common words where there is another name, are none.
      const bool part = std::any_of(mentions.begin(), mentions.end(), [&](const qa::MemoryMention& longer) {
        return mention.begin < longer.end && longer.begin < mention.end;
      });
      if (mention.candidates.empty() || part || (mention.weak && !mentions.empty())) continue;
      const auto number = static_cast<std::uint32_t>(mentions.size());
      mentions.push_back({mention.begin, mention.end});
      for (const qa::FoundCandidate& candidate : mention.candidates) {
        out.entities.push_back(candidate.id);
        ASKBASE_ASSIGN(const auto paths, paths_from(candidate.id));
        for (const std::uint32_t path : paths) {
          slots.push_back({.key = &models.codes.keys[path],
                           .subject = candidate.name,
                           .facts = candidate.facts,
                           .mention = number});
          places.push_back({&mention, &candidate, path});
        }
      }
    }
    if (slots.empty()) return out;
    const qa::MemoryReading reading = models.models.memory->read(question.question, mentions, slots);
    const auto best = static_cast<std::size_t>(
        std::max_element(reading.scores.begin(), reading.scores.end()) - reading.scores.begin());
    const Place& place = places[best];
    out.subject = place.candidate->id;
    out.mention = place.mention->text;
    out.path = {step_of(place.path)};
    out.answered = true;
    out.confidence = static_cast<double>(reading.attention[best]);
    ASKBASE_ASSIGN(out.object, object_right(out.subject, out.path, question.answers));
    return out;
  }

  // The longest name; of the facts of all entities of that name those with the
  // relation that the remaining words make likeliest, of equal ones the entity
  // of more facts.
  base::Result<SimplePrediction> baseline(const KbQuestion& question) const override {
    SimplePrediction out;
    const std::vector<base::Token> tokens = base::tokenize_characters(question.question);
    ASKBASE_ASSIGN(const std::optional<LongestName> name,
                   longest_name(*view_, question.question, tokens,
                                [&](kb::TermId id) { return !lexicon_->is_schema(id); }));
    if (!name) return out;
    out.mention = name->text;
    const std::vector<double> scores =
        bayes_->scores(words_beside(question.question, tokens[name->begin].begin, tokens[name->end - 1].end));
    double best = 0;
    for (const kb::EntityMatch& match : name->matches) {
      ASKBASE_ASSIGN(const kb::Term term, view_->term(match.entity));
      out.entities.push_back(term.value);
      ASKBASE_ASSIGN(const auto paths, paths_from(term.value));
      for (const std::uint32_t path : paths) {
        const std::size_t label = bayes_->place(datasets::path_step_text(step_of(path)));
        if (label == scores.size() || (!out.path.empty() && scores[label] <= best)) continue;
        best = scores[label];
        out.subject = term.value;
        out.path = {step_of(path)};
      }
    }
    ASKBASE_ASSIGN(out.object, object_right(out.subject, out.path, question.answers));
    return out;
  }

  base::Result<RelationChoices> choose_relation(const KbQuestion& question) const override {
    RelationChoices out;
    if (question.path.size() != 1) return out;
    ASKBASE_ASSIGN(const auto mention, gold_mention(question));
    ASKBASE_ASSIGN(const auto relation, view_->find(kb::Term::iri(question.path[0].relation)));
    if (!mention || !relation) return out;
    if (bayes_) {
      const std::vector<double> scores =
          bayes_->scores(words_beside(question.question, mention->begin, mention->end));
      const std::size_t right = bayes_->place(datasets::path_step_text(question.path[0]));
      out.baseline = right == scores.size() ? std::optional(0.0) : chance(scores, right);
    }
    const auto predicate = lexicon_->predicate_index(*relation);
    if (!predicate) return out;
    const auto gold = static_cast<std::uint32_t>(qa::path_of(*predicate, question.path[0].inverse));
    const auto place = std::find(paths_.begin(), paths_.end(), gold);
    if (place == paths_.end()) return out;
    const auto right = static_cast<std::size_t>(place - paths_.begin());
    const Models& models = of(question.lang);
    if (models.models.memory) {
      const std::string_view name = part_of(question.question, mention->begin, mention->end);
      std::vector<qa::MemorySlot> slots;
      for (const std::uint32_t path : paths_) {
        slots.push_back({.key = &models.codes.keys[path], .subject = name, .facts = 0, .mention = 0});
      }
      out.memory = chance(models.models.memory->read(question.question, {&*mention, 1}, slots).scores, right);
    }
    if (models.models.matcher) {
      const qa::MentionRange range{mention->begin, mention->end};
      const qa::MatchQuestion prepared = models.models.matcher->prepare(question.question, {&range, 1});
      std::vector<float> scores(paths_.size());
      qa::PathMatcher::Scratch scratch;
      models.models.matcher->score(prepared, models.codes.paths, paths_, scores, scratch);
      out.matcher = chance(scores, right);
    }
    return out;
  }

  base::Result<bool> fact_there(const KbQuestion& question) const override {
    if (question.path.size() != 1) return true;
    for (const std::string& topic : question.topics) {
      ASKBASE_ASSIGN(const bool there, object_right(topic, question.path, question.answers));
      if (there) return true;
    }
    return false;
  }

 private:
  struct Models {
    qa::LanguageModels models;
    qa::RelationCodes codes;
  };

  const Models& of(const std::string& lang) const { return lang == "zh" ? chinese_ : english_; }
  Models& of(const std::string& lang) { return lang == "zh" ? chinese_ : english_; }

  PathStep step_of(std::uint32_t path) const { return {lexicon_->predicates()[path / 2].iri, path % 2 == 1}; }

  // Whether a known answer is among the objects; texts meet under the match
  // key.
  base::Result<bool> object_right(const std::string& subject, const std::vector<PathStep>& path,
                                  const std::vector<std::string>& golds) const {
    if (subject.empty() || path.size() != 1) return false;
    ASKBASE_ASSIGN(const auto from, view_->find(kb::Term::iri(subject)));
    ASKBASE_ASSIGN(const auto relation, view_->find(kb::Term::iri(path[0].relation)));
    if (!from || !relation) return false;
    std::vector<kb::TermId> entities;
    std::set<std::string> texts;
    for (const std::string& gold : golds) {
      ASKBASE_ASSIGN(const auto id, view_->find(kb::Term::iri(gold)));
      if (id) {
        const kb::Triple fact =
            path[0].inverse ? kb::Triple{*id, *relation, *from} : kb::Triple{*from, *relation, *id};
        ASKBASE_ASSIGN(const bool there, view_->contains(fact));
        if (there) return true;
      } else {
        texts.insert(base::match_key(gold));
      }
    }
    if (texts.empty()) return false;
    const kb::Pattern pattern = path[0].inverse
                                    ? kb::Pattern{.subject = {}, .predicate = *relation, .object = *from}
                                    : kb::Pattern{.subject = *from, .predicate = *relation, .object = {}};
    std::vector<kb::TermId> values;
    ASKBASE_TRY(view_->match(pattern, [&](const kb::Triple& fact) {
      values.push_back(path[0].inverse ? fact.subject : fact.object);
      return values.size() < most_facts;
    }));
    for (const kb::TermId value : values) {
      ASKBASE_ASSIGN(const kb::Term term, view_->term(value));
      if (texts.contains(base::match_key(term.value))) return true;
      if (term.kind != kb::TermKind::iri) continue;
      ASKBASE_ASSIGN(const auto names, kb::names_of(*view_, value));
      for (const kb::EntityName& name : names) {
        if (texts.contains(base::match_key(name.text))) return true;
      }
    }
    return false;
  }

  base::Result<bool> topic_named(const KbQuestion& question, const qa::Findings& findings) const {
    std::set<std::string> keys;
    for (const std::string& topic : question.topics) {
      ASKBASE_ASSIGN(const auto id, view_->find(kb::Term::iri(topic)));
      if (!id) continue;
      ASKBASE_ASSIGN(const auto names, kb::names_of(*view_, *id));
      for (const kb::EntityName& name : names) keys.insert(base::match_key(name.text));
    }
    return std::any_of(
        findings.mentions.begin(), findings.mentions.end(),
        [&](const qa::FoundMention& mention) { return keys.contains(base::match_key(mention.text)); });
  }

  // The paths that lead from the entity, each once.
  base::Result<std::vector<std::uint32_t>> paths_from(const std::string& entity) const {
    std::set<std::uint32_t> paths;
    ASKBASE_ASSIGN(const auto id, view_->find(kb::Term::iri(entity)));
    if (!id) return std::vector<std::uint32_t>();
    for (const bool inverse : {false, true}) {
      std::size_t looked = 0;
      const kb::Pattern pattern = inverse ? kb::Pattern{.subject = {}, .predicate = {}, .object = *id}
                                          : kb::Pattern{.subject = *id, .predicate = {}, .object = {}};
      ASKBASE_TRY(view_->match(pattern, [&](const kb::Triple& fact) {
        if (const auto index = lexicon_->predicate_index(fact.predicate)) {
          paths.insert(static_cast<std::uint32_t>(qa::path_of(*index, inverse)));
        }
        return ++looked < most_facts;
      }));
    }
    return std::vector<std::uint32_t>(paths.begin(), paths.end());
  }

  base::Result<std::optional<qa::MemoryMention>> gold_mention(const KbQuestion& question) const {
    for (const std::string& topic : question.topics) {
      ASKBASE_ASSIGN(const auto id, view_->find(kb::Term::iri(topic)));
      if (!id) continue;
      ASKBASE_ASSIGN(const auto place, mention_place(*view_, question, *id));
      if (place) return place;
    }
    return std::nullopt;
  }

  base::Result<std::optional<std::vector<std::string>>> words_beside_mention(
      const KbQuestion& question) const {
    ASKBASE_ASSIGN(const auto mention, gold_mention(question));
    if (!mention) return std::nullopt;
    return words_beside(question.question, mention->begin, mention->end);
  }

  std::shared_ptr<const kb::View> view_;
  std::shared_ptr<const qa::Lexicon> lexicon_;
  Models english_, chinese_;
  std::vector<std::uint32_t> paths_;  // that a relation is chosen among
  std::unique_ptr<datasets::NaiveBayes> bayes_;
};

}  // namespace

base::Result<std::unique_ptr<SimpleSystems>> SimpleSystems::make(std::shared_ptr<const kb::View> view,
                                                                 const std::vector<KbQuestion>& questions,
                                                                 const std::vector<KbQuestion>& train,
                                                                 const std::filesystem::path& models) {
  ASKBASE_ASSIGN(auto lexicon, qa::Lexicon::build(*view));
  auto systems = std::make_unique<Systems>(std::move(view), std::move(lexicon));
  if (!models.empty()) ASKBASE_TRY(systems->read_models(models));
  systems->encode(questions);
  ASKBASE_TRY(systems->learn(train));
  return systems;
}

}  // namespace askbase::cli
