#include "cli/models.h"

#include <system_error>
#include <tuple>

#include "base/log.h"
#include "reader/readers.h"

namespace askbase::cli {
namespace {

// The folder of a model; nothing when it is not there, and the log says what follows from that.
std::optional<std::filesystem::path> model_folder(const Globals& globals, const std::string& name,
                                                  const std::string& consequence) {
  std::filesystem::path folder = models_folder(globals) / name;
  std::error_code ignored;
  if (std::filesystem::is_directory(folder, ignored)) return folder;
  base::log_info("no model " + name + ": " + consequence);
  return std::nullopt;
}

base::Result<std::shared_ptr<const reader::TextEncoder>> sentence_encoder(const Globals& globals) {
  const auto folder = model_folder(globals, "en-sentence", "passages are found by their words alone");
  if (!folder) return nullptr;
  return reader::TextEncoder::load(*folder);
}

base::Result<std::shared_ptr<const reader::TextReader>> text_reader(
    const Globals& globals, const std::string& name, const std::string& language,
    const std::shared_ptr<const reader::TextEncoder>& lender) {
  const auto folder = model_folder(globals, name, "texts in " + language + " are not read for answers");
  if (!folder) return nullptr;
  return reader::load_reader(*folder, {}, lender);
}

// Null when the folder is not there.
template <typename Model>
base::Status load_part(const Globals& globals, const std::string& name, const std::string& consequence,
                       std::shared_ptr<const Model>& out) {
  const auto folder = model_folder(globals, name, consequence);
  if (!folder) return {};
  ASKBASE_ASSIGN(out, Model::load(*folder));
  return {};
}

base::Result<std::shared_ptr<const qa::LearnedModels>> learned_models(
    const Globals& globals, std::shared_ptr<const qa::Ranker> ranker) {
  auto learned = std::make_shared<qa::LearnedModels>();
  learned->ranker = std::move(ranker);
  for (const auto& [prefix, language, models] :
       {std::tuple{"en-", "English", &learned->english}, std::tuple{"zh-", "Chinese", &learned->chinese}}) {
    const std::string consequence = std::string("one judge less of readings of questions in ") + language;
    ASKBASE_TRY(load_part(globals, std::string(prefix) + "tagger", consequence, models->tagger));
    ASKBASE_TRY(load_part(globals, std::string(prefix) + "matcher", consequence, models->matcher));
    ASKBASE_TRY(load_part(globals, std::string(prefix) + "memory", consequence, models->memory));
  }
  return learned;
}

base::Status check_models(const Globals& globals) {
  std::error_code ignored;
  if (globals.models.empty() || std::filesystem::is_directory(globals.models, ignored)) return {};
  return base::fail(base::ErrorCode::not_found, "--models: no folder " + globals.models.string(),
                    "name the folder that holds question-type/, or leave the option out");
}

}  // namespace

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

base::Result<qa::TextParts> text_parts(const Globals& globals) {
  ASKBASE_TRY(check_models(globals));
  const auto threads = static_cast<int>(globals.thread_count());
  qa::TextParts parts;
  ASKBASE_ASSIGN(const auto encoder, sentence_encoder(globals));
  if (encoder) parts.sentences = reader::sentence_model(encoder, threads);
  ASKBASE_ASSIGN(auto english, text_reader(globals, "en-reader", "English", encoder));
  ASKBASE_ASSIGN(auto chinese, text_reader(globals, "zh-reader", "Chinese", nullptr));
  parts.readers = std::make_shared<const qa::TextReaders>(std::move(english), std::move(chinese), threads);
  return parts;
}

base::Result<std::optional<reader::SentenceModel>> sentence_model(const Globals& globals) {
  ASKBASE_ASSIGN(const auto encoder, sentence_encoder(globals));
  if (!encoder) return std::nullopt;
  return reader::sentence_model(encoder, static_cast<int>(globals.thread_count()));
}

base::Result<qa::EngineOptions> engine_options(const Globals& globals) {
  ASKBASE_TRY(check_models(globals));
  std::shared_ptr<const qa::Ranker> ranker;
  ASKBASE_TRY(load_part(globals, "kb-ranker", "facts are found by their words alone", ranker));
  return engine_options(globals, std::move(ranker));
}

base::Result<qa::EngineOptions> engine_options(const Globals& globals,
                                               std::shared_ptr<const qa::Ranker> ranker) {
  ASKBASE_TRY(check_models(globals));
  qa::EngineOptions options;
  const auto folder = model_folder(globals, "question-type",
                                   "what kind of answer a question wants is told by its words alone");
  if (folder) {
    ASKBASE_ASSIGN(options.question_types, qa::QuestionTypeClassifier::load(*folder));
  }
  // The ranker joins what the others say: without it there is nothing to say it to.
  if (ranker) {
    ASKBASE_ASSIGN(options.learned, learned_models(globals, std::move(ranker)));
  }
  return options;
}

}  // namespace askbase::cli
