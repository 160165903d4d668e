#include "reader/readers.h"

#include "nn/model_folder.h"
#include "reader/bert_reader.h"
#include "reader/char_reader.h"

namespace askbase::reader {

base::Result<std::shared_ptr<const TextReader>> load_reader(const std::filesystem::path& folder,
                                                            const InferenceOptions& options) {
  ASKBASE_ASSIGN(const nn::ModelFolder opened, nn::ModelFolder::open(folder, ""));
  if (opened.kind() == kCharReaderKind) {
    ASKBASE_ASSIGN(std::shared_ptr<const TextReader> reader, CharReader::load(folder));
    return reader;
  }
  ASKBASE_ASSIGN(const std::unique_ptr<BertModel> model, BertModel::load(folder));
  if (model->span_head() == nullptr) {
    return base::fail(base::ErrorCode::unsupported,
                      folder.string() + ": an encoder without a span head does not read",
                      "askbase train reader gives it one");
  }
  std::shared_ptr<const TextReader> reader = make_bert_reader(*model, {}, options);
  return reader;
}

}  // namespace askbase::reader
