// Pre-trains a BERT encoder on plain texts: masked language model and next sentence prediction (Devlin 2019,
// section 3.1 and appendix A.2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "nn/layer_norm.h"
#include "nn/linear.h"
#include "nn/trainer.h"
#include "reader/bert_model.h"
#include "reader/encoder_examples.h"

namespace askbase::reader {

// Encoder and heads, with the names of Hugging Face's BertForPreTraining: "bert.embeddings...",
// "bert.pooler.dense", "cls.predictions.transform.dense", "cls.predictions.transform.LayerNorm",
// "cls.predictions.bias" and "cls.seq_relationship". The scores of the vocabulary are the products with the
// word embeddings, whose gradient, dense for that, is the sum of both uses; they are computed at the masked
// places only. Immutable after construction; any number of threads may use it, each with its own scratch.
template <typename T>
class PretrainingNetwork {
 public:
  struct Scratch {
    EncoderBatch batch;
    typename BertEncoder<T>::Cache encoder;
    typename nn::LayerNorm<T>::Cache norm;
    // (masked, ...): the encoder's rows, dense, activation, norm, and the scores with their gradients
    nn::Matrix<T> rows, dense, active, normed, scores, d_scores, d_rows, d_dense;
    // (sequences, ...)
    nn::Matrix<T> first, pooled, next, d_next, d_pooled, d_first;
    nn::Matrix<T> d_output;
    std::vector<nn::Index> places;  // rows of the batch
  };
  // Sums over a batch. loss: over the sequences, of the mean loss of a sequence's masked pieces and its loss
  // of the next sentence.
  struct Sums {
    double loss = 0;
    double masked_loss = 0, next_loss = 0;  // over masked pieces; over sequences
    std::size_t masked = 0, masked_right = 0, sequences = 0, next_right = 0;
    void add(const Sums& other);
  };

  PretrainingNetwork(nn::Parameters<T>& p, const BertConfig& config);

  // g, when not null, receives the gradients of the sum `loss`; the context must be a training one then.
  Sums loss(const nn::Parameters<T>& p, std::span<const MaskedInput> inputs, Scratch& scratch,
            nn::Gradients<T>* g, const nn::Context& context) const;

 private:
  void backward(const nn::Parameters<T>& p, Scratch& s, nn::Gradients<T>& g,
                const nn::Context& context) const;

  BertEncoder<T> encoder_;
  nn::Linear<T> transform_, pooler_, next_;
  nn::LayerNorm<T> norm_;
  nn::ParameterId bias_;
};

struct EncoderTraining {
  std::uint64_t seed = 1;
  std::int64_t epochs = 1;
  double minutes = 0;          // of this call; 0: no limit. With a checkpoint the next call goes on
  nn::Index batch = 32;        // pairs
  int accumulate = 1;          // batches a step
  nn::Index max_length = 128;  // ids of a pair
  Masking masking = {};
  double rate = 1e-4;  // the highest
  double warmup_share = 0.01;
  double weight_decay = 0.01;
  double clip_norm = 1.0;
  std::int64_t evaluate_every = 0;                     // steps; 0: after every epoch
  nn::Precision precision = nn::Precision::bf16;       // of the large products, where the CPU has it
  std::filesystem::path checkpoint = {}, curves = {};  // files; empty: none
  bool resume = false;
  bool progress = true;
};

struct EncoderTrainingResult {
  nn::TrainingResult run;  // the figures: masked_accuracy, masked_loss, next_accuracy, next_loss
  std::size_t documents = 0, pairs = 0;
  std::size_t valid_documents = 0, valid_pairs = 0;
};

// Trains model in place, with fresh heads, which are let go at the end; a span head stays as it is. Each text
// is a document. Pairs are drawn once, masks anew every epoch, as functions of seed, epoch and pair; those of
// `valid`, which may be empty, stay the same. At the end the model has the weights with the least loss on
// `valid`, or the last ones; after an error its own. Errors: those of nn/trainer.h; bad_input (a vocabulary
// without [MASK], fewer than two documents), invalid_argument (max_length).
base::Result<EncoderTrainingResult> train_encoder(BertModel& model, std::span<const std::string> train,
                                                  std::span<const std::string> valid,
                                                  const EncoderTraining& options, nn::Team& team);

extern template class PretrainingNetwork<float>;
extern template class PretrainingNetwork<double>;

}  // namespace askbase::reader
