// The embeddings of a vocabulary, kept small: a row is turned into floats when a word needs it. One table may
// serve several models.
#pragma once

#include <cstdint>
#include <vector>

#include "nn/matrix.h"
#include "nn/model_folder.h"

namespace askbase::reader {

// Immutable; safe to share between threads.
class WordTable {
 public:
  // int8 with a scale a row, as a model folder stores them.
  explicit WordTable(nn::Int8Rows rows);
  // Floats as they are.
  explicit WordTable(nn::View<const float> rows);
  // Floats rounded to int8.
  static WordTable rounded(nn::View<const float> rows);

  nn::Index rows() const { return rows_; }
  nn::Index cols() const { return cols_; }
  // The row as floats to `out`, cols() of them. A row that is not there is a programmer error (unchecked).
  void read(nn::Index row, float* out) const;
  // Whether these floats are what this table was rounded from, or another rounding of it to as many steps: no
  // number is more than a step away.
  bool rounds_from(nn::View<const float> rows) const;

 private:
  nn::Index rows_ = 0, cols_ = 0;
  nn::Int8Rows small_;       // empty for floats
  nn::Matrix<float> plain_;  // empty for int8
};

}  // namespace askbase::reader
