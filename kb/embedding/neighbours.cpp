#include "kb/embedding/neighbours.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>
#include <hnswlib/hnswlib.h>

#include "base/file.h"
#include "kb/embedding/lanes.h"
#include "nn/team.h"

namespace askbase::kb::embedding {

namespace {

constexpr std::size_t graph_degree = 16, build_effort = 120;

bool nearer(const Neighbour& a, const Neighbour& b) {
  return a.similarity != b.similarity ? a.similarity > b.similarity : a.row < b.row;
}

// Of the normalised rows: tells whether a graph belongs to them.
std::uint64_t fingerprint(const nn::Matrix<float>& unit) {
  std::uint64_t hash = 0xCBF29CE484222325ULL ^ static_cast<std::uint64_t>(unit.rows());
  for (nn::Index i = 0; i < unit.size(); i += 7) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, unit.data() + i, sizeof bits);
    hash = (hash ^ bits) * 0x100000001B3ULL;
  }
  return hash;
}

std::filesystem::path stamp_of(const std::filesystem::path& file) {
  std::filesystem::path stamp = file;
  stamp += ".stamp";
  return stamp;
}

}  // namespace

struct NeighbourIndex::State {
  nn::Matrix<float> unit;  // (entities, width), each of length 1 or 0
  std::unique_ptr<hnswlib::InnerProductSpace> space;
  std::unique_ptr<hnswlib::HierarchicalNSW<float>> graph;

  explicit State(nn::View<const float> rows) : unit(rows.rows, round_up(rows.cols, kGroup)) {
    for (nn::Index r = 0; r < rows.rows; ++r) normalise(rows.row(r), rows.cols, unit.row(r));
  }
  static void normalise(const float* from, nn::Index n, float* to) {
    double sum = 0;
    for (nn::Index i = 0; i < n; ++i) sum += static_cast<double>(from[i]) * static_cast<double>(from[i]);
    const auto factor = static_cast<float>(sum > 0 ? 1 / std::sqrt(sum) : 0);
    for (nn::Index i = 0; i < n; ++i) to[i] = from[i] * factor;
  }
};

NeighbourIndex::NeighbourIndex(std::unique_ptr<State> state) : state_(std::move(state)) {}
NeighbourIndex::~NeighbourIndex() = default;
NeighbourIndex::NeighbourIndex(NeighbourIndex&&) noexcept = default;
NeighbourIndex& NeighbourIndex::operator=(NeighbourIndex&&) noexcept = default;

bool NeighbourIndex::exact() const { return state_->graph == nullptr; }

NeighbourIndex NeighbourIndex::build(nn::View<const float> rows, int threads, std::size_t exact_below) {
  auto state = std::make_unique<State>(rows);
  const auto count = static_cast<std::size_t>(rows.rows);
  if (count >= exact_below && count > 0) {
    state->space = std::make_unique<hnswlib::InnerProductSpace>(static_cast<std::size_t>(state->unit.cols()));
    state->graph = std::make_unique<hnswlib::HierarchicalNSW<float>>(state->space.get(), count, graph_degree,
                                                                     build_effort);
    // The first point alone: the graph grows from it.
    state->graph->addPoint(state->unit.row(0), 0);
    nn::Team team(threads);
    team.parallel_for(rows.rows - 1, 256, [&](nn::Index begin, nn::Index end) {
      for (nn::Index r = begin + 1; r < end + 1; ++r)
        state->graph->addPoint(state->unit.row(r), static_cast<std::size_t>(r));
    });
  }
  return NeighbourIndex(std::move(state));
}

NeighbourIndex NeighbourIndex::open(nn::View<const float> rows, const std::filesystem::path& file,
                                    std::size_t exact_below) {
  auto state = std::make_unique<State>(rows);
  std::error_code ignored;
  if (static_cast<std::size_t>(rows.rows) >= exact_below && std::filesystem::exists(file, ignored)) {
    const auto stamp = base::read_file(stamp_of(file), 64);
    const auto bytes = std::filesystem::file_size(file, ignored);
    // The library trusts its files, so only one that save() wrote for these vectors is opened.
    if (stamp && *stamp == std::to_string(fingerprint(state->unit)) + " " + std::to_string(bytes)) {
      try {
        state->space =
            std::make_unique<hnswlib::InnerProductSpace>(static_cast<std::size_t>(state->unit.cols()));
        auto graph = std::make_unique<hnswlib::HierarchicalNSW<float>>(state->space.get(), file.string());
        if (graph->cur_element_count == static_cast<std::size_t>(rows.rows)) state->graph = std::move(graph);
      } catch (const std::exception&) {
        state->graph = nullptr;  // all rows are compared instead
      }
    }
  }
  return NeighbourIndex(std::move(state));
}

base::Status NeighbourIndex::save(const std::filesystem::path& file) const {
  if (exact()) return {};
  std::error_code error;
  std::filesystem::remove(stamp_of(file), error);
  try {
    state_->graph->saveIndex(file.string());
  } catch (const std::exception& failure) {
    return base::fail(base::ErrorCode::io, "could not write " + file.string() + ": " + failure.what(), "");
  }
  const auto bytes = std::filesystem::file_size(file, error);
  if (error) return tl::unexpected(base::io_error(error.value(), "read", file));
  return base::write_file_atomic(stamp_of(file),
                                 std::to_string(fingerprint(state_->unit)) + " " + std::to_string(bytes));
}

std::vector<Neighbour> NeighbourIndex::nearest(std::span<const float> vector, std::size_t count,
                                               std::optional<std::uint32_t> except) const {
  const nn::Matrix<float>& unit = state_->unit;
  if (static_cast<nn::Index>(vector.size()) > unit.cols())
    throw std::logic_error("kb::embedding: a vector too long");
  nn::Matrix<float> query(1, unit.cols());
  State::normalise(vector.data(), static_cast<nn::Index>(vector.size()), query.data());
  std::vector<Neighbour> found;
  if (state_->graph != nullptr) {
    const std::size_t wanted = std::min(count + 1, static_cast<std::size_t>(unit.rows()));
    // The library keeps the effort in the graph; searching for more keeps it out of shared state.
    auto result = state_->graph->searchKnn(query.data(), std::max<std::size_t>(wanted, 64));
    for (; !result.empty(); result.pop()) {
      const auto row = static_cast<std::uint32_t>(result.top().second);
      found.push_back({row, static_cast<double>(dot(query.data(), unit.row(row), unit.cols()))});
    }
  } else {
    found.reserve(static_cast<std::size_t>(unit.rows()));
    for (nn::Index r = 0; r < unit.rows(); ++r)
      found.push_back(
          {static_cast<std::uint32_t>(r), static_cast<double>(dot(query.data(), unit.row(r), unit.cols()))});
  }
  std::erase_if(found, [&](const Neighbour& one) {
    if (except && one.row == *except) return true;
    return squares(unit.row(one.row), unit.cols()) == 0.0F;
  });
  const std::size_t kept = std::min(count, found.size());
  std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(kept), found.end(), nearer);
  found.resize(kept);
  return found;
}

}  // namespace askbase::kb::embedding
