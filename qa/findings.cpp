#include "qa/findings.h"

#include <algorithm>

#include "qa/reading.h"

namespace askbase::qa {
namespace {

constexpr std::size_t most_answers = 20;

// From the entity that the question names to what it asks for.
bool goes_back(Shape shape) { return shape == Shape::inverse; }

base::Result<FoundReading> found(const Context& context, const Reading& reading) {
  FoundReading out;
  out.shape = shape_name(reading.shape);
  if (reading.mention != nullptr) {
    const auto& mentions = context.links.mentions;
    for (std::size_t i = 0; i < mentions.size(); ++i) {
      if (&mentions[i] == reading.mention) out.mention = static_cast<int>(i);
    }
    ASKBASE_ASSIGN(const kb::Term term, context.view.term(reading.entity));
    out.subject = term.value;
  }
  for (const ChainStep& step : reading.chain) {
    out.path.push_back({context.lexicon.predicates()[step.predicate].iri, step.inverse});
  }
  if (reading.predicate && reading.chain.empty()) {
    out.path.push_back({context.lexicon.predicates()[*reading.predicate].iri, goes_back(reading.shape)});
  }
  out.answers_total = reading.answers.size();
  for (std::size_t i = 0; i < std::min(most_answers, reading.answers.size()); ++i) {
    ASKBASE_ASSIGN(kb::Term term, context.view.term(reading.answers[i]));
    out.answers.push_back(std::move(term.value));
  }
  for (std::size_t i = 0; i < feature_count; ++i) {
    if (reading.features[i] == 0) continue;
    out.features.emplace_back(feature_name(static_cast<Feature>(i)), reading.features[i]);
  }
  out.score = reading.score;
  out.confidence = reading.confidence;
  return out;
}

}  // namespace

base::Result<Findings> make_findings(const Context& context, const std::vector<Reading>& readings) {
  Findings out;
  out.familiar = context.codes != nullptr && context.codes->familiar;
  for (const Mention& mention : context.links.mentions) {
    FoundMention entry{.text = mention.text,
                       .begin = mention.begin,
                       .end = mention.end,
                       .exact = mention.exact,
                       .weak = mention.weak,
                       .candidates = {}};
    for (const Candidate& candidate : mention.candidates) {
      ASKBASE_ASSIGN(kb::Term term, context.view.term(candidate.entity));
      entry.candidates.push_back({.id = std::move(term.value),
                                  .name = candidate.name,
                                  .score = static_cast<double>(candidate.score),
                                  .facts = candidate.facts});
    }
    out.mentions.push_back(std::move(entry));
  }
  for (const Reading& reading : readings) {
    ASKBASE_ASSIGN(FoundReading entry, found(context, reading));
    out.readings.push_back(std::move(entry));
  }
  return out;
}

}  // namespace askbase::qa
