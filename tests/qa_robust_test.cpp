// Odd input, bounds, concurrency, and knowledge bases as users load them (tables without any schema).
#include <atomic>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/pinyin.h"
#include "kb/load.h"
#include "tests/qa_fixture.h"

using askbase::qa::Reason;
using askbase::qa::Request;
using askbase::qa::Response;
using askbase::test::InventedKb;
using askbase::test::ScratchFolder;

namespace {

// A store with one table in it, as `askbase load FILE` leaves it.
class TableKb {
 public:
  explicit TableKb(const std::string& csv) {
    const auto path = folder_ / "table.csv";
    std::ofstream(path) << csv;
    store_ = askbase::kb::Store::open(folder_ / "kb", askbase::kb::OpenMode::create).value();
    askbase::kb::LoadOptions options;
    options.progress = [](const std::string&) {};
    REQUIRE(askbase::kb::load(*store_, {path}, options).has_value());
    engine_ = askbase::qa::Engine::open(*store_).value();
  }
  std::set<std::string> ask(const std::string& question) {
    Request request;
    request.question = question;
    const Response response = engine_->ask(request).value();
    std::set<std::string> out;
    if (response.answers.empty()) return {std::string("reason:") + std::string(reason_name(response.reason))};
    for (const auto& value : response.answers[0].values) out.insert(value.text);
    return out;
  }

 private:
  ScratchFolder folder_;
  std::unique_ptr<askbase::kb::Store> store_;
  std::unique_ptr<askbase::qa::Engine> engine_;
};

using Values = std::set<std::string>;

}  // namespace

TEST_CASE("an English table of employees is answered without any schema") {
  TableKb kb(
      "name,department,salary,manager,start date\n"
      "Dana Frost,Sales,52000,Ravi Osei,2019-04-01\n"
      "Ravi Osei,Sales,78000,Una Blake,2012-09-15\n"
      "Una Blake,Board,120000,,2005-01-10\n"
      "Pell Ward,Research,61000,Una Blake,2020-11-02\n");
  CHECK(kb.ask("What is Dana Frost's salary?") == Values{"52,000"});
  CHECK(kb.ask("How much does Ravi Osei earn?") == Values{"78,000"});
  CHECK(kb.ask("Who is the manager of Pell Ward?") == Values{"Una Blake"});
  CHECK(kb.ask("Who is Dana Frost's boss?") == Values{"Ravi Osei"});
  CHECK(kb.ask("When did Pell Ward join?") == Values{"2 November 2020"});
  CHECK(kb.ask("What is the shoe size of Pell Ward?") == Values{"reason:relation_unmatched"});
  CHECK(kb.ask("Who is the manager of Una Blake?") == Values{"reason:fact_missing"});
  CHECK(kb.ask("What is the salary of Quint Zoller?") == Values{"reason:entity_unknown"});
  CHECK(kb.ask("Dana Frost的工资是多少？") == Values{"52,000"});  // a Chinese question, an English column
}

TEST_CASE("a Chinese table is answered in Chinese") {
  TableKb kb(
      "姓名,部门,薪资,入职日期\n"
      "赵小雨,市场部,9500,2021-03-01\n"
      "钱海峰,研发部,15800,2018-07-16\n"
      "孙一诺,研发部,13200,2020-10-08\n");
  CHECK(kb.ask("赵小雨的薪资是多少？") == Values{"9,500"});
  CHECK(kb.ask("钱海峰的工资是多少？") == Values{"15,800"});
  CHECK(kb.ask("孙一诺是什么时候入职的？") == Values{"2020年10月8日"});
  CHECK(kb.ask("赵小雨在哪个部门？") == Values{"市场部"});
  CHECK(kb.ask("趙小雨的薪資是多少？") == Values{"9,500"});
  CHECK(kb.ask("周大山的薪资是多少？") == Values{"reason:entity_unknown"});
}

TEST_CASE("odd input is declined, never a crash") {
  InventedKb kb;
  const std::string questions[] = {"",
                                   "   ",
                                   "\t\n",
                                   "?",
                                   "？？？",
                                   "🎉🎉🎉",
                                   "你好",
                                   "的的的的",
                                   "the of in a",
                                   "1234567890",
                                   "'''''",
                                   "(((",
                                   "\"",
                                   std::string("What is\0the capital of Avaria?", 31),
                                   "What\x01 is \x7f the \x1b capital",
                                   "\xEF\xBB\xBF",
                                   "e\xCC\x81\xCC\x81\xCC\x81",
                                   "A",
                                   "是",
                                   "capital",
                                   "首都",
                                   std::string(300, 'a'),
                                   "What is the capital of of of of of?"};
  for (const std::string& question : questions) {
    CAPTURE(question);
    const Response response = kb.ask(question);
    if (response.answers.empty()) CHECK(response.reason != Reason::none);
    CHECK_FALSE(to_json(response).empty());
  }
  for (const std::string& empty : {std::string(), std::string("  "), std::string("🎉"), std::string("你好")}) {
    CHECK(kb.ask(empty).reason == Reason::unsupported_question);
  }
}

TEST_CASE("a megabyte is no question, and is told so at once") {
  InventedKb kb;
  for (const std::string& piece :
       {std::string("What is the capital of Avaria? "), std::string("阿瓦里亚的首都"), std::string("a")}) {
    std::string question;
    while (question.size() < (1U << 20)) question += piece;
    const auto start = std::chrono::steady_clock::now();
    CHECK(kb.ask(question).reason == Reason::unsupported_question);
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(1));
  }
}

TEST_CASE("the longest question allowed stays within its time") {
  InventedKb kb;
  std::string question;
  while (question.size() < 1900) question += "Avaria Tolvek borders captial ";
  Request request;
  request.question = question;
  request.timeout = std::chrono::milliseconds(200);
  const auto start = std::chrono::steady_clock::now();
  const Response response = kb.ask(request);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));
  if (response.answers.empty()) CHECK(response.reason != Reason::none);
}

TEST_CASE("no time left is the reason timeout") {
  InventedKb kb;
  Request request;
  request.question = "What is the capital of Avaria?";
  request.timeout = std::chrono::milliseconds(0);
  const Response response = kb.ask(request);
  CHECK(response.answers.empty());
  CHECK(response.reason == Reason::timeout);
}

TEST_CASE("invalid UTF-8 and unknown pipelines are errors") {
  InventedKb kb;
  Request request;
  request.question = "What is \xFF?";
  REQUIRE_FALSE(kb.engine().ask(request).has_value());
  CHECK(kb.engine().ask(request).error().code == askbase::base::ErrorCode::invalid_argument);
  request.question = "What is the capital of Avaria?";
  request.pipelines = {"oracle"};
  REQUIRE_FALSE(kb.engine().ask(request).has_value());
  request.pipelines = {"oracle", "kb"};
  CHECK(kb.engine().ask(request).value().answers.size() >= 1);
}

TEST_CASE("an empty KB says that nothing is loaded") {
  ScratchFolder folder;
  auto store = askbase::kb::Store::open(folder / "kb", askbase::kb::OpenMode::create).value();
  auto engine = askbase::qa::Engine::open(*store).value();
  Request request;
  request.question = "What is the capital of Avaria?";
  CHECK(engine->ask(request).value().reason == Reason::nothing_loaded);
  CHECK(engine->example_questions(askbase::base::Language::english, 5).value().empty());
}

TEST_CASE("the confidence wanted is respected") {
  InventedKb kb;
  Request request;
  request.question = "What is the capital of Avaria?";
  request.min_confidence = 1.0;
  const Response response = kb.ask(request);
  CHECK(response.answers.empty());
  CHECK(response.reason != Reason::none);
  request.min_confidence = 0.0;
  request.top = 1;
  CHECK(kb.ask(request).answers.size() == 1);
}

TEST_CASE("refresh shows new facts; an engine that is not refreshed keeps its state") {
  InventedKb kb;
  CHECK(kb.ask("What is the capital of Sudovia?").reason == Reason::entity_unknown);
  kb.begin();
  kb.type(InventedKb::entity("sudovia"), "Country");
  kb.label(InventedKb::entity("sudovia"), "Sudovia", "en");
  kb.fact(InventedKb::entity("sudovia"), InventedKb::p("capital"), InventedKb::entity("tolvek"));
  kb.commit();
  CHECK(kb.ask("What is the capital of Sudovia?").reason == Reason::entity_unknown);
  REQUIRE(kb.engine().refresh().has_value());
  const Response response = kb.ask("What is the capital of Sudovia?");
  REQUIRE_FALSE(response.answers.empty());
  CHECK(response.answers[0].id == "urn:t:tolvek");
}

TEST_CASE("many threads ask while the engine is refreshed") {
  InventedKb kb;
  std::atomic<bool> stop = false;
  std::atomic<int> wrong = 0, asked = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      const std::string questions[] = {"What is the capital of Avaria?", "阿瓦里亚的首都是哪里？",
                                       "Which city is Avaria's captial?"};
      for (std::size_t i = 0; !stop; ++i) {
        Request request;
        request.question = questions[i % 3];
        const auto response = kb.engine().ask(request);
        const bool right =
            response && !response->answers.empty() && response->answers[0].id == "urn:t:tolvek";
        wrong += right ? 0 : 1;
        ++asked;
      }
    });
  }
  for (int i = 0; i < 10; ++i) {
    kb.begin();
    kb.label(InventedKb::entity("extra" + std::to_string(i)), "Extra " + std::to_string(i), "en");
    kb.commit();
    CHECK(kb.engine().refresh().has_value());
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(asked > 0);
}

TEST_CASE("characters of one sound") {
  using askbase::base::characters_of_sound;
  using askbase::base::sound_of;
  CHECK(sound_of(U'守') == sound_of(U'首'));
  CHECK(sound_of(U'督') == sound_of(U'都'));
  CHECK(sound_of(U'金') != sound_of(U'木'));
  CHECK(sound_of(U'a') == 0);
  CHECK(characters_of_sound(0).empty());
  CHECK(characters_of_sound(sound_of(U'码')).find(U'马') != std::u32string_view::npos);
}
