// askbase embed
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/interrupt.h"
#include "base/progress.h"
#include "cli/command.h"
#include "cli/embed_options.h"
#include "cli/output.h"
#include "datasets/link_prediction.h"
#include "kb/embedding/kb_embeddings.h"
#include "kb/embedding/trainer.h"
#include "nn/random.h"

namespace askbase::cli {
namespace {

namespace embedding = kb::embedding;
using embedding::EmbeddingSet;
using embedding::Fact;

void say(const std::string& line) { std::fprintf(stderr, "%s\n", printable(line).c_str()); }

struct EmbedArguments {
  EmbedOptions options;
  std::vector<std::string> data;
  std::string out, openke_order;
  double valid_share = 0.02;
  bool resume = false, literals = false, update = false, json = false;
};

struct Material {
  EmbeddingSet set;  // names
  std::vector<Fact> train, valid, others;
  std::vector<std::string> notices;
};

std::vector<Fact> facts_of(const std::vector<datasets::LinkFact>& facts) {
  std::vector<Fact> out;
  out.reserve(facts.size());
  for (const auto& fact : facts) out.push_back({fact.head, fact.relation, fact.tail});
  return out;
}

base::Result<Material> from_files(const EmbedArguments& arguments) {
  ASKBASE_ASSIGN(
      datasets::LinkData data,
      datasets::read_link_data({arguments.data.begin(), arguments.data.end()}, {arguments.openke_order}));
  Material out;
  out.train = facts_of(data.train);
  out.valid = facts_of(data.valid);
  out.others = facts_of(data.test);  // known to be true, when answers of the validation are ranked
  out.set.entities = std::move(data.entities);
  out.set.relations = std::move(data.relations);
  out.set.trained_entities = data.train_entities;
  out.notices = std::move(data.notices);
  if (out.train.empty()) {
    return base::fail(base::ErrorCode::bad_input, "the data has no facts to train on",
                      "a file whose name holds \"train\" is needed");
  }
  return out;
}

// Some facts are kept from the training, to see when it has learned enough: only such whose entities and
// relation stand in other facts as well.
void hold_out(Material& material, double share, std::uint64_t seed) {
  constexpr std::size_t least_facts = 1000, most_held_out = 2000;
  const std::size_t count = material.train.size();
  if (count < least_facts || share <= 0) return;
  const std::size_t wanted =
      std::min(most_held_out, static_cast<std::size_t>(share * static_cast<double>(count)));
  std::vector<std::uint32_t> entity(material.set.entities.size()), relation(material.set.relations.size());
  for (const Fact& fact : material.train) {
    ++entity[fact.head];
    ++entity[fact.tail];
    ++relation[fact.relation];
  }
  nn::Random random(seed, 0x686F6C64);
  std::vector<char> out(count, 0);
  for (std::size_t attempt = 0; attempt < 10 * wanted && material.valid.size() < wanted; ++attempt) {
    const std::size_t i = random.below(count);
    const Fact& fact = material.train[i];
    if (out[i] != 0 || entity[fact.head] < 3 || entity[fact.tail] < 3 || relation[fact.relation] < 3)
      continue;
    out[i] = 1;
    --entity[fact.head];
    --entity[fact.tail];
    --relation[fact.relation];
    material.valid.push_back(fact);
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (out[i] == 0) material.train[kept++] = material.train[i];
  }
  material.train.resize(kept);
}

base::Result<Material> from_kb(const kb::View& view, const EmbedArguments& arguments) {
  ASKBASE_ASSIGN(embedding::KbFacts facts, embedding::read_kb_facts(view, {.literals = arguments.literals}));
  if (facts.facts.empty()) {
    return base::fail(base::ErrorCode::bad_input,
                      view.facts() == 0 ? "the knowledge base is empty: there is nothing to train on"
                                        : "the knowledge base has no facts between entities to train on",
                      view.facts() == 0 ? "load facts first: askbase load FILE"
                                        : "--literals takes numbers, dates and words for entities, too");
  }
  Material out;
  ASKBASE_TRY(embedding::name_set(view, facts, out.set));
  out.set.trained_entities = out.set.entities.size();
  out.train = std::move(facts.facts);
  hold_out(out, arguments.valid_share, arguments.options.train.seed);
  return out;
}

void add_notes(EmbeddingSet& set, const embedding::TrainOptions& options,
               const embedding::TrainOutcome& outcome, std::size_t facts) {
  set.notes = {{"loss", std::string(embedding::loss_name(options.loss))},
               {"optimiser", std::string(embedding::optimiser_name(options.optimiser))},
               {"rate", decimal(options.rate, 6)},
               {"epochs", std::to_string(outcome.best_epoch)},
               {"seed", std::to_string(options.seed)},
               {"facts", std::to_string(facts)},
               {"validation_mrr", decimal(outcome.best_mrr, 4)}};
}

base::Result<int> update(const EmbedArguments& arguments, const Globals& globals) {
  ASKBASE_ASSIGN(const auto store, open_kb(globals, kb::OpenMode::read_only));
  ASKBASE_ASSIGN(const auto view, store->view());
  ASKBASE_ASSIGN(const auto known, embedding::KbEmbeddings::open(globals.kb, *view));
  std::uint64_t added = 0;
  ASKBASE_ASSIGN(const EmbeddingSet set, known->extended(*view, &added));
  ASKBASE_TRY(embedding::save(set, embedding::vectors_file(globals.kb)));
  if (arguments.json) {
    print(base::dump_json(base::Json{{"entities", set.entities.size()}, {"added", added}}) + "\n");
  } else {
    print_line(counted(added, "entity got a vector", "entities got a vector") + " from their facts; " +
               grouped(set.entities.size()) + " have one");
  }
  return exit_done;
}

base::Result<int> run_embed(EmbedArguments arguments, const Globals& globals) {
  base::watch_interrupts();
  if (arguments.update) return update(arguments, globals);
  const bool of_kb = arguments.data.empty();
  if (!of_kb && arguments.out.empty()) {
    return base::fail(base::ErrorCode::invalid_argument,
                      "--data trains on files: where should the vectors go?", "add --out FILE.safetensors");
  }
  ASKBASE_ASSIGN(embedding::TrainOptions options, arguments.options.resolve(globals));
  Material material;
  std::unique_ptr<kb::Store> store;
  if (of_kb) {
    ASKBASE_ASSIGN(store, open_kb(globals, kb::OpenMode::read_only));
    ASKBASE_ASSIGN(const auto view, store->view());
    ASKBASE_ASSIGN(material, from_kb(*view, arguments));
  } else {
    ASKBASE_ASSIGN(material, from_files(arguments));
  }
  const std::filesystem::path out =
      arguments.out.empty() ? embedding::vectors_file(globals.kb) : std::filesystem::path(arguments.out);
  std::filesystem::path checkpoint = embedding::checkpoint_file(globals.kb);
  if (!arguments.out.empty()) {
    checkpoint = out;
    checkpoint += ".checkpoint";
  }
  ASKBASE_ASSIGN(
      const auto trainer,
      embedding::Trainer::create(options, {material.train, material.valid, material.others,
                                           material.set.entities.size(), material.set.relations.size()}));
  if (arguments.resume) {
    auto resumed = trainer->resume(checkpoint);
    if (!resumed && resumed.error().code == base::ErrorCode::not_found) {
      return base::fail(base::ErrorCode::not_found,
                        "there is no interrupted training to resume: " + checkpoint.string(),
                        "leave out --resume");
    }
    ASKBASE_TRY(resumed);
  }
  for (const std::string& notice : material.notices) say("note: " + notice);

  embedding::RunOptions run;
  run.checkpoint = checkpoint;
  run.go_on = [] { return !base::interrupted(); };
  const std::uint64_t visits = options.epochs * material.train.size();
  base::Progress progress("training", visits, "facts");
  run.on_progress = [&](double share) {
    progress.update(static_cast<std::uint64_t>(share * static_cast<double>(visits)));
  };
  run.on_epoch = [&](const embedding::EpochSummary& epoch) {
    if (!epoch.mrr && epoch.epoch % 10 != 1) return;
    say("epoch " + std::to_string(epoch.epoch) + ": loss " + decimal(epoch.loss, 4) +
        (epoch.active > 0 ? ", active pairs " + decimal(100 * epoch.active, 1) + " %" : "") +
        (epoch.facts_per_second > 0
             ? ", " + grouped(static_cast<std::uint64_t>(epoch.facts_per_second)) + " facts/s"
             : "") +
        (epoch.mrr ? ", validation MRR " + decimal(*epoch.mrr, 4) : ""));
  };
  const Clock clock;
  ASKBASE_ASSIGN(const embedding::TrainOutcome outcome, trainer->run(run));
  if (!outcome.finished) {
    return base::fail(base::ErrorCode::cancelled,
                      "stopped after " + counted(outcome.epochs, "epoch", "epochs"),
                      "the same command with --resume goes on from there");
  }
  progress.finish();
  EmbeddingSet& set = material.set;
  set.model = options.model;
  set.reciprocal = options.reciprocal;
  set.tables = trainer->take_tables();
  add_notes(set, options, outcome, material.train.size());
  ASKBASE_TRY(embedding::save(set, out));
  std::error_code ignored;
  std::filesystem::remove(checkpoint, ignored);
  if (set.entities.size() >= embedding::kExactBelow) {
    std::filesystem::path graph = out;
    graph.replace_extension(".hnsw");
    ASKBASE_TRY(embedding::NeighbourIndex::build(set.tables.entities.view(), options.threads).save(graph));
  }
  const double seconds = clock.seconds(), cpu_seconds = clock.cpu_seconds();
  if (arguments.json) {
    base::Json json = {{"entities", set.entities.size()},
                       {"relations", set.relations.size()},
                       {"facts", material.train.size()},
                       {"validation_facts", material.valid.size()},
                       {"epochs", outcome.epochs},
                       {"best_epoch", outcome.best_epoch},
                       {"stopped_early", outcome.stopped_early}};
    json["loss"] = base::json_number(outcome.loss);
    json["validation_mrr"] =
        material.valid.empty() ? base::Json() : base::Json(base::json_number(outcome.best_mrr));
    json["seconds"] = base::json_number(seconds, 4);
    json["cpu_seconds"] = base::json_number(cpu_seconds, 4);
    json["file"] = out.string();
    print(base::dump_json(json) + "\n");
    return exit_done;
  }
  print_line(grouped(set.entities.size()) + " entities and " + grouped(set.relations.size()) +
             " relations from " + counted(material.train.size(), "fact", "facts") + ": " +
             counted(outcome.epochs, "epoch", "epochs") + " in " + decimal(seconds, 1) + " s (" +
             decimal(cpu_seconds, 1) + " s of processor time), loss " + decimal(outcome.loss, 4));
  if (!material.valid.empty()) {
    print_line("best after " + counted(outcome.best_epoch, "epoch", "epochs") + ": MRR " +
               decimal(outcome.best_mrr, 4) + " on " + counted(material.valid.size(), "fact", "facts") +
               " held out" + (outcome.stopped_early ? "; it did not get better, so the training ended" : ""));
  }
  print_line("written to " + out.string());
  return exit_done;
}

// export and import.
struct MoveArguments {
  std::string folder, format = "npy", vectors, kind = "transe", norm = "l2", out;
  bool reciprocal = false;
};

base::Result<int> run_export(const MoveArguments& arguments, const Globals& globals) {
  const std::filesystem::path file = arguments.vectors.empty() ? embedding::vectors_file(globals.kb)
                                                               : std::filesystem::path(arguments.vectors);
  ASKBASE_ASSIGN(const EmbeddingSet set, embedding::load(file));
  ASKBASE_TRY(arguments.format == "tsv" ? embedding::export_tsv(set, arguments.folder)
                                        : embedding::export_npy(set, arguments.folder));
  print_line(grouped(set.entities.size()) + " entities and " + grouped(set.relations.size()) +
             " relations written to " + arguments.folder);
  return exit_done;
}

base::Result<int> run_import(const MoveArguments& arguments, const Globals& globals) {
  embedding::ImportOptions options;
  options.kind = *embedding::model_from_name(arguments.kind);
  options.norm = arguments.norm == "l1" ? embedding::Norm::l1 : embedding::Norm::l2;
  options.reciprocal = arguments.reciprocal;
  ASKBASE_ASSIGN(EmbeddingSet set, arguments.format == "openke"
                                       ? embedding::import_openke(arguments.folder, options)
                                       : embedding::import_npy(arguments.folder, options));
  const std::size_t had = set.entities.size();
  std::filesystem::path out = arguments.out;
  if (arguments.out.empty()) {
    ASKBASE_ASSIGN(const auto store, open_kb(globals, kb::OpenMode::read_only));
    ASKBASE_ASSIGN(const auto view, store->view());
    ASKBASE_TRY(embedding::bind_names(*view, set));
    out = embedding::vectors_file(globals.kb);
  }
  ASKBASE_TRY(embedding::save(set, out));
  print_line(grouped(set.entities.size()) + " of " + counted(had, "entity", "entities") + " and " +
             counted(set.relations.size(), "relation", "relations") + " written to " + out.string());
  return exit_done;
}

Command::Check models() {
  return Command::one_of({"transe", "transh", "transr", "rotate", "distmult", "complex"});
}

}  // namespace

void add_embed(const Command& askbase) {
  auto arguments = std::make_shared<EmbedArguments>();
  const Command command =
      askbase.add("embed", "Train vectors of entities and relations from their facts",
                  "  askbase --kb my-kb embed\n"
                  "  askbase --kb my-kb embed --kind complex --dim 200 --epochs 50\n"
                  "  askbase --kb my-kb embed --update            vectors for what was loaded since\n"
                  "  askbase embed --data fb15k237/ --out fb15k237.safetensors\n"
                  "  askbase --kb my-kb embed export FOLDER --format tsv\n"
                  "Ctrl-C loses nothing: --resume goes on. docs/embeddings.md explains models and losses.");
  arguments->options.declare(command);
  command.several("--data", "FILE", arguments->data,
                  "Train on these instead of the knowledge base: TSV files, or a folder (TSV, OpenKE)");
  command.option("--out", "FILE", arguments->out, "Where the vectors go; in the knowledge base's folder");
  command.option("--openke-order", "ORDER", arguments->openke_order, "Columns of OpenKE's files: htr or hrt",
                 Command::one_of({"htr", "hrt"}));
  command.option("--valid-share", "P", arguments->valid_share,
                 "Facts of a knowledge base held out for early stopping; 0.02, at most 2,000", 0, 0.5);
  command.flag("--literals", arguments->literals, "Take numbers, dates and words for entities, too");
  command.flag("--resume", arguments->resume, "Go on with a training that was interrupted");
  command.flag("--update", arguments->update, "Train nothing: give vectors to entities that came since");
  command.flag("--json", arguments->json, "One JSON object");
  command.on_run([arguments](const Globals& globals) { return run_embed(*arguments, globals); });

  auto out = std::make_shared<MoveArguments>();
  const Command exporting = command.add("export", "Write the vectors as .npy or TSV files",
                                        "  askbase --kb my-kb embed export vectors/");
  exporting.argument("FOLDER", out->folder, "Where the files go");
  exporting.option("--format", "FORMAT", out->format, "npy or tsv; npy", Command::one_of({"npy", "tsv"}));
  exporting.option("--vectors", "FILE", out->vectors, "The vectors to write; those of the knowledge base");
  exporting.on_run([out](const Globals& globals) { return run_export(*out, globals); });

  auto in = std::make_shared<MoveArguments>();
  const Command importing = command.add(
      "import", "Take vectors of another program",
      "  askbase --kb my-kb embed import vectors/ --kind transe\n"
      "  askbase embed import OpenKE-folder --format openke --kind transh --out vectors.safetensors");
  importing.argument("FOLDER", in->folder,
                     "entities.npy, relations.npy and their names, or an OpenKE folder");
  importing.option("--format", "FORMAT", in->format, "npy or openke; npy",
                   Command::one_of({"npy", "openke"}));
  importing.option("--kind", "MODEL", in->kind, "The model that they were trained with; transe", models());
  importing.option("--norm", "NORM", in->norm, "l1 or l2; l2", Command::one_of({"l1", "l2"}));
  importing.flag("--reciprocal", in->reciprocal, "Inverse relations follow the relations");
  importing.option("--out", "FILE", in->out,
                   "Where they go; to the knowledge base, by the names of its entities");
  importing.on_run([in](const Globals& globals) { return run_import(*in, globals); });
}

}  // namespace askbase::cli
