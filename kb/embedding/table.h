// Large tables of numbers that are read here and there. For internal use.
#pragma once

#include <cstddef>

#include "nn/matrix.h"

namespace askbase::kb::embedding {

// Asks the system for large pages, where it has them for who asks: of a table beyond the caches, finding the
// page of a row costs as much as the row.
void want_huge_pages(void* memory, std::size_t bytes);

// Zeros.
template <typename T>
nn::Matrix<T> make_table(nn::Index rows, nn::Index cols) {
  nn::Matrix<T> table;
  table.resize(rows, cols);
  want_huge_pages(table.data(), static_cast<std::size_t>(table.size()) * sizeof(T));
  table.fill(T(0));
  return table;
}

}  // namespace askbase::kb::embedding
