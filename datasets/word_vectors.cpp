#include "datasets/word_vectors.h"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <unordered_map>

#include "base/input.h"
#include "base/json.h"
#include "base/text.h"

namespace askbase::datasets {

namespace {

using base::ErrorCode;

// The bytes of an Input, one at a time, as the JSON parser wants them.
class ByteSource {
 public:
  explicit ByteSource(base::Input& input) : input_(input) { refill(); }
  bool at_end() const { return begin_ == end_; }
  char get() const { return buffer_[begin_]; }
  void next() {
    if (++begin_ == end_) refill();
  }
  const base::Status& status() const { return status_; }

 private:
  void refill() {
    begin_ = end_ = 0;
    const base::Result<std::size_t> got = input_.read(buffer_.data(), buffer_.size());
    if (got) {
      end_ = *got;
    } else {
      status_ = tl::unexpected(got.error());
    }
  }
  base::Input& input_;
  std::string buffer_ = std::string(1 << 18, '\0');
  std::size_t begin_ = 0, end_ = 0;
  base::Status status_;
};

class ByteIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = char;
  ByteIterator() = default;
  explicit ByteIterator(ByteSource& source) : source_(&source) {}
  char operator*() const { return source_->get(); }
  ByteIterator& operator++() {
    source_->next();
    return *this;
  }
  bool operator==(const ByteIterator& other) const { return at_end() == other.at_end(); }

 private:
  bool at_end() const { return source_ == nullptr || source_->at_end(); }
  ByteSource* source_ = nullptr;
};

using Wanted = std::function<bool(std::size_t, const std::string&)>;

// Follows {"dimensions": d, "words": [...], "vectors": {"word": [...]}} whatever else stands beside them.
class JsonReader : public nlohmann::json_sax<base::Json> {
 public:
  explicit JsonReader(const Wanted& wanted) : wanted_(wanted) {}

  bool null() override { return value(); }
  bool boolean(bool) override { return value(); }
  bool number_integer(number_integer_t v) override { return number(static_cast<double>(v)); }
  bool number_unsigned(number_unsigned_t v) override { return number(static_cast<double>(v)); }
  bool number_float(number_float_t v, const string_t&) override { return number(v); }
  bool binary(binary_t&) override { return value(); }
  bool string(string_t& v) override {
    if (depth_ == 2 && section_ == "words") {
      const std::size_t rank = words_++;
      if (wanted_(rank, v)) {
        if (!rows_.emplace(v, vectors_.words.size()).second) return fail("the word " + v + " comes twice");
        vectors_.words.push_back(v);
      }
      return true;
    }
    return value();
  }
  bool start_object(std::size_t) override { return open(); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override {
    row_.clear();
    return open();
  }
  bool end_array() override {
    if (depth_ == 3 && section_ == "vectors" && !keep()) return false;
    return close();
  }
  bool key(string_t& v) override {
    if (depth_ == 1) {
      section_ = v;
      if (v == "vectors" && (vectors_.dimensions == 0 || words_ == 0)) {
        return fail("\"vectors\" before \"dimensions\" and \"words\"");
      }
      if (v == "vectors") {
        vectors_.values.resize(vectors_.words.size() * vectors_.dimensions);
        seen_.assign(vectors_.words.size(), false);
      }
    } else if (depth_ == 2) {
      word_ = v;
    }
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    return fail("no valid JSON at byte " + std::to_string(position));
  }

  const std::string& error() const { return error_; }
  base::Result<WordVectors> result(const std::string& name) {
    for (std::size_t i = 0; i < vectors_.words.size(); ++i) {
      if (seen_.empty() || !seen_[i]) {
        return base::fail(ErrorCode::bad_input, name + ": no vector for the word " + vectors_.words[i]);
      }
    }
    return std::move(vectors_);
  }

 private:
  bool fail(std::string what) {
    if (error_.empty()) error_ = std::move(what);
    return false;
  }
  bool value() { return true; }
  bool open() {
    // The SAX parser keeps a bit a level; nothing that this format has is deeper.
    return ++depth_ <= 8 || fail("nested too deep");
  }
  bool close() {
    --depth_;
    return true;
  }
  bool number(double v) {
    if (depth_ == 1 && section_ == "dimensions") {
      if (!(v >= 1 && v <= 4096) || v != std::floor(v))
        return fail("\"dimensions\" is no number from 1 to 4096");
      vectors_.dimensions = static_cast<std::size_t>(v);
    } else if (depth_ == 3 && section_ == "vectors" && row_.size() < vectors_.dimensions) {
      row_.push_back(static_cast<float>(v));
    }
    return true;
  }
  bool keep() {
    const auto found = rows_.find(word_);
    if (found == rows_.end()) return true;
    if (row_.size() != vectors_.dimensions) {
      return fail("the vector of " + word_ + " has " + std::to_string(row_.size()) + " numbers");
    }
    for (const float v : row_) {
      if (!std::isfinite(v)) return fail("the vector of " + word_ + " is not finite");
    }
    std::copy(row_.begin(), row_.end(),
              vectors_.values.begin() + static_cast<std::ptrdiff_t>(found->second * vectors_.dimensions));
    seen_[found->second] = true;
    return true;
  }

  const Wanted& wanted_;
  WordVectors vectors_;
  std::unordered_map<std::string, std::size_t> rows_;
  std::vector<bool> seen_;
  std::vector<float> row_;
  std::string section_, word_, error_;
  std::size_t depth_ = 0, words_ = 0;
};

base::Result<WordVectors> read_json(base::Input& input, const Wanted& wanted) {
  ByteSource source(input);
  JsonReader reader(wanted);
  const bool done = base::Json::sax_parse(ByteIterator(source), ByteIterator(), &reader);
  ASKBASE_TRY(source.status());
  if (!done) {
    return base::fail(ErrorCode::bad_input, input.name() + ": " + reader.error(),
                      "word vectors in JSON have \"dimensions\", then \"words\", then \"vectors\"");
  }
  return reader.result(input.name());
}

base::Result<WordVectors> read_text(base::Input& input, const Wanted& wanted) {
  base::LineReader lines(input);
  const auto bad = [&](const std::string& what) {
    return base::fail(ErrorCode::bad_input,
                      input.name() + ":" + std::to_string(lines.line_number()) + ": " + what,
                      "a line is a word and its numbers, apart by blanks");
  };
  WordVectors vectors;
  std::vector<float> row;
  std::size_t rank = 0;
  std::string_view line;
  for (;;) {
    ASKBASE_ASSIGN(const bool more, lines.next(line));
    if (!more) break;
    if (!base::valid_utf8(line)) return bad("not UTF-8");
    const std::size_t blank = line.find(' ');
    if (blank == 0 || blank == std::string_view::npos) return bad("no word with numbers");
    const std::string word(line.substr(0, blank));
    row.clear();
    for (const char *at = line.data() + blank, *end = line.data() + line.size(); at != end;) {
      if (*at == ' ') {
        ++at;
        continue;
      }
      float v = 0;
      const auto [next, error] = std::from_chars(at, end, v);
      if (error != std::errc() || !std::isfinite(v) || (next != end && *next != ' ')) return bad("no number");
      row.push_back(v);
      at = next;
    }
    if (lines.line_number() == 1 && row.size() == 1) continue;  // word2vec's "count dimensions"
    if (vectors.dimensions == 0) vectors.dimensions = row.size();
    if (row.size() != vectors.dimensions) {
      return bad(std::to_string(row.size()) + " numbers where lines before have " +
                 std::to_string(vectors.dimensions));
    }
    if (!wanted(rank++, word)) continue;
    vectors.words.push_back(word);
    vectors.values.insert(vectors.values.end(), row.begin(), row.end());
  }
  return vectors;
}

}  // namespace

base::Result<WordVectors> read_word_vectors(const std::filesystem::path& path, const Wanted& wanted) {
  ASKBASE_ASSIGN(auto input, base::Input::open(path));
  // The form shows in the first byte; an Input cannot go back, so it is opened again.
  char first = 0;
  ASKBASE_ASSIGN(const std::size_t got, input->read(&first, 1));
  ASKBASE_ASSIGN(input, base::Input::open(path));
  ASKBASE_ASSIGN(WordVectors vectors,
                 got == 1 && first == '{' ? read_json(*input, wanted) : read_text(*input, wanted));
  if (vectors.words.empty()) {
    return base::fail(ErrorCode::bad_input, input->name() + ": none of the words asked for is in it");
  }
  return vectors;
}

}  // namespace askbase::datasets
