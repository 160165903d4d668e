// A server for the browser tests: the real HTTP server and page over a small KB, with an engine whose answers
// are set, so that the tests of the page do not depend on how well questions are understood.
// Prints its URL, serves until SIGTERM.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <thread>

#include "base/interrupt.h"
#include "base/text.h"
#include "kb/store.h"
#include "qa/engine.h"
#include "web/server.h"

namespace {

using namespace askbase;

const std::string kAttack =
    "<img src=x onerror=\"document.title='XSS'\"><script>document.title='XSS'</script>";

// An answer in a document; [start, end) of the sentence, in code points.
qa::Answer quoted(const std::string& text, const std::string& sentence, std::uint32_t start,
                  std::uint32_t end) {
  qa::Answer answer;
  answer.kind = qa::AnswerKind::span;
  answer.text = text;
  answer.values = {{text, kb::Term::blank(""), ""}};
  answer.confidence = 0.8;
  answer.sentence = sentence;
  answer.pipeline = "text";
  answer.evidence_total = 1;
  qa::Quote quote;
  quote.document = "whales.pdf";
  quote.source = "whales.pdf";
  quote.sentence = quote.passage = sentence;
  const base::OffsetMap offsets(sentence);
  quote.in_sentence = {start, end, static_cast<std::uint32_t>(offsets.utf16(start)),
                       static_cast<std::uint32_t>(offsets.utf16(end))};
  answer.quotes = {quote};
  return answer;
}

qa::Evidence fact(const std::string& subject, const std::string& predicate, const std::string& object) {
  return {kb::Term::iri("urn:x:" + subject),
          kb::Term::iri("urn:x:p:" + predicate),
          kb::Term::iri("urn:x:" + object),
          subject,
          predicate,
          object,
          "cities.ttl",
          17};
}

qa::Answer answer(const std::string& text, double confidence, const std::string& sentence) {
  qa::Answer made;
  made.kind = qa::AnswerKind::entity;
  made.text = text;
  made.id = "urn:x:" + text;
  made.values = {{text, kb::Term::iri("urn:x:" + text), ""}};
  made.confidence = confidence;
  made.sentence = sentence;
  made.pipeline = "kb";
  return made;
}

class FixtureEngine final : public qa::Engine {
 public:
  explicit FixtureEngine(const kb::Store& store) : view_(store.view().value()) {}

  base::Result<qa::Response> ask(const qa::Request& request) const override {
    qa::Response response;
    response.question = request.question;
    response.lang = base::detect_language(request.question);
    response.timings = {{"total", 1.25}};
    const std::string& q = request.question;
    if (q == "What is the capital of Freedonia?" || q == "slow") {
      if (q == "slow") std::this_thread::sleep_for(std::chrono::milliseconds(1500));
      qa::Answer first = answer("Fredville", 0.93, "The capital of Freedonia is Fredville.");
      first.evidence = {fact("Freedonia", "capital", "Fredville")};
      first.evidence_total = 1;
      qa::Answer second = answer("Sylburg", 0.31, "The capital of Sylvania is Sylburg.");
      second.evidence = {fact("Sylvania", "capital", "Sylburg")};
      second.evidence_total = 1;
      response.answers = {first, second};
    } else if (q == "弗里多尼亚的首都是哪里？") {
      qa::Answer only = answer("弗雷德维尔", 0.75, "弗里多尼亚的首都是弗雷德维尔。");
      only.id = "urn:x:Fredville";
      only.evidence = {fact("Freedonia", "首都", "Fredville")};
      only.evidence_total = 1;
      response.answers = {only};
    } else if (q == "Which villages are there?") {
      qa::Answer list = answer("", 0.55, "Freedonia has 40 villages.");
      list.kind = qa::AnswerKind::list;
      list.id.reset();
      list.values.clear();
      for (int i = 0; i < 40; ++i) {
        const std::string name = "Village " + std::to_string(i);
        list.values.push_back({name, kb::Term::iri("urn:x:v" + std::to_string(i)), ""});
        list.text += (i > 0 ? ", " : "") + name;
        if (i < 20) list.evidence.push_back(fact(name, "country", "Freedonia"));
      }
      list.evidence_total = 40;
      response.answers = {list};
    } else if (q == "How many people live in Springfield?") {
      if (const auto pin = request.pins.find("Springfield"); pin != request.pins.end()) {
        qa::Answer people = answer("116,565", 0.99, "Springfield has 116,565 people.");
        people.kind = qa::AnswerKind::literal;
        people.id.reset();
        people.values = {
            {pin->second == "urn:x:Springfield_IL" ? "116,565" : "59,000", kb::Term::integer(116565), ""}};
        people.text = people.values[0].text;
        response.answers = {people};
      } else {
        response.reason = qa::Reason::ambiguous;
        response.reason_sentence = "“Springfield” may mean several things: please choose one.";
        response.ambiguous = {{"Springfield",
                               24,
                               35,
                               {{"urn:x:Springfield_IL", "Springfield", "city in Illinois", 9},
                                {"urn:x:Springfield_OR", "Springfield", "city in Oregon", 8}}}};
      }
    } else if (q == "Where is Fredvile?") {
      response.reason = qa::Reason::entity_unknown;
      response.reason_sentence = "The knowledge base has nothing called “Fredvile”.";
      response.alternatives = {"Fredville", "What is the capital of Freedonia?"};
    } else if (q == "Who wrote the book?") {
      qa::Answer span = quoted("Ada", "🐋 The book is by Ada.", 17, 20);
      span.quotes[0].title = "Whales";
      span.quotes[0].url = "https://example.org/whales";
      span.quotes[0].page = 3;
      qa::Answer other = quoted("Brevik", "It is by Brevik.", 9, 15);
      other.confidence = 0.2;
      response.answers = {span, other};
    } else if (q == "quoted attack") {
      qa::Answer evil = quoted(kAttack, kAttack, 0, 5);
      evil.quotes[0].document = evil.quotes[0].title = kAttack;
      evil.quotes[0].url = "javascript:alert(1)";
      response.answers = {evil};
    } else if (q == "attack") {
      qa::Answer evil = answer(kAttack, 0.5, kAttack);
      qa::Evidence evidence = fact("a", "b", "c");
      evidence.subject_label = evidence.predicate_label = evidence.object_label = evidence.source = kAttack;
      evil.evidence = {evidence};
      evil.evidence_total = 1;
      response.answers = {evil, evil};
      response.ambiguous = {{kAttack, 0, 1, {{"javascript:alert(1)", kAttack, kAttack, 1}}}};
    } else {
      response.reason = qa::Reason::unsupported_question;
      response.reason_sentence = "Questions of this kind cannot be answered from single facts: " + q;
    }
    return response;
  }
  base::Status refresh() override { return {}; }
  std::shared_ptr<const kb::View> view() const override { return view_; }
  base::Result<std::vector<std::string>> example_questions(base::Language lang, std::size_t) const override {
    if (lang == base::Language::chinese) return std::vector<std::string>{"弗里多尼亚的首都是哪里？"};
    return std::vector<std::string>{"What is the capital of Freedonia?", "Which villages are there?"};
  }

 private:
  std::shared_ptr<const kb::View> view_;
};

void add_facts(kb::Store& store) {
  const auto update = store.begin_update().value();
  kb::Source record;
  record.name = "cities.ttl";
  const kb::SourceId source = update->source(record, false).value();
  std::uint64_t row = 0;
  const auto add = [&](const std::string& subject, const std::string& predicate, const kb::Term& object) {
    if (!update->add(source, kb::Term::iri("urn:x:" + subject), kb::Term::iri(predicate), object, ++row))
      std::abort();
  };
  const std::string label(kb::iri::rdfs_label), type(kb::iri::rdf_type);
  add("Freedonia", label, kb::Term::text("Freedonia", "en"));
  add("Freedonia", label, kb::Term::text("弗里多尼亚", "zh"));
  add("Freedonia", type, kb::Term::iri("urn:x:Country"));
  add("Freedonia", "urn:x:p:capital", kb::Term::iri("urn:x:Fredville"));
  add("Freedonia", "urn:x:p:area", kb::Term::integer(123456));
  add("p:area", std::string(kb::iri::unit), kb::Term::text("km²", "en"));
  add("Fredville", label, kb::Term::text("Fredville", "en"));
  add("Fredville", label, kb::Term::text("弗雷德维尔", "zh"));
  add("evil", label, kb::Term::text(kAttack, "en"));
  add("evil", "urn:x:p:capital", kb::Term::literal(kAttack));
  for (int i = 0; i < 130; ++i) {
    add("v" + std::to_string(i), "urn:x:p:country", kb::Term::iri("urn:x:Freedonia"));
  }
  update->commit().value();
}

}  // namespace

// fixture_server KB [PORT]
int main(int argc, char** argv) {
  if (argc < 2) return 2;
  base::watch_interrupts();
  const auto store = kb::Store::open(argv[1], kb::OpenMode::create).value();
  if (store->view().value()->facts() == 0) add_facts(*store);
  FixtureEngine engine(*store);
  web::ServerOptions options;
  options.port = argc > 2 ? std::atoi(argv[2]) : 0;
  const auto server = web::Server::start(*store, engine, options);
  if (!server) {
    std::fprintf(stderr, "%s\n", server.error().message.c_str());
    return 1;
  }
  std::printf("ready on http://127.0.0.1:%d/\n", (*server)->port());
  std::fflush(stdout);
  std::thread watcher([&] {
    while (!base::interrupted()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    (*server)->stop();
  });
  (*server)->run();
  watcher.join();
  return 0;
}
