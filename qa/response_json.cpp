// The response as the JSON object of POST /api/v1/ask, docs/http.md.
#include "base/json.h"
#include "qa/answer.h"

namespace askbase::qa {
namespace {

using base::Json;

Json term_json(const kb::Term& term, const std::string& label) {
  Json out = Json::object();
  switch (term.kind) {
    case kb::TermKind::iri:
      out["id"] = term.value;
      break;
    case kb::TermKind::blank:
      out["id"] = "_:" + term.value;
      break;
    case kb::TermKind::literal:
      out["value"] = term.value;
      if (!term.datatype.empty()) out["type"] = term.datatype;
      if (!term.lang.empty()) out["lang"] = term.lang;
      break;
  }
  out["label"] = label;
  return out;
}

Json evidence_json(const Evidence& evidence) {
  Json triple = Json::object();
  triple["subject"] = term_json(evidence.subject, evidence.subject_label);
  triple["predicate"] = term_json(evidence.predicate, evidence.predicate_label);
  triple["object"] = term_json(evidence.object, evidence.object_label);
  Json out = Json::object();
  out["triple"] = std::move(triple);
  out["source"] = evidence.source;
  if (evidence.row > 0) out["row"] = evidence.row;
  return out;
}

Json quote_json(const Quote& quote) {
  Json out = Json::object();
  out["document"] = quote.document;
  for (const auto& [name, text] : {std::pair<const char*, const std::string&>{"title", quote.title},
                                   {"url", quote.url},
                                   {"date", quote.date}}) {
    if (!text.empty()) out[name] = text;
  }
  out["source"] = quote.source;
  if (quote.page > 0) out["page"] = quote.page;
  out["start"] = quote.start;
  out["end"] = quote.end;
  out["start_utf16"] = quote.start_utf16;
  out["end_utf16"] = quote.end_utf16;
  out["sentence"] = {{"text", quote.sentence},
                     {"start", quote.in_sentence.start},
                     {"end", quote.in_sentence.end},
                     {"start_utf16", quote.in_sentence.start_utf16},
                     {"end_utf16", quote.in_sentence.end_utf16}};
  out["passage"] = quote.passage;
  return out;
}

// A count, a boolean and a span stand for no term.
bool stands_for_term(const kb::Term& term) { return term.kind != kb::TermKind::blank || !term.value.empty(); }

Json value_json(const Value& value) {
  Json out = Json::object();
  out["text"] = value.text;
  if (stands_for_term(value.term)) {
    if (value.term.kind == kb::TermKind::literal) {
      out["value"] = value.term.value;
      if (!value.term.datatype.empty()) out["type"] = value.term.datatype;
      if (!value.term.lang.empty()) out["lang"] = value.term.lang;
    } else {
      out["id"] = value.term.kind == kb::TermKind::iri ? value.term.value : "_:" + value.term.value;
    }
  }
  if (!value.unit.empty()) out["unit"] = value.unit;
  return out;
}

Json answer_json(const Answer& answer) {
  Json out = Json::object();
  out["answer"] = answer.text;
  out["kind"] = answer_kind_name(answer.kind);
  if (answer.id) out["id"] = *answer.id;
  Json values = Json::array();
  for (const Value& value : answer.values) values.push_back(value_json(value));
  out["values"] = std::move(values);
  out["confidence"] = base::json_number(answer.confidence, 4);
  out["sentence"] = answer.sentence;
  Json evidence = Json::array();
  for (const Evidence& entry : answer.evidence) evidence.push_back(evidence_json(entry));
  for (const Quote& quote : answer.quotes) evidence.push_back(quote_json(quote));
  out["evidence"] = std::move(evidence);
  out["evidence_total"] = answer.evidence_total;
  out["pipeline"] = answer.pipeline;
  return out;
}

Json ambiguity_json(const Ambiguity& ambiguity) {
  Json out = Json::object();
  out["mention"] = ambiguity.mention;
  out["begin"] = ambiguity.begin;
  out["end"] = ambiguity.end;
  Json candidates = Json::array();
  for (const Ambiguity::Candidate& candidate : ambiguity.candidates) {
    candidates.push_back({{"id", candidate.id},
                          {"label", candidate.label},
                          {"description", candidate.description},
                          {"facts", candidate.facts}});
  }
  out["candidates"] = std::move(candidates);
  return out;
}

}  // namespace

std::string_view reason_name(Reason reason) {
  switch (reason) {
    case Reason::none:
      return "none";
    case Reason::entity_unknown:
      return "entity_unknown";
    case Reason::ambiguous:
      return "ambiguous";
    case Reason::relation_unmatched:
      return "relation_unmatched";
    case Reason::fact_missing:
      return "fact_missing";
    case Reason::unsupported_question:
      return "unsupported_question";
    case Reason::low_confidence:
      return "low_confidence";
    case Reason::nothing_loaded:
      return "nothing_loaded";
    case Reason::timeout:
      return "timeout";
  }
  return "none";
}

std::string_view answer_kind_name(AnswerKind kind) {
  switch (kind) {
    case AnswerKind::entity:
      return "entity";
    case AnswerKind::literal:
      return "literal";
    case AnswerKind::span:
      return "span";
    case AnswerKind::faq:
      return "faq";
    case AnswerKind::boolean:
      return "boolean";
    case AnswerKind::count:
      return "count";
    case AnswerKind::list:
      return "list";
  }
  return "entity";
}

std::string to_json(const Response& response, int indent) {
  Json out = Json::object();
  out["question"] = response.question;
  out["lang"] = base::language_code(response.lang);
  Json answers = Json::array();
  for (const Answer& answer : response.answers) answers.push_back(answer_json(answer));
  out["answers"] = std::move(answers);
  if (response.reason != Reason::none) {
    out["reason"] = reason_name(response.reason);
    out["reason_sentence"] = response.reason_sentence;
  }
  if (!response.alternatives.empty()) out["alternatives"] = response.alternatives;
  if (!response.ambiguous.empty()) {
    Json ambiguous = Json::array();
    for (const Ambiguity& ambiguity : response.ambiguous) ambiguous.push_back(ambiguity_json(ambiguity));
    out["ambiguous"] = std::move(ambiguous);
  }
  Json timings = Json::object();
  for (const Timing& timing : response.timings) timings[timing.stage] = base::json_number(timing.ms, 4);
  out["timings_ms"] = std::move(timings);
  out["kb"] = {{"version", response.kb_version}};
  out["models"] = response.models;
  if (!response.trace.empty()) {
    // Written by trace.cpp; a trace that does not parse would be a bug, and is then shown as text.
    base::Result<Json> trace = base::parse_json(response.trace);
    out["trace"] = trace ? std::move(*trace) : Json(response.trace);
  }
  return base::dump_json(out, indent);
}

}  // namespace askbase::qa
