// askbase eval relation-detection
#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <set>

#include "base/file.h"
#include "base/input.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/eval.h"
#include "cli/figures.h"
#include "cli/matcher_data.h"
#include "cli/models.h"
#include "cli/output.h"
#include "cli/pool_ranker.h"
#include "datasets/metrics.h"
#include "qa/path_matcher.h"
#include "reader/text_encoder.h"

namespace askbase::cli {
namespace {

struct EvalArguments {
  std::string relations, model, encoder, out, dump, scores, among, language = "en";
  std::vector<std::string> data, fit_pools, count_data, count_pools;
  std::size_t fit_every = 1, limit = 0;
  bool json = false;
};

// Questions with the paths they choose from.
struct Choice {
  std::string question;
  std::vector<qa::MentionRange> mentions;
  std::vector<std::uint32_t> candidates;  // indices into Choices::names; empty: all of them
  std::vector<std::uint32_t> gold;
};
struct Choices {
  std::vector<std::string> names;
  std::vector<Choice> questions;
};

base::Result<Choices> read_pools(const std::string& relations, const std::string& questions) {
  ASKBASE_ASSIGN(datasets::RelationPools pools, datasets::read_relation_pools(relations, questions));
  Choices out;
  out.names = std::move(pools.relations);
  for (const datasets::RelationPoolQuestion& pool : pools.questions) {
    qa::MatchExample example = pool_question(pool.question);
    out.questions.push_back({std::move(example.question), std::move(example.mentions), pool.pool, pool.gold});
  }
  return out;
}

// Every predicate of the facts for every question.
base::Result<Choices> read_among(const EvalArguments& arguments) {
  std::set<std::string> predicates;
  ASKBASE_TRY(datasets::read_named_facts(
      arguments.among,
      [&](const datasets::NamedFact& fact) {
        predicates.insert(fact.relation);
        return true;
      },
      true));
  Choices out;
  out.names.assign(predicates.begin(), predicates.end());
  // "国 籍" and "国籍" are one choice: either finds the facts that the other has under this name.
  std::map<std::vector<std::string>, std::vector<std::uint32_t>> readings;
  for (std::uint32_t i = 0; i < out.names.size(); ++i) readings[qa::path_words(out.names[i])].push_back(i);
  std::vector<datasets::KbQuestion> questions;
  for (const std::string& file : arguments.data) {
    ASKBASE_ASSIGN(auto some, datasets::read_kb_questions({file}));
    std::move(some.begin(), some.end(), std::back_inserter(questions));
  }
  for (datasets::KbQuestion& question : questions) {
    if (question.path.size() != 1 || question.path[0].inverse) continue;
    Choice choice;
    const auto found = std::lower_bound(out.names.begin(), out.names.end(), question.path[0].relation);
    // A relation that is not among the predicates cannot be found: the question counts, and is wrong.
    if (found != out.names.end() && *found == question.path[0].relation) {
      choice.gold = readings[qa::path_words(*found)];
    }
    std::vector<std::string> names = {question.mention};
    names.insert(names.end(), question.topic_names.begin(), question.topic_names.end());
    const qa::MentionRange range = find_mention(question.question, names);
    if (range.end > range.begin) choice.mentions.push_back(range);
    choice.question = std::move(question.question);
    out.questions.push_back(std::move(choice));
  }
  if (out.questions.empty()) {
    return base::fail(base::ErrorCode::bad_input, arguments.data[0] + ": no question with one relation");
  }
  return out;
}

// A relation as counts of training questions name it: "/a/b/c" is "a.b.c".
std::string counted_name(std::string name) {
  if (!name.empty() && name.front() == '/') {
    name.erase(0, 1);
    std::replace(name.begin(), name.end(), '/', '.');
  }
  return name;
}

// The question's words but for the mention.
std::vector<std::string> pattern_words(const std::string& question,
                                       const std::vector<qa::MentionRange>& mentions) {
  std::u32string text = base::to_code_points(question);
  for (const qa::MentionRange& mention : mentions) {
    const auto end = std::min(mention.end, text.size());
    for (std::size_t i = mention.begin; i < end; ++i) text[i] = U' ';
  }
  return qa::path_words(base::to_utf8(text));
}

base::Result<RelationCounts> read_counts(const EvalArguments& arguments) {
  RelationCounts counts;
  for (const std::string& file : arguments.count_data) {
    ASKBASE_ASSIGN(const auto questions, datasets::read_kb_questions({file}));
    for (const datasets::KbQuestion& question : questions) {
      if (question.path.size() != 1 || question.path[0].inverse) continue;
      std::vector<std::string> names = {question.mention};
      names.insert(names.end(), question.topic_names.begin(), question.topic_names.end());
      counts.add(question.path[0].relation,
                 pattern_words(question.question, {find_mention(question.question, names)}));
    }
  }
  if (arguments.count_pools.empty()) return counts;
  ASKBASE_ASSIGN(const Choices pools, read_pools(arguments.count_pools[0], arguments.count_pools[1]));
  for (const Choice& choice : pools.questions) {
    for (const std::uint32_t gold : choice.gold) {
      counts.add(counted_name(pools.names[gold]), pattern_words(choice.question, choice.mentions));
    }
  }
  return counts;
}

// Sentence vectors of texts, each different one once.
class Sentences {
 public:
  static base::Result<Sentences> make(const reader::TextEncoder& encoder,
                                      const std::vector<std::string>& texts, nn::Team& team) {
    Sentences out;
    std::vector<std::string_view> different;
    for (const std::string& text : texts) {
      const auto [found, fresh] = out.rows_.try_emplace(text, static_cast<nn::Index>(different.size()));
      if (fresh) different.push_back(found->first);
    }
    ASKBASE_ASSIGN(out.vectors_, encoder.embed(different, team));
    return out;
  }
  float cosine(const std::string& a, const Sentences& other, const std::string& b) const {
    const float* x = vectors_.row(rows_.at(a));
    const float* y = other.vectors_.row(other.rows_.at(b));
    float sum = 0;
    for (nn::Index i = 0; i < vectors_.cols(); ++i) sum += x[i] * y[i];
    return sum;
  }

 private:
  std::map<std::string, nn::Index> rows_;
  nn::Matrix<float> vectors_;
};

// A question as a sentence: the mention as "it", which any entity may be.
std::string sentence_of(const Choice& choice) {
  std::u32string text = base::to_code_points(choice.question);
  for (const qa::MentionRange& mention : choice.mentions) {
    text.replace(mention.begin, mention.end - mention.begin, U"it");
  }
  return base::to_utf8(text);
}

// All the scores of one set of questions.
class Scorer {
 public:
  Scorer(const qa::PathMatcher& matcher, const Choices& choices, const RelationCounts& counts, nn::Team& team)
      : matcher_(matcher), choices_(choices), counts_(counts) {
    std::vector<qa::MatchPath> paths;
    for (const std::string& name : choices.names) {
      const qa::TrainingPath path = path_of_name(name);
      paths.push_back({});
      words_.emplace_back();
      texts_.emplace_back();
      if (path.texts.empty()) continue;
      paths.back().texts = {path.texts.front()};
      words_.back() = path.texts.front().words;
      for (const std::string& word : words_.back())
        texts_.back() += (texts_.back().empty() ? "" : " ") + word;
    }
    encoded_ = matcher.encode(paths, team);
    all_.resize(choices.names.size());
    std::iota(all_.begin(), all_.end(), 0U);
  }

  base::Status read_sentences(const reader::TextEncoder& encoder, nn::Team& team) {
    std::vector<std::string> sentences;
    for (const Choice& choice : choices_.questions) sentences.push_back(sentence_of(choice));
    ASKBASE_ASSIGN(auto questions, Sentences::make(encoder, sentences, team));
    ASKBASE_ASSIGN(auto paths, Sentences::make(encoder, texts_, team));
    questions_ = std::make_unique<Sentences>(std::move(questions));
    paths_ = std::make_unique<Sentences>(std::move(paths));
    return {};
  }

  struct Scored {
    std::vector<char> gold;
    std::vector<float> matcher, overlap, prior, bayes, cosine;
  };
  Scored score(std::size_t question, qa::PathMatcher::Scratch& scratch) const {
    const Choice& choice = choices_.questions[question];
    const auto& candidates = candidates_of(question);
    Scored out;
    out.matcher.resize(candidates.size());
    matcher_.score(matcher_.prepare(choice.question, choice.mentions), encoded_, choice.candidates,
                   out.matcher, scratch);
    const std::vector<std::string> words = pattern_words(choice.question, choice.mentions);
    const std::string sentence = paths_ ? sentence_of(choice) : std::string();
    for (const std::uint32_t path : candidates) {
      out.gold.push_back(std::find(choice.gold.begin(), choice.gold.end(), path) != choice.gold.end());
      out.overlap.push_back(word_overlap(words, words_[path]));
      if (!counts_.empty()) {
        const std::string name = counted_name(choices_.names[path]);
        out.prior.push_back(static_cast<float>(counts_.prior(name)));
        out.bayes.push_back(static_cast<float>(counts_.bayes(name, words)));
      }
      if (paths_) out.cosine.push_back(questions_->cosine(sentence, *paths_, texts_[path]));
    }
    return out;
  }
  static RankedPool features(const Scored& scored) {
    RankedPool pool{{scored.matcher, scored.cosine, scored.overlap}, scored.gold};
    if (!scored.bayes.empty()) {
      pool.features.push_back(scored.prior);
      pool.features.push_back(scored.bayes);
    }
    return pool;
  }

  const std::vector<std::uint32_t>& candidates_of(std::size_t question) const {
    const auto& own = choices_.questions[question].candidates;
    return own.empty() ? all_ : own;
  }
  const std::string& text(std::uint32_t path) const { return texts_[path]; }

 private:
  const qa::PathMatcher& matcher_;
  const Choices& choices_;
  const RelationCounts& counts_;
  std::vector<std::vector<std::string>> words_;
  std::vector<std::string> texts_;
  std::vector<std::uint32_t> all_;
  qa::EncodedPaths encoded_;
  std::unique_ptr<Sentences> questions_, paths_;
};

// Scores that somebody else's model gave to the candidates of --dump-candidates.
base::Result<std::vector<std::vector<float>>> read_scores(const std::string& file, const Choices& choices) {
  std::vector<std::vector<float>> out(choices.questions.size());
  ASKBASE_ASSIGN(const std::unique_ptr<base::Input> input, base::Input::open(file));
  base::LineReader lines(*input);
  std::string_view line;
  const auto bad = [&](const std::string& what) {
    return base::fail(
        base::ErrorCode::bad_input, file + ":" + std::to_string(lines.line_number()) + ": " + what,
        "a line is {\"question\": NUMBER, \"scores\": [NUMBER, ...]}, the candidates in the order of "
        "--dump-candidates");
  };
  for (;;) {
    ASKBASE_ASSIGN(const bool more, lines.next(line));
    if (!more) break;
    if (base::trim(line).empty()) continue;
    const auto json = base::parse_json(line);
    if (!json || !json->is_object()) return bad("not a JSON object");
    const auto number = json->find("question"), scores = json->find("scores");
    if (number == json->end() || !number->is_number_unsigned() || *number >= out.size()) {
      return bad("\"question\" is no number of a question");
    }
    if (scores == json->end() || !scores->is_array()) return bad("no \"scores\"");
    const auto question = number->get<std::size_t>();
    const auto& own = choices.questions[question].candidates;
    if (scores->size() != (own.empty() ? choices.names.size() : own.size())) {
      return bad("not as many scores as candidates");
    }
    std::vector<float> values;
    for (const base::Json& score : *scores) {
      if (!score.is_number()) return bad("a score is no number");
      values.push_back(score.get<float>());
    }
    out[question] = std::move(values);
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (out[i].empty()) {
      return base::fail(base::ErrorCode::bad_input, file + ": no scores for question " + std::to_string(i));
    }
  }
  return out;
}

base::Status check(const EvalArguments& arguments) {
  const auto refuse = [](const char* what) { return base::fail(base::ErrorCode::invalid_argument, what); };
  if (arguments.relations.empty() == arguments.among.empty()) {
    return refuse("say what to choose from: --relations FILE for pools, or --among FACTS for all predicates");
  }
  if (!arguments.relations.empty() && arguments.data.size() != 1) return refuse("pools are one --data file");
  if (arguments.encoder.empty() != arguments.fit_pools.empty()) {
    return refuse("--encoder and --fit-pools go together: the ranker's weights are fitted to those pools");
  }
  if (!arguments.encoder.empty() && arguments.relations.empty()) return refuse("--encoder is for pools");
  for (const auto* pools : {&arguments.fit_pools, &arguments.count_pools}) {
    if (!pools->empty() && pools->size() != 2) {
      return refuse("pools are two files: the relations, and the questions with their pools");
    }
  }
  return {};
}

base::Result<int> run_eval(const EvalArguments& arguments, const Globals& globals) {
  ASKBASE_TRY(check(arguments));
  Choices choices;
  if (arguments.relations.empty()) {
    ASKBASE_ASSIGN(choices, read_among(arguments));
  } else {
    ASKBASE_ASSIGN(choices, read_pools(arguments.relations, arguments.data[0]));
  }
  if (arguments.limit > 0 && choices.questions.size() > arguments.limit) {
    choices.questions.resize(arguments.limit);
  }
  const std::filesystem::path folder = arguments.model.empty()
                                           ? models_folder(globals) / (arguments.language + "-matcher")
                                           : std::filesystem::path(arguments.model);
  ASKBASE_ASSIGN(const auto matcher, qa::PathMatcher::load(folder));
  ASKBASE_ASSIGN(const RelationCounts counts, read_counts(arguments));
  std::vector<std::vector<float>> given;
  if (!arguments.scores.empty()) {
    ASKBASE_ASSIGN(given, read_scores(arguments.scores, choices));
  }
  nn::Team team(static_cast<int>(globals.thread_count()));
  Scorer scorer(*matcher, choices, counts, team);
  std::vector<double> weights;
  if (!arguments.encoder.empty()) {
    ASKBASE_ASSIGN(const auto encoder, reader::TextEncoder::load(arguments.encoder));
    ASKBASE_ASSIGN(Choices fit, read_pools(arguments.fit_pools[0], arguments.fit_pools[1]));
    std::size_t next = 0;
    std::erase_if(fit.questions, [&](const Choice&) { return next++ % arguments.fit_every != 0; });
    Scorer fit_scorer(*matcher, fit, counts, team);
    ASKBASE_TRY(fit_scorer.read_sentences(*encoder, team));
    std::vector<RankedPool> pools;
    qa::PathMatcher::Scratch scratch;
    for (std::size_t i = 0; i < fit.questions.size(); ++i) {
      pools.push_back(Scorer::features(fit_scorer.score(i, scratch)));
    }
    ASKBASE_ASSIGN(weights, fit_ranker(pools));
    ASKBASE_TRY(scorer.read_sentences(*encoder, team));
  }

  struct Right {
    double matcher = 0, overlap = 0, prior = 0, bayes = 0, combined = 0, given = 0;
    std::uint32_t best = 0;
    float score = 0;
    std::vector<float> scores;  // to be dumped
  };
  std::vector<Right> rights(choices.questions.size());
  team.parallel_for(static_cast<nn::Index>(rights.size()), 8, [&](nn::Index begin, nn::Index end) {
    qa::PathMatcher::Scratch scratch;
    for (nn::Index i = begin; i < end; ++i) {
      const auto q = static_cast<std::size_t>(i);
      Right& right = rights[q];
      Scorer::Scored scored = scorer.score(q, scratch);
      right.matcher = right_share(scored.matcher, scored.gold);
      right.overlap = right_share(scored.overlap, scored.gold);
      right.prior = right_share(scored.prior, scored.gold);
      right.bayes = right_share(scored.bayes, scored.gold);
      std::vector<float> scores = scored.matcher;
      if (!weights.empty()) {
        scores = ranked_scores(weights, Scorer::features(scored).features);
        right.combined = right_share(scores, scored.gold);
      }
      if (!given.empty()) {
        scores = given[q];
        right.given = right_share(scores, scored.gold);
      }
      const auto best = std::max_element(scores.begin(), scores.end()) - scores.begin();
      right.best = scorer.candidates_of(q)[static_cast<std::size_t>(best)];
      right.score = scores[static_cast<std::size_t>(best)];
      if (!arguments.dump.empty()) right.scores = std::move(scores);
    }
  });

  const auto figure = [&](double Right::*member) {
    std::vector<double> values;
    for (const Right& right : rights) values.push_back(right.*member);
    return datasets::mean_figure(values);
  };
  // What is measured: other people's scores where they were given, the ranker where there is one.
  double Right::*const measured = !given.empty()     ? &Right::given
                                  : !weights.empty() ? &Right::combined
                                                     : &Right::matcher;
  base::Json out = {{"task", "relation-detection"}, {"questions", rights.size()}};
  std::vector<std::vector<std::string>> rows = {{"questions", grouped(rights.size())}};
  const auto add = [&](const std::string& name, const std::string& label, double Right::*member) {
    const datasets::Figure value = figure(member);
    add_figure(out, name, value);
    rows.push_back({label, shown_figure(value)});
  };
  add("accuracy", "accuracy", measured);
  if (measured != &Right::matcher) add("matcher_accuracy", "matcher alone", &Right::matcher);
  if (!given.empty() && !weights.empty()) add("combined_accuracy", "matcher and sentences", &Right::combined);
  add("baseline_overlap", "words in common", &Right::overlap);
  if (!counts.empty()) {
    add("baseline_majority", "the most common relation", &Right::prior);
    add("baseline_naive_bayes", "naive Bayes", &Right::bayes);
  }
  if (!weights.empty()) {
    const char* const names[] = {"matcher", "sentences", "overlap", "prior", "naive_bayes"};
    base::Json shown = base::Json::object();
    std::string text;
    for (std::size_t f = 0; f < weights.size(); ++f) {
      shown[names[f]] = weights[f];
      text += (f == 0 ? "" : ", ") + std::string(names[f]) + " " + decimal(weights[f], 3);
    }
    out["ranker"] = std::move(shown);
    rows.push_back({"ranker", text});
  }
  std::string lines;
  if (!arguments.out.empty()) {
    for (std::size_t q = 0; q < rights.size(); ++q) {
      base::Json gold = base::Json::array();
      for (const std::uint32_t path : choices.questions[q].gold) gold.push_back(choices.names[path]);
      lines += base::dump_json({{"question", q},
                                {"text", choices.questions[q].question},
                                {"predicted", choices.names[rights[q].best]},
                                {"score", base::json_number(static_cast<double>(rights[q].score))},
                                {"gold", gold}}) +
               "\n";
    }
    ASKBASE_TRY(base::write_file_atomic(arguments.out, lines));
  }
  if (!arguments.dump.empty()) {
    lines.clear();
    for (std::size_t q = 0; q < rights.size(); ++q) {
      base::Json candidates = base::Json::array();
      for (std::size_t c = 0; c < rights[q].scores.size(); ++c) {
        const std::uint32_t path = scorer.candidates_of(q)[c];
        candidates.push_back({{"relation", choices.names[path]},
                              {"text", scorer.text(path)},
                              {"score", base::json_number(static_cast<double>(rights[q].scores[c]))}});
      }
      lines += base::dump_json({{"question", q},
                                {"text", choices.questions[q].question},
                                {"candidates", std::move(candidates)}}) +
               "\n";
    }
    ASKBASE_TRY(base::write_file_atomic(arguments.dump, lines));
  }
  if (arguments.json) {
    print(base::dump_json(out) + "\n");
  } else {
    print(table(rows));
  }
  return exit_done;
}

}  // namespace

void add_eval_relation_detection(const Command& eval) {
  auto arguments = std::make_shared<EvalArguments>();
  EvalArguments& a = *arguments;
  const Command command =
      eval.add("relation-detection", "Which relation a question asks for, out of a pool or of all predicates",
               "  askbase eval relation-detection --relations relations.txt.gz --data test.tsv.gz\n"
               "  askbase eval relation-detection --lang zh --among kb.tsv.gz --data questions.jsonl.gz");
  command.option("--relations", "FILE", a.relations,
                 "Relations, one a line, of a task with pools (Yu et al. 2017)");
  command.several(
      "--data", "FILE", a.data,
      "Lines \"gold TAB pool TAB question\", by line numbers of --relations; with --among questions with "
      "topic and path, as JSON lines");
  command.option("--among", "FILE", a.among, "Facts: choose among all their predicates, instead of a pool");
  command.option("--lang", "LANG", a.language, "Of the shipped model to take, en or zh; en",
                 Command::one_of({"en", "zh"}));
  command.option("--model", "DIR", a.model, "Model folder; en-matcher or zh-matcher in the folder of models");
  command.option(
      "--encoder", "DIR", a.encoder,
      "A sentence model: its cosines, the matcher's scores, shared words and counts are ranked together");
  command.several("--fit-pools", "FILE", a.fit_pools,
                  "Relations and questions to fit the ranker's weights to");
  command.option("--fit-every", "N", a.fit_every, "Of these every N-th question alone; 1", 1, 1000000);
  command.several("--count-data", "FILE", a.count_data,
                  "Training questions, as JSON lines: for naive Bayes and the most common relation beside");
  command.several("--count-pools", "FILE", a.count_pools, "The same from relations and questions with pools");
  command.option("--limit", "N", a.limit, "The first N questions only; 0: all", 0, 1U << 31);
  command.option("--out", "FILE", a.out, "Write the relation chosen for each question, as JSON lines");
  command.option("--dump-candidates", "FILE", a.dump,
                 "Write every question's candidates with text and score");
  command.option("--scores", "FILE", a.scores,
                 "Rank by these scores instead, in the order of the candidates");
  command.flag("--json", a.json, "Print one JSON document");
  command.require("--data");
  command.on_run([arguments](const Globals& globals) { return run_eval(*arguments, globals); });
}

}  // namespace askbase::cli
