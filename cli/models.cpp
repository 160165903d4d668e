#include "cli/models.h"

#include <system_error>

#include "base/log.h"

namespace askbase::cli {

std::filesystem::path models_folder(const Globals& globals) {
  if (!globals.models.empty()) return globals.models;
  std::error_code ignored;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", ignored);
  const std::filesystem::path beside = program.parent_path();
  // build/PRESET/cli/askbase of a source tree.
  for (const char* way : {"../share/askbase/models", "../../../models"}) {
    const std::filesystem::path folder = (beside / way).lexically_normal();
    if (std::filesystem::is_directory(folder, ignored)) return folder;
  }
  return {};
}

base::Result<std::optional<reader::SentenceModel>> sentence_model(const Globals& globals) {
  const std::filesystem::path folder = models_folder(globals) / "en-sentence";
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored)) {
    base::log_info("no model en-sentence: passages are found by their words alone");
    return std::nullopt;
  }
  ASKBASE_ASSIGN(auto encoder, reader::TextEncoder::load(folder));
  return reader::sentence_model(std::move(encoder), static_cast<int>(globals.thread_count()));
}

base::Result<qa::EngineOptions> engine_options(const Globals& globals) {
  qa::EngineOptions options;
  std::error_code ignored;
  if (!globals.models.empty() && !std::filesystem::is_directory(globals.models, ignored)) {
    return base::fail(base::ErrorCode::not_found, "--models: no folder " + globals.models.string(),
                      "name the folder that holds question-type/, or leave the option out");
  }
  const std::filesystem::path folder = models_folder(globals) / "question-type";
  if (!std::filesystem::is_directory(folder, ignored)) {
    base::log_info("no model question-type: what kind of answer a question wants is told by its words alone");
    return options;
  }
  ASKBASE_ASSIGN(options.question_types, qa::QuestionTypeClassifier::load(folder));
  return options;
}

}  // namespace askbase::cli
