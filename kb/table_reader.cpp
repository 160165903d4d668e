#include "kb/table_reader.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <utility>

#include "base/text.h"

namespace askbase::kb {
namespace {

constexpr std::size_t kBlock = 1 << 17;
constexpr std::size_t kMaxRow = 16 << 20;
constexpr std::size_t kSample = 1 << 16;
// U+FFFE, a character that stands in no text, takes the place of what cannot be decoded.
constexpr std::string_view kMarker = "\xEF\xBF\xBE";

bool is_utf16(base::Charset charset) {
  return charset == base::Charset::utf16le || charset == base::Charset::utf16be;
}

bool has_high_bit(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return (static_cast<unsigned char>(c) & 0x80) != 0; });
}

// Where the last line of the bytes ends (0: nowhere). The byte 0x0A stands in no other character of UTF-8 or
// GB18030; of UTF-16 whole units are compared.
std::size_t last_line_end(std::string_view raw, base::Charset charset) {
  if (!is_utf16(charset)) {
    const std::size_t end = raw.rfind('\n');
    return end == std::string_view::npos ? 0 : end + 1;
  }
  const std::size_t low = charset == base::Charset::utf16le ? 0 : 1;
  for (std::size_t at = raw.size() / 2 * 2; at >= 2; at -= 2) {
    if (raw[at - 2 + low] == '\n' && raw[at - 1 - low] == '\0') return at;
  }
  return 0;
}

// Bytes at the end that belong to a character whose rest has not been read.
std::size_t unfinished(std::string_view utf8) {
  for (std::size_t back = 1; back <= 3 && back <= utf8.size(); ++back) {
    const auto byte = static_cast<unsigned char>(utf8[utf8.size() - back]);
    if ((byte & 0xC0) == 0x80) continue;
    const std::size_t length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
    return length > back ? back : 0;
  }
  return 0;
}

// A line that reads as UTF-8 with two Chinese characters or more was hardly written in GB18030, where the
// same bytes would be nonsense.
bool is_utf8_by_mistake(std::string_view line) {
  if (!has_high_bit(line) || !base::valid_utf8(line)) return false;
  const std::u32string text = base::to_code_points(line);
  return std::count_if(text.begin(), text.end(), base::is_han) >= 2;
}

base::Result<std::size_t> read_more(base::Input& input, std::string& into, std::size_t size) {
  const std::size_t had = into.size();
  into.resize(had + size);
  auto got = input.read(into.data() + had, size);
  into.resize(had + (got ? *got : 0));
  return got;
}

struct Layout {
  double regular = 0;       // share of rows with the most common number of fields
  std::size_t fields = 0;   // that number
  bool multi_line = false;  // some row spans lines
  std::size_t bad = 0;
};

Layout measure(const std::string& sample, const TableFormat& format) {
  constexpr std::size_t most_rows = 500;
  const auto input = base::Input::from_string(sample, "sample");
  TableReader reader(*input, format);
  std::map<std::size_t, std::size_t> counts;
  Layout layout;
  std::size_t rows = 0;
  TableRow row;
  while (rows < most_rows) {
    const auto outcome = reader.next(row);
    if (!outcome || *outcome == TableReader::Outcome::end) break;
    ++rows;
    if (*outcome == TableReader::Outcome::bad) {
      ++layout.bad;
      continue;
    }
    ++counts[row.fields.size()];
    for (const std::string_view field : row.fields) {
      layout.multi_line = layout.multi_line || field.find('\n') != std::string_view::npos;
    }
  }
  for (const auto& [fields, count] : counts) {
    if (const double share = static_cast<double>(count) / static_cast<double>(rows); share > layout.regular) {
      layout.regular = share;
      layout.fields = fields;
    }
  }
  return layout;
}

char find_separator(const std::string& sample, TableFormat format) {
  constexpr std::array<char, 4> candidates = {',', ';', '\t', '|'};
  char best = ',';
  double best_score = 0;
  for (const char candidate : candidates) {
    format.separator = candidate;
    format.quoting = candidate == '\t' ? Quoting::line : Quoting::rfc4180;
    const Layout layout = measure(sample, format);
    if (layout.fields < 2) continue;
    // Regular rows say most; of two that are as regular, the one that makes more fields.
    const double score =
        layout.regular + 0.001 * static_cast<double>(std::min<std::size_t>(layout.fields, 99));
    if (score > best_score) {
      best_score = score;
      best = candidate;
    }
  }
  return best;
}

}  // namespace

base::Result<TableFormat> detect_table(base::Input& input, char separator) {
  std::string head;  // the beginning
  std::string tail;  // what has been read of the rest; only while all of it is ASCII
  const auto fill = [&input](std::string& into, std::size_t size) -> base::Result<bool> {
    while (into.size() < size) {
      ASKBASE_ASSIGN(const std::size_t got, read_more(input, into, size - into.size()));
      if (got == 0) return false;
    }
    return true;
  };
  ASKBASE_ASSIGN(bool more, fill(head, kSample));
  if (head.substr(0, 4) == "PK\x03\x04" || head.substr(0, 8) == "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1") {
    return base::fail(base::ErrorCode::unsupported, input.name() + ": a workbook, not a text table",
                      "in the spreadsheet program, save the sheet as CSV (UTF-8) and load that file");
  }
  TableFormat format;
  std::uint64_t line = 1;
  std::string_view sample = head;
  bool whole = !more;
  while (more && !has_high_bit(sample) && sample.find('\0') == std::string_view::npos) {
    line += static_cast<std::uint64_t>(std::count(sample.begin(), sample.end(), '\n'));
    // A line that began in the last block is looked at from there on, which is enough to tell the encoding.
    tail.clear();
    ASKBASE_ASSIGN(more, fill(tail, kSample));
    sample = tail;
    whole = !more;
  }
  if (!has_high_bit(sample) && sample.find('\0') == std::string_view::npos) {
    format.charset = base::Charset::utf8;
  } else {
    // Cut at a line's end, so that no character is cut, when there is one. A UTF-16 line end looks so, too.
    std::string_view cut = sample;
    const std::size_t end = cut.rfind('\n');
    if (!whole && end != std::string_view::npos && cut.find('\0') == std::string_view::npos) {
      if (const std::string_view lines = cut.substr(0, end + 1); has_high_bit(lines)) cut = lines;
    }
    auto charset = base::detect_charset(cut, whole);
    if (!charset) {
      base::Error error = charset.error();
      // Binary data and mixtures of encodings.
      const auto bad = base::first_invalid_utf8(cut);
      if (bad) {
        line += static_cast<std::uint64_t>(
            std::count(cut.begin(), cut.begin() + static_cast<std::ptrdiff_t>(*bad), '\n'));
      }
      error.message = input.name() + ":" + std::to_string(line) + ": " + error.message;
      return tl::unexpected(std::move(error));
    }
    format.charset = *charset;
  }
  // The separator, from the lines at the beginning.
  std::string_view beginning = head;
  if (const std::size_t end = last_line_end(head, format.charset); end > 0)
    beginning = beginning.substr(0, end);
  const auto decoded = base::decode(beginning, format.charset);
  // What cannot be decoded is told of by the reader, with its line.
  const std::string text = decoded ? *decoded : std::string(beginning);
  TableFormat of_sample = format;
  of_sample.charset = base::Charset::utf8;
  format.separator = of_sample.separator = separator != 0 ? separator : find_separator(text, of_sample);
  if (format.separator == '\t') {
    const Layout layout = measure(text, of_sample);
    if (layout.bad > 0 || !layout.multi_line || layout.fields < 2) format.quoting = Quoting::line;
  }
  return format;
}

TableReader::TableReader(base::Input& input, const TableFormat& format) : input_(input), format_(format) {}

base::Status TableReader::too_long() const {
  return base::fail(base::ErrorCode::too_large,
                    input_.name() + ":" + std::to_string(row_line_) + ": a row of more than 16 MiB",
                    "look for a quotation mark that is not closed, and check that the file has line breaks");
}

bool TableReader::fill() {
  text_.erase(0, at_);
  at_ = 0;
  while (status_) {
    if (at_end_) return false;
    auto got = read_more(input_, raw_, kBlock);
    if (!got) {
      status_ = tl::unexpected(std::move(got).error());
      return false;
    }
    at_end_ = *got == 0;
    std::size_t usable = raw_.size();
    if (!at_end_) {
      usable = format_.charset == base::Charset::utf8 ? raw_.size() - unfinished(raw_)
                                                      : last_line_end(raw_, format_.charset);
    }
    if (usable > 0) {
      text_ += decode_rows(std::string_view(raw_).substr(0, usable));
      raw_.erase(0, usable);
      return true;
    }
    if (raw_.size() > kMaxRow) status_ = too_long();
  }
  return false;
}

std::string TableReader::decode_rows(std::string_view raw) {
  const bool check_mixture = format_.charset == base::Charset::gb18030;
  if (!check_mixture || !has_high_bit(raw)) {
    if (auto decoded = base::decode(raw, format_.charset)) return std::move(*decoded);
  }
  // Line by line, to lose only those that are wrong.
  std::string out;
  while (!raw.empty()) {
    std::size_t end = raw.size();
    if (!is_utf16(format_.charset)) {
      end = std::min(raw.find('\n'), raw.size() - 1) + 1;
    } else {
      for (std::size_t at = 2; at <= raw.size(); at += 2) {
        if (last_line_end(raw.substr(at - 2, 2), format_.charset) > 0) {
          end = at;
          break;
        }
      }
    }
    const std::string_view line = raw.substr(0, end);
    raw.remove_prefix(end);
    auto decoded = base::decode(line, format_.charset);
    if (decoded && !(check_mixture && is_utf8_by_mistake(line))) {
      out += *decoded;
    } else {
      has_marker_ = true;
      out += kMarker;
      out += '\n';
    }
  }
  return out;
}

bool TableReader::peek(char& c) {
  if (at_ == text_.size() && !fill()) return false;
  c = text_[at_];
  return true;
}

// At a line's end: moves past it.
void TableReader::skip_line_end(char c) {
  ++at_;
  ++line_;
  char next = 0;
  if (c == '\r' && peek(next) && next == '\n') ++at_;
}

TableReader::FieldEnd TableReader::end_field() {
  ends_.push_back(record_.size());
  char c = 0;
  if (!peek(c)) return FieldEnd::end;
  if (c == format_.separator) {
    ++at_;
    return FieldEnd::field;
  }
  skip_line_end(c);
  return FieldEnd::row;
}

TableReader::FieldEnd TableReader::read_plain() {
  char c = 0;
  while (peek(c)) {
    const std::size_t start = at_;
    while (at_ < text_.size() && !is_end(text_[at_])) ++at_;
    record_.append(text_, start, at_ - start);
    if (at_ < text_.size()) break;
    if (record_.size() > kMaxRow) break;
  }
  quoted_.push_back(false);
  return end_field();
}

// Behind an opening quotation mark.
TableReader::FieldEnd TableReader::read_quoted(std::string& problem) {
  char c = 0;
  bool closed = false;
  while (!closed && record_.size() <= kMaxRow && peek(c)) {
    const std::size_t start = at_;
    while (at_ < text_.size() && text_[at_] != '"') {
      line_ += text_[at_] == '\n' ? 1 : 0;
      ++at_;
    }
    record_.append(text_, start, at_ - start);
    if (at_ == text_.size()) continue;
    ++at_;
    if (peek(c) && c == '"') {
      record_ += '"';
      ++at_;
    } else {
      closed = true;
    }
  }
  quoted_.push_back(true);
  if (!closed) {
    problem = "a quotation mark that is not closed";
    return end_field();
  }
  while (peek(c) && c == ' ') ++at_;
  if (peek(c) && !is_end(c)) {
    problem = "text after a closing quotation mark (a quotation mark inside a field is written twice)";
    while (peek(c) && !is_end(c)) ++at_;
  }
  return end_field();
}

// At a quotation mark that starts a field: the field, when it closes on this line; plain text otherwise.
TableReader::FieldEnd TableReader::read_quoted_on_line() {
  std::size_t end = std::string::npos;
  while ((end = text_.find_first_of("\r\n", at_)) == std::string::npos && text_.size() - at_ <= kMaxRow) {
    const std::size_t had = text_.size() - at_;
    if (!fill() || text_.size() - at_ == had) break;
  }
  const std::string_view line =
      std::string_view(text_).substr(at_, end == std::string::npos ? end : end - at_);
  std::string field;
  for (std::size_t i = 1; i < line.size(); ++i) {
    if (line[i] != '"') {
      field += line[i];
    } else if (i + 1 < line.size() && line[i + 1] == '"') {
      field += line[i++];
    } else if (i + 1 == line.size() || line[i + 1] == format_.separator) {
      record_ += field;
      at_ += i + 1;
      quoted_.push_back(true);
      return end_field();
    } else {
      break;
    }
  }
  return read_plain();
}

TableReader::FieldEnd TableReader::read_field(std::string& problem) {
  char c = 0;
  if (!peek(c) || is_end(c)) {
    quoted_.push_back(false);
    return end_field();
  }
  if (format_.quoting == Quoting::line) return c == '"' ? read_quoted_on_line() : read_plain();
  if (c == ' ') {
    // Blanks before an opening quotation mark, as in: a, "b"
    while (peek(c) && c == ' ') {
      record_ += c;
      ++at_;
    }
    if (!peek(c) || c != '"') return read_plain();
    record_.resize(ends_.empty() ? 0 : ends_.back());
  }
  if (c != '"') return read_plain();
  ++at_;
  return read_quoted(problem);
}

base::Result<TableReader::Outcome> TableReader::next(TableRow& row) {
  char c = 0;
  while (peek(c) && (c == '\n' || c == '\r')) skip_line_end(c);
  row.fields.clear();
  row.quoted.clear();
  row.problem.clear();
  row.line = row_line_ = line_;
  if (!peek(c)) {
    ASKBASE_TRY(base::Status(status_));
    return Outcome::end;
  }
  record_.clear();
  ends_.clear();
  quoted_.clear();
  FieldEnd end = FieldEnd::field;
  while (end == FieldEnd::field) {
    end = read_field(row.problem);
    if (record_.size() > kMaxRow || ends_.size() > kMaxRow / 16) {
      ASKBASE_TRY(too_long());
    }
  }
  ASKBASE_TRY(base::Status(status_));
  if (std::memchr(record_.data(), '\0', record_.size()) != nullptr) row.problem = "a NUL byte";
  if (has_marker_ && record_.find(kMarker) != std::string::npos) {
    row.problem = "not " + std::string(base::charset_name(format_.charset)) +
                  " as the rest is (mixed encodings? save the whole file as UTF-8)";
  }
  if (!row.problem.empty()) return Outcome::bad;
  std::size_t begin = 0;
  for (const std::size_t field_end : ends_) {
    row.fields.push_back(std::string_view(record_).substr(begin, field_end - begin));
    begin = field_end;
  }
  row.quoted = quoted_;
  return Outcome::row;
}

}  // namespace askbase::kb
