// Markdown, as far as reading its text needs it: CommonMark's marks, and the tables and front matter of
// common extensions. Marks that stand for themselves (a lone asterisk, underscores inside words) stay.
#include <algorithm>

#include "base/text.h"
#include "reader/markup.h"

namespace askbase::reader {
namespace {

constexpr std::size_t longest_mark = 2000;  // bytes of a link's target or a tag: keeps the time linear

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c & 0x80) != 0;
}

std::string_view trimmed(std::string_view line) {
  while (!line.empty() && is_space(line.front())) line.remove_prefix(1);
  while (!line.empty() && is_space(line.back())) line.remove_suffix(1);
  return line;
}

// "---", "***", "| --- | :-: |", "====": lines that only draw.
bool only_draws(std::string_view line) {
  std::size_t marks = 0;
  for (const char c : trimmed(line)) {
    if (c != '-' && c != '*' && c != '_' && c != '=' && c != '|' && c != ':' && c != ' ') return false;
    if (c == '-' || c == '*' || c == '_' || c == '=') ++marks;
  }
  return marks >= 3;
}

class MarkdownReader {
 public:
  explicit MarkdownReader(std::string_view text) : text_(text) {}

  std::vector<ByteRange> read() {
    std::size_t at = front_matter();
    skip(0, at);
    while (at < text_.size()) {
      const std::size_t newline = std::min(text_.find('\n', at), text_.size());
      line(at, newline);
      at = newline + 1;
    }
    return std::move(marks_);
  }

  // Behind the front matter; 0 when there is none.
  std::size_t front_matter() const {
    if (!text_.starts_with("---\n") && !text_.starts_with("---\r\n")) return 0;
    const std::size_t end = text_.find("\n---", 3);
    if (end == std::string_view::npos) return 0;
    const std::size_t newline = text_.find('\n', end + 1);
    return newline == std::string_view::npos ? text_.size() : newline + 1;
  }

 private:
  void skip(std::size_t begin, std::size_t end) {
    if (begin >= end) return;
    if (!marks_.empty() && marks_.back().end >= begin)
      marks_.back().end = std::max(marks_.back().end, static_cast<std::uint32_t>(end));
    else
      marks_.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)});
  }

  void line(std::size_t begin, std::size_t end) {
    const std::string_view whole = text_.substr(begin, end - begin), content = trimmed(whole);
    const auto first = static_cast<std::size_t>(content.data() - text_.data());
    if (content.starts_with("```") || content.starts_with("~~~")) {
      fenced_ = !fenced_;
      return skip(first, end);
    }
    if (fenced_ || content.empty()) return;
    if (only_draws(content)) return skip(first, end);
    std::size_t at = first;
    while (at < end && text_[at] == '>') {
      skip(at, at + 1);
      ++at;
      while (at < end && is_space(text_[at])) ++at;
    }
    std::size_t hashes = at;
    while (hashes < end && text_[hashes] == '#') ++hashes;
    if (hashes > at && hashes - at <= 6 && (hashes == end || is_space(text_[hashes]))) {
      std::size_t begin_text = hashes;
      while (begin_text < end && is_space(text_[begin_text])) ++begin_text;
      skip(at, begin_text);
      at = begin_text;
    }
    inline_text(at, end);
  }

  void inline_text(std::size_t at, std::size_t end) {
    while (at < end) {
      const char c = text_[at];
      std::size_t next = at + 1;
      if (c == '\\' && at + 1 < end && !is_word(text_[at + 1]) && !is_space(text_[at + 1])) {
        skip(at, at + 1);
        next = at + 2;
      } else if (c == '`' || c == '~') {
        while (next < end && text_[next] == c) ++next;
        if (c == '`' || next - at == 2) skip(at, next);
      } else if (c == '*' || c == '_') {
        while (next < end && text_[next] == c) ++next;
        emphasis(at, next, end);
      } else if (c == '!' && at + 1 < end && text_[at + 1] == '[') {
        skip(at, at + 2);
        next = at + 2;
      } else if (c == '[') {
        if (link_ahead(at, end)) skip(at, at + 1);
      } else if (c == ']') {
        next = link_target(at, end);
      } else if (c == '<') {
        next = tag(at, end);
      } else if (c == '|') {
        skip(at, at + 1);
      }
      at = next;
    }
  }

  // Marks beside white space on both sides are text, and so are underscores inside a word.
  void emphasis(std::size_t begin, std::size_t end_marks, std::size_t end) {
    const bool left = begin > 0 && !is_space(text_[begin - 1]) && text_[begin - 1] != '\n';
    const bool right = end_marks < end && !is_space(text_[end_marks]);
    if (!left && !right) return;
    const bool inside = begin > 0 && is_word(text_[begin - 1]) && right && is_word(text_[end_marks]);
    if (inside && text_[begin] == '_') return;
    skip(begin, end_marks);
  }

  // Whether "[" opens a link: a "](" or "][" follows on the line.
  bool link_ahead(std::size_t at, std::size_t end) {
    if (link_end_ > at && link_end_line_ == end) return true;
    if (link_end_line_ == end && link_end_ == 0) return false;  // looked for in vain on this line
    link_end_line_ = end;
    link_end_ = 0;
    for (std::size_t i = at; i + 1 < end; ++i)
      if (text_[i] == ']' && (text_[i + 1] == '(' || text_[i + 1] == '[')) link_end_ = i;
    return link_end_ > at;
  }

  std::size_t link_target(std::size_t at, std::size_t end) {
    if (at + 1 >= end || (text_[at + 1] != '(' && text_[at + 1] != '[')) return at + 1;
    const char close = text_[at + 1] == '(' ? ')' : ']';
    std::size_t depth = 0;
    for (std::size_t i = at + 1; i < std::min(end, at + longest_mark); ++i) {
      if (text_[i] == text_[at + 1]) ++depth;
      if (text_[i] == close && --depth == 0) {
        skip(at, i + 1);
        return i + 1;
      }
    }
    return at + 1;
  }

  // "<b>", "</b>", "<!-- -->"; of "<https://...>" only the brackets.
  std::size_t tag(std::size_t at, std::size_t end) {
    const std::size_t close = text_.substr(0, std::min(end, at + longest_mark)).find('>', at);
    if (close == std::string_view::npos || at + 1 >= end) return at + 1;
    const char first = text_[at + 1];
    const bool named = (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z');
    if (!named && first != '/' && first != '!') return at + 1;
    const std::string_view inside = text_.substr(at + 1, close - at - 1);
    if (inside.find("://") != std::string_view::npos && inside.find(' ') == std::string_view::npos) {
      skip(at, at + 1);
      skip(close, close + 1);
    } else {
      skip(at, close + 1);
    }
    return close + 1;
  }

  std::string_view text_;
  std::vector<ByteRange> marks_;
  bool fenced_ = false;
  std::size_t link_end_ = 0, link_end_line_ = 0;
};

}  // namespace

std::vector<ByteRange> markdown_marks(std::string_view markdown) { return MarkdownReader(markdown).read(); }

std::string markdown_title(std::string_view markdown) {
  const std::size_t front = MarkdownReader(markdown).front_matter();
  bool fenced = false;
  for (std::size_t at = 0; at < markdown.size();) {
    const std::size_t newline = std::min(markdown.find('\n', at), markdown.size());
    std::string_view line = trimmed(markdown.substr(at, newline - at));
    if (at < front) {
      if (line.starts_with("title:")) {
        line = trimmed(line.substr(6));
        const bool quoted = line.size() >= 2 && (line.front() == '"' || line.front() == '\'');
        if (quoted && line.back() == line.front()) line = line.substr(1, line.size() - 2);
        if (!line.empty()) return std::string(line);
      }
    } else if (line.starts_with("```") || line.starts_with("~~~")) {
      fenced = !fenced;
    } else if (!fenced && line.starts_with('#')) {
      const std::string heading = read_text(line, markdown_marks(line));
      if (!base::trim(heading).empty()) return std::string(base::trim(heading));
    }
    at = newline + 1;
  }
  return {};
}

}  // namespace askbase::reader
