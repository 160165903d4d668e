// The entities nearest to a vector, by the cosine of the angle between them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "nn/matrix.h"

namespace askbase::kb::embedding {

struct Neighbour {
  std::uint32_t row = 0;
  double similarity = 0;  // cosine, -1 to 1
};

// Below this many entities all are compared; from it on, a graph is searched (HNSW, Malkov & Yashunin 2018),
// which finds nearly all of the nearest.
inline constexpr std::size_t kExactBelow = 100'000;

// Immutable: thread-safe. Holds its own copy of the vectors, of length 1.
class NeighbourIndex {
 public:
  // rows: (entities, width); rows of zeros are nobody's neighbours. exact_below: as above, for tests.
  static NeighbourIndex build(nn::View<const float> rows, int threads, std::size_t exact_below = kExactBelow);
  // The graph that save() wrote for these rows; without a file that fits them, all rows are compared.
  static NeighbourIndex open(nn::View<const float> rows, const std::filesystem::path& file,
                             std::size_t exact_below = kExactBelow);
  // Writes the graph; nothing when there is none. Errors: io.
  base::Status save(const std::filesystem::path& file) const;
  ~NeighbourIndex();
  NeighbourIndex(NeighbourIndex&&) noexcept;
  NeighbourIndex& operator=(NeighbourIndex&&) noexcept;

  bool exact() const;
  // Nearest first, then by row; without `except`.
  std::vector<Neighbour> nearest(std::span<const float> vector, std::size_t count,
                                 std::optional<std::uint32_t> except = std::nullopt) const;

 private:
  struct State;
  explicit NeighbourIndex(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace askbase::kb::embedding
