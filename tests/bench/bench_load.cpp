// Speed of loading a text file of facts, end to end, and what share of it is reading, taking terms into the
// dictionary, and sorting and writing.
//   bench_load [LINES] [FOLDER]     5,000,000 lines; the folder is emptied of what the program made there
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <sys/resource.h>

#include "kb/fact_sink.h"
#include "kb/load.h"
#include "kb/rdf_reader.h"
#include "kb/store.h"

using namespace askbase;
using namespace askbase::kb;

namespace {

struct Clock {
  std::chrono::steady_clock::time_point wall = std::chrono::steady_clock::now();
  double cpu = cpu_seconds();

  static double cpu_seconds() {
    rusage usage = {};
    ::getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& t) {
      return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
  }
  void report(const char* what, double facts) const {
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - wall).count();
    std::printf("%-34s %7.2f s  %7.2f CPU s  %9.0f facts/s\n", what, seconds, cpu_seconds() - cpu,
                facts / seconds);
    std::fflush(stdout);
  }
};

// One fact in ten is a label, English or Chinese; the others link entities (most), or give numbers, dates and
// texts. Subjects come in runs, as dumps have them.
void write_file(const std::filesystem::path& path, std::size_t lines) {
  std::mt19937_64 random(1);
  std::ofstream out(path);
  const std::size_t entities = std::max<std::size_t>(lines / 10, 1);
  const auto entity = [](std::size_t i) { return "<http://example.org/entity/Q" + std::to_string(i) + ">"; };
  const std::string xsd = "^^<http://www.w3.org/2001/XMLSchema#";
  const std::string han = "北京上海天津重庆河山林田水火土金木中国人大学院城市";
  std::size_t subject = 0;
  for (std::size_t i = 0; i < lines; ++i) {
    if (i % 10 == 0) {
      subject = i / 10;
      std::string label;
      if (subject % 3 == 0) {
        for (int k = 0; k < 4; ++k) label += han.substr(random() % (han.size() / 3) * 3, 3);
        label = "\"" + label + std::to_string(subject) + "\"@zh";
      } else {
        label = "\"Entity number " + std::to_string(random() % 100000) + " of " + std::to_string(subject) +
                "\"@en";
      }
      out << entity(subject) << " <http://www.w3.org/2000/01/rdf-schema#label> " << label << " .\n";
      continue;
    }
    out << entity(subject) << " <http://example.org/property/P" << random() % 300 << "> ";
    switch (random() % 10) {
      case 0:
        out << '"' << random() % 1000000 << '"' << xsd << "integer>";
        break;
      case 1:
        out << "\"19" << 10 + random() % 90 << "-0" << 1 + random() % 9 << "-1" << random() % 10 << '"' << xsd
            << "date>";
        break;
      case 2:
        out << "\"some text with the number " << random() % 10000000 << "\"";
        break;
      default:
        out << entity(random() % entities);
    }
    out << " .\n";
  }
}

class Counter : public FactSink {
 public:
  Fact& slot() override { return fact_; }
  base::Status add() override {
    ++facts;
    return {};
  }
  base::Status bad(std::uint64_t line, std::string_view reason) override {
    return base::fail(base::ErrorCode::bad_input, std::to_string(line) + ": " + std::string(reason));
  }
  std::uint64_t facts = 0;

 private:
  Fact fact_;
};

class Taker : public FactSink {
 public:
  Taker(Update& update, SourceId source) : update_(update), source_(source) {}
  Fact& slot() override { return fact_; }
  base::Status add() override {
    return update_.add(source_, fact_.subject, fact_.predicate, fact_.object, fact_.row);
  }
  base::Status bad(std::uint64_t line, std::string_view reason) override {
    return base::fail(base::ErrorCode::bad_input, std::to_string(line) + ": " + std::string(reason));
  }

 private:
  Update& update_;
  SourceId source_;
  Fact fact_;
};

template <typename T>
T must(base::Result<T> result) {
  if (result) return std::move(*result);
  std::fprintf(stderr, "%s\n", result.error().message.c_str());
  std::exit(1);
}
void must(const base::Status& status) {
  if (status) return;
  std::fprintf(stderr, "%s\n", status.error().message.c_str());
  std::exit(1);
}

}  // namespace

int main(int count, char** arguments) {
  const std::size_t lines = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 5'000'000;
  const std::filesystem::path folder =
      (count > 2 ? std::filesystem::path(arguments[2]) : std::filesystem::temp_directory_path()) /
      "askbase-bench-load";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const std::filesystem::path file = folder / "facts.nt";
  write_file(file, lines);
  const auto facts = static_cast<double>(lines);
  std::printf("%zu lines, %.1f MB\n", lines, static_cast<double>(std::filesystem::file_size(file)) * 1e-6);
  const BlankLabels blanks("facts.nt");
  {
    const Clock clock;
    const auto input = must(base::Input::open(file));
    Counter counter;
    must(read_rdf(*input, Format::ntriples, "", blanks, counter));
    clock.report("reading", facts);
  }
  {
    const Clock clock;
    const auto input = must(base::Input::open(file));
    Counter counter;
    must(read_rdf(*input, Format::turtle, "", blanks, counter));
    clock.report("reading as Turtle", facts);
  }
  {
    const auto store = must(Store::open(folder / "kb-taking", OpenMode::create));
    const Clock clock;
    const auto update = must(store->begin_update());
    const auto input = must(base::Input::open(file));
    Taker taker(*update, must(update->source({.name = "facts.nt"}, true)));
    must(read_rdf(*input, Format::ntriples, "", blanks, taker));
    clock.report("reading and taking, one thread", facts);
    must(update->commit());
    clock.report("all of it, one thread reading", facts);
  }
  {
    const auto store = must(Store::open(folder / "kb", OpenMode::create));
    const Clock clock;
    const LoadReport report = must(load(*store, {file}, {}));
    clock.report("load", static_cast<double>(report.summary.added));
    const Clock again;
    must(load(*store, {file}, {}));
    again.report("load again, unchanged", facts);
    const Clock replace;
    LoadOptions options;
    options.skip_bad = true;  // another option makes it another load
    must(load(*store, {file}, options));
    replace.report("load again, compared with the KB", facts);
  }
  std::filesystem::remove_all(folder);
}
