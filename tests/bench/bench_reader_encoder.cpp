// Time of a pass through the inference encoder: MiniLM's sizes (6 layers, hidden 384, 12 heads, feed-forward
// 1536), random weights, one sequence; embeddings included.
//
//   bench_reader_encoder [--plain] [NUMBERS:THREADS:TOKENS ...]    f32:1:384, int8:2:128, ...
//
// Prints a JSON line each, best and median of 40 passes, and the least CPU time of one, all threads together;
// bench_reader_encoder.py sets ONNX Runtime beside it.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "reader/inference_encoder.h"

namespace {

using namespace askbase;
using nn::Index;

struct Case {
  std::string numbers;
  int threads = 1;
  Index tokens = 384;
};

bool parse(const std::string& text, Case& out) {
  char numbers[8] = {};
  long tokens = 0;
  if (std::sscanf(text.c_str(), "%7[a-z0-9]:%d:%ld", numbers, &out.threads, &tokens) != 3) return false;
  out.numbers = numbers;
  out.tokens = tokens;
  return (out.numbers == "f32" || out.numbers == "bf16" || out.numbers == "int8") && out.threads >= 1 &&
         out.tokens >= 1 && out.tokens <= 512;
}

nn::Numbers numbers_of(const std::string& name) {
  return name == "f32" ? nn::Numbers::f32 : name == "bf16" ? nn::Numbers::bf16 : nn::Numbers::int8;
}

double processor_milliseconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) * 1e-6;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<Case> cases;
  nn::Loops loops = nn::Loops::best;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--plain") {
      loops = nn::Loops::plain;
    } else if (Case one; parse(word, one)) {
      cases.push_back(one);
    } else {
      std::fprintf(stderr, "bench_reader_encoder: not NUMBERS:THREADS:TOKENS: %s\n", word.c_str());
      return 2;
    }
  }
  if (cases.empty()) {
    for (const char* numbers : {"f32", "bf16", "int8"}) {
      for (const int threads : {1, 2}) {
        for (const Index tokens : {384, 128}) cases.push_back({numbers, threads, tokens});
      }
    }
  }
  const reader::BertConfig config;
  nn::Parameters<float> p;
  const reader::BertEncoder<float> described(p, config);  // adds the parameters
  p.initialise(1);
  std::map<std::string, std::unique_ptr<reader::InferenceEncoder>> encoders;
  for (const Case& one : cases) {
    std::unique_ptr<reader::InferenceEncoder>& encoder = encoders[one.numbers];
    if (!encoder) {
      encoder = std::make_unique<reader::InferenceEncoder>(
          config, p, reader::InferenceOptions{.numbers = numbers_of(one.numbers), .loops = loops});
    }
    reader::EncoderBatch batch;
    for (Index i = 0; i < one.tokens; ++i) {
      batch.ids.push_back(static_cast<std::int32_t>(i * 37 % config.vocabulary));
      batch.types.push_back(i < 20 ? 0 : 1);
    }
    batch.segments.add(one.tokens);
    nn::Team team(one.threads);
    reader::InferenceEncoder::Workspace workspace;
    std::vector<double> milliseconds;
    double least = std::numeric_limits<double>::infinity();
    for (int i = 0; i < 43; ++i) {
      const auto start = std::chrono::steady_clock::now();
      const double used = processor_milliseconds();
      encoder->forward(batch, workspace, team);
      if (i >= 3) {
        least = std::min(least, processor_milliseconds() - used);
        milliseconds.push_back(
            std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
      }
    }
    std::sort(milliseconds.begin(), milliseconds.end());
    std::printf(
        "{\"numbers\":\"%s\",\"threads\":%d,\"tokens\":%td,\"median_ms\":%.2f,\"min_ms\":%.2f,"
        "\"cpu_ms\":%.2f}\n",
        one.numbers.c_str(), one.threads, one.tokens, milliseconds[milliseconds.size() / 2],
        milliseconds.front(), least);
    std::fflush(stdout);
  }
  return 0;
}
