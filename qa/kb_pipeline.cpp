// Answering from facts: analysis, linking, relations, readings, ranking, wording.
#include <algorithm>
#include <set>
#include <utility>

#include "base/text.h"
#include "kb/entity_index.h"
#include "qa/choice.h"
#include "qa/findings.h"
#include "qa/learned_relations.h"
#include "qa/linker.h"
#include "qa/pipeline.h"
#include "qa/reading.h"
#include "qa/relation.h"
#include "qa/tagged_linker.h"
#include "qa/trace.h"
#include "qa/wording.h"

namespace askbase::qa {
namespace {

// Who decides between readings.
enum class Judge { all, memory };

// The memory's score alone; its margin of 1 between right and wrong is a clear difference.
RankWeights memory_weights() {
  RankWeights weights;
  weights.of[static_cast<std::size_t>(Feature::recalled)] = 3;
  weights.of[static_cast<std::size_t>(Feature::missing)] = -100;
  return weights;
}

std::unique_ptr<EntityLinker> linker_of(const KbParts& parts) {
  if (!parts.learned) return make_lexical_linker();
  return make_tagged_linker(parts.learned->english.tagger, parts.learned->chinese.tagger);
}

class KbPipeline : public Pipeline {
 public:
  KbPipeline(const KbParts& parts, Judge judge)
      : parts_(parts), judge_(judge), linker_(linker_of(parts)), scorer_(make_lexical_relation_scorer()) {}

  std::string_view name() const override { return judge_ == Judge::all ? "kb" : "memory"; }
  bool has_data(const KbState& state) const override {
    return judge_ == Judge::all && !state.lexicon->predicates().empty();
  }

  base::Result<Outcome> answer(const Request& request, base::Language language, const KbState& state,
                               const Deadline& deadline) const override {
    Outcome outcome;
    StageClock clock(outcome.timings);
    const kb::View& view = *state.view;
    const Lexicon& lexicon = *state.lexicon;
    const bool traditional = language == base::Language::chinese && base::is_traditional(request.question);
    Wording wording(view, lexicon, language, traditional);
    if (lexicon.predicates().empty()) {
      decline(outcome, wording, Reason::nothing_loaded);
      return outcome;
    }
    // A page of text is no question; the bound keeps the work bounded, too.
    if (request.question.size() > max_question_code_points * 4 ||
        base::count_code_points(request.question) > max_question_code_points) {
      decline(outcome, wording, Reason::unsupported_question);
      return outcome;
    }
    Question question = analyse(request.question);
    clock.lap("analysis");
    if (question.small_talk || question.units.empty()) {
      outcome.reason = Reason::unsupported_question;
      outcome.reason_sentence = wording.reason(Reason::unsupported_question, true, {}, {});
      return outcome;
    }
    // The question's own language, whichever one it is to be answered in.
    const LanguageModels* models = parts_.learned ? &parts_.learned->of(question.language) : nullptr;
    if (judge_ == Judge::memory && (models == nullptr || !models->memory)) {
      decline(outcome, wording, Reason::unsupported_question);
      return outcome;
    }
    ASKBASE_ASSIGN(const auto pins, resolve_pins(request, view));
    ASKBASE_ASSIGN(const Links links, linker_->link(question, view, lexicon, pins, deadline));
    clock.lap("linking");
    Mask names(question.units.size(), 0);
    for (const Mention& mention : links.mentions) {
      if (mention.weak || !mention.exact || mention.candidates.empty()) continue;
      std::fill(names.begin() + static_cast<std::ptrdiff_t>(mention.first),
                names.begin() + static_cast<std::ptrdiff_t>(mention.last), 1);
    }
    // The classifier learned from English questions, and knows nothing of Chinese ones. Most question words
    // say themselves what they want.
    if (parts_.types && question.language == base::Language::english &&
        (request.explain || expected_by_words(question, names) == Expect::any)) {
      question.type = parts_.types->classify(request.question);
    }
    const Frame frame = frame_of(question, names);
    const std::vector<ClassMention> classes = lexicon.find_classes(question);
    const RelationCodes* codes = state.codes(question.language);
    std::unique_ptr<RelationMatcher> relations = scorer_->prepare(question, lexicon);
    if (models != nullptr && models->matcher) {
      relations = with_path_matcher(std::move(relations), question, *models->matcher, codes->paths);
    }
    clock.lap("relations");
    const Context context{
        view,       lexicon,  question,
        frame,      links,    classes,
        *relations, deadline, judge_ == Judge::memory ? memory_ : weights_for(question.language, codes),
        models,     codes,    judge_ == Judge::all};  // the memory knows single facts
    ReadingBuilder builder(context);
    ASKBASE_ASSIGN(std::vector<Reading> readings, builder.build());
    clock.lap("facts");
    judge(context, readings);
    const double threshold = request.min_confidence >= 0 ? request.min_confidence : context.weights.threshold;
    ASKBASE_ASSIGN(const Choice choice, choose(context, readings, threshold));
    clock.lap("ranking");
    if (request.explain) {
      ASKBASE_ASSIGN(outcome.trace, make_trace(context, readings));
    }
    if (request.findings) {
      ASKBASE_ASSIGN(Findings findings, make_findings(context, readings));
      outcome.findings = std::make_shared<const Findings>(std::move(findings));
    }
    if (deadline.passed()) {
      decline(outcome, wording, Reason::timeout);
      return outcome;
    }
    ASKBASE_TRY(word(request, context, choice, wording, outcome));
    clock.lap("wording");
    return outcome;
  }

 private:
  static void decline(Outcome& outcome, const Wording& wording, Reason reason) {
    outcome.reason = reason;
    outcome.reason_sentence = wording.reason(reason, false, {}, {});
  }

  static base::Result<std::map<std::string, kb::TermId>> resolve_pins(const Request& request,
                                                                      const kb::View& view) {
    std::map<std::string, kb::TermId> out;
    for (const auto& [mention, id] : request.pins) {
      ASKBASE_ASSIGN(const std::optional<kb::TermId> entity, view.find(kb::Term::iri(id)));
      if (!entity) {
        return base::fail(base::ErrorCode::invalid_argument, "pins: the knowledge base has no entity " + id,
                          "use one of the ids that the answer's \"ambiguous\" lists");
      }
      out[base::match_key(mention)] = *entity;
    }
    return out;
  }

  base::Status word(const Request& request, const Context& context, const Choice& choice, Wording& wording,
                    Outcome& outcome) const {
    for (const Namesakes& namesakes : choice.namesakes) {
      ASKBASE_ASSIGN(Ambiguity ambiguity, describe(context, namesakes, wording));
      outcome.ambiguous.push_back(std::move(ambiguity));
    }
    if (choice.reason == Reason::none) {
      const auto limit = static_cast<std::size_t>(std::max(1, request.top));
      for (const Chosen& chosen : choice.answers) {
        if (outcome.answers.size() >= limit) break;
        ASKBASE_ASSIGN(Answer answer, make_answer(context, *chosen.reading, chosen.confidence, wording));
        outcome.answers.push_back(std::move(answer));
      }
      return {};
    }
    outcome.reason = choice.reason;
    std::string subject = choice.subject_text;
    std::string relation;
    if (choice.about != nullptr) {
      if (choice.about->candidate != nullptr) {
        ASKBASE_ASSIGN(subject, wording.name(choice.about->entity));
      }
      if (choice.about->predicate) relation = wording.predicate_label(*choice.about->predicate);
    }
    outcome.reason_sentence = wording.reason(choice.reason, false, subject, relation);
    return add_alternatives(context, choice, wording, outcome);
  }

  static base::Result<Ambiguity> describe(const Context& context, const Namesakes& namesakes,
                                          Wording& wording) {
    Ambiguity out;
    out.mention = namesakes.mention->text;
    out.begin = namesakes.mention->begin;
    out.end = namesakes.mention->end;
    for (const Candidate* candidate : namesakes.candidates) {
      Ambiguity::Candidate entry;
      ASKBASE_ASSIGN(const kb::Term term, context.view.term(candidate->entity));
      entry.id = term.value;
      ASKBASE_ASSIGN(entry.label, wording.name(candidate->entity));
      ASKBASE_ASSIGN(entry.description, wording.description(candidate->entity));
      entry.facts = candidate->facts;
      out.candidates.push_back(std::move(entry));
    }
    return out;
  }

  static base::Result<Evidence> make_evidence(const Context& context, const kb::Triple& fact,
                                              Wording& wording) {
    Evidence out;
    ASKBASE_ASSIGN(out.subject, context.view.term(fact.subject));
    ASKBASE_ASSIGN(out.predicate, context.view.term(fact.predicate));
    ASKBASE_ASSIGN(out.object, context.view.term(fact.object));
    ASKBASE_ASSIGN(out.subject_label, wording.name(fact.subject));
    const std::optional<std::size_t> predicate = context.lexicon.predicate_index(fact.predicate);
    if (predicate) {
      out.predicate_label = wording.predicate_label(*predicate);
    } else {
      ASKBASE_ASSIGN(out.predicate_label, wording.name(fact.predicate));
    }
    ASKBASE_ASSIGN(const Value object, wording.value(fact.object, predicate));
    out.object_label = object.text;
    ASKBASE_ASSIGN(const std::vector<kb::Origin> origins, context.view.origins(fact));
    if (!origins.empty()) {
      ASKBASE_ASSIGN(const std::optional<kb::Source> source, context.view.source(origins.front().source));
      if (source) out.source = source->name;
      out.row = origins.front().row;
    }
    return out;
  }

  static base::Result<Answer> make_answer(const Context& context, const Reading& reading, double confidence,
                                          Wording& wording) {
    Answer answer;
    answer.pipeline = "kb";
    answer.confidence = confidence;
    std::vector<Value> values;
    std::set<kb::TermId> seen;
    const bool asks_values = reading.asks_objects() || reading.shape == Shape::check;
    for (const kb::TermId id : answer_ids(reading)) {
      if (!seen.insert(id).second) continue;
      ASKBASE_ASSIGN(Value value, wording.value(id, asks_values ? reading.predicate : std::nullopt));
      values.push_back(std::move(value));
    }
    keep_language(values, wording.language_tag());
    ASKBASE_ASSIGN(answer.sentence, wording.sentence(context.question, reading, values));
    const kb::Term none = kb::Term::blank("");
    if (is_check(reading)) {
      answer.kind = AnswerKind::boolean;
      answer.values.push_back({wording.yes_or_no(reading.truth), none, {}});
      answer.text = answer.values[0].text;
    } else if (counts_answers(context, reading)) {
      answer.kind = AnswerKind::count;
      answer.values.push_back({std::to_string(values.size()), none, {}});
      answer.text = answer.values[0].text;
    } else {
      answer.text = wording.join(values, values.size());
      const bool list = values.size() > 1 || (context.frame.list && reading.shape != Shape::definition);
      const bool literal = !values.empty() && values[0].term.kind == kb::TermKind::literal;
      answer.kind = list ? AnswerKind::list : literal ? AnswerKind::literal : AnswerKind::entity;
      if (values.size() == 1 && values[0].term.kind == kb::TermKind::iri) answer.id = values[0].term.value;
      answer.values = std::move(values);
    }
    answer.evidence_total = reading.fact_count;
    for (const kb::Triple& fact : reading.facts) {
      if (answer.evidence.size() >= max_evidence) break;
      ASKBASE_ASSIGN(Evidence evidence, make_evidence(context, fact, wording));
      answer.evidence.push_back(std::move(evidence));
    }
    return answer;
  }

  // Of text values in several languages ("Andorran"@en, "安道尔人"@zh) those in the asker's stay.
  static void keep_language(std::vector<Value>& values, std::string_view tag) {
    const std::string_view primary = tag.substr(0, 2);
    const auto mine = [&](const Value& value) {
      return std::string_view(value.term.lang).substr(0, 2) == primary;
    };
    const bool tagged = std::all_of(values.begin(), values.end(), [](const Value& value) {
      return value.term.kind == kb::TermKind::literal && !value.term.lang.empty();
    });
    if (tagged && std::any_of(values.begin(), values.end(), mine)) {
      std::erase_if(values, [&](const Value& value) { return !mine(value); });
    }
  }

  // The nearest things that could have been meant: names like the unknown one, or what can be asked instead.
  static base::Status add_alternatives(const Context& context, const Choice& choice, Wording& wording,
                                       Outcome& outcome) {
    constexpr std::size_t wanted = 4;
    if (choice.reason == Reason::entity_unknown && !choice.subject_text.empty()) {
      ASKBASE_ASSIGN(
          const std::vector<kb::EntityMatch> near,
          kb::search(context.view, choice.subject_text, wording.language_tag().substr(0, 2), wanted));
      for (const kb::EntityMatch& match : near) {
        if (context.lexicon.is_schema(match.entity)) continue;
        ASKBASE_ASSIGN(std::string shown, wording.name(match.entity));
        outcome.alternatives.push_back(std::move(shown));
      }
    }
    const bool about_entity = choice.about != nullptr && choice.about->candidate != nullptr;
    if (about_entity &&
        (choice.reason == Reason::relation_unmatched || choice.reason == Reason::fact_missing)) {
      std::set<std::size_t> predicates;
      ASKBASE_TRY(context.view.match(
          {.subject = choice.about->entity, .predicate = {}, .object = {}}, [&](const kb::Triple& fact) {
            if (const auto index = context.lexicon.predicate_index(fact.predicate)) {
              predicates.insert(*index);
            }
            return predicates.size() < 64;
          }));
      for (const std::size_t predicate : predicates) {
        if (outcome.alternatives.size() >= wanted) break;
        ASKBASE_ASSIGN(std::string text, wording.question_about(choice.about->entity, predicate));
        outcome.alternatives.push_back(std::move(text));
      }
    }
    return {};
  }

  const RankWeights& weights_for(base::Language language, const RelationCodes* codes) const {
    if (!parts_.learned) return lexical_weights();
    return parts_.learned->ranker->weights(language, codes != nullptr && codes->familiar);
  }

  const KbParts parts_;
  const Judge judge_;
  const RankWeights memory_ = memory_weights();
  std::unique_ptr<EntityLinker> linker_;
  std::unique_ptr<RelationScorer> scorer_;
};

}  // namespace

std::unique_ptr<Pipeline> make_kb_pipeline(const KbParts& parts) {
  return std::make_unique<KbPipeline>(parts, Judge::all);
}

std::unique_ptr<Pipeline> make_memory_pipeline(const KbParts& parts) {
  return std::make_unique<KbPipeline>(parts, Judge::memory);
}

}  // namespace askbase::qa
