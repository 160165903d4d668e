#include "reader/char_reader.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "base/text.h"

namespace askbase::reader {

namespace {

using nn::Index;

// Pairs of neighbouring characters of the question, as written in Simplified and in Traditional characters.
std::unordered_set<std::uint64_t> pairs_of(std::u32string_view question) {
  const std::string text = base::to_utf8(question);
  std::unordered_set<std::uint64_t> pairs;
  for (const std::string& variant : {text, base::to_simplified(text), base::to_traditional(text)}) {
    const std::u32string points = base::to_code_points(variant);
    for (std::size_t i = 1; i < points.size(); ++i) {
      pairs.insert(std::uint64_t{fold_character(points[i - 1])} << 32 | fold_character(points[i]));
    }
  }
  return pairs;
}

// Windows of the text, in order; of too many those with most of the question in them, where a pair that
// stands in few of them counts more. A long text is not folded for it: pairs are looked up in both scripts.
std::vector<Window> windows_of(std::u32string_view question, std::u32string_view text) {
  constexpr std::size_t kStride = kCharWindow / 2;
  std::vector<Window> windows;
  for (std::size_t begin = 0;; begin += kStride) {
    windows.push_back({begin, std::min(begin + kCharWindow, text.size())});
    if (windows.back().end == text.size()) break;
  }
  if (windows.size() <= kMostCharWindows) return windows;
  const std::unordered_set<std::uint64_t> sought = pairs_of(question);
  std::vector<std::unordered_set<std::uint64_t>> found(windows.size());
  std::unordered_map<std::uint64_t, std::size_t> holders;
  for (std::size_t i = 1; i < text.size(); ++i) {
    const std::uint64_t pair = std::uint64_t{fold_character(text[i - 1])} << 32 | fold_character(text[i]);
    if (!sought.contains(pair)) continue;
    // The window that begins in front of it, and the one before that.
    const std::size_t w = std::min(i / kStride, windows.size() - 1);
    for (std::size_t k = w == 0 ? 0 : w - 1; k <= w; ++k) {
      if (i < windows[k].end && found[k].insert(pair).second) ++holders[pair];
    }
  }
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t w = 0; w < windows.size(); ++w) {
    double score = 0;
    for (const std::uint64_t pair : found[w]) {
      score += std::log(static_cast<double>(windows.size() + 1) / static_cast<double>(holders[pair]));
    }
    order.emplace_back(-score, w);
  }
  std::sort(order.begin(), order.end());
  order.resize(kMostCharWindows);
  std::vector<Window> best;
  for (const auto& [score, w] : order) best.push_back(windows[w]);
  std::sort(best.begin(), best.end(), [](const Window& a, const Window& b) { return a.begin < b.begin; });
  return best;
}

// The characters that the windows cover, one after the other: where each stands in the text, and the windows
// in places of this list.
struct Covered {
  Pieces pieces;
  std::vector<Window> windows;
};

Covered cover(const std::vector<Window>& windows) {
  Covered covered;
  std::size_t reached = 0;
  for (const Window& window : windows) {
    const std::size_t skip = std::max(window.begin, reached);
    for (std::size_t i = skip; i < window.end; ++i) {
      covered.pieces.ids.push_back(0);
      covered.pieces.begin.push_back(static_cast<std::uint32_t>(i));
      covered.pieces.end.push_back(static_cast<std::uint32_t>(i + 1));
    }
    reached = std::max(reached, window.end);
    const std::size_t end = covered.pieces.size();
    covered.windows.push_back({end - (window.end - window.begin), end});
  }
  return covered;
}

}  // namespace

class CharReader::Scratch : public TextReader::Workspace {
 public:
  CharModel::Scratch model;
  CharNetwork<float>::Cache network;
  // Of the last window and the last question, of which the next reading often has one again: several
  // questions about a text, or a question about several texts.
  struct Last {
    std::u32string text;
    AnalysedText analysed;
  };
  Last window, question;

  const AnalysedText& analyse(const CharModel& of, Last& last, std::u32string_view text,
                              const nn::Context& context) {
    if (last.text != text || last.analysed.text.size() != text.size()) {
      last.analysed = std::move(of.analyse({text}, model, context).front());
      last.text = text;
    }
    return last.analysed;
  }
};

base::Result<std::shared_ptr<const CharReader>> CharReader::load(const std::filesystem::path& folder) {
  ASKBASE_ASSIGN(std::unique_ptr<CharModel> model, CharModel::load(folder));
  return std::make_shared<const CharReader>(std::move(model));
}

std::unique_ptr<TextReader::Workspace> CharReader::workspace() const { return std::make_unique<Scratch>(); }

base::Result<Reading> CharReader::read_one(std::u32string_view question, std::string_view text,
                                           const ReadOptions& options, Scratch& scratch, nn::Team& team,
                                           const Stop& stop) const {
  const std::u32string points = base::to_code_points(text);
  const std::vector<Window> windows = windows_of(question, points);
  const Covered covered = cover(windows);
  const nn::Context context{.team = &team};
  const std::size_t all = covered.pieces.size();
  PieceEdges edges{std::vector<std::uint8_t>(all, 0), std::vector<std::uint8_t>(all, 0)};
  struct Scores {
    std::vector<float> start, end;
  };
  std::vector<Scores> scores(windows.size());
  for (std::size_t w = 0; w < windows.size(); ++w) {
    if (stop && stop()) {
      return base::fail(base::ErrorCode::timeout, "the time for reading is over",
                        "allow more time, or read a shorter text");
    }
    const std::size_t n = windows[w].end - windows[w].begin;
    if (n == 0) continue;
    const std::u32string_view part = std::u32string_view(points).substr(windows[w].begin, n);
    const AnalysedText* const analysed[] = {&scratch.analyse(*model_, scratch.window, part, context),
                                            &scratch.analyse(*model_, scratch.question, question, context)};
    CharNetwork<float>::Cache& cache = scratch.network;
    cache.texts.clear();
    cache.context_of.assign(1, 0);
    for (const AnalysedText* each : analysed) cache.texts.add(static_cast<Index>(each->text.size()));
    const CharNetworkConfig& config = model_->network().config();
    cache.x.resize(cache.texts.total(), config.input);
    for (Index t = 0; t < 2; ++t) {
      model_->put_input(*analysed[t], cache.x.view().rows_from(cache.texts.begin(t), cache.texts.length(t)));
    }
    cache.pair.resize(static_cast<Index>(n), config.pair);
    pair_features(analysed[1]->text, analysed[0]->text, model_->statistics(), cache.pair);
    model_->network().forward(model_->parameters(), cache, context);
    for (std::size_t i = 0; i < n; ++i) {
      scores[w].start.push_back(cache.scores(static_cast<Index>(i), 0));
      scores[w].end.push_back(cache.scores(static_cast<Index>(i), 1));
    }
    const PieceEdges here = char_edges(analysed[0]->text);
    const auto place = static_cast<std::ptrdiff_t>(covered.windows[w].begin);
    std::copy(here.starts.begin(), here.starts.end(), edges.starts.begin() + place);
    std::copy(here.ends.begin(), here.ends.end(), edges.ends.begin() + place);
  }
  SpanSearch search({.longest = kLongestCharAnswer, .kept = 16 + 48 * options.top});
  search.reset(edges, covered.windows);
  for (std::size_t w = 0; w < windows.size(); ++w) search.add(w, scores[w].start, scores[w].end, 0);
  return reading_of(search, covered.pieces, text, model_->calibration(), options);
}

base::Result<std::vector<Reading>> CharReader::read(std::string_view question,
                                                    std::span<const std::string_view> texts,
                                                    const ReadOptions& options, Workspace& workspace,
                                                    nn::Team& team, const Stop& stop) const {
  auto& scratch = dynamic_cast<Scratch&>(workspace);
  // Only as much of it is decoded as is read: four bytes a character at most.
  std::u32string asked = base::to_code_points(question.substr(0, 4 * kLongestCharQuestion));
  if (asked.size() > kLongestCharQuestion) asked.resize(kLongestCharQuestion);
  std::vector<Reading> readings;
  for (const std::string_view text : texts) {
    ASKBASE_ASSIGN(Reading reading, read_one(asked, text, options, scratch, team, stop));
    readings.push_back(std::move(reading));
  }
  return readings;
}

}  // namespace askbase::reader
