// The BERT encoder of bert_encoder.h for inference alone: weights laid out once, in float, bfloat16 or int8;
// a part of the time and of the memory of the one that also trains. text_encoder.h loads one from a model
// folder, with its tokenizer, and gives sentence vectors.
//
//   EncoderBatch batch;                       // ragged, no padding
//   batch.add(encode_one(vocabulary, pieces, 256));
//   InferenceEncoder::Workspace workspace;    // one a thread of the caller's, kept from batch to batch
//   encoder.forward(batch, workspace, team, [&] { return past_deadline(); });
//   workspace.output()                        // (n, hidden)
#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "nn/inference.h"
#include "nn/model_folder.h"
#include "nn/team.h"
#include "reader/bert_encoder.h"
#include "reader/word_table.h"

namespace askbase::reader {

struct InferenceOptions {
  // Of the products with weights. With int8 attention multiplies in bfloat16 where the CPU can, and word
  // embeddings are int8, too; otherwise those are what they are stored as.
  nn::Numbers numbers = nn::Numbers::int8;
  nn::Loops loops = nn::Loops::best;
};

// Immutable after construction; any number of threads may use one, each with its own workspace. A sequence
// gives the same numbers whatever lies beside it in the batch and however many threads share the work.
class InferenceEncoder {
 public:
  class Workspace {
   public:
    // Set before forward: the attention of this layer (0 is the first) is kept; -1: of none.
    nn::Index attention_layer = -1;

    // (n, hidden) of the last layer, after a forward that returned true.
    nn::View<const float> output() const { return x_.view(); }
    // Weight of piece `column` of a sequence for its piece `row`: (length, length), rows summing to 1, in
    // float. Without attention_layer, or for what is not there, a programmer error (std::logic_error).
    nn::View<const float> attention(nn::Index sequence, nn::Index head) const;

   private:
    friend class InferenceEncoder;
    struct Part {  // of one thread
      nn::Matrix<float> middle, up, down;
      nn::PackedLinear::Scratch linear;
      nn::AttentionScratch attention;
    };
    nn::Matrix<float> x_, qkv_, context_, attention_;
    std::vector<nn::Index> attention_begin_;  // a sequence
    nn::Segments attention_segments_;
    nn::Index attention_heads_ = 0;
    std::vector<nn::Index> positions_;  // of each row in its sequence
    std::vector<Part> parts_;
  };
  using Stop = BertEncoder<float>::Stop;

  // words: a table to share; null: the model's own is copied. One of another size is a programmer error
  // (std::logic_error).
  InferenceEncoder(const BertConfig& config, const nn::Parameters<float>& p,
                   const InferenceOptions& options = {}, std::shared_ptr<const WordTable> words = nullptr);
  // From the weights of a model folder: int8 ones are taken as they are stored (with numbers int8), without a
  // copy in float. Tensors that are no part of the encoder are passed over. words: a table to share, and the
  // file then holds none. Errors: corrupt (a tensor is missing or of another shape), those of reading.
  static base::Result<InferenceEncoder> load(const BertConfig& config, const nn::SafetensorsFile& file,
                                             const InferenceOptions& options = {},
                                             std::shared_ptr<const WordTable> words = nullptr);

  // False where stop said so, asked before the first layer's work and between layers: the output is
  // unspecified then. Ids and types outside of their tables, and sequences longer than `positions`, are
  // programmer errors (std::logic_error).
  bool forward(const EncoderBatch& batch, Workspace& workspace, nn::Team& team = nn::one_thread(),
               const Stop& stop = {}) const;

  const BertConfig& config() const { return config_; }
  const InferenceOptions& options() const { return options_; }
  const std::shared_ptr<const WordTable>& words() const { return words_; }

  class Source;  // internal: where weights come from

 private:
  struct Norm {
    std::vector<float> weight, bias;
  };
  struct Layer {
    nn::PackedLinear qkv, output, up, down;
    Norm norm1, norm2;
  };

  InferenceEncoder(const BertConfig& config, const InferenceOptions& options)
      : config_(config), options_(options) {}
  base::Status build(const Source& source, std::shared_ptr<const WordTable> words);
  // Rows [begin, end) of the batch. embed: ids to x; project: x to queries, keys and values; finish: the rest
  // of a layer, from the attention's result and x to x.
  void embed(const EncoderBatch& batch, nn::Index begin, nn::Index end, Workspace& workspace) const;
  void project(const Layer& layer, nn::Index begin, nn::Index end, Workspace& workspace,
               Workspace::Part& part) const;
  void finish(const Layer& layer, nn::Index begin, nn::Index end, Workspace& workspace,
              Workspace::Part& part) const;
  // One head of one sequence.
  void attend(const EncoderBatch& batch, nn::Index task, Workspace& workspace, Workspace::Part& part) const;
  void keep_attention(const EncoderBatch& batch, nn::Index task, Workspace& workspace) const;

  BertConfig config_;
  InferenceOptions options_;
  std::shared_ptr<const WordTable> words_;
  nn::Matrix<float> positions_, types_;
  Norm norm_;
  std::vector<Layer> layers_;
};

}  // namespace askbase::reader
