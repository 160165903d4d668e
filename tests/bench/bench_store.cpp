// The triple store beside SQLite, in one run: loading unsorted facts, bytes on disk, memory, look-ups.
//
//   bench_store [--triples N] [--folder DIR] [--cache MIB] [--keep] [--cpu-time] [--only askbase|sqlite]
//
// Both sides get the same ids in the same order, sort them in memory, keep three covering orders, and have
// the same cache. SQLite: three WITHOUT ROWID tables filled in key order, in one transaction, without a
// journal and without syncing. askbase: Update::add() and commit() as any caller, which keeps a fourth table
// (which source said it, in which row), a journal of sorts, and syncs. Loads run in child processes, so that
// peak memory is their own.
#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <random>
#include <sqlite3.h>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "kb/sorter.h"
#include "kb/store.h"

namespace fs = std::filesystem;
using namespace askbase;
using namespace askbase::kb;

namespace {

struct Options {
  std::uint64_t triples = 10'000'000;
  fs::path folder = fs::temp_directory_path() / "askbase-bench";
  std::size_t cache_mib = 256;
  bool keep = false;
  bool by_cpu = false;
  std::string only;
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

[[noreturn]] void die(const std::string& what) {
  std::fprintf(stderr, "bench_store: %s\n", what.c_str());
  std::exit(1);
}

template <typename T>
T need(base::Result<T> result) {
  if (!result) die(result.error().message);
  return std::move(*result);
}
void need(base::Status status) {
  if (!status) die(status.error().message);
}

// Facts as knowledge bases have them: few predicates that many facts use, hubs, and a third of the objects
// numbers and dates. Subjects and objects are blank nodes: they need no names, so that facts alone are
// measured.
class Stream {
 public:
  explicit Stream(std::uint64_t triples)
      : subjects_(std::max<std::uint64_t>(10, triples * 3 / 20)), random_(20240229) {}
  Triple next() {
    const std::uint64_t subject = skewed(subjects_, 1.5), predicate = skewed(predicates_, 3.0);
    Triple triple{make_id(IdType::blank, 1000 + scatter(subject)), make_id(IdType::iri, 1 + predicate), {}};
    switch (predicate % 6) {
      case 0:
        triple.object = make_id(IdType::year, (std::uint64_t{1} << 59) + 1500 + below(525));
        break;
      case 1:
        triple.object = make_id(IdType::integer, skewed(1'000'000, 3.0));
        break;
      case 2:
        triple.object = make_id(IdType::string, 10'000'000 + below(subjects_ * 3));
        break;
      default:
        triple.object = make_id(IdType::blank, 1000 + scatter(skewed(subjects_, 2.5)));
    }
    return triple;
  }
  std::uint64_t below(std::uint64_t n) { return random_() % n; }

 private:
  // Small numbers are the frequent ones: the more so, the higher the power.
  std::uint64_t skewed(std::uint64_t n, double power) {
    const double u = static_cast<double>(random_() >> 11) * 0x1.0p-53;
    return static_cast<std::uint64_t>(static_cast<double>(n) * std::pow(u, power));
  }
  // Hubs stand anywhere among the ids.
  std::uint64_t scatter(std::uint64_t i) const { return i * 2654435761 % subjects_; }

  static constexpr std::uint64_t predicates_ = 200;
  std::uint64_t subjects_;
  std::mt19937_64 random_;
};

struct ByWords {
  using Record = Triple;
  static constexpr unsigned words = 3;
};
struct BySpo : ByWords {
  static std::uint64_t word(const Triple& t, unsigned i) {
    return (i == 0 ? t.subject : i == 1 ? t.predicate : t.object).bits;
  }
};
struct ByPos : ByWords {
  static std::uint64_t word(const Triple& t, unsigned i) {
    return (i == 0 ? t.predicate : i == 1 ? t.object : t.subject).bits;
  }
};
struct ByOsp : ByWords {
  static std::uint64_t word(const Triple& t, unsigned i) {
    return (i == 0 ? t.object : i == 1 ? t.subject : t.predicate).bits;
  }
};

// The same id for SQLite, which stores small integers in few bytes: the type moves to the lowest bits.
Triple for_sqlite(const Triple& triple) {
  const auto turned = [](TermId id) { return TermId{std::rotl(id.bits, 4)}; };
  return {turned(triple.subject), turned(triple.predicate), turned(triple.object)};
}

class Sqlite {
 public:
  Sqlite(const fs::path& path, std::size_t cache_mib, bool write) {
    const int flags =
        (write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY) | SQLITE_OPEN_NOMUTEX;
    if (sqlite3_open_v2(path.c_str(), &db_, flags, nullptr) != SQLITE_OK) die("cannot open SQLite");
    run("PRAGMA cache_size=-" + std::to_string(cache_mib * 1024));
  }
  ~Sqlite() { sqlite3_close(db_); }
  Sqlite(const Sqlite&) = delete;
  Sqlite& operator=(const Sqlite&) = delete;
  void run(const std::string& sql) {
    if (sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
      die(sql + ": " + sqlite3_errmsg(db_));
  }
  sqlite3_stmt* prepare(const std::string& sql) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(db_, sql.c_str(), -1, &statement, nullptr) != SQLITE_OK) die(sqlite3_errmsg(db_));
    return statement;
  }

 private:
  sqlite3* db_ = nullptr;
};

template <typename By>
void insert_sorted(Sqlite& db, const std::string& table, std::vector<Triple>& facts) {
  RadixSort<By>::sort(facts.data(), facts.data() + facts.size(), 1);
  sqlite3_stmt* const insert = db.prepare("INSERT INTO " + table + " VALUES(?,?,?)");
  for (const Triple& t : facts) {
    for (unsigned i = 0; i < 3; ++i)
      sqlite3_bind_int64(insert, static_cast<int>(i) + 1, static_cast<sqlite3_int64>(By::word(t, i)));
    if (sqlite3_step(insert) != SQLITE_DONE) die("insert failed");
    sqlite3_reset(insert);
  }
  sqlite3_finalize(insert);
}

void load_sqlite(const Options& options, const fs::path& path) {
  Sqlite db(path, options.cache_mib, true);
  db.run("PRAGMA journal_mode=OFF");
  db.run("PRAGMA synchronous=OFF");
  db.run("CREATE TABLE spo(s INTEGER,p INTEGER,o INTEGER,PRIMARY KEY(s,p,o)) WITHOUT ROWID");
  db.run("CREATE TABLE pos(p INTEGER,o INTEGER,s INTEGER,PRIMARY KEY(p,o,s)) WITHOUT ROWID");
  db.run("CREATE TABLE osp(o INTEGER,s INTEGER,p INTEGER,PRIMARY KEY(o,s,p)) WITHOUT ROWID");
  std::vector<Triple> facts;
  facts.reserve(options.triples);
  Stream stream(options.triples);
  for (std::uint64_t i = 0; i < options.triples; ++i) facts.push_back(for_sqlite(stream.next()));
  RadixSort<BySpo>::sort(facts.data(), facts.data() + facts.size(), 1);
  facts.erase(std::unique(facts.begin(), facts.end()), facts.end());
  db.run("BEGIN");
  insert_sorted<BySpo>(db, "spo", facts);
  insert_sorted<ByPos>(db, "pos", facts);
  insert_sorted<ByOsp>(db, "osp", facts);
  db.run("COMMIT");
}

void load_askbase(const Options& options, const fs::path& path) {
  StorageOptions storage;
  storage.block_cache_bytes = options.cache_mib << 20;
  auto store = need(Store::open(path, OpenMode::create, storage));
  auto update = need(store->begin_update());
  Source record;
  record.name = "bench";
  const SourceId source = need(update->source(record, true));
  Stream stream(options.triples);
  for (std::uint64_t i = 0; i < options.triples; ++i) need(update->add(source, stream.next(), i + 1));
  need(update->commit());
}

struct Load {
  double seconds = 0;
  double cpu_seconds = 0;
  double peak_mib = 0;
};

Load in_child(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  const pid_t child = ::fork();
  if (child == 0) {
    work();
    std::_Exit(0);
  }
  int status = 0;
  rusage usage = {};
  if (::wait4(child, &status, 0, &usage) != child || status != 0) die("a load failed");
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return {seconds_since(start), seconds(usage.ru_utime) + seconds(usage.ru_stime),
          static_cast<double>(usage.ru_maxrss) / 1024};
}

double cpu_seconds() {
  timespec time = {};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

// Runs body(thread) in the threads at once; look-ups a second over all. By the processor's time, the rate
// does not depend on what else the machine does, but says nothing of how threads get along.
double rate(bool by_cpu, std::size_t threads, std::size_t lookups,
            const std::function<void(std::size_t)>& body) {
  std::vector<std::thread> running;
  const auto start = std::chrono::steady_clock::now();
  const double cpu_start = cpu_seconds();
  for (std::size_t i = 1; i < threads; ++i) running.emplace_back([&, i] { body(i); });
  body(0);
  for (std::thread& thread : running) thread.join();
  const double seconds =
      by_cpu ? (cpu_seconds() - cpu_start) / static_cast<double>(threads) : seconds_since(start);
  return static_cast<double>(threads * lookups) / seconds;
}

struct Probes {
  std::vector<Triple> existing, absent, mixed;
};

Probes make_probes(const Options& options, const View& view) {
  constexpr std::uint64_t wanted = 1'000'000;
  Probes probes;
  Stream stream(options.triples);
  std::vector<Triple> all;
  const std::uint64_t step = std::max<std::uint64_t>(1, options.triples / wanted);
  for (std::uint64_t i = 0; i < options.triples; ++i) {
    const Triple triple = stream.next();
    if (i % step == 0) probes.existing.push_back(triple);
  }
  std::mt19937_64 random(7);
  std::shuffle(probes.existing.begin(), probes.existing.end(), random);
  // Absent: a known subject and predicate with another fact's object.
  for (std::size_t i = 0; i < probes.existing.size(); ++i) {
    Triple triple = probes.existing[i];
    triple.object = probes.existing[random() % probes.existing.size()].object;
    if (!need(view.contains(triple))) probes.absent.push_back(triple);
  }
  for (std::size_t i = 0; i < probes.existing.size(); ++i)
    probes.mixed.push_back(i % 2 == 0 || i >= probes.absent.size() ? probes.existing[i] : probes.absent[i]);
  return probes;
}

struct Rates {
  double existing = 0, absent = 0, mixed = 0, two_threads = 0;
};

constexpr int rounds = 5;

Rates measure(bool by_cpu, const Probes& probes,
              const std::function<void(std::size_t, const std::vector<Triple>&)>& look_up) {
  const auto median = [&](std::size_t threads, const std::vector<Triple>& triples) {
    std::vector<double> rates;
    rate(by_cpu, threads, triples.size(), [&](std::size_t thread) { look_up(thread, triples); });  // warms
    for (int i = 0; i < rounds; ++i)
      rates.push_back(
          rate(by_cpu, threads, triples.size(), [&](std::size_t thread) { look_up(thread, triples); }));
    std::sort(rates.begin(), rates.end());
    return rates[rates.size() / 2];
  };
  return {median(1, probes.existing), median(1, probes.absent), median(1, probes.mixed),
          median(2, probes.mixed)};
}

Rates measure_askbase(bool by_cpu, const View& view, const Probes& probes) {
  return measure(by_cpu, probes, [&](std::size_t, const std::vector<Triple>& triples) {
    for (const Triple& triple : triples) need(view.contains(triple));
  });
}

Rates measure_sqlite(const Options& options, const fs::path& path, const Probes& probes) {
  // One connection a thread, each with the whole cache: SQLite shares none between them.
  std::vector<std::unique_ptr<Sqlite>> dbs;
  std::vector<sqlite3_stmt*> statements;
  for (int i = 0; i < 2; ++i) {
    dbs.push_back(std::make_unique<Sqlite>(path, options.cache_mib, false));
    statements.push_back(dbs.back()->prepare("SELECT 1 FROM spo WHERE s=? AND p=? AND o=?"));
    dbs.back()->run("BEGIN");  // no lock to take and give back for every look-up
  }
  const Rates rates =
      measure(options.by_cpu, probes, [&](std::size_t thread, const std::vector<Triple>& triples) {
        sqlite3_stmt* const select = statements[thread];
        for (const Triple& asked : triples) {
          const Triple triple = for_sqlite(asked);
          for (unsigned i = 0; i < 3; ++i)
            sqlite3_bind_int64(select, static_cast<int>(i) + 1,
                               static_cast<sqlite3_int64>(BySpo::word(triple, i)));
          sqlite3_step(select);
          sqlite3_reset(select);
        }
      });
  for (sqlite3_stmt* statement : statements) sqlite3_finalize(statement);
  return rates;
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--keep" || name == "--cpu-time") {
      (name == "--keep" ? options.keep : options.by_cpu) = true;
      continue;
    }
    if (i + 1 == argc) die("bad option " + name);
    const std::string value = argv[++i];
    if (name == "--triples")
      options.triples = std::strtoull(value.c_str(), nullptr, 10);
    else if (name == "--folder")
      options.folder = value;
    else if (name == "--cache")
      options.cache_mib = std::strtoull(value.c_str(), nullptr, 10);
    else if (name == "--only")
      options.only = value;
    else
      die("bad option " + name);
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  const fs::path kb = options.folder / "kb", file = options.folder / "peer.sqlite";
  const bool ours = options.only != "sqlite", peer = options.only != "askbase";
  fs::create_directories(options.folder);
  const auto n = static_cast<double>(options.triples);
  Load load, peer_load;
  if (peer && !fs::exists(file)) {
    peer_load = in_child([&] { load_sqlite(options, file); });
    std::printf("load    sqlite   %7.2f M triples/s  %6.1f s (%.1f s of processors)  peak %5.0f MiB\n",
                n / peer_load.seconds / 1e6, peer_load.seconds, peer_load.cpu_seconds, peer_load.peak_mib);
    std::fflush(stdout);
  }
  if (ours && !fs::exists(kb)) {
    load = in_child([&] { load_askbase(options, kb); });
    std::printf("load    askbase  %7.2f M triples/s  %6.1f s (%.1f s of processors)  peak %5.0f MiB\n",
                n / load.seconds / 1e6, load.seconds, load.cpu_seconds, load.peak_mib);
    std::fflush(stdout);
  }
  if (load.seconds > 0 && peer_load.seconds > 0)
    std::printf("load    ratio    %7.2f\n", peer_load.seconds / load.seconds);

  StorageOptions storage;
  storage.block_cache_bytes = options.cache_mib << 20;
  auto store = need(Store::open(kb, OpenMode::read_only, storage));
  auto view = need(store->view());
  const auto facts = static_cast<double>(view->facts());
  double three = 0;
  for (const Table table : {Table::spo, Table::pos, Table::osp, Table::by_source}) {
    const auto bytes = static_cast<double>(store->storage().disk_bytes(table));
    if (table != Table::by_source) three += bytes;
    std::printf("bytes   askbase  %7.2f a fact: %s\n", bytes / facts, std::string(table_name(table)).c_str());
  }
  std::printf("bytes   askbase  %7.2f a fact: spo, pos, osp (%.0f facts)\n", three / facts, facts);
  if (peer) {
    const auto bytes = static_cast<double>(fs::file_size(file));
    std::printf("bytes   sqlite   %7.2f a fact\n", bytes / facts);
    std::printf("bytes   ratio    %7.2f\n", three / bytes);
  }

  const Probes probes = make_probes(options, *view);
  const auto show = [](const char* who, const Rates& r) {
    std::printf(
        "look-up %-8s existing %8.0f/s  absent %8.0f/s  mixed %8.0f/s (%.2f us)  two threads %8.0f/s (%.2f "
        "times)\n",
        who, r.existing, r.absent, r.mixed, 1e6 / r.mixed, r.two_threads, r.two_threads / r.mixed);
    std::fflush(stdout);
  };
  Rates a, b;
  if (ours) show("askbase", a = measure_askbase(options.by_cpu, *view, probes));
  if (peer) show("sqlite", b = measure_sqlite(options, file, probes));
  if (ours && peer)
    std::printf("look-up ratio    existing %8.2f    absent %8.2f    mixed %8.2f    two threads %8.2f\n",
                a.existing / b.existing, a.absent / b.absent, a.mixed / b.mixed,
                a.two_threads / b.two_threads);
  if (!options.keep) fs::remove_all(options.folder);
  return 0;
}
