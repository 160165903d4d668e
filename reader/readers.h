// The readers that are at hand, by language.
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "base/result.h"
#include "reader/text_encoder.h"
#include "reader/text_reader.h"

namespace askbase::reader {

// A model folder of any kind that can read: a BERT encoder with a span head, alone or sharing its word
// embeddings with the model that stands beside it, or a character reader. options: of BERT's products.
// Errors: those of nn/model_folder.h; unsupported for other kinds, and for an encoder without a span head.
base::Result<std::shared_ptr<const TextReader>> load_reader(
    const std::filesystem::path& folder, const InferenceOptions& options = {},
    std::shared_ptr<const TextEncoder> lender = nullptr);

}  // namespace askbase::reader
