#include "cli/path_data.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/interrupt.h"
#include "base/sha256.h"
#include "nn/random.h"
#include "qa/learned.h"
#include "qa/path_text.h"

namespace askbase::cli {

namespace {

using qa::Chain;
using qa::ChainStep;

constexpr std::size_t most_rivals = 64, nearest_rivals = 40;  // of a question, real ones
constexpr std::size_t exchanged_rivals = 8;                   // with a step that may not be real
constexpr std::size_t made_longer = 24;                       // paths of a topic at each step
constexpr qa::ChainLimits look{.entities = 16, .facts = 512};

// Steps to add, take away or exchange.
std::size_t distance(const Chain& a, const Chain& b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t corner = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t exchanged = corner + (a[i] == b[j] ? 0 : 1);
      corner = row[j + 1];
      row[j + 1] = std::min({exchanged, row[j] + 1, corner + 1});
    }
  }
  return row.back();
}

class PathReader {
 public:
  PathReader(const kb::View& view, const qa::Lexicon& lexicon, const PathDataOptions& options,
             qa::MatchData& data)
      : view_(view), lexicon_(lexicon), data_(data), random_(options.seed, 0x70617468) {
    for (const qa::Predicate& predicate : lexicon.predicates())
      steps_.push_back(qa::relation_step(predicate, options.language));
  }

  // Nothing for a question that cannot be learned from. longest: steps of the rivals, at most.
  base::Result<std::optional<qa::MatchExample>> example(const datasets::KbQuestion& question,
                                                        std::size_t longest) {
    ASKBASE_ASSIGN(const std::optional<Chain> gold, chain_of(view_, lexicon_, question.path));
    ASKBASE_ASSIGN(const auto topic, view_.find(kb::Term::iri(question.topics[0])));
    if (!gold || !topic) return std::nullopt;
    ASKBASE_ASSIGN(const auto mention, mention_place(view_, question, *topic));
    if (!mention) return std::nullopt;
    ASKBASE_ASSIGN(std::vector<Chain> real, paths_from(*topic, *gold, longest));
    if (std::find(real.begin(), real.end(), *gold) == real.end()) return std::nullopt;
    qa::MatchExample example;
    example.question = question.question;
    example.mentions = {{mention->begin, mention->end, {}}};
    example.gold = {place_of(*gold)};
    for (const Chain& rival : rivals_of(*gold, std::move(real))) example.rivals.push_back(place_of(rival));
    return example;
  }

 private:
  // Paths of the topic; of those that are made longer some are drawn, and the beginning of the gold path is.
  base::Result<std::vector<Chain>> paths_from(kb::TermId topic, const Chain& gold, std::size_t longest) {
    std::vector<Chain> all;
    std::vector<qa::FoundChain> level{{{}, {topic}, 0}};
    for (std::size_t step = 0; step < longest && !level.empty(); ++step) {
      std::vector<qa::FoundChain> longer;
      for (const qa::FoundChain& chain : level) {
        ASKBASE_ASSIGN(auto reached, qa::expand(view_, lexicon_, chain.ends, look, {}));
        for (qa::ReachedBy& next : reached) {
          longer.push_back({chain.chain, std::move(next.ends), 0});
          longer.back().chain.push_back(next.step);
          all.push_back(longer.back().chain);
        }
      }
      const auto begins = [&](const qa::FoundChain& chain) {
        return std::equal(chain.chain.begin(), chain.chain.end(), gold.begin(),
                          gold.begin() + static_cast<std::ptrdiff_t>(std::min(gold.size(), step + 1)));
      };
      if (longer.size() > made_longer) {
        random_.shuffle(longer);
        std::stable_partition(longer.begin(), longer.end(), begins);
        longer.resize(made_longer);
      }
      level = std::move(longer);
    }
    return all;
  }

  std::vector<Chain> rivals_of(const Chain& gold, std::vector<Chain> real) {
    std::erase(real, gold);
    random_.shuffle(real);
    std::stable_sort(real.begin(), real.end(),
                     [&](const Chain& a, const Chain& b) { return distance(a, gold) < distance(b, gold); });
    if (real.size() > most_rivals) {
      // Beyond the nearest ones any others, evenly.
      std::vector<Chain> rest(real.begin() + nearest_rivals, real.end());
      random_.shuffle(rest);
      real.resize(nearest_rivals);
      real.insert(real.end(), rest.begin(), rest.begin() + (most_rivals - nearest_rivals));
    }
    for (std::size_t k = 0; k < exchanged_rivals && steps_.size() > 1; ++k) {
      Chain other = gold;
      ChainStep& step = other[random_.below(other.size())];
      step.predicate = random_.below(steps_.size());
      step.inverse = gold.size() > 1 && random_.uniform() < 0.25 ? !step.inverse : step.inverse;
      if (other != gold) real.push_back(std::move(other));
    }
    return real;
  }

  std::uint32_t place_of(const Chain& chain) {
    const auto [found, fresh] = places_.try_emplace(chain, static_cast<std::uint32_t>(data_.paths.size()));
    if (!fresh) return found->second;
    std::vector<qa::RelationStep> steps;
    for (const ChainStep& step : chain) {
      steps.push_back(steps_[step.predicate]);
      steps.back().inverse = step.inverse;
    }
    qa::TrainingPath path;
    path.texts = qa::path_texts(steps);
    path.schema = kSchema;
    path.steps = static_cast<std::uint32_t>(chain.size());
    data_.paths.push_back(std::move(path));
    return found->second;
  }

  static constexpr std::uint32_t kSchema = 3;  // apart from those of questions without a knowledge base
  const kb::View& view_;
  const qa::Lexicon& lexicon_;
  qa::MatchData& data_;
  nn::Random random_;
  std::vector<qa::RelationStep> steps_;  // of each predicate
  std::map<Chain, std::uint32_t> places_;
};

}  // namespace

base::Result<std::optional<Chain>> chain_of(const kb::View& view, const qa::Lexicon& lexicon,
                                            const std::vector<datasets::PathStep>& path) {
  Chain chain;
  for (const datasets::PathStep& step : path) {
    ASKBASE_ASSIGN(const auto relation, view.find(kb::Term::iri(step.relation)));
    const auto predicate = relation ? lexicon.predicate_index(*relation) : std::nullopt;
    if (!predicate) return std::nullopt;
    chain.push_back({*predicate, step.inverse});
  }
  return chain;
}

std::string_view part_of(const datasets::KbQuestion& question, std::uint64_t seed) {
  for (const std::string_view part : {"train", "valid", "test"}) {
    if (question.split == part) return part;
  }
  const std::string hash = base::sha256(std::to_string(seed) + ":" + question.id).substr(0, 8);
  const unsigned long place = std::stoul(hash, nullptr, 16) % 10;
  return place == 0 ? "test" : place == 1 ? "valid" : "train";
}

base::Result<PathDataCounts> add_path_data(const MemorySource& source, const PathDataOptions& options,
                                           qa::MatchData& data) {
  ASKBASE_ASSIGN(const auto questions, datasets::read_kb_questions({source.questions}));
  ASKBASE_ASSIGN(const auto store, kb::Store::open(source.kb, kb::OpenMode::read_only));
  ASKBASE_ASSIGN(const auto view, store->view());
  ASKBASE_ASSIGN(const auto lexicon, qa::Lexicon::build(*view));
  std::vector<const datasets::KbQuestion*> train, valid;
  std::size_t longest = 1;
  PathDataCounts counts;
  for (const datasets::KbQuestion& question : questions) {
    if (question.lang != options.language || question.topics.empty() || question.path.empty()) continue;
    const std::string_view part = part_of(question, options.split_seed);
    if (part == "test") continue;
    if (question.path.size() > qa::ChainLimits{}.steps) {
      ++counts.left_out;
      continue;
    }
    (part == "train" ? train : valid).push_back(&question);
    longest = std::max(longest, question.path.size());
  }
  if (options.most_valid > 0 && valid.size() > options.most_valid) {
    const std::size_t all = valid.size();
    for (std::size_t i = 0; i < options.most_valid; ++i) valid[i] = valid[i * all / options.most_valid];
    valid.resize(options.most_valid);
  }
  PathReader reader(*view, *lexicon, options, data);
  const auto group = static_cast<std::uint32_t>(data.groups.size());
  if (!valid.empty())
    data.groups.emplace_back(source.questions.parent_path().filename().string() + "_accuracy");
  for (auto* part : {&train, &valid}) {
    for (const datasets::KbQuestion* question : *part) {
      if (base::interrupted()) return base::fail(base::ErrorCode::cancelled, "interrupted");
      ASKBASE_ASSIGN(auto example, reader.example(*question, longest));
      if (!example) {
        ++counts.left_out;
        continue;
      }
      if (part == &train) {
        data.train.push_back(std::move(*example));
        ++counts.train;
      } else {
        example->group = group;
        data.valid.push_back(std::move(*example));
        ++counts.valid;
      }
    }
  }
  if (counts.train == 0) {
    return base::fail(
        base::ErrorCode::bad_input,
        source.questions.string() + ": no question with a path of " + source.kb.string() + " to learn from",
        "datasets prepare makes questions and facts that fit");
  }
  return counts;
}

}  // namespace askbase::cli
