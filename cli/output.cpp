#include "cli/output.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"

namespace askbase::cli {

namespace {

bool wide(char32_t c) {
  return (c >= 0x1100 && c <= 0x115F) || (c >= 0x2E80 && c <= 0xA4CF) || (c >= 0xAC00 && c <= 0xD7A3) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0xFE30 && c <= 0xFE6F) || (c >= 0xFF00 && c <= 0xFF60) ||
         (c >= 0xFFE0 && c <= 0xFFE6) || (c >= 0x1F300 && c <= 0x1FAFF) || (c >= 0x20000 && c <= 0x3FFFD);
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (const char32_t c : base::to_code_points(text)) width += wide(c) ? 2 : 1;
  return width;
}

}  // namespace

void print(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void print_line(std::string_view text) {
  print(printable(text));
  print("\n");
}

base::Status finish_output() {
  errno = 0;
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    const int error = errno == 0 ? EIO : errno;
    return base::fail(base::ErrorCode::io,
                      std::string("cannot write to standard output: ") + std::strerror(error));
  }
  return {};
}

void print_error(const base::Error& error) {
  std::fflush(stdout);
  std::string text = "error: " + printable(error.message) + "\n";
  if (!error.hint.empty()) text += "hint: " + printable(error.hint) + "\n";
  std::fwrite(text.data(), 1, text.size(), stderr);
}

std::string printable(std::string_view text) {
  std::string out;
  for (const char32_t c : base::to_code_points(text)) {
    if (c == '\t' || c == '\n' || c == '\r') {
      out += ' ';
    } else if (c < 0x20 || (c >= 0x7F && c < 0xA0)) {
      out += "\uFFFD";
    } else {
      base::append_utf8(out, c);
    }
  }
  return out;
}

std::string bold(std::string_view text) {
  static const bool able = ::isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr;
  std::string out = printable(text);
  return able ? "\x1b[1m" + out + "\x1b[0m" : out;
}

std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

std::string readable_bytes(std::uint64_t bytes) {
  constexpr std::array<const char*, 5> units = {"bytes", "kB", "MB", "GB", "TB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1000 && unit + 1 < units.size(); ++unit) value /= 1000;
  return decimal(value, unit == 0 ? 0 : 1) + " " + units[unit];
}

std::string readable_time(std::int64_t seconds_since_1970) {
  const auto time = static_cast<std::time_t>(seconds_since_1970);
  std::tm parts{};
  std::array<char, 40> buffer{};
  if (::gmtime_r(&time, &parts) == nullptr ||
      std::strftime(buffer.data(), buffer.size(), "%Y-%m-%d %H:%M:%S UTC", &parts) == 0) {
    return std::to_string(seconds_since_1970);
  }
  return buffer.data();
}

std::string counted(std::uint64_t number, std::string_view singular, std::string_view plural) {
  return grouped(number) + " " + std::string(number == 1 ? singular : plural);
}

std::string decimal(double value, int decimals) {
  std::array<char, 64> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.*f", decimals, value);
  return buffer.data();
}

std::string table(const std::vector<std::vector<std::string>>& rows, const std::vector<bool>& right_aligned) {
  std::vector<std::size_t> widths;
  std::vector<std::vector<std::string>> shown;
  for (const auto& row : rows) {
    shown.emplace_back();
    for (std::size_t i = 0; i < row.size(); ++i) {
      shown.back().push_back(printable(row[i]));
      if (widths.size() <= i) widths.push_back(0);
      widths[i] = std::max(widths[i], display_width(shown.back().back()));
    }
  }
  std::string out;
  for (const auto& row : shown) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - display_width(row[i]), ' ');
      const bool right = i < right_aligned.size() && right_aligned[i];
      if (i > 0) line += "  ";
      line += right ? padding + row[i] : row[i] + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

base::Json term_json(const kb::Term& term) {
  if (term.kind == kb::TermKind::iri) return term.value;
  if (term.kind == kb::TermKind::blank) return "_:" + term.value;
  base::Json out;
  out["value"] = term.value;
  if (!term.datatype.empty()) out["type"] = term.datatype;
  if (!term.lang.empty()) out["lang"] = term.lang;
  return out;
}

base::Json summary_json(const kb::UpdateSummary& summary) {
  base::Json out;
  out["sources"] = base::Json::array();
  for (const kb::SourceChange& change : summary.sources) {
    out["sources"].push_back({{"source", change.source},
                              {"facts", change.facts},
                              {"added", change.added},
                              {"removed", change.removed}});
  }
  out["added"] = summary.added;
  out["removed"] = summary.removed;
  out["facts"] = summary.facts;
  return out;
}

void print_summary(const kb::UpdateSummary& summary, const std::string& kb_name, double seconds) {
  for (const kb::SourceChange& change : summary.sources) {
    print_line(change.source + ": " + counted(change.facts, "fact", "facts") + " (" + grouped(change.added) +
               " added, " + grouped(change.removed) + " removed)");
  }
  std::string line = "knowledge base " + kb_name + ": " + counted(summary.facts, "fact", "facts") + ", " +
                     grouped(summary.added) + " new, " + grouped(summary.removed) + " gone";
  if (seconds >= 0) line += ", in " + decimal(seconds, seconds < 10 ? 2 : 0) + " s";
  print_line(line);
}

base::Json summary_json(const reader::DocumentSummary& summary) {
  return {{"added", summary.added},         {"replaced", summary.replaced},   {"removed", summary.removed},
          {"unchanged", summary.unchanged}, {"documents", summary.documents}, {"passages", summary.passages}};
}

void print_summary(const reader::DocumentSummary& summary, const std::string& kb_name, double seconds) {
  std::string line =
      "knowledge base " + kb_name + ": " + counted(summary.documents, "document", "documents") + " in " +
      counted(summary.passages, "passage", "passages") + "; " + grouped(summary.added) + " new, " +
      grouped(summary.replaced) + " replaced, " + grouped(summary.removed) + " removed";
  if (summary.unchanged > 0) line += ", " + grouped(summary.unchanged) + " unchanged";
  if (seconds >= 0) line += ", in " + decimal(seconds, seconds < 10 ? 2 : 0) + " s";
  print_line(line);
}

}  // namespace askbase::cli
