// Compressed and plain bytes, read by line and whole; encodings.
#include <string>
#include <vector>

#include "base/charset.h"
#include "base/input.h"
#include "base/text.h"
#include "tests/fuzz/fuzz_support.h"

using namespace askbase::base;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes = askbase::test::bytes(data, size);
  const auto input = Input::from_string(std::string(bytes), "fuzz");
  LineReader reader(*input, 1000);
  std::string_view line;
  for (std::uint64_t lines = 1; lines < 10000; ++lines) {
    const Result<bool> more = reader.next(line);
    if (!more || !*more) break;
    FUZZ_CHECK(line.size() <= 1000 && line.find('\n') == std::string_view::npos);
    FUZZ_CHECK(reader.line_number() == lines);
  }
  const Result<Charset> charset = detect_charset(bytes, true);
  if (charset) {
    const Result<std::string> text = decode(bytes, *charset);
    FUZZ_CHECK(!text || valid_utf8(*text));
  }
  for (const Charset any : {Charset::utf8, Charset::utf16le, Charset::utf16be, Charset::gb18030}) {
    const Result<std::string> text = decode(bytes, any);
    FUZZ_CHECK(!text || valid_utf8(*text));
  }
  return 0;
}
