#include "base/sentences.h"

#include <algorithm>
#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <unicode/brkiter.h>
#include <unicode/filteredbrk.h>
#include <unicode/locid.h>

#include "base/text.h"
#include "base/utf8.h"

namespace askbase::base {
namespace {

// One a thread, cloned from the first: an iterator must not be shared.
icu::BreakIterator& sentences_of_this_thread() {
  static const std::unique_ptr<icu::BreakIterator> prototype = [] {
    // What ICU's list of English abbreviations lacks.
    constexpr std::array<const char16_t*, 16> more = {u"Dr.",  u"St.",  u"Gen.",    u"Col.", u"Lt.", u"Sgt.",
                                                      u"Rev.", u"Sen.", u"Rep.",    u"Gov.", u"vs.", u"e.g.",
                                                      u"i.e.", u"Fig.", u"approx.", u"ca."};
    UErrorCode error = U_ZERO_ERROR;
    std::unique_ptr<icu::BreakIterator> plain(
        icu::BreakIterator::createSentenceInstance(icu::Locale::getEnglish(), error));
    const std::unique_ptr<icu::FilteredBreakIteratorBuilder> filter(
        icu::FilteredBreakIteratorBuilder::createInstance(icu::Locale::getEnglish(), error));
    if (U_FAILURE(error)) throw std::runtime_error("ICU has no sentence rules");
    for (const char16_t* abbreviation : more) filter->suppressBreakAfter(abbreviation, error);
    std::unique_ptr<icu::BreakIterator> made(filter->build(plain.release(), error));
    if (U_FAILURE(error) || made == nullptr) throw std::runtime_error("ICU has no sentence rules");
    return made;
  }();
  thread_local const std::unique_ptr<icu::BreakIterator> own(prototype->clone());
  return *own;
}

// "# heading", "- item", "* item", "• item", "3. item", "3) item", "| cell |"
bool begins_item(std::string_view line) {
  while (line.starts_with(' ') || line.starts_with('\t')) line.remove_prefix(1);
  const std::size_t marks = line.find_first_not_of('#');
  if (marks != 0 && marks != std::string_view::npos && line[marks] == ' ') return true;
  if (line.starts_with("- ") || line.starts_with("* ") || line.starts_with("+ ") ||
      line.starts_with("\u2022") || line.starts_with('|'))
    return true;
  std::size_t digits = 0;
  while (digits < line.size() && line[digits] >= '0' && line[digits] <= '9') ++digits;
  return digits > 0 && digits <= 3 && digits + 1 < line.size() &&
         (line[digits] == '.' || line[digits] == ')') && line[digits + 1] == ' ';
}

bool is_heading(std::string_view line) { return line.starts_with('#'); }

// A paragraph's sentences; `at` is its place in the whole text.
void add_sentences(std::string_view paragraph, std::size_t at, std::vector<std::uint32_t>& ends) {
  icu::UnicodeString utf16(static_cast<std::int32_t>(paragraph.size()), 0, 0);
  std::vector<std::uint32_t> bytes;  // where each UTF-16 unit stands; empty while that is its own number
  bool plain = true;
  for (std::size_t i = 0; i < paragraph.size();) {
    std::size_t length = 1;
    char32_t c = decode_utf8(paragraph, i, length);
    if (length > 1 && plain) {
      plain = false;
      bytes.resize(i);
      for (std::size_t k = 0; k < i; ++k) bytes[k] = static_cast<std::uint32_t>(k);
    }
    if (c == '\n' || c == '\r') c = ' ';
    utf16.append(static_cast<UChar32>(c));
    if (!plain) bytes.resize(static_cast<std::size_t>(utf16.length()), static_cast<std::uint32_t>(i));
    i += length;
  }
  icu::BreakIterator& sentences = sentences_of_this_thread();
  sentences.setText(utf16);
  for (std::int32_t end = sentences.next(); end != icu::BreakIterator::DONE; end = sentences.next()) {
    const bool last = end >= utf16.length();
    const std::size_t byte = last    ? paragraph.size()
                             : plain ? static_cast<std::size_t>(end)
                                     : bytes[static_cast<std::size_t>(end)];
    ends.push_back(static_cast<std::uint32_t>(at + byte));
  }
}

}  // namespace

std::vector<std::uint32_t> sentence_ends(std::string_view text) {
  if (text.size() > INT32_MAX) throw std::length_error("sentence_ends: a text of 2 GiB or more");
  constexpr std::size_t longest_paragraph = 1 << 20;  // no sentence is that long; bounds the memory
  std::vector<std::uint32_t> ends;
  for (std::size_t begin = 0; begin < text.size();) {
    // To the end of the paragraph, with the blank lines after it.
    std::size_t end = begin;
    bool ended = false;
    while (end < text.size() && !ended) {
      const std::size_t newline = text.find('\n', end);
      const std::string_view line =
          text.substr(end, newline == std::string_view::npos ? newline : newline - end);
      end = newline == std::string_view::npos ? text.size() : newline + 1;
      if (end == text.size()) break;
      const std::string_view next = text.substr(end, text.find('\n', end) - end);
      ended = trim(next).empty() || begins_item(next) || is_heading(line) || end - begin > longest_paragraph;
    }
    while (end < text.size()) {
      const std::size_t newline = text.find('\n', end);
      const std::size_t stop = newline == std::string_view::npos ? text.size() : newline + 1;
      if (!trim(text.substr(end, stop - end)).empty()) break;
      end = stop;
    }
    add_sentences(text.substr(begin, end - begin), begin, ends);
    begin = end;
  }
  return ends;
}

}  // namespace askbase::base
