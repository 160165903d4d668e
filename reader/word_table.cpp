#include "reader/word_table.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "nn/quantize.h"

namespace askbase::reader {

using nn::Index;
using nn::View;

WordTable::WordTable(nn::Int8Rows rows)
    : rows_(rows.values.rows()), cols_(rows.values.cols()), small_(std::move(rows)) {
  if (static_cast<Index>(small_.scales.size()) != rows_) {
    throw std::logic_error("reader::WordTable: a scale a row");
  }
}

WordTable::WordTable(View<const float> rows)
    : rows_(rows.rows), cols_(rows.cols), plain_(rows.rows, rows.cols) {
  for (Index r = 0; r < rows_; ++r) std::copy_n(rows.row(r), cols_, plain_.row(r));
}

WordTable WordTable::rounded(View<const float> rows) {
  nn::Int8Rows small;
  small.values.resize(rows.rows, rows.cols);
  small.scales.resize(static_cast<std::size_t>(rows.rows));
  nn::quantize_rows(rows, small.values.data(), small.scales.data());
  return WordTable(std::move(small));
}

void WordTable::read(Index row, float* out) const {
  if (plain_.empty()) {
    nn::dequantize_rows(small_.values.row(row), &small_.scales[static_cast<std::size_t>(row)],
                        View<float>(out, 1, cols_));
  } else {
    std::copy_n(plain_.row(row), cols_, out);
  }
}

bool WordTable::rounds_from(View<const float> rows) const {
  if (rows.rows != rows_ || rows.cols != cols_) return false;
  std::vector<float> own(static_cast<std::size_t>(cols_));
  for (Index r = 0; r < rows_; ++r) {
    read(r, own.data());
    // One step where the two were rounded to different sides, and something for scales that were rounded,
    // too.
    const float most = plain_.empty() ? 1.1F * small_.scales[static_cast<std::size_t>(r)] : 0.0F;
    for (Index c = 0; c < cols_; ++c) {
      if (!(std::abs(rows(r, c) - own[static_cast<std::size_t>(c)]) <= most)) return false;
    }
  }
  return true;
}

}  // namespace askbase::reader
