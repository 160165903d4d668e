// What embeddings say of a candidate reading of a question: scores that a pipeline may weigh with others.
//
// Each scorer looks at one side of the matter, and says nothing (no value) when an entity or relation has no
// vector. Scores of one scorer are comparable within a question; higher is better.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kb/embedding/kb_embeddings.h"

namespace askbase::kb::embedding {

// A fact that would answer: (head, relation, answers).
struct Candidate {
  TermId head, relation;
  bool inverse = false;         // the answers stand at the head of the facts: (answer, relation, head)
  std::vector<TermId> answers;  // may be empty when they are not looked up yet
};

// What else is known of the question.
struct QuestionContext {
  // Predicted by a model from the words of the question: an entity's vector and a relation's, packed as in
  // the set's files (for TransH and TransR: the translation alone). Empty: none.
  std::span<const float> head, relation;
  // Other things that the question names: for each mention, the entities that it may mean.
  std::span<const std::vector<TermId>> mentions;
};

class CandidateScorer {
 public:
  virtual ~CandidateScorer() = default;
  virtual std::string_view name() const = 0;
  // Errors: io, corrupt.
  virtual base::Result<std::optional<double>> score(const View& view, const QuestionContext& question,
                                                    const Candidate& candidate) const = 0;
};

struct ReconstructionWeights {
  double head = 1, relation = 1, tail = 1;  // beta_1, 1, beta_2 of Huang et al. 2019, eq. 9
};
// KEQA (Huang et al. 2019, section 4.4): minus the distance between the candidate and the fact that the
// question's vectors predict, |r - r'| + |h - h'| + |f(h, r) - f(h', r')|, L2. f is where the model expects
// the tail: h + r for TransE; TransH and TransR go through the candidate's own hyperplane or matrix. The
// string similarities of the paper's distance are features of their own. Error unsupported for other models.
base::Result<std::unique_ptr<CandidateScorer>> make_reconstruction(
    std::shared_ptr<const KbEmbeddings> embeddings, const ReconstructionWeights& weights = {});

// Nearness of the candidate's head to the other things of the question: the mean over their mentions of the
// cosine with the nearest entity that each may mean.
std::unique_ptr<CandidateScorer> make_disambiguation(std::shared_ptr<const KbEmbeddings> embeddings);

// Whether the answers are the kind of thing that stands at this end of the relation: the cosine with the mean
// of (at most 1,000) entities that do, in standard deviations of theirs. About 0 for a usual answer, well
// below for one of another kind. The best of at most 16 answers counts. Remembers the relations asked for:
// thread-safe.
std::unique_ptr<CandidateScorer> make_type_consistency(std::shared_ptr<const KbEmbeddings> embeddings);

}  // namespace askbase::kb::embedding
