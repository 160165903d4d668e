// askbase train encoder
#include <algorithm>
#include <memory>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/json.h"
#include "base/sha256.h"
#include "cli/output.h"
#include "cli/train.h"
#include "cli/training.h"
#include "datasets/squad.h"
#include "nn/model_folder.h"
#include "nn/random.h"
#include "reader/document_files.h"
#include "reader/encoder_training.h"

namespace askbase::cli {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;

struct TrainEncoderArguments {
  std::vector<std::string> data;
  std::string encoder, vocabulary, casing = "uncased", out, checkpoint, curves, report, precision = "bf16",
                                   storage = "fp16";
  reader::EncoderTraining training;
  std::size_t seed = 1, epochs = 1, batch = 32, accumulate = 1, max_length = 128, evaluate_every = 0;
  std::size_t layers = 4, hidden = 256, heads = 4;
  double hold_out = 0.05;
  bool resume = false, json = false;
};

// The paragraphs of an article in SQuAD's form are one document.
base::Status add_articles(const fs::path& path, std::vector<std::string>& texts) {
  ASKBASE_ASSIGN(const datasets::SquadSet set, datasets::read_squad(path));
  const std::string* title = nullptr;
  for (const datasets::SquadContext& context : set.contexts) {
    if (title != nullptr && !title->empty() && *title == context.title) {
      texts.back() += "\n\n" + context.text;
    } else {
      texts.push_back(context.text);
    }
    title = &context.title;
  }
  return {};
}

// One text a document.
base::Result<std::vector<std::string>> read_texts(const std::vector<std::string>& paths) {
  std::vector<std::string> texts;
  for (const std::string& path : paths) {
    fs::path name = path;
    if (name.extension() == ".gz" || name.extension() == ".zst") name = name.stem();
    if (name.extension() == ".json") {
      ASKBASE_TRY(add_articles(path, texts));
      continue;
    }
    const bool plain = reader::document_format_from_path(path) == reader::DocumentFormat::text;
    const std::size_t before = texts.size();
    reader::DocumentFile file;
    file.path = path;
    ASKBASE_TRY(reader::read_document_file(
        file,
        [&](reader::Document document, const std::string&) -> base::Status {
          if (!plain) {
            texts.push_back(std::move(document.text));
            return {};
          }
          for (std::string& text : reader::texts_between_blank_lines(document.text))
            texts.push_back(std::move(text));
          return {};
        },
        [](const std::string&, base::Error error) -> base::Status {
          return tl::unexpected(std::move(error));
        },
        [](const std::string&) {}));
    if (texts.size() == before) {
      return base::fail(ErrorCode::bad_input, path + ": nothing to read in it",
                        "--data takes texts: .txt with blank lines between documents, .jsonl, or .json in "
                        "SQuAD's form");
    }
  }
  return texts;
}

base::Result<std::unique_ptr<reader::BertModel>> start_of(const TrainEncoderArguments& arguments) {
  if (arguments.encoder.empty() == arguments.vocabulary.empty()) {
    return base::fail(
        ErrorCode::invalid_argument,
        arguments.encoder.empty() ? "nothing to start from" : "--encoder has a vocabulary of its own",
        "give --encoder DIR to go on with an encoder, or --vocab FILE for a new one");
  }
  if (!arguments.encoder.empty()) {
    ASKBASE_ASSIGN(std::unique_ptr<reader::BertModel> model, encoder_of(arguments.encoder));
    return model;
  }
  if (arguments.hidden % arguments.heads != 0) {
    return base::fail(ErrorCode::invalid_argument, "--hidden " + std::to_string(arguments.hidden) +
                                                       " is no multiple of --heads " +
                                                       std::to_string(arguments.heads));
  }
  ASKBASE_ASSIGN(const std::string words, base::read_file(arguments.vocabulary, 64 << 20));
  ASKBASE_ASSIGN(reader::Vocabulary vocabulary, reader::Vocabulary::parse(words, arguments.vocabulary));
  reader::BertConfig config;
  config.vocabulary = static_cast<nn::Index>(vocabulary.size());
  config.hidden = static_cast<nn::Index>(arguments.hidden);
  config.layers = static_cast<nn::Index>(arguments.layers);
  config.heads = static_cast<nn::Index>(arguments.heads);
  config.feed_forward = 4 * config.hidden;
  reader::WordPieceOptions casing;
  casing.lower_case = casing.strip_accents = arguments.casing == "uncased";
  auto model =
      std::make_unique<reader::BertModel>(config, reader::WordPiece(std::move(vocabulary), casing), false);
  model->parameters().initialise(arguments.seed);
  return model;
}

// Moves a share of the texts, drawn by the seed, and at least two of them, out of `texts`.
base::Result<std::vector<std::string>> hold_out(std::vector<std::string>& texts, double share,
                                                std::uint64_t seed) {
  std::vector<std::string> held;
  if (share == 0) return held;
  const auto wanted = static_cast<std::size_t>(share * static_cast<double>(texts.size()));
  const std::size_t count = std::max<std::size_t>(2, wanted);
  if (texts.size() < count + 2) {
    return base::fail(ErrorCode::bad_input,
                      std::to_string(texts.size()) + " documents are too few to hold some out",
                      "there must be two to train on and two to measure by; --hold-out 0 measures nothing, "
                      "and in a .txt file blank lines divide documents");
  }
  nn::Random random(seed, 0x68656c64);
  random.shuffle(texts);
  held.assign(std::make_move_iterator(texts.end() - static_cast<std::ptrdiff_t>(count)),
              std::make_move_iterator(texts.end()));
  texts.resize(texts.size() - count);
  return held;
}

std::string card_text(const TrainEncoderArguments& arguments, const reader::EncoderTrainingResult& result) {
  const reader::EncoderTraining& training = arguments.training;
  std::string card =
      "# Encoder\n\nA BERT encoder, trained on texts to guess masked pieces and whether a sentence follows "
      "(Devlin 2019) by\n`askbase train encoder`. The heads of that training are left out.\n\n";
  card += arguments.encoder.empty() ? "- from scratch, vocabulary: " + arguments.vocabulary + "\n"
                                    : "- started from: " + arguments.encoder + "\n";
  for (const std::string& path : arguments.data) {
    const auto content = base::read_file(path, std::uint64_t{1} << 34);
    card += "- data: " + path + " (sha256 " + (content ? base::sha256(*content) : std::string("?")) + ")\n";
  }
  card += "- " + grouped(result.pairs) + " pairs of at most " + std::to_string(training.max_length) +
          " ids from " + grouped(result.documents) + " documents, " + std::to_string(result.run.steps) +
          " steps of " + std::to_string(arguments.batch * arguments.accumulate) + ", highest rate " +
          base::dump_json(base::json_number(training.rate)) + ", " +
          (training.masking.whole_words ? "whole words" : "pieces") + " masked, seed " +
          std::to_string(arguments.seed) + "\n";
  if (result.valid_pairs == 0) return card;
  card += "- " + grouped(result.valid_pairs) + " pairs from " + grouped(result.valid_documents) +
          " documents held out:";
  for (const auto& [name, value] : result.run.best.values) card += " " + name + " " + decimal(value, 4);
  return card + "\n";
}

base::Result<int> run_train_encoder(TrainEncoderArguments arguments, const Globals& globals) {
  ASKBASE_TRY(
      check_training_files(arguments.checkpoint, arguments.resume, arguments.curves, arguments.report));
  ASKBASE_TRY(nn::check_model_place(arguments.out));
  base::watch_interrupts();
  ASKBASE_ASSIGN(const std::unique_ptr<reader::BertModel> model, start_of(arguments));
  ASKBASE_ASSIGN(std::vector<std::string> texts, read_texts(arguments.data));
  ASKBASE_ASSIGN(const std::vector<std::string> held, hold_out(texts, arguments.hold_out, arguments.seed));

  reader::EncoderTraining& training = arguments.training;
  training.seed = arguments.seed;
  training.epochs = static_cast<std::int64_t>(arguments.epochs);
  training.batch = static_cast<nn::Index>(arguments.batch);
  training.accumulate = static_cast<int>(arguments.accumulate);
  training.max_length = static_cast<nn::Index>(arguments.max_length);
  training.evaluate_every = static_cast<std::int64_t>(arguments.evaluate_every);
  training.precision = arguments.precision == "bf16" ? nn::Precision::bf16 : nn::Precision::f32;
  training.resume = arguments.resume;
  training.checkpoint = arguments.checkpoint;
  training.curves = arguments.curves;
  nn::Team team(static_cast<int>(globals.thread_count()));
  ASKBASE_ASSIGN(const reader::EncoderTrainingResult result,
                 reader::train_encoder(*model, texts, held, training, team));
  ASKBASE_TRY(model->save(arguments.out, nn::storage_by_name(arguments.storage).value(),
                          card_text(arguments, result)));
  ASKBASE_TRY(write_curves_page(arguments.report, arguments.curves, "encoder", arguments.seed));
  base::Json out = {{"task", "encoder"},
                    {"documents", result.documents},
                    {"pairs", result.pairs},
                    {"valid_documents", result.valid_documents},
                    {"valid_pairs", result.valid_pairs},
                    {"steps", result.run.steps},
                    {"loss", base::json_number(result.run.loss)},
                    {"finished", result.run.stop != nn::StopReason::time}};
  std::vector<std::vector<std::string>> rows = {
      {"documents", grouped(result.documents)},
      {"pairs", grouped(result.pairs)},
      {"pairs held out", grouped(result.valid_pairs)},
      {"steps", grouped(static_cast<std::uint64_t>(result.run.steps))},
      {"loss", decimal(result.run.loss, 4)}};
  for (const auto& [name, value] : result.run.best.values) {
    out["valid_" + name] = base::json_number(value);
    rows.push_back({"held out: " + name, decimal(value, 4)});
  }
  out["seconds"] = base::json_number(result.run.seconds, 4);
  rows.push_back({"seconds", decimal(result.run.seconds, 1)});
  print_training(arguments.json, out, rows, arguments.out);
  if (!arguments.json && result.run.stop == nn::StopReason::time)
    print_line("time is over: --resume goes on");
  return exit_done;
}

}  // namespace

void add_train_encoder(const Command& train) {
  auto arguments = std::make_shared<TrainEncoderArguments>();
  const Command command =
      train.add("encoder", "Train a BERT encoder on texts: masked words and next sentences",
                "  askbase train encoder --vocab vocab.txt --layers 4 --hidden 256 --data wiki.txt --out "
                "encoder\n"
                "  askbase train encoder --encoder models/en-sentence --data notes.jsonl --out encoder\n"
                "Ctrl-C loses nothing where there is a --checkpoint: --resume goes on.");
  command.several("--data", "FILE", arguments->data,
                  "Texts: .txt with blank lines between documents, .jsonl ({\"text\": ...} a line), .json in "
                  "SQuAD's form (an article is a document); .md and .html, too");
  command.option("--encoder", "DIR", arguments->encoder,
                 "Model folder to start from, or a folder of Hugging Face");
  command.option("--vocab", "FILE", arguments->vocabulary,
                 "For an encoder from scratch: its pieces, one a line, with [PAD] [UNK] [CLS] [SEP] [MASK]");
  command.option("--casing", "CASING", arguments->casing,
                 "From scratch: whether the vocabulary is cased or uncased; uncased",
                 Command::one_of({"cased", "uncased"}));
  command.option("--layers", "N", arguments->layers, "From scratch; 4", 1, 200);
  command.option("--hidden", "N", arguments->hidden, "From scratch: numbers a piece; 256", 1, 4096);
  command.option("--heads", "N", arguments->heads, "From scratch: of attention; 4", 1, 1024);
  command.option("--out", "DIR", arguments->out, "Model folder to write; one that is there is replaced");
  command.option("--seed", "N", arguments->seed, "Of everything drawn at random; 1", 0, 1U << 31);
  command.option("--epochs", "N", arguments->epochs, "Rounds over the texts; 1", 1, 10000);
  command.option("--minutes", "N", arguments->training.minutes, "End this call after so many; 0: no limit", 0,
                 1e6);
  command.option("--batch", "N", arguments->batch, "Pairs of a batch; 32", 1, 4096);
  command.option("--accumulate", "N", arguments->accumulate, "Batches of a step; 1", 1, 1024);
  command.option("--max-length", "N", arguments->max_length, "Ids of a pair at most; 128", 16, 65536);
  command.option("--mask-share", "SHARE", arguments->training.masking.share,
                 "Of the pieces that are to be guessed; 0.15", 0.01, 0.9);
  command.option("--predictions", "N", arguments->training.masking.most,
                 "Pieces of a pair that are to be guessed, at most; 80", 1, 65536);
  command.flag("--whole-words", arguments->training.masking.whole_words,
               "Mask all the pieces of a word, or none");
  command.option("--rate", "X", arguments->training.rate, "Highest learning rate; 1e-4", 1e-9, 1);
  command.option("--warmup", "SHARE", arguments->training.warmup_share,
                 "Of the steps, with a rising rate; 0.01", 0, 0.9);
  command.option("--weight-decay", "X", arguments->training.weight_decay, "Of AdamW; 0.01", 0, 1);
  command.option("--hold-out", "SHARE", arguments->hold_out,
                 "Of the documents, at least two, to measure and choose by; 0.05. 0: none", 0, 0.9);
  command.option("--evaluate-every", "N", arguments->evaluate_every,
                 "Steps between looks at the held-out documents; 0: an epoch", 0, 1U << 30);
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
  command.require("--data");
  command.require("--out");
  command.on_run([arguments](const Globals& globals) { return run_train_encoder(*arguments, globals); });
}

}  // namespace askbase::cli
