// The weights of jieba's LAC network as PaddlePaddle 1.x writes them: a tensor a file,
//   u32 version (0), u64 levels of detail (0), u32 version (0), i32 size of the description, the description
//   (protobuf: field 1 the type, 5 is float; field 2 the dimensions), the numbers, little-endian
#include <cstring>
#include <map>

#include "base/file.h"
#include "base/text.h"
#include "nn/parameters.h"
#include "reader/lexical_encoder.h"

namespace askbase::reader {

namespace {

using base::ErrorCode;
using nn::Index;

struct Tensor {
  std::vector<Index> shape;
  std::vector<float> values;
};

base::Result<Tensor> read_tensor(const std::filesystem::path& path) {
  ASKBASE_ASSIGN(const std::string bytes, base::read_file(path));
  const auto corrupt = [&] {
    return base::fail(ErrorCode::corrupt, path.string() + " is no tensor of PaddlePaddle 1.x",
                      "use the folder lac_small of jieba 0.42 as it came");
  };
  constexpr std::size_t kHead = 20;
  if (bytes.size() < kHead || bytes.find_first_not_of('\0') < kHead - 4) return corrupt();
  std::uint32_t size = 0;
  std::memcpy(&size, bytes.data() + kHead - 4, 4);
  if (size > bytes.size() - kHead) return corrupt();
  const std::string_view description = std::string_view(bytes).substr(kHead, size);
  std::size_t at = 0;
  const auto number = [&]() -> std::optional<std::uint64_t> {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 63 && at < description.size(); shift += 7) {
      const auto byte = static_cast<unsigned char>(description[at++]);
      value |= std::uint64_t{byte & 127U} << shift;
      if (byte < 128) return value;
    }
    return std::nullopt;
  };
  Tensor tensor;
  std::size_t count = 1;
  while (at < description.size()) {
    const auto key = number(), value = number();
    if (!key || !value) return corrupt();
    if (*key == 8 && *value != 5) return corrupt();
    if (*key != 16) continue;
    if (*value == 0 || *value > 1U << 24) return corrupt();
    tensor.shape.push_back(static_cast<Index>(*value));
    count *= *value;
    if (count > 1U << 28) return corrupt();
  }
  if (bytes.size() - kHead - size != 4 * count) return corrupt();
  tensor.values.resize(count);
  std::memcpy(tensor.values.data(), bytes.data() + kHead + size, 4 * count);
  return tensor;
}

// Lines "number<TAB>name", numbers from 0 on; a number that is left out has an empty name.
base::Result<std::vector<std::string>> read_names(const std::filesystem::path& path) {
  ASKBASE_ASSIGN(const std::string bytes, base::read_file(path));
  std::vector<std::string> names;
  std::string_view text = bytes;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t tab = line.find('\t');
    std::size_t number = 0;
    for (const char c : line.substr(0, tab))
      number = c >= '0' && c <= '9' ? 10 * number + (c - '0') : 1U << 30;
    if (tab == std::string_view::npos || tab == 0 || tab > 6 || number < names.size()) {
      return base::fail(ErrorCode::corrupt, path.string() + ": \"" + std::string(line) +
                                                "\" is not a number and a name in the numbers' order");
    }
    names.resize(number);
    names.emplace_back(line.substr(tab + 1));
  }
  return names;
}

base::Status check(const std::filesystem::path& path, const Tensor& tensor, std::size_t size) {
  if (tensor.values.size() == size) return {};
  return base::fail(ErrorCode::corrupt, path.string() + ": " + std::to_string(tensor.values.size()) +
                                            " numbers where " + std::to_string(size) + " are wanted");
}

// p(o, i) = values[i, o]: PaddlePaddle multiplies from the other side.
void put_transposed(const float* values, nn::View<float> p) {
  for (Index o = 0; o < p.rows; ++o) {
    for (Index i = 0; i < p.cols; ++i) p(o, i) = values[i * p.rows + o];
  }
}

}  // namespace

base::Result<LexicalSource> open_lac(const std::filesystem::path& folder) {
  ASKBASE_ASSIGN(std::vector<std::string> characters, read_names(folder / "word.dic"));
  ASKBASE_ASSIGN(const std::vector<std::string> tags, read_names(folder / "tag.dic"));
  std::string lines;
  for (std::size_t i = 0; i < characters.size(); ++i) {
    lines += (characters[i].empty() ? "UNUSED_" + std::to_string(i) : characters[i]) + '\n';
  }
  ASKBASE_ASSIGN(CharVocabulary vocabulary, CharVocabulary::parse(lines));
  LexicalSource source{std::move(vocabulary), {}, {}, folder};
  source.sizes.vocabulary = source.vocabulary.size();
  source.sizes.tags = static_cast<Index>(tags.size());
  if (tags.empty() || tags.size() > 255) {
    return base::fail(ErrorCode::corrupt, (folder / "tag.dic").string() + " has no tags, or too many");
  }
  for (const std::string& tag : tags) source.word_begins.push_back(tag.ends_with("-B") || tag == "O" ? 1 : 0);
  return source;
}

base::Status fill_lac(const LexicalSource& source, nn::Parameters<float>& p) {
  const std::filesystem::path folder = source.folder / "model_baseline";
  const auto target = [&](const std::string& name) { return p.mutable_view(p.find("lexical." + name)); };
  const auto size_of = [](nn::View<float> v) { return static_cast<std::size_t>(v.size()); };
  ASKBASE_ASSIGN(const Tensor characters, read_tensor(folder / "word_emb"));
  ASKBASE_TRY(check(folder / "word_emb", characters, size_of(target("characters.weight"))));
  std::copy(characters.values.begin(), characters.values.end(), target("characters.weight").data);
  for (int layer = 0; layer < 2; ++layer) {
    for (int reverse = 0; reverse < 2; ++reverse) {
      const std::string number = std::to_string(2 * layer + reverse);
      const std::string name = "l" + std::to_string(layer) + (reverse == 0 ? "f." : "r.");
      const nn::View<float> input = target(name + "input.weight"), bias = target(name + "input.bias"),
                            gates = target(name + "gates.weight"),
                            candidate = target(name + "candidate.weight");
      ASKBASE_ASSIGN(const Tensor w, read_tensor(folder / ("fc_" + number + ".w_0")));
      ASKBASE_TRY(check(folder / ("fc_" + number + ".w_0"), w, size_of(input)));
      put_transposed(w.values.data(), input);
      // Two layers in a row, the linear one and the GRU, add their biases.
      ASKBASE_ASSIGN(const Tensor b, read_tensor(folder / ("fc_" + number + ".b_0")));
      ASKBASE_TRY(check(folder / ("fc_" + number + ".b_0"), b, size_of(bias)));
      ASKBASE_ASSIGN(const Tensor c, read_tensor(folder / ("gru_" + number + ".b_0")));
      ASKBASE_TRY(check(folder / ("gru_" + number + ".b_0"), c, size_of(bias)));
      for (Index i = 0; i < bias.cols; ++i) {
        bias.data[i] = b.values[static_cast<std::size_t>(i)] + c.values[static_cast<std::size_t>(i)];
      }
      // The gates' weights (H, 2H), then the candidate's (H, H), whatever the shape says.
      ASKBASE_ASSIGN(const Tensor u, read_tensor(folder / ("gru_" + number + ".w_0")));
      ASKBASE_TRY(check(folder / ("gru_" + number + ".w_0"), u, size_of(gates) + size_of(candidate)));
      put_transposed(u.values.data(), gates);
      put_transposed(u.values.data() + gates.size(), candidate);
    }
  }
  const nn::View<float> emission = target("emission.weight"), bias = target("emission.bias");
  ASKBASE_ASSIGN(const Tensor w, read_tensor(folder / "fc_4.w_0"));
  ASKBASE_TRY(check(folder / "fc_4.w_0", w, size_of(emission)));
  put_transposed(w.values.data(), emission);
  ASKBASE_ASSIGN(const Tensor b, read_tensor(folder / "fc_4.b_0"));
  ASKBASE_TRY(check(folder / "fc_4.b_0", b, size_of(bias)));
  std::copy(b.values.begin(), b.values.end(), bias.data);
  // Rows: scores of the first tag, of the last, and from each tag to each.
  const Index tags = bias.cols;
  ASKBASE_ASSIGN(const Tensor crf, read_tensor(folder / "crfw"));
  ASKBASE_TRY(check(folder / "crfw", crf, static_cast<std::size_t>((tags + 2) * tags)));
  std::copy_n(crf.values.data(), tags, target("crf.start_transitions").data);
  std::copy_n(crf.values.data() + tags, tags, target("crf.end_transitions").data);
  std::copy_n(crf.values.data() + 2 * tags, tags * tags, target("crf.transitions").data);
  return {};
}

}  // namespace askbase::reader
