#include "reader/readers.h"

#include "nn/model_folder.h"
#include "reader/bert_reader.h"
#include "reader/char_reader.h"

namespace askbase::reader {

base::Result<std::shared_ptr<const TextReader>> load_reader(const std::filesystem::path& folder,
                                                            const InferenceOptions& options,
                                                            std::shared_ptr<const TextEncoder> lender) {
  ASKBASE_ASSIGN(const nn::ModelFolder opened, nn::ModelFolder::open(folder, ""));
  if (opened.kind() == kCharReaderKind) {
    ASKBASE_ASSIGN(std::shared_ptr<const TextReader> reader, CharReader::load(folder));
    return reader;
  }
  ASKBASE_ASSIGN(std::shared_ptr<const TextReader> reader,
                 BertReader::load(folder, options, std::move(lender)));
  return reader;
}

}  // namespace askbase::reader
