// What goes into and comes out of answering: the values shared by pipelines, command line and HTTP.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/language.h"
#include "kb/term.h"

namespace askbase::qa {

struct Findings;

// One question as asked.
struct Request {
  std::string question;                           // UTF-8, validated by the caller
  base::Language lang = base::Language::unknown;  // unknown: told from the text
  int top = 5;                                    // answers wanted at most (list members are not answers)
  bool explain = false;                           // fill Response::trace
  bool findings = false;                          // fill Response::findings
  double min_confidence = -1;                     // below it: reason low_confidence; negative: the default
  std::chrono::milliseconds timeout{5000};        // checked between stages and inside long scans
  std::vector<std::string> pipelines;             // empty: all
  std::map<std::string, std::string> pins;        // mention as written -> IRI of the entity meant
};

// Why there is no answer. Names are part of the API.
enum class Reason : std::uint8_t {
  none,
  entity_unknown,
  ambiguous,
  relation_unmatched,
  fact_missing,
  unsupported_question,
  low_confidence,
  nothing_loaded,
  timeout,
};
std::string_view reason_name(Reason reason);

enum class AnswerKind : std::uint8_t { entity, literal, span, faq, boolean, count, list };
std::string_view answer_kind_name(AnswerKind kind);

// A fact that supports an answer, readable and traceable.
struct Evidence {
  kb::Term subject, predicate, object;
  std::string subject_label, predicate_label, object_label;  // in the question's language where known
  std::string source;                                        // name of the source
  std::uint64_t row = 0;                                     // 0: unknown
};

// A place in a document that supports an answer. Offsets are half-open.
struct Quote {
  std::string document, title, url, date, source;  // source: of the load that brought it; others may be empty
  std::uint32_t page = 0;                          // 0: a document without pages
  std::uint32_t start = 0, end = 0;  // of the answer in the document's text as loaded, code points
  std::uint32_t start_utf16 = 0, end_utf16 = 0;  // the same in UTF-16 units
  std::string sentence;                          // around the answer, as it is read
  struct Place {
    std::uint32_t start = 0, end = 0, start_utf16 = 0, end_utf16 = 0;
  };
  Place in_sentence;    // of the answer
  std::string passage;  // that was read
};

// A member of a list answer, or the value of any other kind.
struct Value {
  std::string text;  // display form in the question's language: "1,412,000,000", "Paris", "1886"
  kb::Term term;     // what it stands for; blank value for a count or boolean
  std::string unit;  // "km²", empty without one
};

struct Answer {
  AnswerKind kind = AnswerKind::entity;
  std::string text;                // what to show first: the value, or the values joined for a list
  std::optional<std::string> id;   // IRI of an entity answer
  std::vector<Value> values;       // one, or the list's members (all of them)
  double confidence = 0;           // calibrated probability that the answer is right
  std::string sentence;            // a sentence in the question's language
  std::vector<Evidence> evidence;  // at most 20; evidence_total tells how many there are
  std::vector<Quote> quotes;       // the evidence of a span
  std::uint64_t evidence_total = 0;
  std::string pipeline;  // "kb", "text"
};

// A name that several entities bear; pins = {mention: id} chooses one.
struct Ambiguity {
  std::string mention;
  std::uint32_t begin = 0, end = 0;  // code points of the question
  struct Candidate {
    std::string id, label, description;  // description: type and a telling fact, "city in Ontario, Canada"
    std::uint32_t facts = 0;
  };
  std::vector<Candidate> candidates;
};

struct Timing {
  std::string stage;
  double ms = 0;
};

struct Response {
  std::string question;
  base::Language lang = base::Language::unknown;
  std::vector<Answer> answers;  // best first; empty when there is a reason
  Reason reason = Reason::none;
  std::string reason_sentence;            // for a person, in the question's language
  std::vector<std::string> alternatives;  // nearest things the KB could have meant: names, or questions
  std::vector<Ambiguity> ambiguous;       // also filled beside answers, when another reading was close
  std::vector<Timing> timings;            // stages in order, "total" last
  std::uint64_t kb_version = 0;
  std::vector<std::string> models;  // learned models that could have a part in the answer
  std::string trace;                // JSON object, only with Request::explain
  // What answering from facts considered (qa/findings.h), only with Request::findings; null where it was not
  // reached.
  std::shared_ptr<const Findings> findings;
};

// The response as the JSON object of POST /api/v1/ask (docs/http.md); used by the command line too.
std::string to_json(const Response& response, int indent = -1);

}  // namespace askbase::qa
