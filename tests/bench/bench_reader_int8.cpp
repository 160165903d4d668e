// What int8 costs in sentence vectors: the shipped model against the weights that it was made of, in float.
//
//   bench_reader_int8 HUGGING_FACE_FOLDER MODEL_FOLDER SQUAD_FILE [QUESTIONS]
//
// Over the questions and paragraphs of a file in SQuAD form: cosines between the vectors of the two, and how
// often a question's paragraph is the nearest (among the five nearest) of all.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "datasets/squad.h"
#include "nn/gemm.h"
#include "reader/text_encoder.h"

namespace {

using namespace askbase;
using nn::Index;
using nn::Matrix;

template <typename T>
T value_of(base::Result<T> result) {
  if (result) return std::move(*result);
  std::fprintf(stderr, "error: %s\n", result.error().message.c_str());
  std::exit(1);
}

// The sentence vectors of float weights, which no model folder for inference holds.
Matrix<float> embed(const reader::BertModel& model, const reader::InferenceEncoder& encoder,
                    const std::vector<std::string_view>& texts, nn::Team& team) {
  Matrix<float> vectors(static_cast<Index>(texts.size()), model.config().hidden);
  reader::InferenceEncoder::Workspace workspace;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    reader::EncoderBatch batch;
    batch.add(reader::encode_one(model.tokenizer().vocabulary(), model.tokenizer().tokenize(texts[i]), 256));
    encoder.forward(batch, workspace, team);
    reader::sentence_vectors<float>(workspace.output(), batch.segments,
                                    vectors.view().rows_from(static_cast<Index>(i), 1));
  }
  return vectors;
}

void compare(const char* what, const Matrix<float>& a, const Matrix<float>& b) {
  std::vector<double> cosines;
  for (Index r = 0; r < a.rows(); ++r) {
    double sum = 0;
    for (Index c = 0; c < a.cols(); ++c) sum += static_cast<double>(a(r, c)) * static_cast<double>(b(r, c));
    cosines.push_back(sum);
  }
  std::sort(cosines.begin(), cosines.end());
  double mean = 0;
  for (const double cosine : cosines) mean += cosine / static_cast<double>(cosines.size());
  std::printf("%s: %zu vectors, cosine to float: mean %.5f, 1st percentile %.5f, least %.5f\n", what,
              cosines.size(), mean, cosines[cosines.size() / 100], cosines.front());
}

void retrieve(const char* what, const Matrix<float>& questions, const Matrix<float>& contexts,
              const std::vector<std::size_t>& right, nn::Team& team) {
  Matrix<float> scores(questions.rows(), contexts.rows());
  nn::gemm<float>(nn::Op::none, nn::Op::transpose, 1.0F, questions, contexts, 0.0F, scores, team);
  Index first = 0, five = 0;
  for (Index r = 0; r < scores.rows(); ++r) {
    const float own = scores(r, static_cast<Index>(right[static_cast<std::size_t>(r)]));
    const auto better = std::count_if(scores.row(r), scores.row(r) + scores.cols(),
                                      [own](float score) { return score > own; });
    first += better < 1 ? 1 : 0;
    five += better < 5 ? 1 : 0;
  }
  const auto share = [&](Index n) { return static_cast<double>(n) / static_cast<double>(scores.rows()); };
  std::printf("%s: recall@1 %.4f, recall@5 %.4f\n", what, share(first), share(five));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr,
                 "usage: bench_reader_int8 HUGGING_FACE_FOLDER MODEL_FOLDER SQUAD_FILE [QUESTIONS]\n");
    return 2;
  }
  const auto model = value_of(reader::BertModel::import(argv[1], {.lower_case = true}));
  const reader::InferenceEncoder in_float(model->config(), model->parameters(),
                                          {.numbers = nn::Numbers::f32});
  const auto shipped = value_of(reader::TextEncoder::load(argv[2]));
  const datasets::SquadSet set = value_of(datasets::read_squad(argv[3]));
  const std::size_t most = argc > 4 ? static_cast<std::size_t>(std::atoll(argv[4])) : set.questions.size();
  std::vector<std::string_view> questions, contexts;
  std::vector<std::size_t> right;
  for (const datasets::SquadContext& context : set.contexts) contexts.push_back(context.text);
  // Spread over the file.
  const std::size_t count = std::min(most, set.questions.size());
  for (std::size_t i = 0; i < count; ++i) {
    const datasets::SquadQuestion& question = set.questions[i * set.questions.size() / count];
    questions.push_back(question.question);
    right.push_back(question.context);
  }
  nn::Team team(2);
  const Matrix<float> q = embed(*model, in_float, questions, team),
                      c = embed(*model, in_float, contexts, team);
  const auto start = std::chrono::steady_clock::now();
  const Matrix<float> small_q = value_of(shipped->embed(questions, team)),
                      small_c = value_of(shipped->embed(contexts, team));
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  compare("questions", q, small_q);
  compare("paragraphs", c, small_c);
  retrieve("float", q, c, right, team);
  retrieve("int8", small_q, small_c, right, team);
  std::printf("int8 took %.1f s for %zu texts\n", seconds, questions.size() + contexts.size());
  return 0;
}
