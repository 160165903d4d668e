#include "reader/passage_vectors.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <thread>

#include "base/interrupt.h"
#include "base/language.h"
#include "kb/records.h"
#include "nn/team.h"
#include "reader/passage_text.h"

// The library defines its vector code in the header, not inline: it may come into one file only, which is
// kb/embedding/neighbours.cpp. Here distances are our own.
#define NO_MANUAL_VECTORIZATION
#include <hnswlib/hnswlib.h>

namespace askbase::reader {
namespace {

// A stored vector: the first bytes of the model's hash, a factor (float, little-endian), numbers of eight
// bits. Without what follows the hash: the passage is not in English.
constexpr std::size_t tag_bytes = 16;  // hexadecimal digits

std::string_view tag_of(const SentenceModel& model) {
  if (model.hash.size() < tag_bytes) throw std::logic_error("reader: a sentence model without a hash");
  return std::string_view(model.hash).substr(0, tag_bytes);
}

// Numbers of eight bits and the factor that gives the vector back.
float quantise(const float* from, std::size_t width, std::int8_t* to) {
  float largest = 0;
  for (std::size_t i = 0; i < width; ++i) largest = std::max(largest, std::abs(from[i]));
  const float factor = largest / 127;
  for (std::size_t i = 0; i < width; ++i)
    to[i] = static_cast<std::int8_t>(factor > 0 ? std::lround(from[i] / factor) : 0);
  return factor;
}

std::int32_t dot(const std::int8_t* a, const std::int8_t* b, std::size_t width) {
  std::int32_t sum = 0;
  for (std::size_t i = 0; i < width; ++i)
    sum += static_cast<std::int32_t>(static_cast<std::int16_t>(a[i]) * static_cast<std::int16_t>(b[i]));
  return sum;
}

bool better(const PassageHit& a, const PassageHit& b) {
  return a.score != b.score ? a.score > b.score : a.passage < b.passage;
}

// Points of the graph: a factor and numbers of eight bits, as they are stored.
class QuantisedSpace final : public hnswlib::SpaceInterface<float> {
 public:
  explicit QuantisedSpace(std::size_t width) : width_(width) {}
  std::size_t get_data_size() override { return sizeof(float) + width_; }
  hnswlib::DISTFUNC<float> get_dist_func() override { return distance; }
  void* get_dist_func_param() override { return &width_; }

 private:
  static float distance(const void* a, const void* b, const void* width) {
    float factor_a = 0, factor_b = 0;
    std::memcpy(&factor_a, a, sizeof factor_a);
    std::memcpy(&factor_b, b, sizeof factor_b);
    const auto numbers = [](const void* point) {
      return reinterpret_cast<const std::int8_t*>(static_cast<const char*>(point) + sizeof(float));
    };
    const auto sum = dot(numbers(a), numbers(b), *static_cast<const std::size_t*>(width));
    return 1 - factor_a * factor_b * static_cast<float>(sum);
  }
  std::size_t width_;
};

}  // namespace

SentenceModel sentence_model(std::shared_ptr<const TextEncoder> encoder, int threads) {
  SentenceModel model;
  model.hash = encoder->sha256();
  model.width = static_cast<std::size_t>(encoder->encoder().config().hidden);
  model.embed = [encoder = std::move(encoder), threads](std::span<const std::string_view> texts) {
    if (texts.size() < 4 || threads < 2) return encoder->embed(texts);
    nn::Team team(threads);
    return encoder->embed(texts, team);
  };
  return model;
}

struct PassageVectors::State {
  std::string model;
  std::size_t width = 0, missing = 0;
  std::uint64_t mark = 0;
  std::vector<std::uint32_t> passages;  // ascending
  std::vector<char> points;             // one after the other, as QuantisedSpace has them
  std::unique_ptr<QuantisedSpace> space;
  std::unique_ptr<hnswlib::HierarchicalNSW<float>> graph;

  std::size_t point_bytes() const { return sizeof(float) + width; }
  const char* point(std::size_t i) const { return points.data() + i * point_bytes(); }
  double similarity(const std::int8_t* query, float factor, std::size_t i) const {
    float own = 0;
    std::memcpy(&own, point(i), sizeof own);
    const auto* numbers = reinterpret_cast<const std::int8_t*>(point(i) + sizeof own);
    return static_cast<double>(factor * own) * dot(query, numbers, width);
  }
};

PassageVectors::PassageVectors(std::unique_ptr<State> state) : state_(std::move(state)) {}
PassageVectors::~PassageVectors() = default;
std::size_t PassageVectors::size() const { return state_->passages.size(); }
std::size_t PassageVectors::missing() const { return state_->missing; }
bool PassageVectors::exact() const { return state_->graph == nullptr; }
const std::string& PassageVectors::model() const { return state_->model; }
std::uint64_t PassageVectors::mark() const { return state_->mark; }

base::Result<std::uint64_t> PassageVectors::mark_of(const kb::Snapshot& snapshot) {
  ASKBASE_ASSIGN(const std::uint64_t documents, kb::read_counter(snapshot, counter::generation));
  ASKBASE_ASSIGN(const std::uint64_t vectors, kb::read_counter(snapshot, counter::vectors));
  return documents + vectors;  // both grow
}

base::Result<std::shared_ptr<const PassageVectors>> PassageVectors::load(const kb::Snapshot& snapshot,
                                                                         const SentenceModel& model,
                                                                         int threads,
                                                                         std::size_t exact_below) {
  auto state = std::make_unique<State>();
  state->model = model.hash;
  state->width = model.width;
  ASKBASE_ASSIGN(state->mark, mark_of(snapshot));
  ASKBASE_ASSIGN(const std::uint64_t passages, kb::read_counter(snapshot, counter::passages));
  std::uint64_t looked_at = 0;
  const std::string_view tag = tag_of(model);
  const auto cursor = snapshot.cursor(kb::Table::vectors, {});
  std::uint32_t number = 0;
  for (cursor->seek({}); cursor->valid(); cursor->next()) {
    const std::string_view value = cursor->value();
    if (!value.starts_with(tag)) continue;  // another model's
    ++looked_at;
    if (looked_at % 8192 == 0) ASKBASE_TRY(base::check_interrupt());
    if (value.size() == tag_bytes) continue;
    if (!read_number_key(cursor->key(), number) || value.size() != tag_bytes + state->point_bytes())
      return tl::unexpected(damaged_index(kb::Table::vectors, "a vector cannot be read"));
    state->passages.push_back(number);
    state->points.insert(state->points.end(), value.begin() + tag_bytes, value.end());
  }
  ASKBASE_TRY(cursor->status());
  state->missing = static_cast<std::size_t>(passages > looked_at ? passages - looked_at : 0);
  const std::size_t count = state->passages.size();
  if (count >= exact_below && count > 0) {
    constexpr std::size_t degree = 16, effort = 120;
    state->space = std::make_unique<QuantisedSpace>(state->width);
    state->graph =
        std::make_unique<hnswlib::HierarchicalNSW<float>>(state->space.get(), count, degree, effort);
    state->graph->addPoint(state->point(0), 0);  // alone: the graph grows from it
    nn::Team team(std::max(1, threads));
    team.parallel_for(static_cast<nn::Index>(count) - 1, 256, [&](nn::Index begin, nn::Index end) {
      for (nn::Index i = begin + 1; i < end + 1; ++i)
        state->graph->addPoint(state->point(static_cast<std::size_t>(i)), static_cast<std::size_t>(i));
    });
  }
  return std::shared_ptr<const PassageVectors>(new PassageVectors(std::move(state)));
}

std::vector<PassageHit> PassageVectors::nearest(std::span<const float> vector, std::size_t most) const {
  if (vector.size() != state_->width) throw std::logic_error("reader: a vector of another width");
  std::vector<char> point(state_->point_bytes());
  auto* const query = reinterpret_cast<std::int8_t*>(point.data() + sizeof(float));
  const float factor = quantise(vector.data(), vector.size(), query);
  std::memcpy(point.data(), &factor, sizeof factor);
  std::vector<PassageHit> hits;
  if (state_->graph != nullptr) {
    constexpr std::size_t least_effort = 128;
    const std::size_t wanted = std::min(size(), std::max(most, least_effort));
    for (auto found = state_->graph->searchKnn(point.data(), wanted); !found.empty(); found.pop()) {
      const std::size_t i = found.top().second;
      hits.push_back({state_->passages[i], state_->similarity(query, factor, i)});
    }
  } else {
    hits.reserve(size());
    for (std::size_t i = 0; i < size(); ++i)
      hits.push_back({state_->passages[i], state_->similarity(query, factor, i)});
  }
  const std::size_t kept = std::min(most, hits.size());
  std::partial_sort(hits.begin(), hits.begin() + static_cast<std::ptrdiff_t>(kept), hits.end(), better);
  hits.resize(kept);
  return hits;
}

std::optional<double> PassageVectors::similarity(std::span<const float> vector, std::uint32_t passage) const {
  if (vector.size() != state_->width) throw std::logic_error("reader: a vector of another width");
  const auto known = std::lower_bound(state_->passages.begin(), state_->passages.end(), passage);
  if (known == state_->passages.end() || *known != passage) return std::nullopt;
  std::vector<std::int8_t> query(vector.size());
  const float factor = quantise(vector.data(), vector.size(), query.data());
  return state_->similarity(query.data(), factor, static_cast<std::size_t>(known - state_->passages.begin()));
}

namespace {

// Numbers of passages that have no vector of the model.
base::Result<std::vector<std::uint32_t>> without_vector(const PassageIndex& index, std::string_view tag) {
  std::vector<std::uint32_t> missing;
  const auto vectors = index.snapshot().cursor(kb::Table::vectors, {});
  vectors->seek({});
  std::uint32_t has = 0;
  base::Status status;
  ASKBASE_TRY(index.each_passage(0, [&](std::uint32_t number) {
    const auto behind = [&] {
      return vectors->valid() && read_number_key(vectors->key(), has) && has < number;
    };
    while (behind()) vectors->next();
    const bool known = vectors->valid() && has == number && vectors->value().starts_with(tag);
    if (!known) missing.push_back(number);
    return true;
  }));
  ASKBASE_TRY(vectors->status());
  return missing;
}

base::Status pause(const std::function<bool()>& stop) {
  ASKBASE_TRY(base::check_interrupt());
  if (stop && stop()) return base::fail(base::ErrorCode::cancelled, "making vectors was stopped");
  return {};
}

// The store's lock, however long others have it.
base::Result<kb::ChangeLock> wait_for(kb::Store& store, const std::function<bool()>& stop) {
  for (;;) {
    auto lock = store.lock_changes();
    if (lock || lock.error().code != base::ErrorCode::locked) return lock;
    ASKBASE_TRY(pause(stop));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

struct Made {
  std::uint32_t passage = 0;
  std::string value;
};

// Vectors of the passages, as they are stored.
base::Result<std::vector<Made>> embed(const PassageIndex& index, const SentenceModel& model,
                                      std::span<const std::uint32_t> numbers) {
  std::vector<Made> made;
  std::vector<std::string> texts;
  std::vector<std::size_t> of;  // which of `made` each text belongs to
  for (const std::uint32_t number : numbers) {
    ASKBASE_ASSIGN(Passage passage, index.passage(number));
    made.push_back({number, std::string(tag_of(model))});
    const bool said = !passage.lang.empty();
    const base::Language language =
        said ? base::language_from_tag(passage.lang) : base::detect_language(passage.text);
    if (language != base::Language::english) continue;
    of.push_back(made.size() - 1);
    texts.push_back(std::move(passage.text));
  }
  if (texts.empty()) return made;
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  ASKBASE_ASSIGN(const nn::Matrix<float> vectors, model.embed(views));
  std::vector<std::int8_t> bytes(model.width);
  for (std::size_t i = 0; i < of.size(); ++i) {
    const float factor = quantise(vectors.row(static_cast<nn::Index>(i)), model.width, bytes.data());
    std::string& value = made[of[i]].value;
    value.append(reinterpret_cast<const char*>(&factor), sizeof factor);
    value.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return made;
}

base::Status write(kb::Store& store, const std::vector<Made>& made, const std::function<bool()>& stop) {
  ASKBASE_ASSIGN(const kb::ChangeLock lock, wait_for(store, stop));
  const auto snapshot = store.storage().snapshot();
  ASKBASE_ASSIGN(const auto change, store.storage().begin_write());
  std::string value;
  for (const Made& one : made) {
    // A passage may have gone meanwhile.
    ASKBASE_ASSIGN(const bool there, snapshot->get(kb::Table::passages, number_key(one.passage), value));
    if (there) ASKBASE_TRY(change->put(kb::Table::vectors, number_key(one.passage), one.value));
  }
  for (const std::string_view name : {counter::vectors, kb::counter::version}) {
    ASKBASE_ASSIGN(const std::uint64_t before, kb::read_counter(*snapshot, name));
    ASKBASE_TRY(change->put(kb::Table::meta, name, kb::encode_counter(before + 1)));
  }
  return change->commit();
}

}  // namespace

base::Result<VectorReport> make_vectors(kb::Store& store, const SentenceModel& model,
                                        const base::Progress::Sink& progress,
                                        const std::function<bool()>& stop) {
  constexpr std::size_t batch = 64, commit_at = 2048;
  VectorReport report;
  ASKBASE_ASSIGN(const PassageIndex index, PassageIndex::open(store.storage().snapshot()));
  ASKBASE_ASSIGN(std::vector<std::uint32_t> missing, without_vector(index, tag_of(model)));
  if (missing.empty()) return report;
  base::Progress shown("vectors of passages", missing.size(), "passages", progress);
  std::vector<Made> waiting;
  for (std::size_t begin = 0; begin < missing.size(); begin += batch) {
    const base::Status go_on = pause(stop);
    if (go_on) {
      const auto part = std::span(missing).subspan(begin, std::min(batch, missing.size() - begin));
      ASKBASE_ASSIGN(std::vector<Made> made, embed(index, model, part));
      for (Made& one : made) {
        if (one.value.size() > tag_bytes) ++report.made;
        waiting.push_back(std::move(one));
      }
      report.passages += part.size();
      shown.update(report.passages);
    }
    const bool last = begin + batch >= missing.size();
    if (waiting.size() >= commit_at || last || (!go_on && !waiting.empty())) {
      ASKBASE_TRY(write(store, waiting, stop));
      waiting.clear();
    }
    ASKBASE_TRY(go_on);
  }
  shown.finish();
  return report;
}

}  // namespace askbase::reader
