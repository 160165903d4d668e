// askbase eval retrieval --data FILE...: of each question, whether the passage that it is about is found.
#include "cli/eval.h"

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <unistd.h>

#include "base/interrupt.h"
#include "base/progress.h"
#include "cli/figures.h"
#include "cli/models.h"
#include "cli/output.h"
#include "datasets/squad.h"
#include "reader/document_load.h"
#include "reader/retrieval.h"

namespace askbase::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t deepest = 1000;  // ranks looked at for the reciprocal rank

struct EvalRetrievalArguments {
  std::vector<std::string> data;
  std::string model;
  double words_weight = reader::FusionOptions().words_weight;
  bool json = false;
};

// A folder that is gone with the object.
class ScratchFolder {
 public:
  static base::Result<std::unique_ptr<ScratchFolder>> make() {
    std::string pattern = (fs::temp_directory_path() / "askbase-retrieval-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr)
      return base::fail(base::ErrorCode::io, "cannot make a temporary folder: " + pattern);
    return std::unique_ptr<ScratchFolder>(new ScratchFolder(pattern));
  }
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  explicit ScratchFolder(fs::path path) : path_(std::move(path)) {}
  fs::path path_;
};

// Places of the right passages: 1 is the best, 0 not found.
struct Ranks {
  std::vector<std::size_t> ranks;
  double seconds = 0;
  void add(const std::vector<reader::PassageHit>& hits, std::uint32_t right) {
    std::size_t rank = 0;
    for (std::size_t i = 0; i < hits.size() && rank == 0; ++i)
      if (hits[i].passage == right) rank = i + 1;
    ranks.push_back(rank);
  }
};

void add_figures(base::Json& out, const Ranks& ranks) {
  const auto share = [&](std::size_t within) {
    std::vector<double> values;
    for (const std::size_t rank : ranks.ranks) values.push_back(rank > 0 && rank <= within ? 1 : 0);
    return datasets::mean_figure(values);
  };
  for (const std::size_t within : {std::size_t{1}, std::size_t{5}, std::size_t{20}})
    add_figure(out, "recall_at_" + std::to_string(within), share(within));
  std::vector<double> reciprocal;
  for (const std::size_t rank : ranks.ranks)
    reciprocal.push_back(rank == 0 ? 0.0 : 1.0 / static_cast<double>(rank));
  add_figure(out, "mrr", datasets::mean_figure(reciprocal));
  out["ms_a_question"] = base::json_number(
      1000 * ranks.seconds / static_cast<double>(std::max<std::size_t>(1, ranks.ranks.size())), 3);
}

std::vector<std::string> row(const std::string& name, const base::Json& figures) {
  std::vector<std::string> cells = {name};
  for (const char* key : {"recall_at_1", "recall_at_5", "recall_at_20", "mrr"}) {
    std::string cell = figures[key].is_null() ? "-" : decimal(figures[key].get<double>(), 4);
    const base::Json& interval = figures[std::string(key) + "_ci"];
    if (!interval.is_null())
      cell +=
          " [" + decimal(interval[0].get<double>(), 3) + ", " + decimal(interval[1].get<double>(), 3) + "]";
    cells.push_back(cell);
  }
  cells.push_back(decimal(figures["ms_a_question"].get<double>(), 2));
  return cells;
}

base::Result<std::optional<reader::SentenceModel>> sentence_model_of(const EvalRetrievalArguments& arguments,
                                                                     const Globals& globals) {
  if (arguments.model == "none") return std::nullopt;
  if (arguments.model.empty()) return sentence_model(globals);
  ASKBASE_ASSIGN(auto encoder, reader::TextEncoder::load(arguments.model));
  return reader::sentence_model(std::move(encoder), static_cast<int>(globals.thread_count()));
}

base::Result<datasets::SquadSet> read_data(const std::vector<std::string>& paths) {
  datasets::SquadSet set;
  for (const std::string& path : paths) {
    ASKBASE_ASSIGN(datasets::SquadSet part, datasets::read_squad(path));
    for (datasets::SquadQuestion& question : part.questions) {
      question.context += set.contexts.size();
      set.questions.push_back(std::move(question));
    }
    for (datasets::SquadContext& context : part.contexts) set.contexts.push_back(std::move(context));
  }
  return set;
}

// The contexts as documents of one passage each; the number of each one's passage.
base::Result<std::vector<std::uint32_t>> index_contexts(kb::Store& store, const datasets::SquadSet& set) {
  std::vector<reader::Document> documents;
  for (std::size_t i = 0; i < set.contexts.size(); ++i) {
    reader::Document& document = documents.emplace_back();
    document.id = std::to_string(i);
    document.text = set.contexts[i].text;
  }
  ASKBASE_TRY(reader::put_documents(store, std::move(documents), {.whole = true}));
  ASKBASE_ASSIGN(const auto index, reader::PassageIndex::open(store.storage().snapshot()));
  std::vector<std::uint32_t> passages(set.contexts.size());
  ASKBASE_TRY(index.each_document([&](const reader::DocumentInfo& document) {
    passages[std::stoul(document.id)] = document.first_passage;
    return true;
  }));
  return passages;
}

base::Result<int> run_eval(const EvalRetrievalArguments& arguments, const Globals& globals) {
  using Clock = std::chrono::steady_clock;
  const auto seconds_since = [](Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  base::watch_interrupts();
  ASKBASE_ASSIGN(const datasets::SquadSet set, read_data(arguments.data));
  ASKBASE_ASSIGN(const auto model, sentence_model_of(arguments, globals));
  ASKBASE_ASSIGN(const auto scratch, ScratchFolder::make());
  ASKBASE_ASSIGN(const auto store, kb::Store::open(scratch->path() / "kb", kb::OpenMode::create));
  base::Json out = {
      {"task", "retrieval"}, {"questions", set.questions.size()}, {"passages", set.contexts.size()}};
  const auto start_of_index = Clock::now();
  ASKBASE_ASSIGN(const std::vector<std::uint32_t> passages, index_contexts(*store, set));
  const double index_seconds = seconds_since(start_of_index);
  out["index_seconds"] = base::json_number(index_seconds, 4);
  std::shared_ptr<const reader::PassageVectors> vectors;
  if (model) {
    const auto start = Clock::now();
    ASKBASE_TRY(reader::make_vectors(*store, *model));
    out["vector_seconds"] = base::json_number(seconds_since(start), 4);
    ASKBASE_ASSIGN(vectors, reader::PassageVectors::load(*store->storage().snapshot(), *model,
                                                         static_cast<int>(globals.thread_count())));
  }
  ASKBASE_ASSIGN(const auto index, reader::PassageIndex::open(store->storage().snapshot()));
  reader::FusionOptions fusion;
  fusion.words_weight = arguments.words_weight;
  Ranks by_words, by_vectors, fused;
  base::Progress progress("asking", set.questions.size(), "questions");
  for (const datasets::SquadQuestion& question : set.questions) {
    ASKBASE_TRY(base::check_interrupt());
    const std::uint32_t right = passages[question.context];
    auto start = Clock::now();
    ASKBASE_ASSIGN(const auto words, index.search(question.question, deepest));
    by_words.seconds += seconds_since(start);
    by_words.add(words, right);
    if (vectors) {
      start = Clock::now();
      const std::vector<std::string_view> texts = {question.question};
      ASKBASE_ASSIGN(const auto vector, model->embed(texts));
      const auto nearest = vectors->nearest({vector.row(0), model->width}, deepest);
      by_vectors.seconds += seconds_since(start);
      by_vectors.add(nearest, right);
      start = Clock::now();
      ASKBASE_ASSIGN(const auto both,
                     reader::retrieve(index, vectors.get(), &*model, question.question, deepest, fusion));
      fused.seconds += seconds_since(start);
      fused.add(both, right);
    }
    progress.update(by_words.ranks.size());
  }
  progress.finish();
  add_figures(out, vectors ? fused : by_words);
  base::Json words_json, vectors_json;
  add_figures(words_json, by_words);
  if (vectors) {
    add_figures(vectors_json, by_vectors);
    out["by_words"] = words_json;
    out["by_vectors"] = vectors_json;
    out["model"] = model->hash;
  }
  if (arguments.json) {
    print(base::dump_json(out) + "\n");
    return exit_done;
  }
  print_line(counted(set.questions.size(), "question", "questions") + " about " +
             counted(set.contexts.size(), "passage", "passages") + ", indexed in " +
             decimal(index_seconds, 2) + " s" +
             (vectors ? ", vectors in " + decimal(out["vector_seconds"].get<double>(), 1) + " s" : ""));
  std::vector<std::vector<std::string>> rows = {{"", "recall@1", "recall@5", "recall@20", "MRR", "ms"}};
  rows.push_back(row("by words (BM25)", words_json));
  if (vectors) {
    rows.push_back(row("by vectors", vectors_json));
    rows.push_back(row("both", out));
  }
  print(table(rows, {false, true, true, true, true, true}));
  return exit_done;
}

}  // namespace

void add_eval_retrieval(const Command& eval) {
  auto arguments = std::make_shared<EvalRetrievalArguments>();
  const Command command =
      eval.add("retrieval", "Whether the passage that a question is about is found among all",
               "  askbase eval retrieval --data squad-v1.1-dev.json.gz\n"
               "  askbase eval retrieval --data squad-v1.1-dev.json.gz --model none\n"
               "The texts of the data are the passages, each whole.");
  command.several("--data", "FILE", arguments->data, "Questions in SQuAD's form");
  command.option("--model", "DIR", arguments->model,
                 "Folder of the sentence model; en-sentence in the folder of models; none: words alone");
  command.option("--words-weight", "W", arguments->words_weight, "Share of the words in the common score", 0,
                 1);
  command.flag("--json", arguments->json, "Print one JSON document");
  command.require("--data");
  command.on_run([arguments](const Globals& globals) { return run_eval(*arguments, globals); });
}

}  // namespace askbase::cli
