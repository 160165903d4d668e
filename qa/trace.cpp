#include "qa/trace.h"

#include <algorithm>

#include "base/json.h"

namespace askbase::qa {
namespace {

using base::Json;

constexpr std::size_t traced_readings = 8;
constexpr std::size_t traced_candidates = 5;

std::string_view role_name(Role role) {
  return role == Role::function ? "function" : role == Role::light ? "light" : "content";
}

Json analysis_of(const Context& context) {
  const Question& question = context.question;
  const Frame& frame = context.frame;
  Json out = Json::object();
  out["language"] = base::language_code(question.language);
  Json units = Json::array();
  for (const Unit& unit : question.units) {
    Json entry = {{"text", unit.text}, {"role", role_name(unit.role)}};
    if (!unit.corrected.empty()) entry["corrected"] = unit.corrected;
    units.push_back(std::move(entry));
  }
  out["words"] = std::move(units);
  out["expects"] = expect_name(frame.expect);
  if (question.type) {
    const QuestionType& type = *question.type;
    Json words = Json::array();
    for (const auto& [text, weight] : type.words) {
      words.push_back({{"text", text}, {"attention", base::json_number(weight, 3)}});
    }
    out["type"] = {{"coarse", type.coarse},
                   {"coarse_probability", base::json_number(type.coarse_probability, 3)},
                   {"fine", type.fine},
                   {"fine_probability", base::json_number(type.fine_probability, 3)},
                   {"words", std::move(words)}};
  }
  Json asks = Json::array();
  if (frame.boolean) asks.push_back("boolean");
  if (frame.count) asks.push_back("count");
  if (frame.list) asks.push_back("list");
  if (frame.definition) asks.push_back("definition");
  out["asks"] = std::move(asks);
  Json blockers = Json::array();
  for (const CueHit& hit : frame.blockers)
    blockers.push_back(std::string(question.span(hit.first, hit.last)));
  out["beyond_facts"] = std::move(blockers);
  Json classes = Json::array();
  for (const ClassMention& mention : context.classes) {
    Json ids = Json::array();
    for (const std::size_t c : mention.classes) ids.push_back(context.lexicon.classes()[c].iri);
    classes.push_back(
        {{"text", std::string(question.span(mention.first, mention.last))}, {"classes", std::move(ids)}});
  }
  out["classes"] = std::move(classes);
  return out;
}

base::Result<Json> mentions_of(const Context& context) {
  Json out = Json::array();
  for (const Mention& mention : context.links.mentions) {
    Json candidates = Json::array();
    for (std::size_t i = 0; i < std::min(mention.candidates.size(), traced_candidates); ++i) {
      const Candidate& candidate = mention.candidates[i];
      ASKBASE_ASSIGN(const kb::Term term, context.view.term(candidate.entity));
      candidates.push_back({{"id", term.value},
                            {"name", candidate.name},
                            {"score", base::json_number(static_cast<double>(candidate.score), 3)},
                            {"edits", candidate.edits},
                            {"facts", candidate.facts}});
    }
    Json values = Json::array();
    for (const kb::TermId value : mention.values) {
      ASKBASE_ASSIGN(const kb::Term term, context.view.term(value));
      values.push_back(kb::to_ntriples(term));
    }
    out.push_back({{"text", mention.text},
                   {"begin", mention.begin},
                   {"end", mention.end},
                   {"exact", mention.exact},
                   {"weak", mention.weak},
                   {"candidates", std::move(candidates)},
                   {"values", std::move(values)}});
  }
  return out;
}

base::Result<Json> reading_json(const Context& context, const Reading& reading) {
  Json entry = Json::object();
  entry["shape"] = shape_name(reading.shape);
  if (reading.mention != nullptr) {
    ASKBASE_ASSIGN(const kb::Term term, context.view.term(reading.entity));
    entry["mention"] = reading.mention->text;
    entry["entity"] = term.value;
  }
  if (reading.second != nullptr) entry["second"] = reading.second->text;
  if (reading.predicate) {
    const Predicate& predicate = context.lexicon.predicates()[*reading.predicate];
    entry["predicate"] = predicate.iri;
    if (!reading.inferred && reading.match.text < predicate.texts.size()) {
      entry["said_as"] = predicate.texts[reading.match.text].text;
    }
  }
  if (!reading.chain.empty()) {
    Json path = Json::array();
    for (const ChainStep& step : reading.chain) {
      path.push_back((step.inverse ? "^" : "") + context.lexicon.predicates()[step.predicate].iri);
    }
    entry["path"] = std::move(path);
  }
  if (reading.of_class) entry["class"] = context.lexicon.classes()[*reading.of_class].iri;
  entry["answers"] = reading.answers.size();
  entry["score"] = base::json_number(reading.score, 4);
  entry["confidence"] = base::json_number(reading.confidence, 4);
  Json features = Json::object();
  for (std::size_t i = 0; i < feature_count; ++i) {
    if (reading.features[i] == 0) continue;
    features[std::string(feature_name(static_cast<Feature>(i)))] =
        base::json_number(static_cast<double>(reading.features[i]), 3);
  }
  entry["features"] = std::move(features);
  return entry;
}

}  // namespace

base::Result<std::string> make_trace(const Context& context, const std::vector<Reading>& readings) {
  Json out = Json::object();
  out["analysis"] = analysis_of(context);
  ASKBASE_ASSIGN(out["mentions"], mentions_of(context));
  Json list = Json::array();
  for (std::size_t i = 0; i < std::min(readings.size(), traced_readings); ++i) {
    ASKBASE_ASSIGN(Json entry, reading_json(context, readings[i]));
    list.push_back(std::move(entry));
  }
  out["readings"] = std::move(list);
  out["readings_total"] = readings.size();
  return base::dump_json(out);
}

}  // namespace askbase::qa
