// What `eval paths` compares with: the longest name in the question, and of the paths that the training
// questions ask for the one that naive Bayes finds likeliest by the words beside the name, among those that
// lead from it to anything. It shares with the engine only the lookup of names.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "datasets/kb_questions.h"
#include "datasets/naive_bayes.h"
#include "kb/store.h"
#include "qa/lexicon.h"

namespace askbase::cli {

// Thread-safe once made.
class PathBaseline {
 public:
  // Errors: those of the store; bad_input where no training question names its topic.
  static base::Result<std::unique_ptr<PathBaseline>> make(std::shared_ptr<const kb::View> view,
                                                          const std::vector<datasets::KbQuestion>& train);
  // Its first answer, as an IRI or a value's text; nothing where it has none.
  base::Result<std::optional<std::string>> first_answer(const std::string& question) const;

 private:
  PathBaseline(std::shared_ptr<const kb::View> view, std::shared_ptr<const qa::Lexicon> lexicon)
      : view_(std::move(view)), lexicon_(std::move(lexicon)) {}

  std::shared_ptr<const kb::View> view_;
  std::shared_ptr<const qa::Lexicon> lexicon_;
  std::unique_ptr<datasets::NaiveBayes> bayes_;
};

}  // namespace askbase::cli
