#include "qa/examples.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.h"
#include "kb/entity_index.h"
#include "qa/wording.h"

namespace askbase::qa {
namespace {

constexpr std::size_t looked_at = 64;            // facts of a predicate from which the example is chosen
constexpr std::size_t max_inverse_answers = 40;  // a longer list makes a poor first impression

bool suits(const std::string& name, base::Language language) {
  return base::contains_han(name) == (language == base::Language::chinese);
}

struct Example {
  kb::Triple fact;
  std::uint32_t known = 0;  // facts of subject and object: the best known make the best examples
};

class ExampleMaker {
 public:
  ExampleMaker(const kb::View& view, const Lexicon& lexicon, base::Language language)
      : view_(view), lexicon_(lexicon), language_(language), wording_(view, lexicon, language, false) {}

  base::Result<std::vector<std::string>> make(std::size_t limit) {
    std::vector<std::size_t> order(lexicon_.predicates().size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return rank(a) > rank(b); });
    std::vector<std::string> out;
    bool inverse = false;
    for (const std::size_t predicate : order) {
      if (out.size() >= limit) break;
      ASKBASE_ASSIGN(const std::optional<std::string> text, example_of(predicate, inverse));
      if (!text) continue;
      out.push_back(*text);
      inverse = !inverse;
    }
    return out;
  }

 private:
  // Values that are things come before numbers, numbers before codes; many facts before few.
  std::pair<int, std::uint64_t> rank(std::size_t index) const {
    const Predicate& predicate = lexicon_.predicates()[index];
    const int kind = predicate.kind == ValueKind::entity                                        ? 3
                     : predicate.kind == ValueKind::number || predicate.kind == ValueKind::time ? 2
                                                                                                : 1;
    return {kind, predicate.facts};
  }

  base::Result<std::optional<std::string>> example_of(std::size_t index, bool inverse) {
    const Predicate& predicate = lexicon_.predicates()[index];
    std::vector<Example> examples;
    ASKBASE_TRY(
        view_.match({.subject = {}, .predicate = predicate.id, .object = {}}, [&](const kb::Triple& fact) {
          if (!lexicon_.is_schema(fact.subject)) examples.push_back({fact, 0});
          return examples.size() < looked_at;
        }));
    examples.push_back({{predicate.example_subject, predicate.id, predicate.example_object}, 0});
    for (Example& example : examples) {
      ASKBASE_ASSIGN(
          const std::uint64_t known,
          view_.count({.subject = example.fact.subject, .predicate = {}, .object = {}}, looked_at));
      ASKBASE_ASSIGN(
          const std::uint64_t pointed,
          view_.count({.subject = {}, .predicate = {}, .object = example.fact.subject}, looked_at));
      example.known = static_cast<std::uint32_t>(known + pointed);
    }
    std::stable_sort(examples.begin(), examples.end(),
                     [](const Example& a, const Example& b) { return a.known > b.known; });
    const bool backwards = inverse && predicate.kind == ValueKind::entity;
    for (const Example& example : examples) {
      const kb::TermId about = backwards ? example.fact.object : example.fact.subject;
      if (used_.count(about) != 0) continue;
      ASKBASE_ASSIGN(const std::string name, wording_.name(about));
      if (!suits(name, language_)) continue;
      // A name that means several things would be answered by a question.
      ASKBASE_ASSIGN(const std::vector<kb::EntityMatch> namesakes, kb::find_exact(view_, name));
      std::set<kb::TermId> entities;
      for (const kb::EntityMatch& match : namesakes) entities.insert(match.entity);
      if (entities.size() > 1) continue;
      if (backwards) {
        ASKBASE_ASSIGN(const std::uint64_t answers,
                       view_.count({.subject = {}, .predicate = predicate.id, .object = about},
                                   max_inverse_answers + 1));
        if (answers > max_inverse_answers) continue;
      }
      used_.insert(about);
      if (backwards) {
        ASKBASE_ASSIGN(std::string text, wording_.inverse_question(about, index));
        return text;
      }
      ASKBASE_ASSIGN(std::string text, wording_.question_about(about, index));
      return text;
    }
    return std::nullopt;
  }

  const kb::View& view_;
  const Lexicon& lexicon_;
  base::Language language_;
  Wording wording_;
  std::set<kb::TermId> used_;
};

}  // namespace

base::Result<std::vector<std::string>> make_examples(const kb::View& view, const Lexicon& lexicon,
                                                     base::Language language, std::size_t limit) {
  const base::Language worded =
      language == base::Language::chinese ? base::Language::chinese : base::Language::english;
  return ExampleMaker(view, lexicon, worded).make(limit);
}

}  // namespace askbase::qa
