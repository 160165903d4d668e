#include "kb/embedding/scorers.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <utility>

#include "kb/embedding/kernels.h"

namespace askbase::kb::embedding {

namespace {

using Row = std::vector<float>;

double cosine(const Row& a, const Row& b) {
  const auto n = static_cast<Index>(a.size());
  const double lengths =
      std::sqrt(static_cast<double>(squares(a.data(), n)) * static_cast<double>(squares(b.data(), n)));
  return lengths > 0 ? static_cast<double>(dot(a.data(), b.data(), n)) / lengths : 0;
}

double distance(const float* a, const float* b, Index n) {
  double sum = 0;
  for (Index i = 0; i < n; ++i) sum += static_cast<double>(a[i] - b[i]) * static_cast<double>(a[i] - b[i]);
  return std::sqrt(sum);
}

class Reconstruction final : public CandidateScorer {
 public:
  Reconstruction(std::shared_ptr<const KbEmbeddings> embeddings, const ReconstructionWeights& weights)
      : embeddings_(std::move(embeddings)), weights_(weights) {}
  std::string_view name() const override { return "embedding_reconstruction"; }

  base::Result<std::optional<double>> score(const View& view, const QuestionContext& question,
                                            const Candidate& candidate) const override {
    const Model<float>& model = embeddings_->model();
    const auto relation_row = embeddings_->relation_row(candidate.relation);
    const Index translation = model.config().kind == ModelKind::transr && model.config().relation_dim > 0
                                  ? model.config().relation_dim
                                  : model.config().dim;
    if (!relation_row || static_cast<Index>(question.head.size()) != model.entity_size() ||
        static_cast<Index>(question.relation.size()) != translation)
      return std::nullopt;
    ASKBASE_ASSIGN(const auto head, embeddings_->vector(view, candidate.head));
    if (!head) return std::nullopt;
    const Tables<float>& tables = embeddings_->set().tables;
    const float* relation = tables.relations.row(*relation_row);
    Row predicted_head(head->size()), predicted(static_cast<std::size_t>(model.relation_width()));
    model.unpack_entity(question.head.data(), predicted_head.data());
    // The candidate's relation with the predicted translation in place of its own.
    std::copy_n(relation, model.relation_width(), predicted.data());
    std::copy_n(question.relation.data(), translation, predicted.data());
    const Side missing = candidate.inverse ? Side::head : Side::tail;
    Row place(static_cast<std::size_t>(model.query_width())), predicted_place(place.size());
    model.query(missing, head->data(), relation, place.data());
    model.query(missing, predicted_head.data(), predicted.data(), predicted_place.data());
    return -(weights_.head * distance(head->data(), predicted_head.data(), model.entity_width()) +
             weights_.relation * distance(relation, predicted.data(), translation) +
             weights_.tail * distance(place.data(), predicted_place.data(), model.query_width()));
  }

 private:
  std::shared_ptr<const KbEmbeddings> embeddings_;
  ReconstructionWeights weights_;
};

class Disambiguation final : public CandidateScorer {
 public:
  explicit Disambiguation(std::shared_ptr<const KbEmbeddings> embeddings)
      : embeddings_(std::move(embeddings)) {}
  std::string_view name() const override { return "embedding_nearness"; }

  base::Result<std::optional<double>> score(const View& view, const QuestionContext& question,
                                            const Candidate& candidate) const override {
    ASKBASE_ASSIGN(const auto own, embeddings_->vector(view, candidate.head));
    if (!own) return std::nullopt;
    double sum = 0;
    std::size_t count = 0;
    for (const std::vector<TermId>& mention : question.mentions) {
      // The mention that the candidate itself comes from tells nothing.
      if (std::find(mention.begin(), mention.end(), candidate.head) != mention.end()) continue;
      std::optional<double> nearest;
      for (const TermId entity : mention) {
        ASKBASE_ASSIGN(const auto other, embeddings_->vector(view, entity));
        if (other) nearest = std::max(nearest.value_or(-1), cosine(*own, *other));
      }
      if (!nearest) continue;
      sum += *nearest;
      ++count;
    }
    if (count == 0) return std::nullopt;
    return sum / static_cast<double>(count);
  }

 private:
  std::shared_ptr<const KbEmbeddings> embeddings_;
};

class TypeConsistency final : public CandidateScorer {
 public:
  explicit TypeConsistency(std::shared_ptr<const KbEmbeddings> embeddings)
      : embeddings_(std::move(embeddings)) {}
  std::string_view name() const override { return "embedding_type"; }

  base::Result<std::optional<double>> score(const View& view, const QuestionContext&,
                                            const Candidate& candidate) const override {
    ASKBASE_ASSIGN(const auto usual, usual_of(view, candidate.relation, candidate.inverse));
    if (!usual) return std::nullopt;
    std::optional<double> best;
    for (std::size_t i = 0; i < std::min<std::size_t>(16, candidate.answers.size()); ++i) {
      ASKBASE_ASSIGN(const auto answer, embeddings_->vector(view, candidate.answers[i]));
      if (!answer) continue;
      const double z = (cosine(*answer, usual->centre) - usual->mean) / usual->deviation;
      best = std::max(best.value_or(z), z);
    }
    return best;
  }

 private:
  struct Usual {
    Row centre;
    double mean = 0, deviation = 1;
  };

  base::Result<std::shared_ptr<const Usual>> usual_of(const View& view, TermId relation, bool inverse) const {
    const auto key = std::make_pair(relation, inverse);
    {
      const std::lock_guard lock(mutex_);
      if (const auto known = usual_.find(key); known != usual_.end()) return known->second;
    }
    constexpr std::size_t enough = 1000;
    std::vector<std::uint32_t> rows;
    std::size_t seen = 0;
    ASKBASE_TRY(view.match({.subject = {}, .predicate = relation, .object = {}}, [&](const Triple& triple) {
      if (const auto row = embeddings_->row(inverse ? triple.subject : triple.object)) rows.push_back(*row);
      return rows.size() < enough && ++seen < 20 * enough;
    }));
    std::shared_ptr<Usual> made;
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    if (rows.size() >= 2) {
      made = std::make_shared<Usual>();
      const nn::Matrix<float>& table = embeddings_->set().tables.entities;
      const Index n = table.cols();
      made->centre.assign(static_cast<std::size_t>(n), 0.0F);
      std::vector<Row> vectors;
      for (const std::uint32_t row : rows) {
        vectors.emplace_back(table.row(row), table.row(row) + n);
        const float length = std::sqrt(squares(vectors.back().data(), n));
        if (length > 0) add_scaled(made->centre.data(), 1 / length, vectors.back().data(), n);
      }
      double sum = 0, square = 0;
      for (const Row& one : vectors) {
        const double c = cosine(one, made->centre);
        sum += c;
        square += c * c;
      }
      const auto count = static_cast<double>(vectors.size());
      made->mean = sum / count;
      made->deviation = std::max(0.02, std::sqrt(std::max(0.0, square / count - made->mean * made->mean)));
    }
    const std::lock_guard lock(mutex_);
    return usual_.try_emplace(key, std::move(made)).first->second;
  }

  std::shared_ptr<const KbEmbeddings> embeddings_;
  mutable std::mutex mutex_;
  mutable std::map<std::pair<TermId, bool>, std::shared_ptr<const Usual>> usual_;
};

}  // namespace

base::Result<std::unique_ptr<CandidateScorer>> make_reconstruction(
    std::shared_ptr<const KbEmbeddings> embeddings, const ReconstructionWeights& weights) {
  const ModelKind kind = embeddings->model().config().kind;
  if (kind != ModelKind::transe && kind != ModelKind::transh && kind != ModelKind::transr) {
    return base::fail(
        base::ErrorCode::unsupported,
        "facts are reconstructed with translations, which " + std::string(model_name(kind)) + " has not",
        "train with --kind transe, transh or transr");
  }
  return std::make_unique<Reconstruction>(std::move(embeddings), weights);
}
std::unique_ptr<CandidateScorer> make_disambiguation(std::shared_ptr<const KbEmbeddings> embeddings) {
  return std::make_unique<Disambiguation>(std::move(embeddings));
}
std::unique_ptr<CandidateScorer> make_type_consistency(std::shared_ptr<const KbEmbeddings> embeddings) {
  return std::make_unique<TypeConsistency>(std::move(embeddings));
}

}  // namespace askbase::kb::embedding
