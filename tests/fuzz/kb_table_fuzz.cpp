// Any bytes as a table: its format is found out, it is planned, its values are linked, its facts are written.
// These must be facts that N-Triples can write.
#include "base/input.h"
#include "base/text.h"
#include "kb/ntriples_reader.h"
#include "kb/table_facts.h"
#include "kb/table_headers.h"
#include "tests/fuzz/fuzz_support.h"
#include "tests/kb_load_support.h"

using namespace askbase;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string text(test::bytes(data + 1, size - 1));
  kb::LoadOptions options;
  options.skip_bad = (data[0] & 1) != 0;
  options.table.layout = static_cast<kb::TableLayout>(data[0] >> 1 & 3);
  const kb::TableSource source = {[&]() -> base::Result<std::unique_ptr<base::Input>> {
                                    return base::Input::from_string(text, "things.csv");
                                  },
                                  "things.csv", "thing",
                                  (data[0] & 8) != 0 ? kb::Format::tsv : kb::Format::csv};
  auto plan = kb::plan_table(source, options);
  if (!plan) {
    FUZZ_CHECK(plan.error().code != base::ErrorCode::internal);
    return 0;
  }
  FUZZ_CHECK(kb::link_values({{&source, &*plan}}, nullptr, {}));
  test::Collector sink(false);
  FUZZ_CHECK(kb::write_table(source, *plan, sink, {}));
  const kb::BlankLabels blanks("test");
  for (const kb::Fact& fact : sink.facts) {
    FUZZ_CHECK(base::valid_utf8(fact.object.value));
    kb::Fact again;
    const std::string line = test::Collector::line(fact);
    kb::NTriplesLine reader(line, false, blanks);
    const auto read = reader.next(again);
    FUZZ_CHECK(read && *read);
    FUZZ_CHECK(again.subject == fact.subject && again.predicate == fact.predicate &&
               again.object == fact.object);
  }
  return 0;
}
