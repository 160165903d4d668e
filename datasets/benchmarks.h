// Benchmark files in the forms in which their authors publish them, and in ours (datasets/kb_questions.h):
//
//   SimpleQuestions   subject TAB relation TAB object TAB question, names as www.freebase.com/m/04whkz5
//   its Wikidata one  Q1 TAB P2 TAB Q3 TAB question; R2 is P2 followed from object to subject
//   FB2M, FB5M        subject TAB relation TAB objects, separated by spaces, names as above
//   MetaQA            "who wrote [Hamlet]" TAB answers, separated by "|"; facts: subject|relation|object
//   NLPCC KBQA        <question id=1> TAB ..., <triple id=1> TAB s ||| p ||| o, <answer id=1> TAB ...;
//                     facts: subject ||| predicate ||| object
//   WebQuestions      JSON: [{"utterance", "url", "targetValue": "(list (description "...") ...)"}]
//   WebQSP            JSON: {"Questions": [{"QuestionId", "RawQuestion", "Parses": [...]}]}
//
// What a file is, its first line tells. Freebase names come out as m.04whkz5 and people.person.gender. A
// question without an id is called FILE-LINE, its split is what the file's name says (train, valid, dev,
// test). Files are plain, gzip or zstd. Thread-safe. Errors: not_found, io, bad_input with file:line: reason.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "datasets/kb_questions.h"

namespace askbase::datasets {

enum class BenchmarkForm : std::uint8_t {
  questions,        // JSON lines
  facts,            // three columns
  names,            // id, language, name, kind, sources
  simplequestions,  // also its Wikidata version
  freebase_facts,   // FB2M, FB5M
  metaqa,
  metaqa_facts,
  nlpcc,
  nlpcc_facts,
  webquestions,
  webqsp,
};
std::string_view benchmark_form_name(BenchmarkForm form);
bool has_questions(BenchmarkForm form);
bool has_facts(BenchmarkForm form);

// bad_input for a file that is none of these.
base::Result<BenchmarkForm> benchmark_form(const std::filesystem::path& path);

// The file must be of a form that has_questions(), or has_facts() (else: a programmer error). A file without
// questions is bad_input. sink: false stops the reading; of facts in three columns a field may be empty.
base::Result<std::vector<KbQuestion>> read_benchmark_questions(const std::filesystem::path& path,
                                                               BenchmarkForm form);
base::Status read_benchmark_facts(const std::filesystem::path& path, BenchmarkForm form,
                                  const std::function<bool(const NamedFact&)>& sink);

}  // namespace askbase::datasets
