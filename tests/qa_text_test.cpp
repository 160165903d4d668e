// Answers from documents: places, ranking, reasons, what comes from facts and what from documents. The reader
// is one that finds given words.
#include <algorithm>
#include <cmath>
#include <set>
#include <thread>

#include "base/json.h"
#include "base/text.h"
#include "qa/text_pipeline.h"
#include "reader/document_load.h"
#include "tests/qa_fixture.h"
#include "tests/text_reader_support.h"

using namespace askbase;
using namespace askbase::qa;
using askbase::test::FakeReader;

namespace {

using Answers = std::map<std::string, double>;

reader::Document document(std::string id, std::string text, std::string title = {}) {
  reader::Document made;
  made.id = std::move(id);
  made.text = std::move(text);
  made.title = std::move(title);
  made.source = "test";
  return made;
}

void put(kb::Store& store, std::vector<reader::Document> documents,
         const reader::PassageOptions& passages = {}) {
  const auto done = reader::put_documents(store, std::move(documents), passages);
  if (!done) FAIL(done.error().message);
}

// An engine over documents alone.
class Library {
 public:
  explicit Library(std::vector<reader::Document> documents, std::shared_ptr<const FakeReader> english = {},
                   std::shared_ptr<const FakeReader> chinese = {}, TextOptions options = {},
                   const reader::PassageOptions& passages = {})
      : store_(kb::Store::open(folder_.path() / "kb", kb::OpenMode::create).value()) {
    if (!documents.empty()) put(*store_, std::move(documents), passages);
    EngineOptions engine;
    if (english || chinese)
      engine.text.readers = std::make_shared<TextReaders>(std::move(english), std::move(chinese), 2);
    engine.text_options = options;
    engine_ = Engine::open(*store_, engine).value();
  }
  kb::Store& store() { return *store_; }
  Engine& engine() { return *engine_; }
  Response ask(const Request& request) const {
    auto response = engine_->ask(request);
    REQUIRE_MESSAGE(response.has_value(), (response ? "" : response.error().message));
    return *response;
  }
  Response ask(const std::string& question, int top = 5, double min_confidence = -1) const {
    Request request;
    request.question = question;
    request.top = top;
    request.min_confidence = min_confidence;
    return ask(request);
  }

 private:
  test::ScratchFolder folder_;
  std::unique_ptr<kb::Store> store_;
  std::unique_ptr<Engine> engine_;
};

std::shared_ptr<const FakeReader> finds(Answers answers, bool abstains = false, bool slow = false) {
  return std::make_shared<const FakeReader>(std::move(answers), abstains, slow);
}

// The quote's offsets hold in the document's text as loaded, and in the sentence.
void check_places(const Quote& quote, const std::string& text, const std::string& as_written,
                  const std::string& answer) {
  const base::OffsetMap offsets(text), sentence(quote.sentence);
  REQUIRE(quote.end <= offsets.code_points());
  REQUIRE(quote.start < quote.end);
  const std::size_t from = offsets.byte(quote.start);
  CHECK(text.substr(from, offsets.byte(quote.end) - from) == as_written);
  CHECK(quote.start_utf16 == offsets.utf16(quote.start));
  CHECK(quote.end_utf16 == offsets.utf16(quote.end));
  REQUIRE(quote.in_sentence.end <= sentence.code_points());
  const std::size_t begin = sentence.byte(quote.in_sentence.start);
  CHECK(quote.sentence.substr(begin, sentence.byte(quote.in_sentence.end) - begin) == answer);
  CHECK(quote.in_sentence.start_utf16 == sentence.utf16(quote.in_sentence.start));
  CHECK(quote.in_sentence.end_utf16 == sentence.utf16(quote.in_sentence.end));
  CHECK(quote.passage.find(quote.sentence) != std::string::npos);
}

}  // namespace

TEST_CASE("text: an answer with its sentence and its place, in both languages, after an emoji") {
  const std::string english =
      "Whales live long. 🐋🐋 The book was written by Zoë Melville in 1851. It sold badly.";
  const std::string chinese = "鲸鱼是哺乳动物。😀这本书由梅尔维尔所写，出版于一八五一年。";
  reader::Document first = document("moby", english, "Moby-Dick");
  first.url = "https://example.org/moby";
  first.date = "1851-10-18";
  const Library library({first, document("书", chinese)}, finds({{"Zoë Melville", 0.9}}),
                        finds({{"梅尔维尔", 0.8}}));
  Response response = library.ask("Who wrote the book?");
  REQUIRE(response.answers.size() == 1);
  const Answer& answer = response.answers[0];
  CHECK(answer.kind == AnswerKind::span);
  CHECK(answer.text == "Zoë Melville");
  CHECK(answer.pipeline == "text");
  // "book" is there, "wrote" is not.
  CHECK(answer.confidence == doctest::Approx(TextRanking().confidence(std::log(9), 0, 0.5, {})));
  CHECK(answer.sentence == "🐋🐋 The book was written by Zoë Melville in 1851.");
  CHECK(answer.evidence_total == 1);
  REQUIRE(answer.quotes.size() == 1);
  const Quote& quote = answer.quotes[0];
  CHECK(quote.document == "moby");
  CHECK(quote.title == "Moby-Dick");
  CHECK(quote.url == "https://example.org/moby");
  CHECK(quote.date == "1851-10-18");
  CHECK(quote.source == "test");
  CHECK(quote.page == 0);
  check_places(quote, english, "Zoë Melville", "Zoë Melville");
  CHECK(quote.start_utf16 == quote.start + 2);

  response = library.ask("这本书由谁所写？");
  REQUIRE(response.answers.size() == 1);
  CHECK(response.answers[0].text == "梅尔维尔");
  CHECK(response.answers[0].sentence == "😀这本书由梅尔维尔所写，出版于一八五一年。");
  CHECK(response.answers[0].quotes[0].document == "书");
  check_places(response.answers[0].quotes[0], chinese, "梅尔维尔", "梅尔维尔");

  const base::Json json = base::parse_json(to_json(response)).value();
  const base::Json& evidence = json["answers"][0]["evidence"][0];
  CHECK(json["answers"][0]["kind"] == "span");
  CHECK(json["answers"][0]["values"][0] == base::Json{{"text", "梅尔维尔"}});
  CHECK(evidence["document"] == "书");
  CHECK(evidence["start_utf16"] == evidence["start"].get<int>() + 1);
  CHECK(evidence["sentence"]["start"] == 5);
  CHECK(evidence["sentence"]["start_utf16"] == 6);
  CHECK(!evidence.contains("page"));
  CHECK(!evidence.contains("title"));
  CHECK(json["models"] == base::Json{"en-reader", "zh-reader"});
}

TEST_CASE("text: models that read are named only where there is something to read") {
  const std::string text = "Moby-Dick was written by Herman Melville.";
  Library nothing({}, finds({{"Herman Melville", 6.0}}));
  CHECK(nothing.ask("Who wrote Moby-Dick?").models.empty());
  Request request;
  request.question = "Who wrote Moby-Dick?";
  request.pipelines = {"text"};
  CHECK(nothing.ask(request).models.empty());
  reader::Document document;
  document.id = "moby";
  document.text = text;
  Library books({document}, finds({{"Herman Melville", 6.0}}));
  CHECK(books.ask(request).models == std::vector<std::string>{"en-reader"});
  request.pipelines = {"kb"};
  CHECK(books.ask(request).models.empty());
}

TEST_CASE("text: pages, divided words and Markdown keep the places of the original") {
  const std::string pages =
      "Head 1\n\nThe first page tells of the docu-\nment.\n\nfoot\n\fHead 2\n\n🙂 It was writ-\nten by Ada "
      "Love-\nlace.\n\nfoot\n\fHead 3\n\nThe end.\n\nfoot\n";
  reader::Document marked =
      document("notes.md", "# Notes\n\nThe engine was **built by *Charles Babbage***.\n");
  marked.form = reader::TextForm::markdown;
  const Library library({document("report.pdf", pages), marked},
                        finds({{"Ada Lovelace", 0.9}, {"Charles Babbage", 0.9}}));
  Response response = library.ask("Who had written the document?");
  REQUIRE(!response.answers.empty());
  const Answer& ada = response.answers[0];
  CHECK(ada.text == "Ada Lovelace");
  CHECK(ada.quotes[0].page == 2);
  CHECK(ada.quotes[0].document == "report.pdf");
  CHECK(ada.sentence.find("foot") == std::string::npos);
  check_places(ada.quotes[0], pages, "Ada Love-\nlace", "Ada Lovelace");
  const base::Json json = base::parse_json(to_json(response)).value();
  CHECK(json["answers"][0]["evidence"][0]["page"] == 2);

  response = library.ask("Who built the engine?");
  REQUIRE(!response.answers.empty());
  CHECK(response.answers[0].text == "Charles Babbage");
  CHECK(response.answers[0].sentence == "The engine was built by Charles Babbage.");
  check_places(response.answers[0].quotes[0], marked.text, "Charles Babbage", "Charles Babbage");
}

TEST_CASE("text: several answers are distinct; one wording in several places is one answer") {
  const Library library({document("a", "The harbour was built by Ada Brown."),
                         document("b", "In the harbour, Ada Brown met Carl Dent."),
                         document("c", "The harbour has a tower by ADA BROWN.")},
                        finds({{"Ada Brown", 0.8}, {"ADA BROWN", 0.6}, {"Carl Dent", 0.4}}));
  Response response = library.ask("Who built the harbour?", 5, 0);
  REQUIRE(response.answers.size() == 2);
  CHECK(response.answers[0].text == "Ada Brown");
  CHECK(response.answers[0].evidence_total == 3);
  CHECK(response.answers[0].quotes.size() == 3);
  std::set<std::string> documents;
  for (const Quote& quote : response.answers[0].quotes) documents.insert(quote.document);
  CHECK(documents == std::set<std::string>{"a", "b", "c"});
  CHECK(response.answers[1].text == "Carl Dent");
  CHECK(response.answers[0].confidence > response.answers[1].confidence);
  CHECK(response.answers[0].confidence + response.answers[1].confidence < 1);
  CHECK(library.ask("Who built the harbour?", 1, 0).answers.size() == 1);
}

TEST_CASE("text: overlapping passages do not make an answer twice") {
  std::string text;
  for (int i = 0; i < 30; ++i) {
    text += "The harbour number " + std::to_string(i) + " is a place of ships and of fish. ";
    if (i == 14) text += "The harbour was built by Ada Brown of Kelbridge. ";
  }
  const Library library({document("a", text)}, finds({{"Ada Brown", 0.8}, {"Ada Brown of Kelbridge", 0.5}}),
                        {}, {}, {.tokens = 60, .overlap = 40});
  const Response response = library.ask("Who built the harbour of Ada Brown of Kelbridge?", 9, 0);
  REQUIRE(response.answers.size() == 1);
  CHECK(response.answers[0].quotes.size() == 1);
  check_places(response.answers[0].quotes[0], text, "Ada Brown", "Ada Brown");
}

TEST_CASE("text: the formula of ranking") {
  TextRanking even;
  even.offset = even.covered_weight = even.meaning_weight = 0;
  even.own_weight = even.rivals_weight = 1;
  const auto odds = [](double p) { return p / (1 - p); };
  const auto strength = [&](double p) { return std::log(odds(p)); };
  // Alone, an answer is as sure as its reader.
  CHECK(even.confidence(strength(0.7), 0, 0.3, 0.9) == doctest::Approx(0.7));
  // With a rival it has its share of all odds, "none of them" included.
  CHECK(even.confidence(strength(0.7), odds(0.6), 1, {}) ==
        doctest::Approx(odds(0.7) / (1 + odds(0.7) + odds(0.6))));
  // It grows with the strength, the words and the meaning, and falls with the rivals.
  const TextRanking fitted;
  const double middle = fitted.confidence(0, 1, 0.5, 0.5);
  CHECK(fitted.confidence(1, 1, 0.5, 0.5) > middle);
  CHECK(fitted.confidence(0, 2, 0.5, 0.5) < middle);
  CHECK(fitted.confidence(0, 1, 0.6, 0.5) > middle);
  CHECK(fitted.confidence(0, 1, 0.5, 0.6) > middle);
  CHECK(fitted.confidence(0, 1, 0.5, {}) ==
        doctest::Approx(fitted.confidence(0, 1, 0.5, fitted.usual_meaning)));
  CHECK(fitted.confidence(-1000, 1e300, 0, -1) >= 0);
  CHECK(fitted.confidence(1000, 0, 1, 1) <= 1);

  // The passage that is found far ahead wins; with a weight of 0 the better span does.
  const std::vector<reader::Document> documents = {
      document("best", "Harbour harbour tower: the harbour tower is by Ada Brown."),
      document("next", "A place with a harbour, fish, ships, a market, and Carl Dent.")};
  TextOptions options;
  options.ranking.gap_weight = 3;
  const Answers answers = {{"Ada Brown", 0.5}, {"Carl Dent", 0.6}};
  CHECK(Library(documents, finds(answers), {}, options).ask("harbour tower by whom?", 1, 0).answers[0].text ==
        "Ada Brown");
  options.ranking.gap_weight = options.ranking.covered_weight = 0;
  CHECK(Library(documents, finds(answers), {}, options).ask("harbour tower by whom?", 1, 0).answers[0].text ==
        "Carl Dent");
}

TEST_CASE("text: a passage about something else is doubted") {
  const std::vector<reader::Document> documents = {
      document("about", "The old harbour of Kelbridge was designed by Ada Brown."),
      document("other", "A book about birds was written by Carl Dent. 一本关于鸟的书由甲所写。")};
  const Library library(documents, finds({{"Ada Brown", 0.7}, {"Carl Dent", 0.7}}), finds({{"甲", 0.7}}));
  const Response about = library.ask("Who designed the old harbour of Kelbridge?");
  REQUIRE(!about.answers.empty());
  CHECK(about.answers[0].text == "Ada Brown");
  CHECK(about.answers[0].confidence > 0.7);
  CHECK(library.ask("Who was the mayor of Brevik by the sea?").reason == Reason::low_confidence);
  Request explained;
  explained.question = "Who designed the harbours of Brevik?";
  explained.explain = true;
  const base::Json trace = base::parse_json(library.ask(explained).trace).value();
  // Of "designed", "harbours" and "Brevik" two, by their stems.
  CHECK(trace["text"]["passages"][0]["covered"].get<double>() == doctest::Approx(2.0 / 3).epsilon(1e-4));
}

TEST_CASE("text: as many passages are read as the options say, in the question's language") {
  std::vector<reader::Document> documents;
  for (int i = 0; i < 20; ++i) {
    documents.push_back(document("en" + std::to_string(i), "The harbour of Glimmer has ships."));
    documents.push_back(document("zh" + std::to_string(i), "Glimmer 的港口有很多船，港口很大。"));
  }
  const auto english = finds({{"ships", 0.7}}), chinese = finds({{"很多船", 0.7}});
  TextOptions options;
  options.passages = 3;
  const Library library(documents, english, chinese, options);
  const Response first = library.ask("What does the harbour of Glimmer have?");
  REQUIRE(first.answers.size() == 1);
  CHECK(first.answers[0].quotes.size() == 3);
  for (const Quote& quote : first.answers[0].quotes) CHECK(quote.document.starts_with("en"));
  CHECK(english->texts() == 3);
  const Response second = library.ask("Glimmer 的港口有什么？");
  REQUIRE(second.answers.size() == 1);
  for (const Quote& quote : second.answers[0].quotes) CHECK(quote.document.starts_with("zh"));
  CHECK(chinese->texts() == 3);
  // The language that is asked for chooses the reader.
  Request request;
  request.question = "港口 harbour?";
  request.lang = base::Language::english;
  const Response third = library.ask(request);
  INFO(to_json(third));
  REQUIRE(!third.answers.empty());
  CHECK(third.answers[0].text == "ships");
}

TEST_CASE("text: reasons for no answer") {
  const auto reason = [](const Library& library, const std::string& question) {
    const Response response = library.ask(question);
    CHECK(response.answers.empty());
    CHECK(!response.reason_sentence.empty());
    return response.reason;
  };
  const std::vector<reader::Document> one = {
      document("a", "The harbour was built by Ada Brown. 港口由甲建造。")};
  Request text_only;
  text_only.question = "Who built the harbour?";
  text_only.pipelines = {"text"};
  SUBCASE("no documents") {
    const Library library({}, finds({{"Ada Brown", 0.9}}));
    CHECK(library.ask(text_only).reason == Reason::nothing_loaded);
    CHECK(reason(library, "Who built the harbour?") == Reason::nothing_loaded);
  }
  SUBCASE("no readers, or none of the language") {
    CHECK(reason(Library(one), "Who built the harbour?") == Reason::unsupported_question);
    const Library library(one, finds({{"Ada Brown", 0.9}}));
    CHECK(reason(library, "谁建造了港口？") == Reason::unsupported_question);
    CHECK(library.ask("谁建造了港口？").reason_sentence.find("zh-reader") != std::string::npos);
    CHECK(reason(library, "誰建造了這個港口？") == Reason::unsupported_question);
    CHECK(library.ask("誰建造了這個港口？").reason_sentence.find("這裡") != std::string::npos);
    CHECK(reason(library, "Кто построил гавань?") == Reason::unsupported_question);
  }
  SUBCASE("small talk, no words, pages of text") {
    const Library library(one, finds({{"Ada Brown", 0.9}}));
    for (const std::string& question : {std::string("hello"), std::string("你好"), std::string("🙂🙂"),
                                        std::string("?"), "Who built " + std::string(3000, 'a')}) {
      CAPTURE(question.substr(0, 40));
      CHECK(reason(library, question) == Reason::unsupported_question);
    }
  }
  SUBCASE("nothing found, nothing sure, a reader that abstains") {
    CHECK(reason(Library(one, finds({})), "Who built the harbour?") == Reason::low_confidence);
    CHECK(reason(Library(one, finds({{"Ada Brown", 0.9}})), "Zebra quagga xylophone?") ==
          Reason::low_confidence);
    const Library unsure(one, finds({{"Ada Brown", 0.01}}));
    CHECK(reason(unsure, "Who built the harbour?") == Reason::low_confidence);
    CHECK(unsure.ask("Who built the harbour?", 1, 0).answers.size() == 1);
    const Library abstains(one, finds({{"Ada Brown", 0.9}}, true));
    CHECK(reason(abstains, "Who built the harbour?") == Reason::low_confidence);
    CHECK(abstains.ask("Who built the harbour?", 1, 0.1).answers.size() == 1);  // who asks for it, gets it
  }
  SUBCASE("the time is over") {
    const Library library(one, finds({{"Ada Brown", 0.9}}, false, true));
    Request request = text_only;
    request.timeout = std::chrono::milliseconds(30);
    const auto begin = std::chrono::steady_clock::now();
    CHECK(library.ask(request).reason == Reason::timeout);
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(2));
    request.timeout = std::chrono::milliseconds(0);
    CHECK(library.ask(request).reason == Reason::timeout);
  }
}

TEST_CASE("text: documents that come and go are seen after a refresh, and not before") {
  Library library({document("a", "The harbour was built by Ada Brown.")},
                  finds({{"Ada Brown", 0.9}, {"Carl Dent", 0.8}}));
  CHECK(library.ask("Who built the harbour?").answers.at(0).text == "Ada Brown");
  put(library.store(), {document("a", "The harbour was built by Carl Dent.")});
  CHECK(library.ask("Who built the harbour?").answers.at(0).text == "Ada Brown");
  REQUIRE(library.engine().refresh());
  CHECK(library.ask("Who built the harbour?").answers.at(0).text == "Carl Dent");
  REQUIRE(reader::delete_document(library.store(), "a"));
  CHECK(library.ask("Who built the harbour?").answers.at(0).text == "Carl Dent");  // still the old state
  REQUIRE(library.engine().refresh());
  CHECK(library.ask("Who built the harbour?").reason == Reason::nothing_loaded);
}

TEST_CASE("text: asked by many while documents are deleted") {
  Library library({document("keep", "The harbour was built by Ada Brown.")}, finds({{"Ada Brown", 0.9}}));
  Request question;
  question.question = "Who built the harbour?";
  std::atomic<bool> done{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      while (!done) {
        const auto response = library.engine().ask(question);
        if (!response || response->answers.empty() || response->answers[0].text != "Ada Brown") ++wrong;
      }
    });
  }
  for (int i = 0; i < 20; ++i) {
    put(library.store(), {document("other", "Another harbour is by Ada Brown, number " + std::to_string(i))});
    REQUIRE(library.engine().refresh());
    REQUIRE(reader::delete_document(library.store(), "other"));
    REQUIRE(library.engine().refresh());
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("text: facts first; documents where facts are not sure") {
  test::InventedKb kb;
  const auto reader_of_texts = finds({{"Brevik", 0.9}, {"Tolvek", 0.55}, {"a lighthouse", 0.8}});
  EngineOptions options;
  options.text.readers = std::make_shared<TextReaders>(reader_of_texts, nullptr, 1);
  const auto ask = [&](const std::string& question, std::vector<std::string> pipelines = {},
                       bool explain = false) {
    const auto engine = Engine::open(kb.store(), options).value();
    Request request;
    request.question = question;
    request.pipelines = std::move(pipelines);
    request.explain = explain;
    return engine->ask(request).value();
  };
  const std::string capital = "What is the capital of Avaria?";
  const std::string before = to_json(ask(capital));
  CHECK(ask(capital).answers.at(0).text == "Tolvek");
  CHECK(reader_of_texts->calls() == 0);  // no documents
  CHECK(ask(capital, {"text"}).reason == Reason::nothing_loaded);

  put(kb.store(), {document("travel", "The capital of Avaria is near Brevik. Its sight is a lighthouse.")});
  // The fact is sure: the documents are not asked.
  Response response = ask(capital);
  CHECK(response.answers.at(0).text == "Tolvek");
  CHECK(response.answers[0].pipeline == "kb");
  CHECK(response.answers.size() == 1);
  CHECK(reader_of_texts->calls() == 0);
  // By name.
  response = ask(capital, {"text"});
  CHECK(response.answers.at(0).text == "Brevik");
  CHECK(ask(capital, {"kb"}).answers.size() == 1);
  // Facts know nothing of it.
  response = ask("What is the sight of Avaria?");
  REQUIRE(!response.answers.empty());
  CHECK(response.answers[0].pipeline == "text");
  CHECK(response.reason == Reason::none);
  CHECK(response.reason_sentence.empty());
  CHECK(response.alternatives.empty());
  // Facts are less sure than asked for.
  options.sure = 2;
  response = ask(capital, {"text", "kb"});
  CHECK(response.answers.size() >= 2);
  CHECK(std::is_sorted(response.answers.begin(), response.answers.end(),
                       [](const Answer& a, const Answer& b) { return a.confidence > b.confidence; }));
  // Both explain themselves.
  const base::Json trace = base::parse_json(ask(capital, {}, true).trace).value();
  CHECK(trace.contains("readings"));
  CHECK(trace["text"]["passages"][0]["document"] == "travel");
  CHECK(trace["text"]["passages"][0]["spans"].size() >= 1);
  CHECK(trace["text"]["passages"][0].contains("words"));
  // In vain: the reason of the one that came furthest.
  CHECK(ask("What is the shoe size of Avaria in Zzyx?", {"kb"}).reason != Reason::none);
  CHECK(ask("hello").reason == Reason::unsupported_question);
  // Without a model nothing is lost.
  options = {};
  response = ask(capital);
  CHECK(response.answers.at(0).text == "Tolvek");
  Request unknown;
  unknown.question = capital;
  unknown.pipelines = {"faq"};
  const auto refused = kb.engine().ask(unknown);
  REQUIRE(!refused);
  CHECK(refused.error().hint == "this program has: kb, text");
}

TEST_CASE("text readers: as many at once as threads, others wait no longer than they may") {
  const auto slow = finds({}, false, true);
  const TextReaders readers(slow, nullptr, 2);
  CHECK(readers.reads(base::Language::english));
  CHECK(!readers.reads(base::Language::chinese));
  CHECK(!readers.reads(base::Language::unknown));
  const std::string_view texts[] = {"text"};
  std::vector<std::thread> threads;
  std::atomic<int> timeouts{0};
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([&] {
      const auto read =
          readers.read(base::Language::english, "q", texts, {}, Deadline(std::chrono::milliseconds(60)));
      if (!read && read.error().code == base::ErrorCode::timeout) ++timeouts;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(timeouts == 6);
  CHECK(slow->most_at_once() <= 2);
  // All places are free again.
  const TextReaders quick(finds({{"text", 0.5}}), nullptr, 1);
  for (int i = 0; i < 3; ++i) {
    const auto read = quick.read(base::Language::english, "q", texts, {}, Deadline(std::chrono::seconds(5)));
    REQUIRE(read);
    CHECK(read->at(0).spans.size() == 1);
  }
  const auto other = quick.read(base::Language::chinese, "q", texts, {}, Deadline(std::chrono::seconds(5)));
  REQUIRE(!other);
  CHECK(other.error().code == base::ErrorCode::unsupported);
}
