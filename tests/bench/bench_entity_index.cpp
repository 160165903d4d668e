// Speed of the entity index: building it, and asking it, over made-up names and, where the benchmark data is
// there (ASKBASE_DATA), over real ones.
//   bench_entity_index [--benchmark_filter=...]
#include <benchmark/benchmark.h>
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "base/input.h"
#include "base/text.h"
#include "kb/entity_index.h"
#include "kb/store.h"
#include "tests/test_support.h"

using namespace askbase;
using namespace askbase::kb;

namespace {

TermId entity(std::size_t serial) { return make_id(IdType::iri, serial + 1); }

// Words as frequent as their rank is low (Zipf), of syllables.
class Words {
 public:
  explicit Words(std::size_t count) {
    static const char* const onsets[] = {"b", "br", "c", "d", "f",  "g", "gr", "h", "j", "k", "l",  "m", "n",
                                         "p", "pr", "r", "s", "st", "t", "tr", "v", "w", "z", "sh", "th"};
    static const char* const rimes[] = {"a",  "e",  "i",  "o",  "u",  "an",  "en", "in",
                                        "on", "ar", "er", "or", "al", "el",  "ia", "io",
                                        "ea", "ou", "as", "es", "is", "ing", "ard"};
    for (std::size_t i = 0; i < count; ++i) {
      std::string word;
      for (std::size_t n = 2 + random_() % 3; n > 0; --n) {
        word += onsets[random_() % std::size(onsets)];
        word += rimes[random_() % std::size(rimes)];
      }
      words_.push_back(std::move(word));
    }
  }
  const std::string& frequent() {
    // Density 1/x over the ranks.
    const double uniform = static_cast<double>(random_() % (1U << 30)) / (1U << 30);
    const auto rank = static_cast<std::size_t>(std::pow(static_cast<double>(words_.size()), uniform)) - 1;
    return words_[std::min(rank, words_.size() - 1)];
  }
  const std::string& any() { return words_[random_() % words_.size()]; }

 private:
  std::mt19937_64 random_{1};
  std::vector<std::string> words_;
};

// Two thirds in Latin letters (people, places, works), one third Chinese.
std::vector<EntityName> made_up_names(std::size_t count) {
  std::mt19937_64 random(2);
  Words words(60000);
  std::vector<EntityName> names;
  names.reserve(count);
  const auto capital = [](std::string word) {
    word[0] = static_cast<char>(word[0] - 'a' + 'A');
    return word;
  };
  for (std::size_t i = 0; i < count; ++i) {
    std::string text;
    std::string lang = "en";
    switch (random() % 6) {
      case 0:
        text = capital(words.any());
        break;
      case 1:
        text = "The " + capital(words.frequent()) + " of " + capital(words.any());
        break;
      case 2:
      case 3:
        text = capital(words.frequent()) + " " + capital(words.any());
        break;
      default: {
        std::u32string han;
        for (std::size_t n = 2 + random() % 6; n > 0; --n) {
          han += static_cast<char32_t>(0x4E00 + (random() % 60) * (random() % 60));
        }
        text = base::to_utf8(han);
        lang = "zh";
      }
    }
    names.push_back({entity(i), std::move(text), std::move(lang), NameKind::label});
  }
  return names;
}

std::vector<EntityName> real_names() {
  std::vector<EntityName> names;
  const auto data = test::data_folder();
  if (!data) return names;
  std::map<std::string, std::size_t> ids;
  for (const char* file : {"kg/wikidata_labels.tsv.gz", "kg/world_cities.labels.tsv.gz",
                           "kg/zh_divisions.labels.tsv.gz", "kbqa/freebase_names.tsv.gz"}) {
    auto input = base::Input::open(*data / file);
    if (!input) continue;
    base::LineReader lines(**input);
    std::string_view line;
    while (lines.next(line).value_or(false)) {
      std::vector<std::string> fields;
      for (std::size_t begin = 0; begin <= line.size();) {
        const std::size_t end = std::min(line.find('\t', begin), line.size());
        fields.emplace_back(line.substr(begin, end - begin));
        begin = end + 1;
      }
      if (fields.size() < 4 || (fields[3] != "label" && fields[3] != "alias")) continue;
      const std::size_t id = ids.emplace(fields[0], ids.size()).first->second;
      names.push_back(
          {entity(id), fields[2], fields[1], fields[3] == "label" ? NameKind::label : NameKind::alias});
    }
  }
  return names;
}

// By argument: how many made-up names, 0 for the real ones.
const std::vector<EntityName>& names_of_size(std::int64_t size) {
  static std::map<std::int64_t, std::vector<EntityName>> made;
  auto& names = made[size];
  if (names.empty()) names = size == 0 ? real_names() : made_up_names(static_cast<std::size_t>(size));
  return names;
}

struct Kb {
  test::ScratchFolder folder;
  std::unique_ptr<Storage> storage;
};

bool build(Storage& storage, const std::vector<EntityName>& names, std::size_t threads) {
  const auto snapshot = storage.snapshot();
  NameChanges changes(*snapshot, threads);
  for (const EntityName& name : names) changes.add(name);
  auto write = storage.begin_write();
  return write && changes.write(**write) && (*write)->commit();
}

struct OpenKb {
  std::unique_ptr<Kb> kb;
  std::unique_ptr<View> view;
};
std::map<std::int64_t, OpenKb>& open_kbs() {
  static std::map<std::int64_t, OpenKb> kbs;
  return kbs;
}

const View& view_of_size(std::int64_t size) {
  auto& [kb, view] = open_kbs()[size];
  if (!view) {
    kb = std::make_unique<Kb>();
    kb->storage = Storage::open(kb->folder / "kb", OpenMode::create).value();
    build(*kb->storage, names_of_size(size), 2);
    view = std::make_unique<View>(kb->storage->snapshot());
  }
  return *view;
}

// Takes everything and keeps nothing: what is measured is the index's own work.
class NoWrite : public Write {
 public:
  base::Status put(Table, std::string_view, std::string_view) override { return {}; }
  base::Status erase(Table, std::string_view) override { return {}; }
  base::Status commit() override { return {}; }
};

void sort_names(benchmark::State& state) {
  const std::vector<EntityName>& names = names_of_size(state.range(0));
  Kb kb;
  kb.storage = Storage::open(kb.folder / "kb", OpenMode::create).value();
  const auto snapshot = kb.storage->snapshot();
  for (auto _ : state) {
    NameChanges changes(*snapshot, static_cast<std::size_t>(state.range(1)));
    for (const EntityName& name : names) changes.add(name);
    NoWrite write;
    benchmark::DoNotOptimize(changes.write(write));
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(names.size()));
}

void build_index(benchmark::State& state) {
  const std::vector<EntityName>& names = names_of_size(state.range(0));
  for (auto _ : state) {
    state.PauseTiming();
    Kb kb;
    kb.storage = Storage::open(kb.folder / "kb", OpenMode::create).value();
    state.ResumeTiming();
    if (!build(*kb.storage, names, static_cast<std::size_t>(state.range(1))))
      state.SkipWithError("build failed");
    state.PauseTiming();
    for (const Table table : {Table::names, Table::words, Table::vocabulary, Table::grams}) {
      state.counters["bytes a name: " + std::string(table_name(table))] =
          static_cast<double>(kb.storage->disk_bytes(table)) / static_cast<double>(names.size());
    }
    kb.storage.reset();
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(names.size()));
}

enum class Change { none, misspell, begin };

// Texts to ask for, and a bound on how long an asked name is.
std::vector<std::string> questions(std::int64_t size, Change change, bool one_word) {
  std::mt19937_64 random(3);
  const std::vector<EntityName>& names = names_of_size(size);
  std::vector<std::string> out;
  while (out.size() < 1000 && !names.empty()) {
    std::u32string text = base::to_code_points(base::match_key(names[random() % names.size()].text));
    if (one_word) text = text.substr(0, text.find(U' '));
    if (text.size() < 4 || text.size() > 40) continue;
    if (change == Change::misspell) std::swap(text[text.size() / 2], text[text.size() / 2 - 1]);
    if (change == Change::begin) text.resize(3);
    out.push_back(base::to_utf8(text));
  }
  return out;
}

template <typename Ask>
void ask(benchmark::State& state, Change change, bool one_word, Ask&& one) {
  const View& view = view_of_size(state.range(0));
  const std::vector<std::string> texts = questions(state.range(0), change, one_word);
  if (texts.empty()) {
    state.SkipWithError("no benchmark data");
    return;
  }
  std::size_t at = 0, found = 0;
  for (const std::string& text : texts) found += one(view, text) > 0 ? 1 : 0;  // warms the cache
  for (auto _ : state) {
    benchmark::DoNotOptimize(one(view, texts[at]));
    at = (at + 1) % texts.size();
  }
  state.counters["found"] = static_cast<double>(found) / static_cast<double>(texts.size());
}

void exact(benchmark::State& state) {
  ask(state, Change::none, false,
      [](const View& view, const std::string& text) { return find_exact(view, text)->size(); });
}
void exact_missing(benchmark::State& state) {
  ask(state, Change::misspell, false,
      [](const View& view, const std::string& text) { return find_exact(view, text)->size(); });
}
void prefix(benchmark::State& state) {
  ask(state, Change::begin, false,
      [](const View& view, const std::string& text) { return std::size_t{*has_prefix(view, text)}; });
}
void similar(benchmark::State& state) {
  ask(state, Change::misspell, true,
      [](const View& view, const std::string& text) { return similar_words(view, text, 10)->size(); });
}
void fuzzy(benchmark::State& state) {
  ask(state, Change::misspell, false,
      [](const View& view, const std::string& text) { return find_fuzzy(view, text, 10)->size(); });
}
void search_beginning(benchmark::State& state) {
  ask(state, Change::begin, false,
      [](const View& view, const std::string& text) { return search(view, text, "en", 10)->size(); });
}
void search_misspelt(benchmark::State& state) {
  ask(state, Change::misspell, false,
      [](const View& view, const std::string& text) { return search(view, text, "en", 10)->size(); });
}

BENCHMARK(sort_names)
    ->ArgsProduct({{0, 100'000, 1'000'000}, {1, 2}})
    ->Unit(benchmark::kMillisecond)
    ->MeasureProcessCPUTime()
    ->UseRealTime();
BENCHMARK(build_index)
    ->ArgsProduct({{0, 100'000, 1'000'000}, {1, 2}})
    ->Unit(benchmark::kMillisecond)
    ->MeasureProcessCPUTime()
    ->UseRealTime();
BENCHMARK(exact)->Arg(0)->Arg(100'000)->Arg(1'000'000)->Unit(benchmark::kMicrosecond);
BENCHMARK(exact_missing)->Arg(0)->Arg(100'000)->Arg(1'000'000)->Unit(benchmark::kMicrosecond);
BENCHMARK(prefix)->Arg(0)->Arg(100'000)->Arg(1'000'000)->Unit(benchmark::kMicrosecond);
BENCHMARK(similar)->Arg(0)->Arg(100'000)->Arg(1'000'000)->Unit(benchmark::kMicrosecond);
BENCHMARK(fuzzy)->Arg(0)->Arg(100'000)->Arg(1'000'000)->Unit(benchmark::kMicrosecond);
BENCHMARK(search_beginning)->Arg(0)->Arg(100'000)->Arg(1'000'000)->Unit(benchmark::kMicrosecond);
BENCHMARK(search_misspelt)->Arg(0)->Arg(100'000)->Arg(1'000'000)->Unit(benchmark::kMicrosecond);

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  open_kbs().clear();  // the database's own statics must outlive it
  return 0;
}
