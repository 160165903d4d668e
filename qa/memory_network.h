// The network behind qa/fact_memory.h. Internal to qa/.
//
//   bag(x)   = sum_t softmax_t(gate_c(x_t)) sum_r w_r E[row_r]      tokens t, their rows r, gate column c
//   key      = W [name; whole; other; context; object]              W of the direction; each a bag
//   value    = V [key; object]
//   q_0      = Q bag(question)                                      with the mention as <e>
//   prior_i  = bag(mention)' M bag(subject_i) + w . features_i
//   score_i  = q . key_i + prior_i;  p = softmax(score);  o = sum_i p_i value_i
//   q_h+1    = q_h + U_h o                                          end-to-end memory (Sukhbaatar 2015)
//            = (1 - z) q_h + z tanh(A o + r (B q_h)), z and r sigmoid(. [o; q_h])   episodic (Kumar 2016)
//
// Training: the right slot's score of the last q leads the others by a margin.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "nn/linear.h"
#include "nn/parameters.h"
#include "qa/memory_text.h"

namespace askbase::qa {

struct MemoryConfig {
  nn::Index dimensions = 100;
  nn::Index hops = 2;     // 1 to 3
  bool episodic = false;  // how the question's state changes between hops
  std::int32_t buckets = 12288;
};

// What tells a candidate beside its name's words.
inline constexpr nn::Index memory_features = 3;
using MemoryFeatures = std::array<float, memory_features>;
// Whether the name is the mention, the share of words in both, and how many facts there are: 0 to about 1.
MemoryFeatures memory_features_of(std::string_view mention, std::string_view name, std::uint32_t facts);

// Immutable; templated so that its gradients can be checked in double precision.
template <typename T>
class MemoryNetwork {
 public:
  struct Bags {  // pooled bags: what the backward pass needs
    std::vector<const MemoryBag*> bags;
    std::vector<T> shares;            // of each token, bag after bag
    std::vector<std::size_t> begins;  // where each bag's shares begin
  };

  struct Keys {
    // Given: what is encoded.
    std::vector<const MemoryPredicateBags*> predicates;
    std::vector<char> inverse;
    // Left by encode().
    nn::Matrix<T> key, value;      // (n, dimensions)
    nn::Matrix<T> d_key, d_value;  // to be filled, then encode_backward()
    std::array<Bags, MemoryPredicateBags::parts> bags;
    std::array<std::vector<nn::Index>, 2> of_direction;
    std::array<nn::Matrix<T>, 2> parts, made;  // (forward or inverse keys, parts * dimensions), their keys
    nn::Matrix<T> value_in;                    // (n, 2 dimensions)
  };

  struct Slot {
    nn::Index key = 0, subject = 0;  // into Keys, into Reading::subjects
    MemoryFeatures features{};
  };
  // One question with one mention.
  struct Reading {
    MemoryBag question, mention;
    std::vector<MemoryBag> subjects;
    std::vector<Slot> slots;
    // Left by read().
    std::vector<T> scores;
    std::vector<std::vector<T>> hops;  // attention
    Bags question_bag, mention_bag, subject_bags;
    nn::Matrix<T> pooled, mention_pooled, mention_mapped, subjects_pooled;
    std::vector<T> prior;
    std::array<nn::Matrix<T>, 4> state;  // q before each hop and at the end
    std::array<nn::Matrix<T>, 3> read_out, update, reset, candidate, mapped;
  };

  MemoryNetwork(nn::Parameters<T>& p, const MemoryConfig& config, nn::Index vocabulary);

  void encode(const nn::Parameters<T>& p, Keys& keys, const nn::Context& context) const;
  void encode_backward(const nn::Parameters<T>& p, Keys& keys, nn::Gradients<T>& g,
                       const nn::Context& context) const;
  // key(i), value(i): of key i, of `dimensions` numbers.
  void read(const nn::Parameters<T>& p, Reading& reading, const std::vector<const T*>& key,
            const std::vector<const T*>& value, const nn::Context& context) const;
  // Adds to d_key and d_value, which may be of zero keys' rows only where slots name them.
  void read_backward(const nn::Parameters<T>& p, Reading& reading, const Keys& keys,
                     const std::vector<T>& d_scores, nn::Matrix<T>& d_key, nn::Matrix<T>& d_value,
                     nn::Gradients<T>& g, const nn::Context& context) const;

  // First values: maps near the identity, so that words in common speak before anything is learned.
  void initialise(nn::Parameters<T>& p, std::uint64_t seed) const;
  nn::ParameterId table() const { return table_; }
  nn::Index dimensions() const { return config_.dimensions; }

 private:
  void pool(const nn::Parameters<T>& p, Bags& bags, nn::Index column, nn::View<T> out) const;
  void pool_backward(const nn::Parameters<T>& p, const Bags& bags, nn::Index column, nn::View<const T> d_out,
                     nn::Gradients<T>& g) const;
  void step(const nn::Parameters<T>& p, Reading& reading, std::size_t hop, const nn::Context& context) const;
  // dq: of the state after the hop; becomes that of the state before. Returns d of the read out vector.
  void step_backward(const nn::Parameters<T>& p, const Reading& reading, std::size_t hop, nn::Matrix<T>& dq,
                     nn::Matrix<T>& d_out, nn::Gradients<T>& g, const nn::Context& context) const;

  MemoryConfig config_;
  nn::ParameterId table_ = -1, gates_ = -1, features_ = -1;
  std::array<nn::Linear<T>, 2> key_;  // forward, inverse
  nn::Linear<T> value_, query_, subject_;
  std::array<nn::Linear<T>, 3> hop_;          // end-to-end
  nn::Linear<T> gate_, out_map_, state_map_;  // episodic
};

extern template class MemoryNetwork<float>;
extern template class MemoryNetwork<double>;

}  // namespace askbase::qa
