// askbase model compress: from what `train reader` writes to what ships.
#include "cli/model_compress.h"

#include <cmath>
#include <memory>
#include <system_error>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/json.h"
#include "cli/figures.h"
#include "cli/output.h"
#include "cli/squad_readings.h"
#include "cli/train.h"
#include "datasets/squad_split.h"
#include "nn/model_folder.h"
#include "reader/bert_reader.h"

namespace askbase::cli {
namespace {

namespace fs = std::filesystem;

struct CompressArguments {
  std::string folder, lender, out, card, storage = "int8";
  std::vector<std::string> data, held_out;
  std::size_t max_length = 320, stride = 128;
  bool json = false;
};

// Figures of one set of answers, over all questions and over those with an answer.
struct Measured {
  datasets::SquadFigures forced;
  datasets::Squad2Figures free;
};

Measured measure(const datasets::SquadSet& set, const std::vector<datasets::ReadAnswer>& answers,
                 double threshold) {
  datasets::SquadSet answerable;
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < set.questions.size(); ++i) {
    if (set.questions[i].answers.empty()) continue;
    answerable.questions.push_back(set.questions[i]);
    texts.push_back(answers[i].text);
  }
  constexpr auto kForm = datasets::AnswerForm::squad;
  return {datasets::squad_figures(kForm, answerable, texts),
          datasets::squad2_figures(kForm, set, answers, threshold)};
}

// An answer counts as right when it shares half of its words with a right one.
reader::ReadCalibration calibrate(const datasets::SquadSet& set, const SquadReadings& readings) {
  std::vector<reader::CalibrationExample> examples;
  for (std::size_t i = 0; i < set.questions.size(); ++i) {
    const datasets::ReadAnswer& answer = readings.answers[i];
    if (answer.text.empty()) continue;
    const datasets::AnswerScore score =
        datasets::answer_score(datasets::AnswerForm::squad, answer.text, set.questions[i].answers);
    examples.push_back(
        {-answer.null_odds, readings.log_shares[i], !set.questions[i].answers.empty() && score.f1 >= 0.5});
  }
  reader::ReadCalibration calibration = reader::calibrated(examples);
  // A question of people that the text does not answer is not rarer than one that it does, whatever the share
  // in these articles is.
  calibration.null_threshold =
      datasets::squad2_figures(datasets::AnswerForm::squad, set, readings.answers, 0, {.resamples = 0})
          .balanced_threshold;
  return calibration;
}

base::Result<int> run_compress(const CompressArguments& arguments, const Globals& globals) {
  ASKBASE_TRY(nn::check_model_place(arguments.out));
  base::watch_interrupts();
  std::vector<datasets::SquadSet> sets;
  for (const std::string& path : arguments.data) {
    ASKBASE_ASSIGN(datasets::SquadSet set, datasets::read_squad(path));
    sets.push_back(std::move(set));
  }
  ASKBASE_ASSIGN(datasets::SquadSplit split, datasets::split_squad(std::move(sets), arguments.held_out));
  const datasets::SquadSet& valid = arguments.held_out.empty() ? split.train : split.valid;
  ASKBASE_ASSIGN(const auto model, encoder_of(arguments.folder));
  if (model->span_head() == nullptr) {
    return base::fail(base::ErrorCode::unsupported,
                      arguments.folder + ": an encoder without a span head does not read",
                      "askbase train reader gives it one");
  }
  const reader::InferenceOptions exact{.numbers = nn::Numbers::f32};
  ASKBASE_ASSIGN(const auto lender, reader::TextEncoder::load(arguments.lender));
  if (!(model->tokenizer().vocabulary() == lender->tokenizer().vocabulary())) {
    return base::fail(
        base::ErrorCode::invalid_argument,
        arguments.folder + " has another vocabulary than " + arguments.lender + ": it cannot share",
        "train from the model that it is to share with");
  }
  nn::Team team(static_cast<int>(globals.thread_count()));
  ASKBASE_ASSIGN(const auto before, reader::BertReader::load(arguments.folder, exact));
  ASKBASE_ASSIGN(const SquadReadings exact_readings, read_squad_set(*before, valid, team));

  reader::BertReaderConfig config;
  config.windows.max_length = arguments.max_length;
  config.windows.stride = arguments.stride;
  const fs::path place = fs::absolute(arguments.lender).lexically_normal();
  reader::SpanReaderToSave save{
      .lender_name = (place.has_filename() ? place : place.parent_path()).filename().string(),
      .settings = config.json(),
      .card = "# Reader\n\nMade by `askbase model compress` from " + arguments.folder + ".\n",
      .storage = nn::storage_by_name(arguments.storage).value()};
  if (!arguments.card.empty()) {
    ASKBASE_ASSIGN(save.card, base::read_file(arguments.card, 1 << 20));
  }
  ASKBASE_TRY(reader::save_span_reader(arguments.out, *model, *lender, save));
  // What is measured is what was written.
  ASKBASE_ASSIGN(const auto after, reader::BertReader::load(arguments.out, {}, lender));
  ASKBASE_ASSIGN(const SquadReadings readings, read_squad_set(*after, valid, team));
  config.calibration = calibrate(valid, readings);
  save.settings = config.json();
  ASKBASE_TRY(reader::save_span_reader(arguments.out, *model, *lender, save));

  const double threshold = config.calibration.null_threshold;
  const Measured small = measure(valid, readings.answers, threshold),
                 large = measure(valid, exact_readings.answers, threshold);
  std::error_code ignored;
  const auto bytes = fs::file_size(fs::path(arguments.out) / "model.safetensors", ignored);
  base::Json out = {{"questions", valid.questions.size()}, {"bytes", bytes}, {"threshold", threshold}};
  std::vector<std::vector<std::string>> rows = {{"", "f32", arguments.storage}};
  const auto figure = [&](const std::string& key, const std::string& name, const datasets::Figure& f32,
                          const datasets::Figure& compressed) {
    add_figure(out, key, compressed);
    add_figure(out, "f32_" + key, f32);
    rows.push_back({name, shown_figure(f32, 2), shown_figure(compressed, 2)});
  };
  figure("exact_match", "exact match, answerable", large.forced.exact_match, small.forced.exact_match);
  figure("f1", "F1, answerable", large.forced.f1, small.forced.f1);
  figure("squad2_f1", "F1, all, with the threshold", large.free.f1, small.free.f1);
  rows.push_back({"threshold", "", decimal(threshold, 3)});
  rows.push_back({"size", "", readable_bytes(bytes)});
  if (arguments.json) {
    print(base::dump_json(out) + "\n");
  } else {
    print(table(rows));
    print_line("written to " + arguments.out);
  }
  return exit_done;
}

}  // namespace

void add_model_compress(const Command& model) {
  auto arguments = std::make_shared<CompressArguments>();
  const Command command = model.add(
      "compress",
      "A trained reader as it ships: int8, with the word embeddings of another model, its threshold and "
      "confidence "
      "fitted to held-out articles",
      "  askbase model compress en-reader-f16 --shares models/en-sentence --data train-v2.0.json \\\n"
      "    --hold-out Genome --out models/en-reader");
  command.argument(
      "DIR", arguments->folder,
      "Model folder that askbase train reader wrote; or one as it ships, whose threshold is fitted anew");
  command.option("--shares", "DIR", arguments->lender,
                 "Model whose word embeddings it was trained with; it must stand beside what is written");
  command.several("--data", "FILE", arguments->data,
                  "Questions in SQuAD's form to fit threshold and confidence by");
  command.several("--hold-out", "TITLE", arguments->held_out,
                  "Only these articles of them, kept out of the training");
  command.option("--out", "DIR", arguments->out, "Model folder to write; one that is there is replaced");
  command.option("--storage", "KIND", arguments->storage, "Of the weights: int8 or fp16; int8",
                 Command::one_of({"int8", "fp16"}));
  command.option("--max-length", "N", arguments->max_length, "Ids of a window that the reader reads; 320",
                 128, 4096);
  command.option("--stride", "N", arguments->stride, "Pieces from one window to the next; 128", 1, 4096);
  command.option("--card", "FILE", arguments->card, "Text of its README.md");
  command.flag("--json", arguments->json, "Print one JSON document");
  command.require("--shares");
  command.require("--data");
  command.require("--out");
  command.on_run([arguments](const Globals& globals) { return run_compress(*arguments, globals); });
}

}  // namespace askbase::cli
