// askbase ask "QUESTION" | -
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/input.h"
#include "base/language.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/models.h"
#include "cli/output.h"
#include "qa/engine.h"

namespace askbase::cli {
namespace {

struct AskArguments {
  std::string question, lang = "auto";
  int top = 1;
  bool explain = false, json = false, fail_on_no_answer = false;
  int timeout_ms = 5000;
  double min_confidence = -1;
  std::string pipelines;
  std::vector<std::string> pins;
};

// The command's own words in the language of the question.
struct Words {
  const char* evidence;
  const char* more_evidence;
  const char* confidence;
  const char* other_answers;
  const char* no_answer;
  const char* perhaps;
  const char* also_means;
  const char* choose;
  const char* page;
};
const Words& words_for(base::Language lang) {
  static const Words english = {.evidence = "because",
                                .more_evidence = "further facts",
                                .confidence = "confidence",
                                .other_answers = "Other answers:",
                                .no_answer = "No answer",
                                .perhaps = "Perhaps you meant:",
                                .also_means = "could mean:",
                                .choose = "choose with",
                                .page = "page"};
  static const Words chinese = {.evidence = "依据",
                                .more_evidence = "条其他事实",
                                .confidence = "置信度",
                                .other_answers = "其他答案：",
                                .no_answer = "没有答案",
                                .perhaps = "您是不是想问：",
                                .also_means = "可以指：",
                                .choose = "选择时加上",
                                .page = "页"};
  return lang == base::Language::chinese ? chinese : english;
}

// A line of evidence may stay on one line.
std::string shortened(const std::string& text) {
  constexpr std::size_t longest = 120;
  const std::u32string characters = base::to_code_points(text);
  if (characters.size() <= longest) return text;
  return base::to_utf8(std::u32string_view(characters).substr(0, longest - 1)) + "…";
}

std::string place(const qa::Evidence& evidence) {
  return evidence.row == 0 ? evidence.source : evidence.source + ":" + std::to_string(evidence.row);
}

void print_ambiguity(const qa::Response& response, const Words& words) {
  for (const qa::Ambiguity& ambiguity : response.ambiguous) {
    print_line("\"" + ambiguity.mention + "\" " + words.also_means);
    for (const auto& candidate : ambiguity.candidates) {
      const std::string description = candidate.description.empty() ? "" : " (" + candidate.description + ")";
      print_line("  " + candidate.label + description + "  " + words.choose + " --pin '" + ambiguity.mention +
                 "=" + candidate.id + "'");
    }
  }
}

// The sentence with the answer marked in it, ready to print: bold on a terminal, «so» elsewhere.
std::string marked(const qa::Quote& quote) {
  const base::OffsetMap offsets(quote.sentence);
  const std::size_t from = offsets.byte(quote.in_sentence.start), to = offsets.byte(quote.in_sentence.end);
  const std::string answer = quote.sentence.substr(from, to - from), plain = printable(answer);
  const std::string shown = bold(answer);
  return printable(quote.sentence.substr(0, from)) + (shown == plain ? "«" + plain + "»" : shown) +
         printable(quote.sentence.substr(to));
}

std::string place(const qa::Quote& quote, const Words& words) {
  std::string text = quote.title.empty() || quote.title == quote.document
                         ? quote.document
                         : quote.title + " (" + quote.document + ")";
  if (quote.page > 0) text += ", " + std::string(words.page) + " " + std::to_string(quote.page);
  text += ", " + std::to_string(quote.start) + "-" + std::to_string(quote.end);
  return quote.url.empty() ? text : text + ", " + quote.url;
}

void print_answer(const qa::Answer& answer, const Words& words, std::size_t most_evidence) {
  print(bold(answer.text) + "\n");
  for (std::size_t i = 0; i < std::min(answer.quotes.size(), most_evidence); ++i) {
    print("  " + marked(answer.quotes[i]) + "\n");
    print_line(std::string("  ") + words.evidence + ": " + place(answer.quotes[i], words));
  }
  if (answer.quotes.empty() && answer.sentence != answer.text) print_line("  " + answer.sentence);
  const std::size_t shown = std::min(answer.evidence.size(), most_evidence);
  for (std::size_t i = 0; i < shown; ++i) {
    const qa::Evidence& evidence = answer.evidence[i];
    print_line(std::string("  ") + words.evidence + ": " + evidence.subject_label + " · " +
               evidence.predicate_label + " · " + shortened(evidence.object_label) + "  [" + place(evidence) +
               "]");
  }
  if (answer.quotes.empty() && answer.evidence_total > shown) {
    print_line("  + " + grouped(answer.evidence_total - shown) + " " + words.more_evidence);
  }
  print_line(std::string("  ") + words.confidence + ": " + decimal(answer.confidence, 2));
}

// A person reads a few facts, and all there are with --explain.
void print_response(const qa::Response& response, bool explain) {
  const Words& words = words_for(response.lang);
  if (response.answers.empty()) {
    print_line(std::string(words.no_answer) + " (" + std::string(qa::reason_name(response.reason)) +
               "): " + response.reason_sentence);
    if (!response.alternatives.empty()) print_line(words.perhaps);
    for (const std::string& alternative : response.alternatives) print_line("  " + alternative);
  } else {
    print_answer(response.answers.front(), words, explain ? SIZE_MAX : 5);
    if (response.answers.size() > 1) print_line(words.other_answers);
    for (std::size_t i = 1; i < response.answers.size(); ++i) {
      const qa::Answer& answer = response.answers[i];
      print_line("  " + decimal(answer.confidence, 2) + "  " + shortened(answer.text) + "  " +
                 shortened(answer.sentence));
    }
  }
  print_ambiguity(response, words);
}

void print_explanation(const qa::Response& response) {
  std::vector<std::vector<std::string>> rows;
  for (const qa::Timing& timing : response.timings) {
    rows.push_back({"  " + timing.stage, decimal(timing.ms, 2) + " ms"});
  }
  print(table(rows, {false, true}));
  if (const auto trace = base::parse_json(response.trace, 64)) print(base::dump_json(*trace, 2) + "\n");
}

std::vector<std::string> split_commas(const std::string& text) {
  std::vector<std::string> parts = {""};
  for (const char c : text) {
    if (c == ',') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

base::Result<qa::Request> to_request(const AskArguments& arguments) {
  qa::Request request;
  if (arguments.lang != "auto") request.lang = base::language_from_tag(arguments.lang);
  request.top = arguments.top;
  request.explain = arguments.explain;
  request.min_confidence = arguments.min_confidence;
  request.timeout = std::chrono::milliseconds(arguments.timeout_ms);
  if (!arguments.pipelines.empty()) request.pipelines = split_commas(arguments.pipelines);
  for (const std::string& pin : arguments.pins) {
    const std::size_t equals = pin.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == pin.size()) {
      return base::fail(base::ErrorCode::invalid_argument, "--pin \"" + pin + "\" is not MENTION=ID",
                        "for example --pin 'Paris=urn:x:paris-texas'");
    }
    std::string id = pin.substr(equals + 1);
    if (id.size() > 2 && id.front() == '<' && id.back() == '>') id = id.substr(1, id.size() - 2);
    request.pins[pin.substr(0, equals)] = id;
  }
  return request;
}

// Prints the response to one question; the exit status that it deserves.
base::Result<int> ask_one(const qa::Engine& engine, const qa::Request& request,
                          const AskArguments& arguments) {
  ASKBASE_TRY(validate_question(request.question));
  ASKBASE_ASSIGN(const qa::Response response, engine.ask(request));
  if (arguments.json) {
    print(qa::to_json(response) + "\n");
  } else {
    print_response(response, arguments.explain);
    if (arguments.explain) print_explanation(response);
  }
  return response.answers.empty() && arguments.fail_on_no_answer ? exit_failed : exit_done;
}

// One question a line. A line that is no question is reported in its place, and the others are answered.
base::Result<int> ask_lines(const qa::Engine& engine, qa::Request request, const AskArguments& arguments) {
  ASKBASE_ASSIGN(const std::unique_ptr<base::Input> input, base::Input::open("-"));
  base::LineReader lines(*input);
  int status = exit_done;
  std::string_view line;
  while (true) {
    ASKBASE_ASSIGN(const bool more, lines.next(line));
    if (!more) return status;
    request.question = line;
    if (!arguments.json && lines.line_number() > 1) print("\n");
    auto one = ask_one(engine, request, arguments);
    if (one) {
      status = std::max(status, *one);
    } else if (one.error().code == base::ErrorCode::bad_input ||
               one.error().code == base::ErrorCode::too_large) {
      status = exit_failed;
      const std::string message = "line " + std::to_string(lines.line_number()) + ": " + one.error().message;
      print_error({.code = one.error().code, .message = message, .hint = one.error().hint});
      if (arguments.json) {
        base::Json out;
        out["line"] = lines.line_number();
        out["error"] = {{"code", base::error_code_name(one.error().code)}, {"message", one.error().message}};
        print(base::dump_json(out) + "\n");
      }
    } else {
      return one;
    }
    ASKBASE_TRY(finish_output());  // whoever pipes questions in reads each answer before the next question
  }
}

// The models that read documents take a moment to load: only where there are documents.
base::Result<qa::TextParts> parts_for(const kb::Store& store, const Globals& globals) {
  const std::shared_ptr<const kb::Snapshot> snapshot = store.storage().snapshot();
  const auto index = reader::PassageIndex::open(snapshot);
  if (!index || index->documents() == 0) return qa::TextParts();  // the engine reports what is wrong
  ASKBASE_ASSIGN(qa::TextParts parts, text_parts(globals));
  if (parts.sentences) {
    // For a few questions, comparing all vectors is quicker than building a graph of them.
    ASKBASE_ASSIGN(const auto vectors,
                   reader::PassageVectors::load(*snapshot, *parts.sentences,
                                                static_cast<int>(globals.thread_count()), SIZE_MAX));
    parts.vectors = [vectors] { return vectors; };
  }
  return parts;
}

base::Result<int> run_ask(const AskArguments& arguments, const Globals& globals) {
  ASKBASE_ASSIGN(qa::Request request, to_request(arguments));
  ASKBASE_ASSIGN(const auto store, open_kb(globals, kb::OpenMode::read_only));
  ASKBASE_ASSIGN(qa::EngineOptions options, engine_options(globals));
  if (request.pipelines.empty() || std::ranges::find(request.pipelines, "text") != request.pipelines.end()) {
    ASKBASE_ASSIGN(options.text, parts_for(*store, globals));
  }
  ASKBASE_ASSIGN(const auto engine, qa::Engine::open(*store, options));
  if (arguments.question == "-") return ask_lines(*engine, std::move(request), arguments);
  request.question = arguments.question;
  return ask_one(*engine, request, arguments);
}

}  // namespace

void add_ask(const Command& askbase) {
  auto arguments = std::make_shared<AskArguments>();
  const Command command =
      askbase.add("ask", "Answer a question",
                  "  askbase --kb my-kb ask \"What is the capital of France?\"\n"
                  "  askbase --kb my-kb ask 法国的首都是哪里？ --json\n"
                  "  askbase --kb my-kb ask \"When was Paris founded?\" --pin 'Paris=urn:x:paris'\n"
                  "  askbase --kb my-kb ask - --json < questions.txt > answers.jsonl");
  command.argument("QUESTION", arguments->question, "The question, in quotes; - reads one a line");
  command.option("--lang", "LANG", arguments->lang, "auto, en or zh", Command::one_of({"auto", "en", "zh"}));
  command.option("--top", "N", arguments->top, "Show up to N answers; 1", 1, 100);
  command.flag("--explain", arguments->explain, "Show how the answer was found, and the time of each stage");
  command.option("--timeout-ms", "N", arguments->timeout_ms, "Give up after N milliseconds; 5000", 1,
                 3600000);
  command.option("--pipeline", "NAMES", arguments->pipelines,
                 "Ways of answering to use, of kb, text, faq; all", [](const std::string& names) {
                   std::string complaint;
                   for (const std::string& name : split_commas(names)) {
                     if (complaint.empty()) complaint = Command::one_of({"kb", "text", "faq"})(name);
                   }
                   return complaint;
                 });
  command.option("--min-confidence", "P", arguments->min_confidence, "Decline below this confidence", 0, 1);
  command.repeated("--pin", "MENTION=ID", arguments->pins, "Which entity a name means; can be repeated");
  command.flag("--fail-on-no-answer", arguments->fail_on_no_answer, "Exit status 1 when there is no answer");
  command.flag("--json", arguments->json, "The response as JSON, one object a line");
  command.on_run([arguments](const Globals& globals) { return run_ask(*arguments, globals); });
}

}  // namespace askbase::cli
