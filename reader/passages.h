// Cutting a text into passages: pieces of a size that can be ranked, read and shown.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "reader/document.h"

namespace askbase::reader {

// Sizes in tokens: words and punctuation marks; two Han characters (or others of a script without spaces)
// count as one.
struct PassageOptions {
  std::size_t tokens = 128;  // of a passage, at most
  std::size_t overlap = 32;  // that a passage may share with the one before, at most
  bool whole = false;        // the whole text is one passage, whatever its size
};

// Passages made of whole sentences (base/sentences.h), as bytes of the text, without white space at their
// ends. Each begins with the last sentences of the one before, as far as the overlap goes, so that what two
// neighbouring sentences say together stands in one passage. A sentence longer than a passage is cut between
// words. They ascend, and together hold every word of the text; none for a text without words. Linear time.
std::vector<ByteRange> split_passages(std::string_view text, const PassageOptions& options);

}  // namespace askbase::reader
