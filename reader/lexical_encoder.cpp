#include "reader/lexical_encoder.h"

#include <algorithm>
#include <stdexcept>

#include "base/text.h"
#include "base/unicode.h"
#include "nn/elementwise.h"
#include "nn/gemm.h"

namespace askbase::reader {

using nn::Index;

base::Result<CharVocabulary> CharVocabulary::parse(std::string_view text) {
  CharVocabulary vocabulary;
  std::int32_t number = -1, letter = -1, han = -1, other = -1;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    const auto row = static_cast<std::int32_t>(vocabulary.lines_.size());
    const std::u32string characters = base::to_code_points(line);
    if (characters.empty() || !base::valid_utf8(line)) {
      return base::fail(base::ErrorCode::corrupt,
                        "characters.txt: line " + std::to_string(row + 1) + " is no character");
    }
    if (line == "OOV_NUM") number = row;
    if (line == "OOV_ALPHA") letter = row;
    if (line == "OOV_HANZ") han = row;
    if (line == "OOV") other = row;
    if (characters.size() == 1 && !vocabulary.rows_.emplace(characters[0], row).second) {
      return base::fail(base::ErrorCode::corrupt, "characters.txt: \"" + line + "\" comes twice");
    }
    vocabulary.lines_.push_back(std::move(line));
  }
  if (other < 0) {
    return base::fail(base::ErrorCode::corrupt, "characters.txt: there is no line OOV");
  }
  vocabulary.other_ = other;
  vocabulary.number_ = number < 0 ? other : number;
  vocabulary.letter_ = letter < 0 ? other : letter;
  vocabulary.han_ = han < 0 ? other : han;
  return vocabulary;
}

std::string CharVocabulary::text() const {
  std::string text;
  for (const std::string& line : lines_) text += line + '\n';
  return text;
}

std::int32_t CharVocabulary::row(char32_t c) const {
  const auto found = rows_.find(c);
  if (found != rows_.end()) return found->second;
  if (base::is_han(c)) return han_;
  if (c >= U'0' && c <= U'9') return number_;
  return base::is_cased(c) ? letter_ : other_;
}

LexicalEncoder::LexicalEncoder(nn::Parameters<float>& p, const LexicalSizes& sizes) : sizes_(sizes) {
  const int first = p.count();
  characters_ = nn::Embedding<float>(p, "lexical.characters",
                                     {.rows = sizes.vocabulary, .dim = sizes.dimensions, .frozen = true});
  const Index h = sizes.hidden;
  for (int layer = 0; layer < 2; ++layer) {
    for (int reverse = 0; reverse < 2; ++reverse) {
      const std::string name = "lexical.l" + std::to_string(layer) + (reverse == 0 ? "f" : "r");
      const Index in = layer == 0 ? sizes.dimensions : 2 * h;
      directions_[layer][reverse] = {nn::Linear<float>(p, name + ".input", in, 3 * h),
                                     nn::Linear<float>(p, name + ".gates", h, 2 * h, false),
                                     nn::Linear<float>(p, name + ".candidate", h, h, false)};
    }
  }
  emission_ = nn::Linear<float>(p, "lexical.emission", 2 * h, sizes.tags);
  crf_ = nn::Crf<float>(p, "lexical.crf", sizes.tags);
  for (int id = first; id < p.count(); ++id) p.set_frozen(id, true);
}

void LexicalEncoder::run(const nn::Parameters<float>& p, const Direction& direction, bool reverse,
                         nn::View<float> y, Cache& cache, const nn::Context& context) const {
  const Index h = sizes_.hidden, rows = cache.packing.rows();
  cache.gates.resize(rows, 3 * h);
  direction.input.forward(p, cache.packed, cache.gates, context);
  cache.state.resize(cache.packing.sequences(), h);
  cache.state.fill(0);
  cache.reset.resize(cache.packing.sequences(), h);
  const auto order = cache.packing.source();
  const nn::PackedDirection steps = reverse ? cache.packing.reverse() : cache.packing.forward();
  for (const nn::PackedStep& step : steps.steps) {
    const nn::View<float> x = cache.gates.view().rows_from(step.begin, step.rows),
                          state = cache.state.view().rows_from(0, step.rows),
                          reset = cache.reset.view().rows_from(0, step.rows);
    nn::gemm<float>(nn::Op::none, nn::Op::transpose, 1, state, p[direction.gates.weight()], 1,
                    x.cols_from(0, 2 * h), *context.team);
    for (Index b = 0; b < step.rows; ++b) {
      nn::sigmoid(x.row(b), x.row(b), 2 * h);
      const float *r = x.row(b) + h, *s = state.row(b);
      float* to = reset.row(b);
      for (Index i = 0; i < h; ++i) to[i] = r[i] * s[i];
    }
    nn::gemm<float>(nn::Op::none, nn::Op::transpose, 1, reset, p[direction.candidate.weight()], 1,
                    x.cols_from(2 * h, h), *context.team);
    for (Index b = 0; b < step.rows; ++b) {
      float* c = x.row(b) + 2 * h;
      nn::tanh(c, c, h);
      const float* u = x.row(b);
      float* s = state.row(b);
      float* to = y.row(order[static_cast<std::size_t>(step.begin + b)]);
      for (Index i = 0; i < h; ++i) {
        s[i] += u[i] * (c[i] - s[i]);
        to[i] = s[i];
      }
    }
  }
}

void LexicalEncoder::forward(const nn::Parameters<float>& p, std::span<const std::int32_t> rows,
                             const nn::Segments& sentences, nn::View<float> y, std::span<std::uint8_t> tags,
                             Cache& cache, const nn::Context& context) const {
  const Index n = sentences.total();
  if (static_cast<Index>(rows.size()) != n || y.rows != n || y.cols != states() ||
      static_cast<Index>(tags.size()) != n) {
    throw std::logic_error("reader::LexicalEncoder: sizes do not fit");
  }
  if (n == 0) return;
  cache.packing.set(sentences);
  cache.layer.resize(n, sizes_.dimensions);
  characters_.forward(p, rows, cache.layer, context);
  for (int layer = 0; layer < 2; ++layer) {
    // Both directions read the layer below, which y holds from the second layer on.
    const nn::View<const float> below = layer == 0 ? nn::View<const float>(cache.layer) : y;
    cache.packed.resize(n, below.cols);
    for (Index r = 0; r < n; ++r) {
      std::copy_n(below.row(cache.packing.source()[static_cast<std::size_t>(r)]), below.cols,
                  cache.packed.row(r));
    }
    for (int reverse = 0; reverse < 2; ++reverse) {
      run(p, directions_[layer][reverse], reverse == 1, y.cols_from(reverse * sizes_.hidden, sizes_.hidden),
          cache, context);
    }
  }
  cache.emission.resize(n, sizes_.tags);
  emission_.forward(p, y, cache.emission, context);
  cache.tags.resize(static_cast<std::size_t>(n));
  crf_.viterbi(p, cache.emission, sentences, cache.tags, {}, cache.crf, context);
  std::transform(cache.tags.begin(), cache.tags.end(), tags.begin(),
                 [](Index tag) { return static_cast<std::uint8_t>(tag); });
}

}  // namespace askbase::reader
