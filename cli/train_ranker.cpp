// askbase train ranker --data KB:FILE...
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/json.h"
#include "cli/card.h"
#include "cli/figures.h"
#include "cli/output.h"
#include "cli/ranker_data.h"
#include "cli/train.h"
#include "cli/training.h"
#include "nn/model_folder.h"
#include "qa/ranker_training.h"

namespace askbase::cli {
namespace {

struct RankerArguments {
  std::vector<std::string> data;
  std::string out, sources;
  std::size_t seed = 1, questions = 4000;
  double strength = 0.002, familiar_strength = 0.002, threshold = 0.5, hidden_facts = 0.1,
         hidden_entities = 0.1;
  bool json = false;
};

constexpr const char* kCard = R"(# {name}

Joins what words, names, values and the learned parts (`tagger`, `matcher`, `memory` of each language) say of a reading
of a question: a logistic function with a weight for each feature, and from the best reading's score and its lead over
the next answer the confidence. `qa/ranker.h` names the features, `config.json` has the weights.

## Training

```
askbase train ranker {options} --out {name}
```

Questions of the splits `valid` and `dev`, which the other models were not trained on, are asked; the weights are those
under which the reading with the known fact has most probability among all readings and "none" (`qa/ranker_training.h`),
held to those of the words alone (the prior) where the data does not speak. Of {hidden_facts} of the questions the fact
is taken away, so that the reading without facts is right, of {hidden_entities} the entity. First both languages
together, then each by itself, held to the common weights. A quarter of the questions, with nothing taken away, only
fits scale, shift and rival. Every source weighs the same. Takes a minute or two; the same files and options give the
same bytes.

{data}
{figures}
## Weights

| feature | by words alone | English | Chinese | English, familiar | Chinese, familiar |
| --- | ---: | ---: | ---: | ---: | ---: |
{weights}
)";

using Examples = std::vector<qa::RankExample>;

struct Fitted {
  qa::RankWeights weights;
  qa::RankerFigures before, after;  // of the questions held out
};

Fitted fitted(const RankerQuestions& questions, const qa::RankWeights& prior, double strength) {
  Fitted out{prior, {}, {}};
  if (!questions.fit.empty()) out.weights = qa::fit_ranker(questions.fit, prior, strength).weights;
  qa::calibrate(out.weights, questions.held_out);
  out.before = qa::measure_ranker(qa::lexical_weights(), questions.held_out);
  out.after = qa::measure_ranker(out.weights, questions.held_out);
  return out;
}

void append(RankerQuestions& to, RankerQuestions&& from) {
  std::move(from.fit.begin(), from.fit.end(), std::back_inserter(to.fit));
  std::move(from.held_out.begin(), from.held_out.end(), std::back_inserter(to.held_out));
}

std::string weight_rows(const std::vector<qa::RankWeights>& columns) {
  std::string out;
  const auto row = [&](std::string_view name, const auto& get) {
    out += "| " + std::string(name) + " | " + decimal(get(qa::lexical_weights()), 2);
    for (const qa::RankWeights& weights : columns) out += " | " + decimal(get(weights), 2);
    out += " |\n";
  };
  row("bias", [](const qa::RankWeights& weights) { return weights.bias; });
  for (std::size_t i = 0; i < qa::feature_count; ++i) {
    row(qa::feature_name(static_cast<qa::Feature>(i)),
        [i](const qa::RankWeights& weights) { return weights.of[i]; });
  }
  row("scale", [](const qa::RankWeights& weights) { return weights.scale; });
  row("shift", [](const qa::RankWeights& weights) { return weights.shift; });
  row("rival", [](const qa::RankWeights& weights) { return weights.rival; });
  row("threshold", [](const qa::RankWeights& weights) { return weights.threshold; });
  return out;
}

base::Result<int> run_train(const RankerArguments& arguments, const Globals& globals) {
  ASKBASE_ASSIGN(const std::vector<MemorySource> sources, memory_sources(arguments.data));
  ASKBASE_TRY(nn::check_model_place(arguments.out));
  base::watch_interrupts();
  const RankerDataOptions options{.seed = arguments.seed,
                                  .most = arguments.questions,
                                  .hidden_facts = arguments.hidden_facts,
                                  .hidden_entities = arguments.hidden_entities};
  // Of KBs that are told by their words, and of familiar ones.
  RankerQuestions english, chinese, english_familiar, chinese_familiar;
  std::string data, command = "--data";
  for (const MemorySource& source : sources) {
    ASKBASE_ASSIGN(RankerSource read, read_ranker_source(source, options, globals));
    ASKBASE_ASSIGN(const std::string hash, hash_of(source.questions.string()));
    const std::string name = source.kb.filename().string() + ":" + source.questions.filename().string();
    command += " " + name;
    data += "- `" + name + "`: " + grouped(read.questions) + " questions, " + grouped(read.left_out) +
            " left out, since their topic has no name in them" + (read.familiar ? "; familiar" : "") +
            " (sha256 " + hash + ")\n";
    append(read.familiar ? english_familiar : english, std::move(read.english));
    append(read.familiar ? chinese_familiar : chinese, std::move(read.chinese));
  }
  command += " --seed " + std::to_string(arguments.seed) + " --questions " +
             std::to_string(arguments.questions) + " --strength " + decimal(arguments.strength, 4) +
             " --familiar-strength " + decimal(arguments.familiar_strength, 4) + " --threshold " +
             decimal(arguments.threshold, 2) + " --hidden-facts " + decimal(arguments.hidden_facts, 2) +
             " --hidden-entities " + decimal(arguments.hidden_entities, 2);
  Examples all = english.fit;
  all.insert(all.end(), chinese.fit.begin(), chinese.fit.end());
  qa::RankWeights common = qa::lexical_weights();
  if (!all.empty()) common = qa::fit_ranker(all, common, arguments.strength).weights;
  // A language without questions has the common weights, and one without familiar KBs its others.
  Fitted en = fitted(english, common, arguments.strength), zh = fitted(chinese, common, arguments.strength),
         en_familiar = fitted(english_familiar, en.weights, arguments.familiar_strength),
         zh_familiar = fitted(chinese_familiar, zh.weights, arguments.familiar_strength);
  const std::size_t learned = all.size() + english_familiar.fit.size() + chinese_familiar.fit.size();
  if (learned == 0) {
    return base::fail(base::ErrorCode::bad_input, "no question to learn from",
                      "the topic's name has to stand in the question");
  }

  base::Json out = {{"task", "ranker"}, {"train", learned}};
  std::vector<std::vector<std::string>> rows = {{"questions", grouped(learned)}};
  std::string figures =
      "\n## Quality\n\nOf the questions held out, which also fitted scale, shift and rival; the best reading "
      "is\n"
      "right:\n\n| questions | | by words alone | with this model |\n| --- | ---: | --- | --- |\n";
  for (const auto& [key, name, fit] : {std::tuple{"en", "English", &en}, std::tuple{"zh", "Chinese", &zh},
                                       std::tuple{"en_familiar", "English, familiar", &en_familiar},
                                       std::tuple{"zh_familiar", "Chinese, familiar", &zh_familiar}}) {
    if (fit->after.examples == 0) continue;
    out[std::string("held_out_") + key] = fit->after.examples;
    out[std::string("words_right_") + key] = base::json_number(fit->before.right, 4);
    out[std::string("right_") + key] = base::json_number(fit->after.right, 4);
    out[std::string("log_loss_") + key] = base::json_number(fit->after.log_loss, 4);
    rows.push_back({std::string(name) + ", held out", grouped(fit->after.examples)});
    rows.push_back({std::string(name) + ", right by words alone", decimal(fit->before.right, 4)});
    rows.push_back({std::string(name) + ", right", decimal(fit->after.right, 4)});
    figures += std::string("| ") + name + " | " + grouped(fit->after.examples) + " | " +
               decimal(fit->before.right, 4) + " | " + decimal(fit->after.right, 4) + " |\n";
  }
  for (Fitted* fit : {&en, &zh, &en_familiar, &zh_familiar}) fit->weights.threshold = arguments.threshold;
  const qa::Ranker ranker({en.weights, en_familiar.weights}, {zh.weights, zh_familiar.weights});
  std::string card = filled(
      kCard, {{"name", file_name(arguments.out)},
              {"options", command},
              {"hidden_facts", decimal(arguments.hidden_facts * 100, 0) + " %"},
              {"hidden_entities", decimal(arguments.hidden_entities * 100, 0) + " %"},
              {"data", data},
              {"figures", figures},
              {"weights", weight_rows({en.weights, zh.weights, en_familiar.weights, zh_familiar.weights})}});
  if (!arguments.sources.empty()) {
    ASKBASE_ASSIGN(const std::string given, base::read_file(arguments.sources));
    card += given;
  }
  ASKBASE_TRY(ranker.save(arguments.out, card));
  print_training(arguments.json, out, rows, arguments.out);
  return exit_done;
}

}  // namespace

void add_train_ranker(const Command& train) {
  auto arguments = std::make_shared<RankerArguments>();
  const Command command = train.add(
      "ranker", "How much each part has to say in answering from facts: the weights of the features",
      "  askbase train ranker --data sq-kb:sq/questions.jsonl zh-kb:zh/questions.jsonl --out "
      "models/kb-ranker\n"
      "The other models are those of --models. Questions and knowledge bases come from askbase datasets "
      "prepare.");
  command.several(
      "--data", "KB:FILE", arguments->data,
      "A knowledge base and questions with their facts; of these the splits valid and dev, or all "
      "where none is called so");
  command.option("--out", "DIR", arguments->out, "Model folder to write; one that is there is replaced");
  command.option("--seed", "N", arguments->seed, "Of everything drawn at random; 1", 0, 1U << 31);
  command.option("--questions", "N", arguments->questions, "At most so many of each file; 4000", 1, 10000000);
  command.option("--strength", "X", arguments->strength,
                 "How strongly weights are held to those that words alone have; 0.002", 0, 1000);
  command.option(
      "--familiar-strength", "X", arguments->familiar_strength,
      "The same for KBs whose predicates the matcher learned, towards the weights for others; 0.002", 0,
      1000);
  command.option("--threshold", "P", arguments->threshold,
                 "Confidence below which a question has no answer; 0.5", 0, 1);
  command.option("--hidden-facts", "SHARE", arguments->hidden_facts,
                 "Of the questions, whose fact is taken away; 0.1", 0, 0.5);
  command.option("--hidden-entities", "SHARE", arguments->hidden_entities,
                 "Of the questions, whose entity is taken away; 0.1", 0, 0.5);
  command.option("--sources", "FILE", arguments->sources,
                 "Text for the end of the card: where the data is from");
  command.flag("--json", arguments->json, "Print one JSON document");
  command.require("--data");
  command.require("--out");
  command.on_run([arguments](const Globals& globals) { return run_train(*arguments, globals); });
}

}  // namespace askbase::cli
