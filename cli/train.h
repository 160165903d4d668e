// The models of `askbase train`.
#pragma once

#include <filesystem>
#include <memory>

#include "cli/command.h"

namespace askbase::reader {
class BertModel;
}

namespace askbase::cli {

void add_train_question_type(const Command& train);
void add_train_matcher(const Command& train);
void add_train_reader(const Command& train);
void add_train_tagger(const Command& train);
void add_train_encoder(const Command& train);
void add_train_memory(const Command& train);
void add_train_ranker(const Command& train);

// The encoder to start from: a model folder of ours, or one of Hugging Face. Errors: those of
// reader::BertModel.
base::Result<std::unique_ptr<reader::BertModel>> encoder_of(const std::filesystem::path& folder);

}  // namespace askbase::cli
