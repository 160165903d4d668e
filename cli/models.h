// Where the trained models lie.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "cli/command.h"
#include "qa/engine.h"
#include "reader/passage_vectors.h"

namespace askbase::cli {

// --models, or the folder that belongs to this program: share/askbase/models beside the folder of an
// installed program, models/ of the source tree of one that was built there. Empty when there is none.
std::filesystem::path models_folder(const Globals& globals);

// What texts are read with: the sentence model and the readers en-reader and zh-reader, which share memory
// where they can; vectors are left to the caller. A model that is missing is left out, and the log says so; a
// broken one is an error.
base::Result<qa::TextParts> text_parts(const Globals& globals);

// The model that makes vectors of passages, from models/en-sentence; nothing when it is not there (the log
// says so).
base::Result<std::optional<reader::SentenceModel>> sentence_model(const Globals& globals);

// Options of an engine with the models that are there. One that is missing is left out, and the log says so;
// one that is broken is an error, since answers would quietly be worse.
base::Result<qa::EngineOptions> engine_options(const Globals& globals);
// The same, with this ranker in the place of models/kb-ranker.
base::Result<qa::EngineOptions> engine_options(const Globals& globals,
                                               std::shared_ptr<const qa::Ranker> ranker);

}  // namespace askbase::cli
