// Training curves: the file and the page.
#include <fstream>

#include "nn/curves.h"
#include "tests/nn_support.h"

namespace askbase::nn {

using askbase::test::ScratchFolder;
using base::ErrorCode;

TEST_CASE("curves: records come back, broken files are named, the page stands alone") {
  const ScratchFolder folder;
  auto writer = CurveWriter::open(folder / "c.jsonl", -1);
  REQUIRE(writer.has_value());
  for (int step = 1; step <= 40; ++step) {
    REQUIRE(writer->append({step, step / 20.0, {{"loss", 2.0 / step}, {"learning_rate", 1e-3}}}));
  }
  REQUIRE(writer->append({40, 2.0, {{"accuracy", 0.75}}}));
  auto records = read_curves(folder / "c.jsonl");
  REQUIRE(records.has_value());
  REQUIRE(records->size() == 41);
  CHECK((*records)[3].step == 4);
  CHECK((*records)[3].epoch == doctest::Approx(0.2));
  CHECK((*records)[3].values[0].second == doctest::Approx(0.5));
  const std::string page = curves_html("question <types>", {{"first", *records}, {"a & b", *records}});
  CHECK(page.find("question &lt;types&gt;") != std::string::npos);
  CHECK(page.find("a &amp; b") != std::string::npos);
  CHECK(page.find("<script") == std::string::npos);
  CHECK(page.find("http") == std::string::npos);
  CHECK(page.find("nan") == std::string::npos);
  std::size_t charts = 0, lines = 0;
  for (std::size_t at = 0; (at = page.find("<svg", at)) != std::string::npos; ++at) ++charts;
  for (std::size_t at = 0; (at = page.find("<polyline", at)) != std::string::npos; ++at) ++lines;
  CHECK(charts == 3);
  CHECK(lines == 6);
  CHECK(curves_html("empty", {}).find("No records") != std::string::npos);

  std::ofstream(folder / "c.jsonl", std::ios::app) << "not json\n";
  const auto broken = read_curves(folder / "c.jsonl");
  REQUIRE(!broken.has_value());
  CHECK(broken.error().message.find("c.jsonl:42:") != std::string::npos);
  CHECK(CurveWriter::open(folder / "c.jsonl", 5).error().code == ErrorCode::bad_input);
  CHECK(CurveWriter::open(folder / "none" / "c.jsonl", -1).error().code == ErrorCode::not_found);
}

}  // namespace askbase::nn
