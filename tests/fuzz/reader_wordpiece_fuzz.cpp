// A vocabulary and a text of any bytes: an error that names the place, or pieces in the order of the text
// whose places lie inside of it. Without a vocabulary in the input a fixed one cuts all of it.
#include <string>

#include "base/text.h"
#include "reader/wordpiece.h"
#include "tests/fuzz/fuzz_support.h"

using namespace askbase;
using namespace askbase::reader;

namespace {

constexpr std::string_view kFixed =
    "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n##a\nab\n##ab\nabc\n##b\n!\n\xe4\xb8\xad\n\xc3\xa9\n##"
    "\xc3\xa9\ne\n##e\n";

void check(const Vocabulary& vocabulary, std::string_view text) {
  for (std::int32_t id = 0; id < static_cast<std::int32_t>(vocabulary.size()); ++id) {
    FUZZ_CHECK(vocabulary.id(vocabulary.piece(id)) == id);
  }
  const std::size_t length = base::count_code_points(text);
  for (const bool lower : {false, true}) {
    for (const bool special : {false, true}) {
      const WordPiece tokenizer(vocabulary,
                                {.lower_case = lower, .strip_accents = lower, .special_in_text = special});
      const Pieces pieces = tokenizer.tokenize(text);
      FUZZ_CHECK(pieces.begin.size() == pieces.size() && pieces.end.size() == pieces.size());
      for (std::size_t i = 0; i < pieces.size(); ++i) {
        FUZZ_CHECK(pieces.ids[i] >= 0 && pieces.ids[i] < static_cast<std::int32_t>(vocabulary.size()));
        FUZZ_CHECK(pieces.begin[i] <= pieces.end[i] && pieces.end[i] <= length);
        FUZZ_CHECK(i == 0 || pieces.begin[i] >= pieces.begin[i - 1]);
      }
      // Memory that was used before changes nothing.
      Pieces again = pieces;
      tokenizer.tokenize(text, again);
      FUZZ_CHECK(again == pieces);
      const EncoderInput pair = encode_pair(vocabulary, pieces, pieces, 16);
      FUZZ_CHECK(pair.ids.size() <= 16 && pair.ids.size() == pair.types.size());
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Vocabulary fixed = *Vocabulary::parse(kFixed, "fixed");
  const std::string_view all = askbase::test::bytes(data, size);
  check(fixed, all);
  // What stands before the first NUL is a vocabulary, beside the pieces that one must have.
  const std::size_t border = all.find('\0');
  if (border == std::string_view::npos) return 0;
  for (const bool whole : {false, true}) {
    const std::string lines =
        (whole ? "[UNK]\n[CLS]\n[SEP]\n[PAD]\n" : "") + std::string(all.substr(0, border));
    const auto vocabulary = Vocabulary::parse(lines, "fuzz");
    if (!vocabulary) {
      FUZZ_CHECK(vocabulary.error().message.starts_with("fuzz:"));
      continue;
    }
    check(*vocabulary, all.substr(border + 1));
  }
  return 0;
}
