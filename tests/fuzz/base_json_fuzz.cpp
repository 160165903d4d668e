// JSON of any bytes: what parses prints, and parses again to the same.
#include "base/json.h"
#include "tests/fuzz/fuzz_support.h"

using namespace askbase::base;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Result<Json> parsed = parse_json(askbase::test::bytes(data, size));
  if (!parsed) {
    FUZZ_CHECK(!parsed.error().message.empty());
    return 0;
  }
  const Result<Json> again = parse_json(dump_json(*parsed));
  FUZZ_CHECK(again.has_value() && *again == *parsed);
  return 0;
}
