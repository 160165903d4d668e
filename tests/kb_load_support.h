// What the tests of the readers share: a sink that keeps everything, and runs of the readers over strings.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/input.h"
#include "kb/fact_sink.h"
#include "kb/rdf_reader.h"

namespace askbase::test {

struct BadRecord {
  std::uint64_t line = 0;
  std::string reason;
};

// strict: the first bad line ends the reading with "line: reason".
class Collector : public kb::FactSink {
 public:
  explicit Collector(bool strict = true) : strict_(strict) {}
  kb::Fact& slot() override { return slot_; }
  base::Status add() override {
    facts.push_back(slot_);
    return {};
  }
  using FactSink::add;
  base::Status bad(std::uint64_t line, std::string_view reason) override {
    bads.push_back({line, std::string(reason)});
    if (!strict_) return {};
    return base::fail(base::ErrorCode::bad_input, std::to_string(line) + ": " + std::string(reason));
  }

  // The facts as N-Quads lines, in order.
  std::vector<std::string> lines() const {
    std::vector<std::string> out;
    for (const kb::Fact& fact : facts) out.push_back(line(fact));
    return out;
  }
  std::vector<std::string> sorted_lines() const {
    std::vector<std::string> out = lines();
    std::sort(out.begin(), out.end());
    return out;
  }
  static std::string line(const kb::Fact& fact) {
    std::string text = kb::to_ntriples(fact.subject) + " " + kb::to_ntriples(fact.predicate) + " " +
                       kb::to_ntriples(fact.object);
    if (fact.graph.starts_with("_:")) {
      text += " " + fact.graph;
    } else if (!fact.graph.empty()) {
      text += " <" + fact.graph + ">";
    }
    return text + " .";
  }
  bool has(const std::string& line) const {
    const std::vector<std::string> all = lines();
    return std::find(all.begin(), all.end(), line) != all.end();
  }

  std::vector<kb::Fact> facts;
  std::vector<BadRecord> bads;

 private:
  kb::Fact slot_;
  bool strict_;
};

inline base::Status read_rdf(const std::string& text, kb::Format format, Collector& sink,
                             const std::string& base_iri = "urn:x:base/",
                             const std::string& source = "test") {
  const auto input = base::Input::from_string(text, "test");
  return kb::read_rdf(*input, format, base_iri, kb::BlankLabels(source), sink);
}

}  // namespace askbase::test
