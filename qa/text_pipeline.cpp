#include "qa/text_pipeline.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "qa/analysis.h"
#include "qa/wording.h"
#include "reader/index_terms.h"
#include "reader/text_reader.h"

namespace askbase::qa {
namespace {

using base::Json;
using base::Language;

// A passage that is read.
struct Source {
  reader::RetrievedPassage found;
  double gap = 0;      // of its score to the best one
  double covered = 0;  // share of the question's words that it holds
  reader::Passage passage;
  reader::Reading reading;
};

// A span that could be the answer.
struct Candidate {
  const Source* source = nullptr;
  reader::ReadSpan span;
  reader::SpanPlace place;  // in the document
  std::string text, key;
  double strength = 0;
};

// The spans that say the same, best first.
struct Group {
  std::vector<const Candidate*> spans;
  bool answered = false;  // a reader took one of their passages to hold an answer
  double confidence = 0;
};

double log_odds(double probability) {
  const double p = std::clamp(probability, 1e-6, 1 - 1e-6);
  return std::log(p / (1 - p));
}

// What one unit of a gap is: the standard deviation of the scores. Where they are few and nearly equal that
// is next to nothing; so it is at least a tenth of the best score.
double gap_unit(const std::vector<reader::RetrievedPassage>& found) {
  double mean = 0, squares = 0;
  const auto count = static_cast<double>(found.size());
  for (const reader::RetrievedPassage& one : found) mean += one.score / count;
  for (const reader::RetrievedPassage& one : found)
    squares += (one.score - mean) * (one.score - mean) / count;
  return std::max({std::sqrt(squares), std::abs(found.front().score) / 10, 1e-9});
}

// The question's words, function words left out, as the index has them: stems, and of Han characters the
// pairs.
std::vector<std::string> content_terms(const Question& question) {
  std::vector<std::string> terms;
  reader::TermReader words;
  const std::vector<Unit>& units = question.units;
  for (std::size_t first = 0; first < units.size();) {
    std::size_t last = first;
    while (last < units.size() && units[last].role != Role::function && units[last].han == units[first].han)
      ++last;
    if (last == first) {
      ++first;
      continue;
    }
    const bool pairs = units[first].han && last - first > 1;
    words.read(question.span(first, last), [&](const reader::IndexTerm& term) {
      if (term.pair == pairs) terms.emplace_back(term.term);
    });
    first = last;
  }
  return terms;
}

double covered_share(const std::vector<std::string>& sought, std::string_view text) {
  if (sought.empty()) return 1;
  std::unordered_set<std::string> held;
  reader::TermReader words;
  words.read(text, [&](const reader::IndexTerm& term) { held.emplace(term.term); });
  const auto found = std::count_if(sought.begin(), sought.end(),
                                   [&](const std::string& term) { return held.contains(term); });
  return static_cast<double>(found) / static_cast<double>(sought.size());
}

bool overlap(const Candidate& a, const Candidate& b) {
  return a.source->passage.document == b.source->passage.document && a.place.begin < b.place.end &&
         b.place.begin < a.place.end;
}

std::vector<Candidate> candidates_of(const std::vector<Source>& sources, const TextRanking& ranking) {
  std::vector<Candidate> out;
  for (const Source& source : sources) {
    const base::OffsetMap offsets(source.passage.text);
    for (const reader::ReadSpan& span : source.reading.spans) {
      Candidate one;
      one.source = &source;
      one.span = span;
      one.place = source.passage.place(span.begin, span.end);
      const std::size_t from = offsets.byte(span.begin), to = offsets.byte(span.end);
      one.text = source.passage.text.substr(from, to - from);
      one.key = base::match_key(one.text);
      if (one.key.empty()) one.key = one.text;
      one.strength = log_odds(span.confidence) - ranking.gap_weight * source.gap;
      out.push_back(std::move(one));
    }
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const Candidate& a, const Candidate& b) { return a.strength > b.strength; });
  return out;
}

// Spans of one wording support each other. What overlaps a better span in the document is another cut of the
// same words, and falls away.
std::vector<Group> groups_of(const std::vector<Candidate>& candidates, const TextRanking& ranking) {
  std::vector<Group> groups;
  for (const Candidate& one : candidates) {
    Group* same = nullptr;
    bool cut = false;
    for (Group& group : groups) {
      if (group.spans.front()->key == one.key) same = &group;
      cut = cut || std::any_of(group.spans.begin(), group.spans.end(),
                               [&](const Candidate* other) { return overlap(*other, one); });
    }
    if (same != nullptr) same->answered = same->answered || one.source->reading.answered;
    if (cut) continue;
    if (same == nullptr) {
      same = &groups.emplace_back();
      same->answered = one.source->reading.answered;
    }
    same->spans.push_back(&one);
  }
  double all = 0;
  for (const Group& group : groups) all += std::exp(group.spans.front()->strength);
  for (Group& group : groups) {
    const double strength = group.spans.front()->strength;
    const Source& source = *group.spans.front()->source;
    group.confidence = ranking.confidence(strength, std::max(0.0, all - std::exp(strength)), source.covered,
                                          source.found.meaning);
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& a, const Group& b) { return a.confidence > b.confidence; });
  return groups;
}

Quote quote_of(const Candidate& one) {
  const reader::Passage& passage = one.source->passage;
  Quote quote;
  quote.document = passage.document;
  quote.title = passage.title;
  quote.url = passage.url;
  quote.date = passage.date;
  quote.source = passage.source;
  if (passage.paged) quote.page = one.place.page;
  quote.start = one.place.begin;
  quote.end = one.place.end;
  quote.start_utf16 = one.place.begin_utf16;
  quote.end_utf16 = one.place.end_utf16;
  quote.passage = passage.text;
  const reader::SentencePlace sentence = reader::sentence_around(passage.text, one.span.begin, one.span.end);
  const base::OffsetMap offsets(passage.text);
  const std::size_t from = offsets.byte(sentence.begin);
  quote.sentence = passage.text.substr(from, offsets.byte(sentence.end) - from);
  const auto after = [](std::size_t place, std::size_t start) {
    return static_cast<std::uint32_t>(place - start);
  };
  quote.in_sentence.start = after(one.span.begin, sentence.begin);
  quote.in_sentence.end = after(one.span.end, sentence.begin);
  quote.in_sentence.start_utf16 = after(offsets.utf16(one.span.begin), offsets.utf16(sentence.begin));
  quote.in_sentence.end_utf16 = after(offsets.utf16(one.span.end), offsets.utf16(sentence.begin));
  return quote;
}

Answer answer_of(const Group& group) {
  constexpr std::size_t most_quotes = 20;
  Answer answer;
  answer.kind = AnswerKind::span;
  answer.text = group.spans.front()->text;
  answer.values.push_back({answer.text, kb::Term::blank(""), ""});
  answer.confidence = group.confidence;
  for (const Candidate* one : group.spans) {
    if (answer.quotes.size() < most_quotes) answer.quotes.push_back(quote_of(*one));
  }
  answer.sentence = answer.quotes.front().sentence;
  answer.evidence_total = group.spans.size();
  answer.pipeline = "text";
  return answer;
}

// Infinity is no JSON.
Json finite(double number) { return std::isfinite(number) ? Json(base::json_number(number)) : Json(); }

std::string trace_of(const std::vector<Source>& sources, const std::vector<Group>& groups) {
  Json passages = Json::array();
  for (const Source& source : sources) {
    Json one = {{"document", source.passage.document},  {"start", source.passage.whole.begin},
                {"end", source.passage.whole.end},      {"score", base::json_number(source.found.score)},
                {"gap", base::json_number(source.gap)}, {"covered", base::json_number(source.covered)}};
    if (source.found.words) one["words"] = base::json_number(*source.found.words);
    if (source.found.meaning) one["meaning"] = base::json_number(*source.found.meaning);
    one["text"] = source.passage.text;
    one["answered"] = source.reading.answered;
    one["null_odds"] = finite(source.reading.null_odds);
    one["spans"] = Json::array();
    for (const reader::ReadSpan& span : source.reading.spans) {
      one["spans"].push_back({{"start", span.begin},
                              {"end", span.end},
                              {"score", base::json_number(span.score)},
                              {"confidence", base::json_number(span.confidence)}});
    }
    passages.push_back(std::move(one));
  }
  Json answers = Json::array();
  for (const Group& group : groups) {
    answers.push_back({{"answer", group.spans.front()->text},
                       {"strength", base::json_number(group.spans.front()->strength)},
                       {"confidence", base::json_number(group.confidence)},
                       {"answered", group.answered}});
  }
  return base::dump_json({{"passages", std::move(passages)}, {"answers", std::move(answers)}});
}

// Why documents give no answer, in the question's language.
std::string sentence_for(Reason reason, bool chinese) {
  switch (reason) {
    case Reason::nothing_loaded:
      return chinese ? "还没有载入文档，请先载入文档。" : "No documents are loaded: load some first.";
    case Reason::low_confidence:
      return chinese ? "在已载入的文档中没有找到把握足够的答案。"
                     : "The loaded documents hold no answer that is certain enough.";
    case Reason::timeout:
      return chinese ? "时间用完了，还没有读完文档。" : "The time ran out before the documents were read.";
    default:
      return chinese ? "这个问题无法从文档中回答。" : "This cannot be answered from documents.";
  }
}

class TextPipeline : public Pipeline {
 public:
  TextPipeline(TextParts parts, const TextOptions& options) : parts_(std::move(parts)), options_(options) {}

  std::string_view name() const override { return "text"; }
  bool has_data(const KbState& state) const override {
    return state.passages != nullptr && state.passages->documents() > 0;
  }

  base::Result<Outcome> answer(const Request& request, Language language, const KbState& state,
                               const Deadline& deadline) const override {
    Outcome outcome;
    StageClock clock(outcome.timings);
    const bool chinese = language == Language::chinese;
    const Wording wording(*state.view, *state.lexicon, language,
                          chinese && base::is_traditional(request.question));
    const auto decline = [&](Reason reason, std::string sentence = {}) {
      outcome.reason = reason;
      if (sentence.empty()) sentence = sentence_for(reason, chinese);
      outcome.reason_sentence = wording.in_script(std::move(sentence));
      return std::move(outcome);
    };
    if (state.passages == nullptr) {
      return decline(Reason::nothing_loaded, chinese ? "文档索引由其他版本生成，请重新载入文档。"
                                                     : "Another version of the program indexed the "
                                                       "documents: load them again.");
    }
    if (!has_data(state)) return decline(Reason::nothing_loaded);
    if (request.question.size() > max_question_code_points * 4 ||
        base::count_code_points(request.question) > max_question_code_points) {
      return decline(Reason::unsupported_question);
    }
    const Question question = analyse(request.question);
    if (question.small_talk || question.units.empty()) {
      return decline(Reason::unsupported_question,
                     wording.reason(Reason::unsupported_question, true, {}, {}));
    }
    if (std::string why = unreadable(request, language); !why.empty())
      return decline(Reason::unsupported_question, std::move(why));
    if (deadline.passed()) return decline(Reason::timeout);

    ASKBASE_ASSIGN(std::vector<Source> sources, find(question, language, *state.passages));
    clock.lap("retrieval");
    if (deadline.passed()) return decline(Reason::timeout);
    std::vector<std::string_view> texts;
    for (const Source& source : sources) texts.emplace_back(source.passage.text);
    auto readings =
        parts_.readers->read(language, request.question, texts, {.top = options_.spans}, deadline);
    clock.lap("reading");
    if (!readings && readings.error().code == base::ErrorCode::timeout) return decline(Reason::timeout);
    if (!readings) return tl::unexpected(readings.error());
    for (std::size_t i = 0; i < sources.size(); ++i) sources[i].reading = std::move((*readings)[i]);

    const std::vector<Candidate> candidates = candidates_of(sources, options_.ranking);
    const std::vector<Group> groups = groups_of(candidates, options_.ranking);
    if (request.explain) outcome.trace = trace_of(sources, groups);
    const bool own_threshold = request.min_confidence >= 0;
    const double threshold = own_threshold ? request.min_confidence : options_.min_confidence;
    const auto limit = static_cast<std::size_t>(std::max(1, request.top));
    for (const Group& group : groups) {
      if (outcome.answers.size() == limit || group.confidence < threshold) break;
      // Who names a threshold wants all that reaches it.
      if (group.answered || own_threshold) outcome.answers.push_back(answer_of(group));
    }
    clock.lap("spans");
    if (outcome.answers.empty()) return decline(Reason::low_confidence);
    return outcome;
  }

 private:
  // Why no reader can take the question; empty when one can.
  std::string unreadable(const Request& request, Language language) const {
    const bool chinese = language == Language::chinese;
    std::string_view start = request.question;
    if (start.size() > 4096) start = start.substr(0, 4096);
    if (request.lang == Language::unknown && base::detect_language(start) == Language::unknown)
      return "Documents can be asked about in English and in Chinese.";
    if (parts_.readers != nullptr && parts_.readers->reads(language)) return {};
    return chinese ? "这里没有阅读中文的模型（zh-reader），因此无法从文档中回答。"
                   : "There is no model here that reads English (en-reader), so documents cannot answer.";
  }

  // The passages to read, best first: those in the question's language or in an unknown one.
  base::Result<std::vector<Source>> find(const Question& question, Language language,
                                         const reader::PassageIndex& index) const {
    const std::shared_ptr<const reader::PassageVectors> vectors = parts_.vectors ? parts_.vectors() : nullptr;
    const reader::SentenceModel* model = parts_.sentences ? &*parts_.sentences : nullptr;
    ASKBASE_ASSIGN(const auto found, reader::retrieve_scored(index, vectors.get(), model, question.text,
                                                             std::max(options_.passages, options_.candidates),
                                                             options_.fusion));
    std::vector<Source> sources;
    if (found.empty()) return sources;
    const double unit = gap_unit(found);
    const std::vector<std::string> sought = content_terms(question);
    std::optional<double> best;
    for (const reader::RetrievedPassage& one : found) {
      if (sources.size() == options_.passages) break;
      ASKBASE_ASSIGN(reader::Passage passage, index.passage(one.passage));
      const Language written =
          passage.lang.empty() ? base::detect_language(passage.text) : base::language_from_tag(passage.lang);
      if (written != Language::unknown && written != language) continue;
      if (!best) best = one.score;
      const double covered = covered_share(sought, passage.text);
      sources.push_back({one, (*best - one.score) / unit, covered, std::move(passage), {}});
    }
    return sources;
  }

  const TextParts parts_;
  const TextOptions options_;
};

}  // namespace

double TextRanking::confidence(double strength, double rivals, double covered,
                               std::optional<double> meaning) const {
  const double relevance =
      covered_weight * covered + meaning_weight * (meaning ? *meaning - usual_meaning : 0);
  return 1 /
         (1 + std::exp(-(offset + own_weight * strength - rivals_weight * std::log1p(rivals) + relevance)));
}

std::unique_ptr<Pipeline> make_text_pipeline(TextParts parts, const TextOptions& options) {
  return std::make_unique<TextPipeline>(std::move(parts), options);
}

}  // namespace askbase::qa
