#include "reader/bert_reader.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "nn/linear.h"

namespace askbase::reader {

namespace {

using nn::Index;

// Windows that go through the encoder together, by their ids: as many as keep its threads busy, few enough
// for a deadline to be seen in time.
constexpr std::size_t kIdsAtOnce = 2048;

// Bytes of a question that are cut into pieces at all: far more than a window takes.
constexpr std::size_t kMostQuestion = 16 << 10;

}  // namespace

std::vector<Window> chosen_windows(const Pieces& question, const Pieces& context, std::vector<Window> windows,
                                   std::size_t most) {
  if (windows.size() <= most) return windows;
  const std::unordered_set<std::int32_t> sought(question.ids.begin(), question.ids.end());
  std::vector<std::unordered_set<std::int32_t>> found(windows.size());
  std::unordered_map<std::int32_t, std::size_t> holders;
  for (std::size_t w = 0; w < windows.size(); ++w) {
    for (std::size_t i = windows[w].begin; i < windows[w].end; ++i) {
      const std::int32_t id = context.ids[i];
      if (sought.contains(id) && found[w].insert(id).second) ++holders[id];
    }
  }
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t w = 0; w < windows.size(); ++w) {
    double score = 0;
    for (const std::int32_t id : question.ids) {  // in their order: sums do not depend on the hash
      if (!found[w].contains(id)) continue;
      score += std::log(static_cast<double>(windows.size() + 1) / static_cast<double>(holders[id]));
    }
    order.emplace_back(-score, w);
  }
  std::sort(order.begin(), order.end());
  order.resize(most);
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  std::vector<Window> best;
  for (const auto& [score, w] : order) best.push_back(windows[w]);
  return best;
}

class BertReader::Scratch : public TextReader::Workspace {
 public:
  struct Text {
    Pieces pieces;
    PieceEdges edges;
    std::vector<Window> windows;
  };
  // A window on its way through the encoder.
  struct Waiting {
    std::size_t text, window, first;  // first: the row of its first piece in its sequence
  };

  void score(const BertReader& reader, std::vector<Text>& texts, std::vector<SpanSearch>& searches) {
    const nn::View<const float> x = encoder.output();
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      const Waiting& one = waiting[i];
      const Index row = batch.segments.begin(static_cast<Index>(i));
      const Window& window = texts[one.text].windows[one.window];
      const std::size_t n = window.end - window.begin;
      start.resize(n);
      end.resize(n);
      for (std::size_t t = 0; t < n; ++t) {
        const float* at = x.row(row + static_cast<Index>(one.first + t));
        start[t] = reader.dot(at, 0);
        end[t] = reader.dot(at, 1);
      }
      const float* cls = x.row(row);
      searches[one.text].add(one.window, start, end, reader.dot(cls, 0) + reader.dot(cls, 1));
    }
    batch.clear();
    waiting.clear();
  }

  InferenceEncoder::Workspace encoder;
  EncoderBatch batch;
  std::vector<Waiting> waiting;
  std::vector<float> start, end;
};

BertReader::BertReader(WordPiece tokenizer, InferenceEncoder encoder, nn::View<const float> head_weight,
                       std::span<const float> head_bias, const BertReaderConfig& config)
    : tokenizer_(std::move(tokenizer)),
      encoder_(std::move(encoder)),
      head_(2, head_weight.cols),
      config_(config) {
  if (head_weight.rows != 2 || head_weight.cols != encoder_.config().hidden || head_bias.size() != 2) {
    throw std::logic_error("reader::BertReader: the span head does not fit the encoder");
  }
  for (Index r = 0; r < 2; ++r) {
    std::copy_n(head_weight.row(r), head_weight.cols, head_.row(r));
    head_bias_[r] = head_bias[static_cast<std::size_t>(r)];
  }
}

float BertReader::dot(const float* x, Index side) const {
  const float* w = head_.row(side);
  float sum = head_bias_[side];
  for (Index c = 0; c < head_.cols(); ++c) sum += x[c] * w[c];
  return sum;
}

std::unique_ptr<TextReader::Workspace> BertReader::workspace() const { return std::make_unique<Scratch>(); }

base::Result<std::vector<Reading>> BertReader::read(std::string_view question,
                                                    std::span<const std::string_view> texts,
                                                    const ReadOptions& options, Workspace& workspace,
                                                    nn::Team& team, const Stop& stop) const {
  auto& scratch = dynamic_cast<Scratch&>(workspace);
  const auto late = [] {
    return base::fail(base::ErrorCode::timeout, "the time for reading is over",
                      "allow more time, or read a shorter text");
  };
  const Vocabulary& vocabulary = tokenizer_.vocabulary();
  Pieces asked;
  tokenizer_.tokenize(question.substr(0, kMostQuestion), asked);
  std::vector<Scratch::Text> read(texts.size());
  SpanSearchOptions spans = config_.spans;
  spans.kept = std::max(spans.kept, 16 + 48 * options.top);  // many of the best overlap each other
  std::vector<SpanSearch> searches(texts.size(), SpanSearch(spans));
  scratch.batch.clear();
  scratch.waiting.clear();
  const auto run = [&] {
    if (!encoder_.forward(scratch.batch, scratch.encoder, team, stop)) return false;
    scratch.score(*this, read, searches);
    return true;
  };
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (stop && stop()) return late();
    Scratch::Text& text = read[i];
    tokenizer_.tokenize(texts[i], text.pieces);
    text.edges = piece_edges(vocabulary, text.pieces);
    text.windows =
        chosen_windows(asked, text.pieces, plan_windows(asked.size(), text.pieces.size(), config_.windows),
                       kMostBertWindows);
    searches[i].reset(text.edges, text.windows);
    for (std::size_t w = 0; w < text.windows.size(); ++w) {
      const EncoderInput input =
          encode_window(vocabulary, asked, text.pieces, text.windows[w], config_.windows);
      scratch.batch.add(input);
      scratch.waiting.push_back({i, w, input.second});
      if (scratch.batch.ids.size() >= kIdsAtOnce && !run()) return late();
    }
  }
  if (!scratch.waiting.empty() && !run()) return late();
  std::vector<Reading> readings;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    readings.push_back(reading_of(searches[i], read[i].pieces, texts[i], config_.calibration, options));
  }
  return readings;
}

std::shared_ptr<const BertReader> make_bert_reader(const BertModel& model, const BertReaderConfig& config,
                                                   const InferenceOptions& options) {
  if (model.span_head() == nullptr)
    throw std::logic_error("reader::make_bert_reader: a model without a span head");
  const nn::Parameters<float>& p = model.parameters();
  const nn::View<const float> bias = p[model.span_head()->bias()];
  return std::make_shared<const BertReader>(
      model.tokenizer(), InferenceEncoder(model.config(), p, options), p[model.span_head()->weight()],
      std::span<const float>(bias.data, static_cast<std::size_t>(bias.size())), config);
}

}  // namespace askbase::reader
