#include "cli/ranker_data.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/language.h"
#include "base/text.h"
#include "cli/asking.h"
#include "cli/models.h"
#include "datasets/kb_questions.h"
#include "nn/random.h"
#include "qa/engine.h"
#include "qa/findings.h"

namespace askbase::cli {
namespace {

using datasets::KbQuestion;

constexpr std::size_t most_readings = 200;  // of a question, the best ones by the words and every right one
constexpr std::chrono::seconds patience{20};

// Where the answers are known the fact has to be, too.
bool wanted(const KbQuestion& question) {
  return question.answers.empty() || (!question.topics.empty() && !question.path.empty());
}

std::vector<KbQuestion> drawn(std::vector<KbQuestion> all, const RankerDataOptions& options) {
  const auto to_choose_by = [](const KbQuestion& question) {
    return question.split == "valid" || question.split == "dev";
  };
  const bool split = std::any_of(all.begin(), all.end(), to_choose_by);
  std::erase_if(all, [&](const KbQuestion& question) {
    return !wanted(question) || (split && !to_choose_by(question));
  });
  nn::Random random(options.seed, 0x72616e6b);
  random.shuffle(all);
  if (all.size() > options.most) all.resize(options.most);
  return all;
}

bool same_relations(const std::vector<qa::FoundStep>& found, const std::vector<datasets::PathStep>& gold) {
  return std::equal(
      found.begin(), found.end(), gold.begin(), gold.end(),
      [](const qa::FoundStep& a, const datasets::PathStep& b) { return a.predicate == b.relation; });
}

bool same_directions(const std::vector<qa::FoundStep>& found, const std::vector<datasets::PathStep>& gold) {
  return std::equal(
      found.begin(), found.end(), gold.begin(), gold.end(),
      [](const qa::FoundStep& a, const datasets::PathStep& b) { return a.inverse == b.inverse; });
}

// A question's readings with what they are worth. Nothing when the topic is not among the candidates.
struct Judged {
  qa::RankExample example;
  std::vector<bool> of_topic;  // for each reading
};

std::optional<Judged> judged(const KbQuestion& question, const qa::Findings& findings) {
  const std::set<std::string> topics(question.topics.begin(), question.topics.end());
  const bool linked =
      std::any_of(findings.mentions.begin(), findings.mentions.end(), [&](const qa::FoundMention& mention) {
        return std::any_of(
            mention.candidates.begin(), mention.candidates.end(),
            [&](const qa::FoundCandidate& candidate) { return topics.contains(candidate.id); });
      });
  const bool answerable = !question.answers.empty();
  if (answerable && !linked) return std::nullopt;
  std::set<std::string> golds;
  for (const std::string& answer : question.answers) golds.insert(base::match_key(answer));
  std::map<std::string_view, std::size_t> places;
  for (std::size_t i = 0; i < qa::feature_count; ++i)
    places[qa::feature_name(static_cast<qa::Feature>(i))] = i;
  std::map<std::pair<std::vector<std::string>, std::uint64_t>, std::uint32_t> answer_numbers;
  const bool yes_or_no = golds == std::set<std::string>{"true"} || golds == std::set<std::string>{"false"};
  Judged out;
  for (const qa::FoundReading& found : findings.readings) {
    qa::RankedReading reading;
    for (const auto& [name, value] : found.features) reading.features[places.at(name)] = value;
    const bool answers =
        std::any_of(found.answers.begin(), found.answers.end(),
                    [&](const std::string& answer) { return golds.contains(base::match_key(answer)); });
    const bool topic = topics.contains(found.subject);
    const bool checks = found.shape.starts_with("check");
    const bool finds = checks || found.answers_total > 0;
    reading.right = topic && finds == answerable && !question.path.empty() && checks == yes_or_no &&
                    same_relations(found.path, question.path) &&
                    (answers || checks || same_directions(found.path, question.path));
    reading.neutral = answers && !reading.right;
    if (out.example.readings.size() >= most_readings && !reading.right) continue;
    std::vector<std::string> ids = found.answers;
    std::sort(ids.begin(), ids.end());
    // Of readings without answers, such as yes and no, each is another one.
    if (ids.empty()) ids = {std::to_string(out.example.readings.size())};
    const auto number = static_cast<std::uint32_t>(answer_numbers.size());
    reading.answers = answer_numbers.try_emplace({std::move(ids), found.answers_total}, number).first->second;
    out.of_topic.push_back(topic);
    out.example.readings.push_back(reading);
  }
  return out;
}

// As if the KB had the entity, but not this fact: the right reading is then one that finds nothing.
void hide_fact(qa::RankExample& example) {
  constexpr auto missing = static_cast<std::size_t>(qa::Feature::missing);
  constexpr auto plurality = static_cast<std::size_t>(qa::Feature::plurality);
  std::erase_if(example.readings, [](const qa::RankedReading& reading) { return reading.neutral; });
  for (qa::RankedReading& reading : example.readings) {
    if (!reading.right) continue;
    reading.features[missing] = 1;
    reading.features[plurality] = 0;
    // The memory reads facts that are there.
    reading.features[static_cast<std::size_t>(qa::Feature::remembered)] = 0;
    reading.features[static_cast<std::size_t>(qa::Feature::recalled)] = 0;
  }
}

void hide_entity(Judged& judged) {
  std::vector<qa::RankedReading> kept;
  for (std::size_t i = 0; i < judged.example.readings.size(); ++i) {
    const qa::RankedReading& reading = judged.example.readings[i];
    if (!judged.of_topic[i] && !reading.neutral && !reading.right) kept.push_back(reading);
  }
  judged.example.readings = std::move(kept);
}

}  // namespace

base::Result<RankerSource> read_ranker_source(const MemorySource& source, const RankerDataOptions& options,
                                              const Globals& globals) {
  ASKBASE_ASSIGN(std::vector<KbQuestion> all, datasets::read_kb_questions({source.questions}));
  const std::vector<KbQuestion> questions = drawn(std::move(all), options);
  if (questions.empty()) {
    return base::fail(base::ErrorCode::not_found,
                      source.questions.string() + ": no question that states its fact",
                      "askbase datasets prepare makes such files, with topics, paths and answers");
  }
  Globals of_source = globals;
  of_source.kb = source.kb;
  ASKBASE_ASSIGN(const auto store, open_kb(of_source, kb::OpenMode::read_only));
  const auto by_words = std::make_shared<const qa::Ranker>(qa::lexical_weights(), qa::lexical_weights());
  ASKBASE_ASSIGN(const qa::EngineOptions engine_settings, engine_options(globals, by_words));
  ASKBASE_ASSIGN(const auto engine, qa::Engine::open(*store, engine_settings));
  std::vector<std::optional<Judged>> found(questions.size());
  std::vector<char> familiar(questions.size(), 0);
  ASKBASE_TRY(for_each_question(questions.size(), globals, [&](std::size_t i) -> base::Status {
    qa::Request request;
    request.question = questions[i].question;
    request.lang = base::language_from_tag(questions[i].lang);
    request.timeout = patience;
    request.min_confidence = 0;
    request.findings = true;
    request.pipelines = {"kb"};
    ASKBASE_ASSIGN(const qa::Response response, engine->ask(request));
    if (!response.findings) return {};
    found[i] = judged(questions[i], *response.findings);
    familiar[i] = response.findings->familiar ? 1 : 0;
    return {};
  }));

  RankerSource out;
  out.familiar =
      static_cast<std::size_t>(std::count(familiar.begin(), familiar.end(), 1)) * 2 > familiar.size();
  nn::Random random(options.seed, 0x68696465);
  for (std::size_t i = 0; i < questions.size(); ++i) {
    ++out.questions;
    const double chance = random.uniform();
    if (!found[i]) {
      ++out.left_out;
      continue;
    }
    RankerQuestions& of_language = questions[i].lang == "zh" ? out.chinese : out.english;
    if (i % 4 == 3) {
      of_language.held_out.push_back(std::move(found[i]->example));
      continue;
    }
    const bool answerable = !questions[i].answers.empty();
    if (answerable && chance < options.hidden_facts) {
      hide_fact(found[i]->example);
    } else if (answerable && chance < options.hidden_facts + options.hidden_entities) {
      hide_entity(*found[i]);
    }
    of_language.fit.push_back(std::move(found[i]->example));
  }
  for (RankerQuestions* part : {&out.english, &out.chinese}) {
    for (auto* examples : {&part->fit, &part->held_out}) {
      for (qa::RankExample& example : *examples) example.weight = 1.0 / static_cast<double>(examples->size());
    }
  }
  return out;
}

}  // namespace askbase::cli
