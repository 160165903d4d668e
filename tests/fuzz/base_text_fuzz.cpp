// Keys, tokens and offsets of any bytes.
#include <string>
#include <vector>

#include "base/language.h"
#include "base/text.h"
#include "base/tokenize.h"
#include "tests/fuzz/fuzz_support.h"

using namespace askbase::base;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = askbase::test::bytes(data, size);
  const std::string key = match_key(text);
  FUZZ_CHECK(valid_utf8(key));
  FUZZ_CHECK(match_key(key) == key);
  FUZZ_CHECK(valid_utf8(text) == (to_utf8(to_code_points(text)) == text));
  FUZZ_CHECK(valid_utf8(nfkc(text)));
  FUZZ_CHECK(valid_utf8(fold_case(text)));
  FUZZ_CHECK(count_code_points(to_simplified(text)) == count_code_points(text));
  FUZZ_CHECK(!valid_utf8(text) || valid_utf8(to_traditional(text)));
  (void)is_traditional(text);
  (void)detect_language(text);
  (void)readable_name(text);

  const OffsetMap map(text);
  for (const bool characters : {false, true}) {
    std::size_t reached = 0;
    for (const Token& token : characters ? tokenize_characters(text) : tokenize(text)) {
      FUZZ_CHECK(token.begin >= reached && token.begin < token.end && token.end <= map.code_points());
      FUZZ_CHECK(map.byte(token.begin) == token.begin_byte && map.byte(token.end) == token.end_byte);
      FUZZ_CHECK(map.code_point_at_byte(token.begin_byte) == token.begin);
      FUZZ_CHECK(text.substr(token.begin_byte, token.end_byte - token.begin_byte) == token.text);
      reached = token.end;
    }
  }
  return 0;
}
