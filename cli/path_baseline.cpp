#include "cli/path_baseline.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <utility>

#include "base/tokenize.h"
#include "cli/baseline.h"
#include "cli/memory_data.h"
#include "cli/path_data.h"
#include "qa/chain_search.h"

namespace askbase::cli {

namespace {

constexpr std::size_t most_paths = 200, most_facts = 4096;  // tried; read of a step
constexpr std::chrono::seconds patience(60);

std::string label_of(const qa::Chain& chain) {
  std::string label;
  for (const qa::ChainStep& step : chain)
    label += (step.inverse ? "^" : "") + std::to_string(step.predicate) + " ";
  return label;
}

qa::Chain labelled_chain(const std::string& label) {
  qa::Chain chain;
  for (std::size_t at = 0; at < label.size(); at = label.find(' ', at) + 1) {
    const bool inverse = label[at] == '^';
    chain.push_back({std::stoul(label.substr(at + (inverse ? 1 : 0))), inverse});
  }
  return chain;
}

}  // namespace

base::Result<std::unique_ptr<PathBaseline>> PathBaseline::make(
    std::shared_ptr<const kb::View> view, const std::vector<datasets::KbQuestion>& train) {
  ASKBASE_ASSIGN(auto lexicon, qa::Lexicon::build(*view));
  std::unique_ptr<PathBaseline> out(new PathBaseline(std::move(view), std::move(lexicon)));
  std::vector<datasets::NaiveBayes::Example> examples;
  for (const datasets::KbQuestion& question : train) {
    ASKBASE_ASSIGN(const auto chain, chain_of(*out->view_, *out->lexicon_, question.path));
    ASKBASE_ASSIGN(const auto topic, out->view_->find(kb::Term::iri(question.topics[0])));
    if (!topic || !chain) continue;
    ASKBASE_ASSIGN(const auto mention, mention_place(*out->view_, question, *topic));
    if (mention)
      examples.push_back({words_beside(question.question, mention->begin, mention->end), label_of(*chain)});
  }
  if (examples.empty()) {
    return base::fail(base::ErrorCode::bad_input, "no question of the part train names its topic");
  }
  out->bayes_ = std::make_unique<datasets::NaiveBayes>(examples);
  return out;
}

base::Result<std::optional<std::string>> PathBaseline::first_answer(const std::string& question) const {
  const std::vector<base::Token> tokens = base::tokenize_characters(question);
  ASKBASE_ASSIGN(
      const std::optional<LongestName> name,
      longest_name(*view_, question, tokens, [&](kb::TermId id) { return !lexicon_->is_schema(id); }));
  if (!name) return std::nullopt;
  const std::vector<double> scores =
      bayes_->scores(words_beside(question, tokens[name->begin].begin, tokens[name->end - 1].end));
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
  order.resize(std::min(order.size(), most_paths));
  const qa::Deadline deadline(patience);
  for (const std::size_t label : order) {
    for (const kb::EntityMatch& match : name->matches) {
      ASKBASE_ASSIGN(const qa::Followed followed,
                     qa::follow_chain(*view_, *lexicon_, match.entity,
                                      labelled_chain(bayes_->labels()[label]), most_facts, 1, deadline));
      if (followed.answers.empty()) continue;
      ASKBASE_ASSIGN(kb::Term term, view_->term(followed.answers[0]));
      return std::optional(std::move(term.value));
    }
  }
  return std::nullopt;
}

}  // namespace askbase::cli
