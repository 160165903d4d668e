// askbase train reader
#include <chrono>
#include <memory>
#include <system_error>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/json.h"
#include "base/sha256.h"
#include "cli/figures.h"
#include "cli/output.h"
#include "cli/train.h"
#include "cli/train_char_reader.h"
#include "cli/training.h"
#include "datasets/squad.h"
#include "datasets/squad_metric.h"
#include "datasets/squad_split.h"
#include "nn/model_folder.h"
#include "nn/random.h"
#include "reader/span_training.h"
#include "reader/text_encoder.h"

namespace askbase::cli {
namespace {

namespace fs = std::filesystem;

struct TrainReaderArguments {
  std::vector<std::string> data, held_out, test;
  std::string kind = "bert", valid, encoder, out, checkpoint, curves, report, precision = "bf16",
              storage = "fp16";
  reader::SpanTraining training;
  std::size_t seed = 1, epochs = 1, batch = 32, accumulate = 1, max_length = 320, evaluate_every = 0;
  std::size_t hidden = 96, layers = 1, schedule_epochs = 0;
  double share = 1, rate = 0;
  bool resume = false, train_words = false, json = false;
};

reader::ReadingSet reading_set(const datasets::SquadSet& set) {
  reader::ReadingSet reading;
  for (const datasets::SquadContext& context : set.contexts) reading.contexts.push_back(context.text);
  for (const datasets::SquadQuestion& question : set.questions) {
    reader::ReadingQuestion& read = reading.questions.emplace_back();
    read.question = question.question;
    read.context = question.context;
    if (!question.answers.empty()) {
      read.begin = question.answers.front().begin;
      read.end = question.answers.front().end;
    }
  }
  return reading;
}

// What a reader is chosen by: F1 over the answerable questions when it must answer, as SQuAD 1.1 asks, and
// over all of them with the best threshold, as SQuAD 2.0 does, half and half.
nn::Evaluation measure(const datasets::SquadSet& set, const std::vector<reader::ReadingGuess>& guesses) {
  const datasets::BootstrapOptions plain{.resamples = 0};
  std::vector<datasets::ReadAnswer> answers;
  datasets::SquadSet answerable;
  std::vector<std::string> forced;
  for (std::size_t i = 0; i < set.questions.size(); ++i) {
    answers.push_back({guesses[i].answer, guesses[i].null_odds});
    if (set.questions[i].answers.empty()) continue;
    answerable.questions.push_back(set.questions[i]);
    forced.push_back(guesses[i].answer);
  }
  constexpr auto kForm = datasets::AnswerForm::squad;
  const datasets::SquadFigures one = datasets::squad_figures(kForm, answerable, forced, plain);
  const datasets::Squad2Figures two = datasets::squad2_figures(kForm, set, answers, 0, plain);
  const double f1 = one.f1.value.value_or(0), metric = two.no_answer == 0 ? f1 : (f1 + two.best_f1) / 2;
  return {metric,
          {{"exact_match", one.exact_match.value.value_or(0)},
           {"f1", f1},
           {"best_f1", two.best_f1},
           {"best_f1_threshold", two.best_f1_threshold}}};
}

base::Result<datasets::SquadSplit> read_data(const TrainReaderArguments& arguments) {
  std::vector<datasets::SquadSet> sets;
  for (const std::string& path : arguments.data) {
    ASKBASE_ASSIGN(datasets::SquadSet set, datasets::read_squad(path));
    sets.push_back(std::move(set));
  }
  ASKBASE_ASSIGN(datasets::SquadSplit split, datasets::split_squad(std::move(sets), arguments.held_out));
  if (arguments.share < 1) {
    nn::Random random(arguments.seed, 0x7368617265);
    random.shuffle(split.train.questions);
    split.train.questions.resize(
        static_cast<std::size_t>(arguments.share * static_cast<double>(split.train.questions.size())));
  }
  return split;
}

std::string card_text(const TrainReaderArguments& arguments, const reader::SpanTrainingResult& result,
                      std::size_t valid) {
  std::string card =
      "# Reader\n\nA BERT encoder with a head for the start and the end of an answer, trained by "
      "`askbase train reader`.\n\n";
  card += "- encoder: " + arguments.encoder + "\n";
  for (const std::string& path : arguments.data) {
    const auto content = base::read_file(path);
    card += "- data: " + path + " (sha256 " + (content ? base::sha256(*content) : std::string("?")) + ")\n";
  }
  card += "- " + grouped(result.questions) + " questions, " + std::to_string(result.run.steps) +
          " steps of " + std::to_string(arguments.batch * arguments.accumulate) + ", highest rate " +
          base::dump_json(base::json_number(arguments.training.rate)) + ", seed " +
          std::to_string(arguments.seed) + "\n";
  card += "- " + grouped(valid) + " validation questions:";
  for (const auto& [name, value] : result.run.best.values) card += " " + name + " " + decimal(value, 2);
  return card + "\n";
}

// The character reader has options of its own, and shares the others.
base::Result<int> run_bilstm(const TrainReaderArguments& arguments, const Globals& globals) {
  CharReaderArguments own;
  own.data = arguments.data;
  own.test = arguments.test;
  own.lac = arguments.encoder;
  own.valid = arguments.valid;
  own.out = arguments.out;
  own.curves = arguments.curves;
  own.report = arguments.report;
  own.training.seed = arguments.seed;
  own.training.epochs = static_cast<std::int64_t>(arguments.epochs);
  own.training.schedule_epochs = static_cast<std::int64_t>(arguments.schedule_epochs);
  own.training.minutes = arguments.training.minutes;
  if (arguments.rate > 0) own.training.rate = arguments.rate;
  own.training.weight_decay = arguments.training.weight_decay;
  own.training.ema_decay = arguments.training.ema_decay;
  own.training.evaluate_every = static_cast<std::int64_t>(arguments.evaluate_every);
  own.training.checkpoint = arguments.checkpoint;
  own.training.curves = arguments.curves;
  own.training.resume = arguments.resume;
  own.network.hidden = static_cast<nn::Index>(arguments.hidden);
  own.network.layers = static_cast<nn::Index>(arguments.layers);
  own.share = arguments.share;
  own.threads = static_cast<int>(globals.thread_count());
  own.json = arguments.json;
  return run_train_char_reader(std::move(own));
}

base::Result<int> run_train_reader(TrainReaderArguments arguments, const Globals& globals) {
  ASKBASE_TRY(
      check_training_files(arguments.checkpoint, arguments.resume, arguments.curves, arguments.report));
  if (arguments.kind == "bilstm" && !arguments.held_out.empty()) {
    return base::fail(base::ErrorCode::invalid_argument,
                      "--kind bilstm chooses by --valid FILE, not by --hold-out");
  }
  ASKBASE_TRY(nn::check_model_place(arguments.out));
  base::watch_interrupts();
  if (arguments.kind == "bilstm") return run_bilstm(arguments, globals);
  if (!arguments.valid.empty() || !arguments.test.empty()) {
    return base::fail(base::ErrorCode::invalid_argument, "--valid and --test are for --kind bilstm",
                      "name articles of the training files with --hold-out, and measure with askbase eval");
  }
  if (arguments.rate > 0) arguments.training.rate = arguments.rate;
  ASKBASE_ASSIGN(std::unique_ptr<reader::BertModel> model, encoder_of(arguments.encoder));
  ASKBASE_ASSIGN(const datasets::SquadSplit split, read_data(arguments));
  model = reader::with_span_head(std::move(model), arguments.seed);

  reader::SpanTraining& training = arguments.training;
  training.seed = arguments.seed;
  training.epochs = static_cast<std::int64_t>(arguments.epochs);
  training.batch = static_cast<nn::Index>(arguments.batch);
  training.accumulate = static_cast<int>(arguments.accumulate);
  training.max_length = static_cast<nn::Index>(arguments.max_length);
  training.evaluate_every = static_cast<std::int64_t>(arguments.evaluate_every);
  training.precision = arguments.precision == "bf16" ? nn::Precision::bf16 : nn::Precision::f32;
  training.freeze_words = !arguments.train_words;
  training.resume = arguments.resume;
  training.checkpoint = arguments.checkpoint;
  training.curves = arguments.curves;
  nn::Team team(static_cast<int>(globals.thread_count()));
  ASKBASE_ASSIGN(const reader::SpanTrainingResult result,
                 reader::train_span_reader(
                     *model, reading_set(split.train), reading_set(split.valid),
                     [&split](const std::vector<reader::ReadingGuess>& guesses) {
                       return measure(split.valid, guesses);
                     },
                     training, team));
  ASKBASE_TRY(model->save(arguments.out, nn::storage_by_name(arguments.storage).value(),
                          card_text(arguments, result, split.valid.questions.size())));
  ASKBASE_TRY(write_curves_page(arguments.report, arguments.curves, "reader", arguments.seed));
  base::Json out = {{"task", "reader"},
                    {"train", result.questions},
                    {"left_out", result.left_out},
                    {"overlapping", split.overlapping},
                    {"valid", split.valid.questions.size()},
                    {"steps", result.run.steps},
                    {"finished", result.run.stop != nn::StopReason::time}};
  std::vector<std::vector<std::string>> rows = {
      {"questions", grouped(result.questions)},
      {"left out: answer outside of a window", grouped(result.left_out)},
      {"left out: in validation texts or questions", grouped(split.overlapping)},
      {"validation questions", grouped(split.valid.questions.size())},
      {"steps", grouped(static_cast<std::uint64_t>(result.run.steps))}};
  for (const auto& [name, value] : result.run.best.values) {
    out["valid_" + name] = base::json_number(value);
    rows.push_back({"validation " + name, decimal(value, 2)});
  }
  out["seconds"] = base::json_number(result.run.seconds, 4);
  rows.push_back({"seconds", decimal(result.run.seconds, 1)});
  print_training(arguments.json, out, rows, arguments.out);
  if (!arguments.json && result.run.stop == nn::StopReason::time)
    print_line("time is over: --resume goes on");
  return exit_done;
}

}  // namespace

base::Result<std::unique_ptr<reader::BertModel>> encoder_of(const fs::path& folder) {
  ASKBASE_ASSIGN(const std::string text, base::read_file(folder / "config.json", 1 << 20));
  const auto config = base::parse_json(text);
  const bool ours = config && config->is_object() && config->contains("kind");
  if (!ours) return reader::BertModel::import(folder);
  const bool shares = config->value("kind", base::Json()) == reader::kSpanReaderKind;
  return shares ? reader::load_span_reader(folder) : reader::BertModel::load(folder);
}

void add_train_reader(const Command& train) {
  auto arguments = std::make_shared<TrainReaderArguments>();
  const Command command =
      train.add("reader", "Find the answer to a question in a text: a BERT encoder, or an LSTM for Chinese",
                "  askbase train reader --encoder models/en-sentence --data train-v2.0.json --hold-out "
                "Genome --out en-reader\n"
                "  askbase train reader --kind bilstm --encoder lac_small --data cmrc2018-train.json.gz "
                "--valid cmrc2018-trial.json.gz --out zh-reader\n"
                "Ctrl-C loses nothing where there is a --checkpoint: --resume goes on.");
  command.option("--kind", "KIND", arguments->kind, "bert, or bilstm: characters of Chinese; bert",
                 Command::one_of({"bert", "bilstm"}));
  command.option(
      "--encoder", "DIR", arguments->encoder,
      "Model folder to start from, with a span head or without, such as models/en-reader; or a folder of "
      "Hugging Face. "
      "bilstm: jieba's folder lac_small, or a reader of this kind to go on from");
  command.several("--data", "FILE", arguments->data, "Questions in SQuAD's form");
  command.several("--hold-out", "TITLE", arguments->held_out,
                  "Articles to choose by; nothing of them stays in the training");
  command.option("--valid", "FILE", arguments->valid, "bilstm: questions to choose by");
  command.several("--test", "FILE", arguments->test,
                  "bilstm: questions to measure the written model on, once");
  command.option("--out", "DIR", arguments->out, "Model folder to write; one that is there is replaced");
  command.option("--seed", "N", arguments->seed, "Of everything drawn at random; 1", 0, 1U << 31);
  command.option("--epochs", "N", arguments->epochs, "Rounds over the questions; 1", 1, 1000);
  command.option("--minutes", "N", arguments->training.minutes, "End this call after so many; 0: no limit", 0,
                 1e6);
  command.option("--batch", "N", arguments->batch, "Questions of a batch; 32", 1, 4096);
  command.option("--accumulate", "N", arguments->accumulate, "Batches of a step; 1", 1, 1024);
  command.option("--max-length", "N", arguments->max_length, "Ids of a question with its text at most; 320",
                 128, 4096);
  command.option("--rate", "X", arguments->rate,
                 "Highest learning rate; 0: the kind's own, 2e-4, or 2e-3 for bilstm", 0, 1);
  command.option("--hidden", "N", arguments->hidden, "bilstm: units of an LSTM in each direction; 96", 1,
                 1024);
  command.option("--schedule-epochs", "N", arguments->schedule_epochs,
                 "bilstm: rounds over which the rate falls; 0: as many as --epochs", 0, 1000);
  command.option("--layers", "N", arguments->layers, "bilstm: layers of the second LSTM; 1", 1, 8);
  command.option("--warmup", "SHARE", arguments->training.warmup_share,
                 "Of the steps, with a rising rate; 0.06", 0, 0.9);
  command.option("--weight-decay", "X", arguments->training.weight_decay, "Of AdamW; 0.01", 0, 1);
  command.option("--ema", "X", arguments->training.ema_decay,
                 "Decay of the average of the weights that is kept; 0.999. 0: the weights themselves", 0,
                 0.99999);
  command.option("--share", "X", arguments->share, "Of the training questions, drawn by the seed; 1", 0.001,
                 1);
  command.option("--evaluate-every", "N", arguments->evaluate_every,
                 "Steps between looks at the held-out articles; "
                 "0: an epoch",
                 0, 1U << 30);
  command.flag("--train-words", arguments->train_words,
               "Train the word embeddings, too; otherwise they stay, rounded to int8");
  command.option("--precision", "KIND", arguments->precision,
                 "Of the large products: bf16 (where the CPU has it) or f32; bf16",
                 Command::one_of({"bf16", "f32"}));
  command.option("--storage", "KIND", arguments->storage,
                 "Of the written weights: fp32, fp16, bf16 or int8; fp16",
                 Command::one_of({"fp32", "fp16", "bf16", "int8"}));
  command.option("--checkpoint", "FILE", arguments->checkpoint, "Where an interrupted training goes on from");
  command.flag("--resume", arguments->resume, "Go on from the checkpoint");
  command.option("--curves", "FILE", arguments->curves, "Loss and validation figures by step, as JSON lines");
  command.option("--report", "FILE", arguments->report, "The curves as a page; needs --curves");
  command.flag("--json", arguments->json, "Print one JSON document");
  command.require("--encoder");
  command.require("--data");
  command.require("--out");
  command.on_run([arguments](const Globals& globals) { return run_train_reader(*arguments, globals); });
}

}  // namespace askbase::cli
