// Text out of marked-up documents. Any input gives a result, in linear time: broken markup is read as far as
// it makes sense, and what does not is text. Thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reader/document.h"

namespace askbase::reader {

struct MarkupText {
  std::string title, text;
  std::string lang;  // of <html lang>, else empty
};

// The readable text of an HTML page: tags are gone; comments, scripts, styles, templates, navigation, form
// fields and drawings with all they hold; character references are decoded; white space is one blank,
// paragraphs, headings and table rows begin a line of their own (paragraphs after a blank line), list items
// with "- ", cells of a row are divided by a tab; <pre> keeps its lines. The title is that of <title>, else
// of the first <h1>.
MarkupText html_text(std::string_view html);

// Of Markdown the text stays as it is, so that places in it are places in the file: these are the bytes that
// its readers skip, ascending and disjoint: marks of headings, emphasis and code; link targets and images'
// targets; fences; HTML tags and comments; the front matter between "---" lines; lines that only draw a table
// or a rule.
std::vector<ByteRange> markdown_marks(std::string_view markdown);
// The text of the first heading (or the front matter's title); empty without one.
std::string markdown_title(std::string_view markdown);

}  // namespace askbase::reader
