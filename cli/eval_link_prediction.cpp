// askbase eval link-prediction
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/progress.h"
#include "cli/embed_options.h"
#include "cli/eval.h"
#include "cli/figures.h"
#include "cli/output.h"
#include "datasets/link_prediction.h"
#include "kb/embedding/evaluate.h"
#include "kb/embedding/kb_embeddings.h"

namespace askbase::cli {
namespace {

namespace embedding = kb::embedding;
using datasets::LinkFigures;
using embedding::Fact;
using embedding::FactRanks;

struct LinkArguments {
  std::vector<std::string> data;
  std::string vectors, split = "test", unseen = "keep", openke_order, out;
  std::size_t limit = SIZE_MAX, resamples = 1000;
  bool relations = false, json = false;
};

// What is asked, in the rows of the vectors.
struct Asked {
  std::vector<Fact> facts;          // that can be ranked
  std::vector<std::size_t> places;  // of each of these in the split
  std::vector<std::size_t> last;    // facts of the split that rank last
  std::size_t unseen = 0;           // facts with an entity or relation that the training had not
  std::vector<Fact> known, train;
};

class Rows {
 public:
  explicit Rows(const embedding::EmbeddingSet& set) {
    for (std::size_t i = 0; i < set.entities.size(); ++i) add(entities_, set.entities[i], i);
    for (std::size_t i = 0; i < set.relations.size(); ++i) add(relations_, set.relations[i], i);
  }
  std::optional<Fact> find(const datasets::LinkData& data, const datasets::LinkFact& fact) const {
    const auto head = entities_.find(data.entities[fact.head]),
               tail = entities_.find(data.entities[fact.tail]);
    const auto relation = relations_.find(data.relations[fact.relation]);
    if (head == entities_.end() || tail == entities_.end() || relation == relations_.end())
      return std::nullopt;
    return Fact{head->second, relation->second, tail->second};
  }

 private:
  using Names = std::unordered_map<std::string, std::uint32_t>;
  // Vectors of a KB are named as in N-Triples; benchmark files write IRIs as they are.
  static void add(Names& names, const std::string& name, std::size_t row) {
    names.emplace(name, static_cast<std::uint32_t>(row));
    if (name.size() > 2 && name.front() == '<' && name.back() == '>')
      names.emplace(name.substr(1, name.size() - 2), static_cast<std::uint32_t>(row));
  }
  Names entities_, relations_;
};

Asked ask(const embedding::EmbeddingSet& set, const datasets::LinkData& data,
          const LinkArguments& arguments) {
  const Rows rows(set);
  Asked out;
  for (const auto* part : {&data.train, &data.valid, &data.test}) {
    for (const auto& fact : *part) {
      if (const auto found = rows.find(data, fact)) {
        out.known.push_back(*found);
        if (part == &data.train) out.train.push_back(*found);
      }
    }
  }
  const auto& split = arguments.split == "train"   ? data.train
                      : arguments.split == "valid" ? data.valid
                                                   : data.test;
  for (std::size_t i = 0; i < std::min(split.size(), arguments.limit); ++i) {
    const auto found = rows.find(data, split[i]);
    const bool seen = found && found->head < set.trained_entities && found->tail < set.trained_entities;
    if (!seen) ++out.unseen;
    if (found && (seen || arguments.unseen == "keep")) {
      out.facts.push_back(*found);
      out.places.push_back(i);
    } else if (arguments.unseen != "drop") {
      out.last.push_back(i);
    }
  }
  return out;
}

constexpr std::array<const char*, 5> figure_names = {"mrr", "hits_at_1", "hits_at_3", "hits_at_10",
                                                     "mean_rank"};
std::array<const datasets::Figure*, 5> figures_of(const LinkFigures& figures) {
  return {&figures.mrr, &figures.hits_at_1, &figures.hits_at_3, &figures.hits_at_10, &figures.mean_rank};
}

void add_figures(base::Json& out, const std::string& prefix, const LinkFigures& figures) {
  const auto all = figures_of(figures);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string name = prefix + figure_names[i];
    out[name] = all[i]->value ? base::Json(base::json_number(*all[i]->value)) : base::Json();
    if (all[i]->interval) {
      out[name + "_ci"] = {base::json_number(all[i]->interval->low),
                           base::json_number(all[i]->interval->high)};
    }
  }
}

// Ranks of some facts: both ends, or one.
struct Selection {
  std::vector<double> both, tail, head;
  void add(const FactRanks& ranks, bool raw = false) {
    const double* two = raw ? ranks.raw : ranks.filtered;
    both.push_back(two[0]);
    both.push_back(two[1]);
    tail.push_back(two[0]);
    head.push_back(two[1]);
  }
};

struct Group {
  std::string name;
  Selection ranks;
  std::string category;
};

void print_groups(const std::string& heading, const std::vector<Group>& groups) {
  std::vector<std::vector<std::string>> rows = {
      {heading, "facts", "tail MRR", "tail Hits@10", "head MRR", "head Hits@10"}};
  const datasets::BootstrapOptions none{.resamples = 0};
  for (const Group& group : groups) {
    if (group.ranks.tail.empty()) continue;
    const LinkFigures tail = datasets::link_figures(group.ranks.tail, 1, none);
    const LinkFigures head = datasets::link_figures(group.ranks.head, 1, none);
    rows.push_back({group.name + (group.category.empty() ? "" : "  (" + group.category + ")"),
                    grouped(group.ranks.tail.size()), shown_figure(tail.mrr, 3),
                    shown_figure(tail.hits_at_10, 3), shown_figure(head.mrr, 3),
                    shown_figure(head.hits_at_10, 3)});
  }
  print("\n" + table(rows, {false, true, true, true, true, true}));
}

base::Json group_json(const Group& group) {
  const datasets::BootstrapOptions none{.resamples = 0};
  base::Json out = {{"facts", group.ranks.tail.size()}};
  if (!group.category.empty()) out["category"] = group.category;
  for (const bool tail : {true, false}) {
    base::Json side;
    add_figures(side, "", datasets::link_figures(tail ? group.ranks.tail : group.ranks.head, 1, none));
    out[tail ? "tail" : "head"] = std::move(side);
  }
  return out;
}

base::Result<int> run_link_prediction(const LinkArguments& arguments, const Globals& globals) {
  base::watch_interrupts();
  ASKBASE_ASSIGN(
      const datasets::LinkData data,
      datasets::read_link_data({arguments.data.begin(), arguments.data.end()}, {arguments.openke_order}));
  const std::filesystem::path file = arguments.vectors.empty() ? embedding::vectors_file(globals.kb)
                                                               : std::filesystem::path(arguments.vectors);
  ASKBASE_ASSIGN(const embedding::EmbeddingSet set, embedding::load(file));
  const Asked asked = ask(set, data, arguments);
  const std::size_t facts = asked.facts.size() + asked.last.size();
  if (facts == 0) {
    const bool none = asked.unseen == 0;
    return base::fail(base::ErrorCode::bad_input,
                      none ? "the data has no facts in the split \"" + arguments.split + "\""
                           : "the vectors know none of the entities of the data",
                      none ? "a file's name tells its split: train, valid or test"
                           : "are they of another data set, or do they name their entities differently?");
  }
  const auto model = embedding::Model<float>::make(set.model);
  const embedding::QueryIndex known({asked.known});
  nn::Team team(static_cast<int>(globals.thread_count()));
  embedding::RankOptions options;
  options.reciprocal = set.reciprocal;
  base::Progress progress("ranking", 2 * asked.facts.size(), "queries");
  options.go_on = [&](std::uint64_t done) {
    progress.update(done);
    return !base::interrupted();
  };
  const Clock clock;
  std::vector<FactRanks> ranked =
      embedding::rank_facts(*model, set.tables, asked.facts, known, options, team);
  ASKBASE_TRY(base::check_interrupt());
  const double seconds = clock.seconds(), cpu_seconds = clock.cpu_seconds();
  progress.finish();

  Selection filtered, raw;
  for (const FactRanks& one : ranked) {
    filtered.add(one);
    raw.add(one, true);
  }
  const auto count = static_cast<double>(set.entities.size());
  const FactRanks worst{{count, count}, {count, count}};
  for (std::size_t i = 0; i < asked.last.size(); ++i) {
    filtered.add(worst);
    raw.add(worst, true);
  }
  const datasets::BootstrapOptions bootstrap{.resamples = arguments.resamples};
  const LinkFigures both = datasets::link_figures(filtered.both, 2, bootstrap);
  const LinkFigures raw_both = datasets::link_figures(raw.both, 2, bootstrap);
  const LinkFigures tails = datasets::link_figures(filtered.tail, 1, bootstrap);
  const LinkFigures heads = datasets::link_figures(filtered.head, 1, bootstrap);

  // Categories by the training's facts, as in Bordes et al. 2013; by all known ones when there is no
  // training.
  const auto statistics =
      embedding::relation_statistics(asked.train.empty() ? asked.known : asked.train, set.relations.size());
  std::vector<Group> categories(4), relations(set.relations.size());
  for (std::size_t c = 0; c < 4; ++c)
    categories[c].name = embedding::category_name(static_cast<embedding::Category>(c));
  for (std::size_t r = 0; r < relations.size(); ++r) relations[r].name = set.relations[r];
  for (std::size_t i = 0; i < ranked.size(); ++i) {
    const std::uint32_t relation = asked.facts[i].relation;
    const embedding::Category category = statistics[relation].category;
    categories[static_cast<std::size_t>(category)].ranks.add(ranked[i]);
    relations[relation].ranks.add(ranked[i]);
    relations[relation].category = embedding::category_name(category);
  }
  std::erase_if(relations, [](const Group& group) { return group.ranks.tail.empty(); });
  std::stable_sort(relations.begin(), relations.end(),
                   [](const Group& a, const Group& b) { return a.ranks.tail.size() > b.ranks.tail.size(); });

  if (!arguments.out.empty()) {
    std::string lines;
    const auto& split = arguments.split == "train"   ? data.train
                        : arguments.split == "valid" ? data.valid
                                                     : data.test;
    for (std::size_t i = 0; i < ranked.size(); ++i) {
      const auto& fact = split[asked.places[i]];
      lines += base::dump_json(base::Json{{"head", data.entities[fact.head]},
                                          {"relation", data.relations[fact.relation]},
                                          {"tail", data.entities[fact.tail]},
                                          {"tail_rank", ranked[i].filtered[0]},
                                          {"head_rank", ranked[i].filtered[1]},
                                          {"raw_tail_rank", ranked[i].raw[0]},
                                          {"raw_head_rank", ranked[i].raw[1]}}) +
               "\n";
    }
    ASKBASE_TRY(base::write_file_atomic(arguments.out, lines));
  }
  const std::string said = arguments.unseen == "drop" ? "left out"
                           : arguments.unseen == "last"
                               ? "ranked last"
                               : "ranked by their first vectors, last where they have none";
  if (arguments.json) {
    base::Json out = {{"task", "link-prediction"}, {"triples", facts}, {"split", arguments.split}};
    add_figures(out, "", both);
    add_figures(out, "raw_", raw_both);
    for (const bool tail : {true, false}) {
      base::Json side;
      add_figures(side, "", tail ? tails : heads);
      out[tail ? "tail" : "head"] = std::move(side);
    }
    out["categories"] = base::Json::object();
    for (const Group& group : categories) {
      if (!group.ranks.tail.empty()) out["categories"][group.name] = group_json(group);
    }
    if (arguments.relations) {
      out["relations"] = base::Json::object();
      for (const Group& group : relations) out["relations"][group.name] = group_json(group);
    }
    out["protocol"] = {{"candidates", set.entities.size()},
                       {"ties", "mean rank"},
                       {"unseen", said},
                       {"unseen_triples", asked.unseen}};
    out["notices"] = data.notices;
    out["seconds"] = base::json_number(seconds, 4);
    out["cpu_seconds"] = base::json_number(cpu_seconds, 4);
    out["triples_per_second"] =
        base::json_number(static_cast<double>(ranked.size()) / std::max(1e-9, seconds), 4);
    print(base::dump_json(out) + "\n");
    return exit_done;
  }
  for (const std::string& notice : data.notices) print_line("note: " + notice);
  print_line(counted(facts, "fact", "facts") + " of the split \"" + arguments.split +
             "\", both ends asked for among " + counted(set.entities.size(), "entity", "entities") +
             "; equal scores share their mean rank");
  if (asked.unseen > 0) {
    print_line(counted(asked.unseen, "fact has", "facts have") +
               " an entity or relation that the training had not: " + said);
  }
  std::vector<std::vector<std::string>> rows = {{"", "filtered", "raw", "tails", "heads"}};
  const auto f = figures_of(both), r = figures_of(raw_both), t = figures_of(tails), h = figures_of(heads);
  for (std::size_t i = 0; i < f.size(); ++i) {
    const int decimals = i == 4 ? 1 : 4;
    datasets::Figure plain_raw = *r[i], plain_tail = *t[i], plain_head = *h[i];
    plain_raw.interval = plain_tail.interval = plain_head.interval = std::nullopt;
    rows.push_back({figure_names[i], shown_figure(*f[i], decimals), shown_figure(plain_raw, decimals),
                    shown_figure(plain_tail, decimals), shown_figure(plain_head, decimals)});
  }
  print(table(rows));
  print_groups("category", categories);
  if (arguments.relations) print_groups("relation", relations);
  print_line(
      decimal(seconds, 1) + " s, " +
      grouped(static_cast<std::uint64_t>(static_cast<double>(ranked.size()) / std::max(1e-9, seconds))) +
      " facts a second");
  return exit_done;
}

}  // namespace

void add_eval_link_prediction(const Command& eval) {
  auto arguments = std::make_shared<LinkArguments>();
  const Command command = eval.add(
      "link-prediction", "Rank the held-out facts of a benchmark among all entities",
      "  askbase eval link-prediction --vectors fb15k237.safetensors --data train.tsv valid.tsv test.tsv\n"
      "  askbase --kb my-kb eval link-prediction --data test.tsv --unseen drop\n"
      "All facts of the data are known to be true, and left out of the filtered ranks. docs/evaluation.md "
      "explains the figures.");
  command.several("--data", "FILE", arguments->data,
                  "TSV files, or a folder (TSV, OpenKE), also .gz and .zst");
  command.require("--data");
  command.option("--vectors", "FILE", arguments->vectors, "The vectors; those of the knowledge base");
  command.option("--split", "NAME", arguments->split, "train, valid or test; test",
                 Command::one_of({"train", "valid", "test"}));
  command.option("--unseen", "WAY", arguments->unseen,
                 "Facts with entities that the training had not: keep, drop or last; keep",
                 Command::one_of({"keep", "drop", "last"}));
  command.option("--openke-order", "ORDER", arguments->openke_order, "Columns of OpenKE's files: htr or hrt",
                 Command::one_of({"htr", "hrt"}));
  command.option("--limit", "N", arguments->limit, "Only the first N facts", 1, SIZE_MAX);
  command.option("--resamples", "N", arguments->resamples, "Of the bootstrap; 1000, 0 for no intervals", 0,
                 100000);
  command.option("--out", "FILE", arguments->out, "Write every fact with its ranks, as JSON lines");
  command.flag("--relations", arguments->relations, "Figures of each relation, too");
  command.flag("--json", arguments->json, "One JSON object");
  command.on_run([arguments](const Globals& globals) { return run_link_prediction(*arguments, globals); });
}

}  // namespace askbase::cli
