// How long asking takes: every question of a JSON lines file ({"question": ...}), or of the standard input's
// lines, asked in turn on one thread after one pass to warm the caches.
//
//   bench_ask KB [FILE] [--rounds N]
//
// Prints the time to open the engine, and p50, p90, p99 and the worst of one ask, on the wall clock and in
// CPU time of the thread (which a busy machine does not change).
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "base/json.h"
#include "qa/engine.h"

namespace {

using askbase::base::Json;

double thread_ms() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

double wall_ms(std::chrono::steady_clock::time_point since) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - since).count();
}

std::vector<std::string> read_questions(std::istream& in) {
  std::vector<std::string> out;
  for (std::string line; std::getline(in, line);) {
    if (line.empty()) continue;
    const auto row = askbase::base::parse_json(line);
    const bool object = row && row->is_object() && row->contains("question");
    out.push_back(object ? (*row)["question"].get<std::string>() : line);
  }
  return out;
}

void print_times(const char* what, std::vector<double> times) {
  std::sort(times.begin(), times.end());
  const auto at = [&](double share) {
    return times[static_cast<std::size_t>(share * static_cast<double>(times.size() - 1))];
  };
  std::cout << what << ": p50 " << at(0.5) << " ms, p90 " << at(0.9) << " ms, p99 " << at(0.99)
            << " ms, worst " << at(1) << " ms\n";
}

}  // namespace

int main(int argc, char** argv) {
  std::string kb, file;
  int rounds = 3;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--rounds" && i + 1 < argc) {
      rounds = std::atoi(argv[++i]);
    } else if (kb.empty()) {
      kb = argument;
    } else {
      file = argument;
    }
  }
  if (kb.empty() || rounds < 1) {
    std::cerr << "usage: bench_ask KB [FILE] [--rounds N]\n";
    return 2;
  }
  const auto store = askbase::kb::Store::open(kb, askbase::kb::OpenMode::read_only);
  if (!store) {
    std::cerr << store.error().message << "\n";
    return 1;
  }
  auto start = std::chrono::steady_clock::now();
  const auto engine = askbase::qa::Engine::open(**store);
  if (!engine) {
    std::cerr << engine.error().message << "\n";
    return 1;
  }
  std::cout << "engine opened in " << wall_ms(start) << " ms\n";
  std::ifstream stream(file);
  const std::vector<std::string> questions = read_questions(file.empty() ? std::cin : stream);
  if (questions.empty()) {
    std::cerr << "no questions\n";
    return 1;
  }
  std::vector<double> wall, cpu;
  for (int round = 0; round <= rounds; ++round) {
    for (const std::string& question : questions) {
      askbase::qa::Request request;
      request.question = question;
      const double cpu_before = thread_ms();
      start = std::chrono::steady_clock::now();
      const auto response = (*engine)->ask(request);
      if (round == 0) continue;
      wall.push_back(wall_ms(start));
      cpu.push_back(thread_ms() - cpu_before);
      if (!response) std::cerr << question << ": " << response.error().message << "\n";
    }
  }
  std::cout << questions.size() << " questions, " << rounds << " rounds\n";
  print_times("wall", wall);
  print_times("cpu ", cpu);
  return 0;
}
