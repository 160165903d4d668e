#include "reader/bert_reader.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/json.h"

namespace askbase::reader {

namespace {

using nn::Index;

// Windows that go through the encoder together, by their ids: as many as keep its threads busy, few enough
// for a deadline to be seen in time.
constexpr std::size_t kIdsAtOnce = 2048;

constexpr const char* kMember = "reader";

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

  void score(const TextEncoder& model, const std::vector<Text>& texts, std::vector<SpanSearch>& searches) {
    scores.resize(batch.segments.total(), 2);
    model.span_scores(encoder.output(), scores);
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      const Waiting& one = waiting[i];
      const Index row = batch.segments.begin(static_cast<Index>(i)),
                  first = row + static_cast<Index>(one.first);
      const Window& window = texts[one.text].windows[one.window];
      const auto n = static_cast<Index>(window.end - window.begin);
      start.clear();
      end.clear();
      for (Index t = 0; t < n; ++t) {
        start.push_back(scores(first + t, 0));
        end.push_back(scores(first + t, 1));
      }
      searches[one.text].add(one.window, start, end, scores(row, 0) + scores(row, 1));
    }
    batch.clear();
    waiting.clear();
  }

  InferenceEncoder::Workspace encoder;
  EncoderBatch batch;
  std::vector<Waiting> waiting;
  nn::Matrix<float> scores;  // (rows of the batch, 2)
  std::vector<float> start, end;
};

BertReader::BertReader(std::shared_ptr<const TextEncoder> model, const BertReaderConfig& config)
    : model_(std::move(model)), config_(config) {
  if (!model_->has_span_head()) throw std::logic_error("reader::BertReader: a model without a span head");
  if (static_cast<Index>(config_.windows.max_length) > model_->encoder().config().positions) {
    throw std::logic_error("reader::BertReader: windows that are longer than the model's positions");
  }
}

base::Result<std::shared_ptr<const BertReader>> BertReader::load(const std::filesystem::path& folder,
                                                                 const InferenceOptions& options,
                                                                 std::shared_ptr<const TextEncoder> lender) {
  ASKBASE_ASSIGN(std::shared_ptr<const TextEncoder> model,
                 TextEncoder::load(folder, options, std::move(lender)));
  if (!model->has_span_head()) {
    return base::fail(base::ErrorCode::unsupported,
                      folder.string() + ": an encoder without a span head does not read",
                      "askbase train reader gives it one");
  }
  const std::string name = (folder / "config.json").string();
  ASKBASE_ASSIGN(BertReaderConfig config, BertReaderConfig::parse(model->config_text(), name));
  const auto positions = static_cast<std::size_t>(model->encoder().config().positions);
  config.windows.max_length = std::min(config.windows.max_length, positions);
  if (config.windows.max_length < config.windows.max_question + 4) {
    return base::fail(base::ErrorCode::unsupported,
                      name + ": " + std::to_string(positions) + " positions are too few to read with");
  }
  return std::make_shared<const BertReader>(std::move(model), config);
}

base::Result<BertReaderConfig> BertReaderConfig::parse(const std::string& text, const std::string& name) {
  BertReaderConfig config;
  ASKBASE_ASSIGN(const base::Json json, base::parse_json(text));
  const auto found = json.find(kMember);
  if (found == json.end()) return config;
  std::string wrong;
  const auto count = [&](const char* key, std::size_t& value, std::size_t least, std::size_t most) {
    const auto member = found->find(key);
    if (member == found->end()) return;
    if (!member->is_number_unsigned() || *member < least || *member > most) {
      wrong = key;
    } else {
      value = member->get<std::size_t>();
    }
  };
  const auto number = [&](const char* key, double& value) {
    const auto member = found->find(key);
    if (member == found->end()) return;
    if (!member->is_number() || !std::isfinite(member->get<double>())) {
      wrong = key;
    } else {
      value = member->get<double>();
    }
  };
  if (!found->is_object()) {
    wrong = kMember;
  } else {
    count("max_length", config.windows.max_length, 16, 1 << 16);
    count("stride", config.windows.stride, 1, 1 << 16);
    count("max_question", config.windows.max_question, 1, 1 << 12);
    count("longest_answer", config.longest_answer, 1, 1 << 12);
    number("offset", config.calibration.offset);
    number("by_null", config.calibration.by_null);
    number("by_rivals", config.calibration.by_rivals);
    number("null_threshold", config.calibration.null_threshold);
  }
  if (!wrong.empty()) {
    return base::fail(base::ErrorCode::corrupt, name + ": \"" + wrong + "\" cannot be what it says",
                      "copy the model's folder again, with all of its files");
  }
  return config;
}

std::string BertReaderConfig::json() const {
  return base::dump_json({{kMember,
                           {{"max_length", windows.max_length},
                            {"stride", windows.stride},
                            {"max_question", windows.max_question},
                            {"longest_answer", longest_answer},
                            {"offset", base::json_number(calibration.offset)},
                            {"by_null", base::json_number(calibration.by_null)},
                            {"by_rivals", base::json_number(calibration.by_rivals)},
                            {"null_threshold", base::json_number(calibration.null_threshold)}}}});
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
  const WordPiece& tokenizer = model_->tokenizer();
  const Vocabulary& vocabulary = tokenizer.vocabulary();
  Pieces asked;
  tokenizer.tokenize(question.substr(0, kMostQuestion), asked);
  std::vector<Scratch::Text> read(texts.size());
  // Many of the best overlap each other.
  const SpanSearchOptions spans{.longest = config_.longest_answer, .kept = 16 + 48 * options.top};
  std::vector<SpanSearch> searches(texts.size(), SpanSearch(spans));
  scratch.batch.clear();
  scratch.waiting.clear();
  const auto run = [&] {
    if (!model_->encoder().forward(scratch.batch, scratch.encoder, team, stop)) return false;
    scratch.score(*model_, read, searches);
    return true;
  };
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (stop && stop()) return late();
    Scratch::Text& text = read[i];
    tokenizer.tokenize(texts[i], text.pieces);
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

}  // namespace askbase::reader
