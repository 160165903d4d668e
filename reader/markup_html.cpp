// A tokenizer of HTML, not a tree builder: text needs no tree, and a tree of hostile input (a million open
// elements) takes quadratic time to build.
#include <algorithm>
#include <array>
#include <charconv>

#include "base/text.h"
#include "reader/markup.h"
#include "reader/named_characters.h"

namespace askbase::reader {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'; }
bool is_alpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_alnum(char c) { return is_alpha(c) || (c >= '0' && c <= '9'); }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

template <std::size_t N>
bool among(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Whose content is not markup, up to their end tag.
constexpr std::array<std::string_view, 4> raw_elements = {"script", "style", "textarea", "title"};
// Whose content is not read. An element that is not closed is not skipped: broken pages would lose their
// text.
constexpr std::array<std::string_view, 14> skipped_elements = {
    "script", "style",  "textarea", "template", "noscript", "svg",   "math",
    "nav",    "select", "datalist", "iframe",   "object",   "audio", "video"};
constexpr std::array<std::string_view, 31> block_elements = {
    "address", "article", "aside", "blockquote", "body",     "center", "dd",         "details",
    "dialog",  "div",     "dl",    "dt",         "fieldset", "figure", "figcaption", "footer",
    "form",    "h1",      "h2",    "h3",         "h4",       "h5",     "h6",         "header",
    "hr",      "main",    "p",     "pre",        "section",  "table",  "caption"};
constexpr std::array<std::string_view, 7> line_elements = {"br", "li", "tr", "ul", "ol", "option", "legend"};

// Windows-1252 for the references 128 to 159, as browsers have it.
constexpr std::array<char32_t, 32> windows_1252 = {
    0x20AC, 0x81,   0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0x8D,   0x017D, 0x8F,   0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D,   0x017E, 0x0178};

char32_t sane(std::uint32_t code) {
  if (code >= 0x80 && code < 0xA0) return windows_1252[code - 0x80];
  const bool bad = code == 0 || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000) ||
                   (code < 0x20 && code != '\t' && code != '\n' && code != '\f' && code != '\r');
  return bad ? 0xFFFD : static_cast<char32_t>(code);
}

// Decodes the reference at `at` ("&...") into `out` and returns where it ends; `at` when it is none.
std::size_t decode_reference(std::string_view html, std::size_t at, std::string& out) {
  std::size_t end = at + 1;
  if (end < html.size() && html[end] == '#') {
    const bool hex = end + 1 < html.size() && lower(html[end + 1]) == 'x';
    const char* const first = html.data() + end + (hex ? 2 : 1);
    std::uint32_t code = 0;
    const auto [stop, error] = std::from_chars(first, html.data() + html.size(), code, hex ? 16 : 10);
    if (stop == first) return at;
    base::append_utf8(out, error == std::errc::result_out_of_range ? 0xFFFD : sane(code));
    end = static_cast<std::size_t>(stop - html.data());
    return end < html.size() && html[end] == ';' ? end + 1 : end;
  }
  while (end < html.size() && is_alnum(html[end]) && end - at <= 10) ++end;
  if (end == html.size() || html[end] != ';') return at;
  const std::string_view name = html.substr(at + 1, end - at - 1);
  const auto known =
      std::lower_bound(named_characters.begin(), named_characters.end(), name,
                       [](const NamedCharacter& one, std::string_view n) { return one.name < n; });
  if (known == named_characters.end() || known->name != name) return at;
  base::append_utf8(out, known->code_point);
  return end + 1;
}

std::string decoded(std::string_view html) {
  std::string out;
  for (std::size_t at = 0; at < html.size();) {
    const std::size_t end = html[at] == '&' ? decode_reference(html, at, out) : at;
    if (end == at)
      out += html[at++];
    else
      at = end;
  }
  return out;
}

struct Tag {
  std::string name;
  bool closing = false;
  std::string lang;
  std::size_t end = 0;  // behind it
};

// Attributes are passed over; quotes may hold '>'. A tag that is never closed goes to the end of the text.
bool read_tag(std::string_view html, std::size_t at, Tag& tag) {
  std::size_t i = at + 1;
  tag = {};
  if (i < html.size() && html[i] == '/') {
    tag.closing = true;
    ++i;
  }
  if (i >= html.size() || !is_alpha(html[i])) return false;
  for (; i < html.size() && !is_space(html[i]) && html[i] != '>' && html[i] != '/'; ++i)
    tag.name += lower(html[i]);
  while (i < html.size() && html[i] != '>') {
    if (is_space(html[i]) || html[i] == '/' || html[i] == '=') {
      ++i;
      continue;
    }
    std::string name, value;
    for (; i < html.size() && !is_space(html[i]) && html[i] != '=' && html[i] != '>' && html[i] != '/'; ++i)
      name += lower(html[i]);
    while (i < html.size() && is_space(html[i])) ++i;
    if (i >= html.size() || html[i] != '=') continue;
    ++i;
    while (i < html.size() && is_space(html[i])) ++i;
    if (i < html.size() && (html[i] == '"' || html[i] == '\'')) {
      const std::size_t close = html.find(html[i], i + 1);
      value = html.substr(i + 1, close == std::string_view::npos ? close : close - i - 1);
      i = close == std::string_view::npos ? html.size() : close + 1;
    } else {
      const std::size_t begin = i;
      while (i < html.size() && !is_space(html[i]) && html[i] != '>') ++i;
      value = html.substr(begin, i - begin);
    }
    if (name == "lang") tag.lang = value;
  }
  tag.end = std::min(html.size(), i + 1);
  return true;
}

class HtmlReader {
 public:
  explicit HtmlReader(std::string_view html) : html_(html) {}

  MarkupText read() {
    while (at_ < html_.size()) {
      const char c = html_[at_];
      if (c == '<' && markup()) continue;
      if (c == '&') {
        std::string decoded_text;
        const std::size_t end = decode_reference(html_, at_, decoded_text);
        if (end != at_) {
          add(decoded_text);
          at_ = end;
          continue;
        }
      }
      add(std::string_view(&html_[at_], 1));
      ++at_;
    }
    while (!out_.text.empty() && (is_space(out_.text.back()))) out_.text.pop_back();
    const std::string title = tidy(title_found_ ? title_ : heading_);
    out_.title = title;
    return std::move(out_);
  }

 private:
  static std::string tidy(std::string_view text) {
    std::string out;
    for (const char c : text) {
      if (!is_space(c))
        out += c;
      else if (!out.empty() && out.back() != ' ')
        out += ' ';
    }
    while (!out.empty() && out.back() == ' ') out.pop_back();
    return out;
  }

  // True when something that is not text was passed.
  bool markup() {
    const std::string_view rest = html_.substr(at_);
    if (rest.starts_with("<!--")) {
      const std::size_t end = html_.find("-->", at_ + 4);
      at_ = end == std::string_view::npos ? html_.size() : end + 3;
      return true;
    }
    if (rest.starts_with("<!") || rest.starts_with("<?")) {
      const std::size_t end = html_.find('>', at_);
      at_ = end == std::string_view::npos ? html_.size() : end + 1;
      return true;
    }
    Tag tag;
    if (!read_tag(html_, at_, tag)) return false;
    at_ = tag.end;
    if (!tag.closing && among(raw_elements, tag.name)) {
      const std::size_t end = end_of_raw(tag.name);
      if (tag.name == "title" && !title_found_) {
        title_found_ = true;
        title_ = decoded(html_.substr(at_, end - at_));
      }
      at_ = end;
      return true;
    }
    if (!tag.closing && among(skipped_elements, tag.name)) {
      if (const std::size_t end = end_of_skipped(tag.name); end != std::string_view::npos) {
        at_ = end;
        return true;
      }
    }
    structure(tag);
    return true;
  }

  // Where the end tag of an element begins whose content is no markup.
  std::size_t end_of_raw(const std::string& name) const {
    for (std::size_t at = html_.find("</", at_); at != std::string_view::npos;
         at = html_.find("</", at + 2)) {
      std::size_t i = 0;
      while (i < name.size() && at + 2 + i < html_.size() && lower(html_[at + 2 + i]) == name[i]) ++i;
      if (i == name.size() && (at + 2 + i >= html_.size() || !is_alnum(html_[at + 2 + i]))) return at;
    }
    return html_.size();
  }

  // Behind the end tag that matches; npos when there is none. Elements of the same name may lie inside. Every
  // name is looked for in vain once only, which keeps the time linear.
  std::size_t end_of_skipped(const std::string& name) {
    if (std::find(unclosed_.begin(), unclosed_.end(), name) != unclosed_.end()) return std::string_view::npos;
    std::size_t depth = 1;
    Tag tag;
    for (std::size_t at = html_.find('<', at_); at != std::string_view::npos; at = html_.find('<', at)) {
      if (html_.substr(at).starts_with("<!--")) {
        at = html_.find("-->", at);
        if (at == std::string_view::npos) break;
        continue;
      }
      if (!read_tag(html_, at, tag)) {
        ++at;
        continue;
      }
      at = tag.end;
      if (tag.name != name) continue;
      if (tag.closing && --depth == 0) return tag.end;
      if (!tag.closing) ++depth;
    }
    unclosed_.push_back(name);
    return std::string_view::npos;
  }

  void structure(const Tag& tag) {
    const std::string& name = tag.name;
    if (name == "html" && out_.lang.empty() && tag.lang.size() <= 35) out_.lang = tag.lang;
    if (name == "pre") pre_ = !tag.closing;
    if (name == "h1") in_heading_ = !tag.closing && heading_.empty();
    if (name == "td" || name == "th") {
      if (!tag.closing) cell();
    } else if (among(block_elements, name)) {
      line(2);
    } else if (among(line_elements, name)) {
      line(1);
      if (name == "li" && !tag.closing) item_ = true;
    }
  }

  // The next text begins a line; wanted 2: after a blank line.
  void line(int wanted) { lines_ = std::max(lines_, wanted); }
  void cell() {
    if (lines_ == 0 && !out_.text.empty() && out_.text.back() != '\n') tab_ = true;
  }

  void add(std::string_view text) {
    if (in_heading_) heading_ += text;
    if (text.size() == 1 && is_space(text[0])) {
      if (pre_ && text[0] == '\n')
        line(1);
      else
        blank_ = true;
      return;
    }
    if (!out_.text.empty()) {
      if (lines_ > 0)
        out_.text.append(static_cast<std::size_t>(lines_), '\n');
      else if (tab_)
        out_.text += '\t';
      else if (blank_)
        out_.text += ' ';
    }
    if (item_) out_.text += "- ";
    lines_ = 0;
    blank_ = tab_ = item_ = false;
    out_.text += text;
  }

  std::string_view html_;
  std::size_t at_ = 0;
  MarkupText out_;
  std::string title_, heading_;
  std::vector<std::string> unclosed_;
  int lines_ = 0;  // line ends due before the next text
  bool blank_ = false, tab_ = false, item_ = false, pre_ = false, in_heading_ = false, title_found_ = false;
};

}  // namespace

MarkupText html_text(std::string_view html) { return HtmlReader(html).read(); }

}  // namespace askbase::reader
