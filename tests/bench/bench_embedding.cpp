// Graph embeddings: speed of training and of ranking.
//
//   bench_embedding train FOLDER    TransE as Fast-TransX trains it: dimension 100, L1, margin 1, SGD 0.001,
//   one
//                                   uniform negative a fact, entities kept within length 1; 5 epochs from
//                                   random vectors, on one thread and on two
//   bench_embedding rank FOLDER     test facts ranked a second on one thread, dimension 100: L2, dot, L1
//   bench_embedding reach H FOLDER  processor seconds until Hits@10 of the validation reaches H, one thread,
//                                   cross-entropy with shared negatives, dimension 100; then that of the test
//   bench_embedding large           1 million entities, 10 million made-up facts, dimension 100: rate and
//   memory
//
// FOLDER or files: as `askbase eval link-prediction --data`. A fact and its negative count as one. "cpu"
// rates are over processor seconds, which is what to look at on a busy machine.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <string>
#include <sys/resource.h>
#include <vector>

#include "datasets/link_prediction.h"
#include "kb/embedding/engine.h"
#include "kb/embedding/evaluate.h"
#include "nn/gemm.h"
#include "nn/random.h"

using namespace askbase;
using namespace askbase::kb::embedding;

namespace {

double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}
double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Data {
  std::vector<Fact> train, valid, test;
  std::size_t entities = 0, relations = 0;
};

Data read(int argc, char** argv, int from) {
  std::vector<std::filesystem::path> paths;
  for (int i = from; i < argc; ++i) paths.emplace_back(argv[i]);
  auto read = datasets::read_link_data(paths);
  if (!read) {
    std::fprintf(stderr, "bench_embedding: %s\n", read.error().message.c_str());
    std::exit(1);
  }
  Data out;
  const auto copy = [](const std::vector<datasets::LinkFact>& facts, std::vector<Fact>& to) {
    for (const auto& fact : facts) to.push_back({fact.head, fact.relation, fact.tail});
  };
  copy(read->train, out.train);
  copy(read->valid, out.valid);
  copy(read->test, out.test);
  out.entities = read->entities.size();
  out.relations = read->relations.size();
  return out;
}

TrainOptions peer_options(int threads) {
  TrainOptions options;
  options.model = {.kind = ModelKind::transe, .dim = 100, .norm = Norm::l1};
  options.loss = LossKind::margin;
  options.margin = 1;
  options.optimiser = OptimiserKind::sgd;
  options.rate = 0.001;
  options.negatives = 1;
  options.sampling = Sampling::uniform;
  options.initial = 0.1;  // length 1, as the peer's
  options.unit_entities = true;
  options.threads = threads;
  return options;
}

// Mean rate over some epochs: facts a wall second, a processor second.
std::pair<double, double> train(const TrainingFacts& facts, int threads, int epochs, bool words) {
  const TrainOptions options = peer_options(threads);
  const auto model = Model<float>::make(options.model);
  auto state = first_state(*model, options, facts.entities, facts.relations);
  const auto engine = sampled_engine(*model, options, facts);
  double wall = 0, cpu = 0;
  std::uint64_t done = 0;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    const double w = wall_seconds(), c = cpu_seconds();
    const EpochReport report = engine->epoch(state, [](std::uint64_t) { return true; });
    wall += wall_seconds() - w;
    cpu += cpu_seconds() - c;
    done += report.facts;
    if (words) {
      std::printf("  epoch %d: loss %.4f, active pairs %.1f %%\n", epoch + 1, report.loss,
                  100 * static_cast<double>(report.active) / static_cast<double>(report.pairs));
    }
  }
  return {static_cast<double>(done) / wall, static_cast<double>(done) / cpu};
}

void bench_train(const Data& data) {
  const TrainingFacts facts{data.train, data.entities, data.relations};
  double best[3] = {0, 0, 0}, best_cpu[3] = {0, 0, 0};
  for (int round = 0; round < 5; ++round) {
    for (const int threads : {1, 2}) {
      const auto [wall, cpu] = train(facts, threads, 5, round == 0 && threads == 1);
      best[threads] = std::max(best[threads], wall);
      best_cpu[threads] = std::max(best_cpu[threads], cpu);
    }
  }
  std::printf("best of 5, million facts/s: 1 thread %.2f (cpu %.2f), 2 threads %.2f (cpu %.2f), ratio %.2f\n",
              best[1] / 1e6, best_cpu[1] / 1e6, best[2] / 1e6, best_cpu[2] / 1e6, best[2] / best[1]);
}

void bench_rank(const Data& data) {
  const QueryIndex known({data.train, data.valid, data.test});
  std::printf("matrix products: %s\n", nn::gemm_backend().c_str());
  struct Case {
    const char* name;
    ModelConfig config;
  };
  for (const Case& one : {Case{"L2  ", {.kind = ModelKind::transe, .dim = 100, .norm = Norm::l2}},
                          Case{"dot ", {.kind = ModelKind::distmult, .dim = 100}},
                          Case{"L1  ", {.kind = ModelKind::transe, .dim = 100, .norm = Norm::l1}}}) {
    const auto model = Model<float>::make(one.config);
    Tables<float> tables;
    model->initialise(tables, data.entities, data.relations, 1, 0.1);
    double best = 0, best_cpu = 0;
    for (int round = 0; round < 3; ++round) {
      const double w = wall_seconds(), c = cpu_seconds();
      const auto ranks = rank_facts(*model, tables, data.test, known, {}, nn::one_thread());
      best = std::max(best, static_cast<double>(ranks.size()) / (wall_seconds() - w));
      best_cpu = std::max(best_cpu, static_cast<double>(ranks.size()) / (cpu_seconds() - c));
    }
    std::printf("%s %.0f test facts/s on one thread (cpu %.0f)\n", one.name, best, best_cpu);
  }
}

double hits_at_10(const std::vector<FactRanks>& ranks) {
  double sum = 0;
  for (const FactRanks& one : ranks) {
    for (const double rank : one.filtered) sum += rank <= 10 ? 1 : 0;
  }
  return sum / (2 * static_cast<double>(ranks.size()));
}

void bench_reach(const Data& data, double wanted) {
  TrainOptions options;
  options.model.dim = 100;
  options.batch = 128;
  options.negatives = 512;
  options.shared = true;
  options.epochs = 40;
  const auto model = Model<float>::make(options.model);
  auto state = first_state(*model, options, data.entities, data.relations);
  const auto engine =
      matrix_engine(*model, options, {data.train, data.entities, data.relations}, nn::one_thread());
  const QueryIndex known({data.train, data.valid, data.test});
  double cpu = cpu_seconds(), training = 0;
  for (std::uint64_t epoch = 1; epoch <= options.epochs; ++epoch) {
    engine->epoch(state, [](std::uint64_t) { return true; });
    training += cpu_seconds() - cpu;
    const double hits = hits_at_10(rank_facts(*model, state.values, data.valid, known, {}, nn::one_thread()));
    std::printf("epoch %llu: %.1f processor seconds of training, validation Hits@10 %.3f\n",
                static_cast<unsigned long long>(epoch), training, hits);
    if (hits >= wanted) {
      std::printf("test Hits@10 %.3f\n",
                  hits_at_10(rank_facts(*model, state.values, data.test, known, {}, nn::one_thread())));
      return;
    }
    cpu = cpu_seconds();
  }
}

void bench_large() {
  constexpr std::uint32_t entities = 1'000'000, relations = 200;
  nn::Random random(7);
  std::vector<Fact> facts(10'000'000);
  const auto skewed = [&](std::uint32_t n, double power) {
    return static_cast<std::uint32_t>(static_cast<double>(n) * std::pow(random.uniform(), power));
  };
  for (Fact& fact : facts) {
    // Hubs stand anywhere among the entities.
    fact.head = static_cast<std::uint32_t>(std::uint64_t{skewed(entities, 1.5)} * 2654435761 % entities);
    fact.relation = skewed(relations, 3);
    fact.tail = static_cast<std::uint32_t>(std::uint64_t{skewed(entities, 2.5)} * 2654435761 % entities);
  }
  for (const int threads : {1, 2}) {
    const auto [wall, cpu] = train({facts, entities, relations}, threads, 1, true);
    std::printf("%d threads: %.2f million facts/s (cpu %.2f)\n", threads, wall / 1e6, cpu / 1e6);
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("peak memory %.2f GB\n", static_cast<double>(usage.ru_maxrss) / 1024 / 1024);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "large") {
    bench_large();
  } else if (argc > 2 && what == "train") {
    bench_train(read(argc, argv, 2));
  } else if (argc > 2 && what == "rank") {
    bench_rank(read(argc, argv, 2));
  } else if (argc > 3 && what == "reach") {
    bench_reach(read(argc, argv, 3), std::atof(argv[2]));
  } else {
    std::fprintf(stderr, "usage: bench_embedding train|rank FILES..., reach HITS FILES..., large\n");
    return 2;
  }
  return 0;
}
