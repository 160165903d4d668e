#include "cli/tagged_questions.h"

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/text.h"
#include "cli/figures.h"
#include "cli/output.h"

namespace askbase::cli {

namespace {

constexpr std::size_t longest_name_tokens = 24;

std::string letters_of(std::string_view text) {
  std::string key = base::match_key(text);
  std::erase(key, ' ');
  return key;
}

// Sources such as "bubo-test|dg", "bubo-valid": whether all of them are questions kept for measuring.
bool only_held_out(std::string_view sources) {
  bool any = false;
  while (!sources.empty()) {
    const std::size_t end = std::min(sources.find_first_of("|,"), sources.size());
    const std::string_view source = sources.substr(0, end);
    sources.remove_prefix(std::min(end + 1, sources.size()));
    if (!source.ends_with("-test") && !source.ends_with("-valid")) return false;
    any = true;
  }
  return any;
}

std::optional<qa::TokenSpan> longest_name(const std::vector<base::Token>& tokens, const TopicNames& names) {
  std::optional<qa::TokenSpan> best;
  for (std::size_t first = 0; first < tokens.size(); ++first) {
    std::string letters;
    for (std::size_t last = first; last < std::min(tokens.size(), first + longest_name_tokens); ++last) {
      const std::string key = letters_of(tokens[last].key);
      letters += key;
      if (key.empty() || (best && best->last - best->first > last - first)) continue;
      if (best && best->last - best->first == last + 1 - first) continue;
      if (names.has(letters)) best = qa::TokenSpan{first, last + 1};
    }
  }
  return best;
}

}  // namespace

void TopicNames::add(const std::string& id, const std::string& name) {
  const std::string letters = letters_of(name);
  if (letters.empty()) return;
  names_[id].push_back(name);
  known_.insert(letters);
  const std::string_view shorter = qa::without_remark(name);
  if (shorter.size() < name.size()) known_.insert(letters_of(shorter));
}

base::Status TopicNames::read_names(const std::string& path) {
  return datasets::read_entity_names(path, [&](const datasets::EntityName& name) {
    if (name.kind != "description" && !only_held_out(name.sources)) add(name.id, name.name);
    return true;
  });
}

base::Status TopicNames::read_subjects(const std::string& path) {
  std::unordered_set<std::string> seen;
  return datasets::read_named_facts(
      path,
      [&](const datasets::NamedFact& fact) {
        if (seen.insert(fact.subject).second) add(fact.subject, fact.subject);
        return true;
      },
      true);
}

const std::vector<std::string>& TopicNames::of(const std::string& id) const {
  static const std::vector<std::string> none;
  const auto found = names_.find(id);
  return found == names_.end() ? none : found->second;
}

std::string question_letters(const std::string& question) { return letters_of(question); }

Alignment align_mentions(const std::vector<datasets::KbQuestion>& questions, const TopicNames& names,
                         std::unordered_set<std::string>* seen) {
  Alignment out;
  for (const datasets::KbQuestion& question : questions) {
    if (seen != nullptr && !seen->insert(question_letters(question.question)).second) {
      ++out.repeated;
      continue;
    }
    const std::vector<base::Token> tokens = qa::mention_tokens(question.question);
    std::optional<qa::TokenSpan> best = qa::find_mention(tokens, question.mention);
    if (best) {
      ++out.by_mention;
    } else {
      const auto try_name = [&](const std::string& name) {
        const std::optional<qa::TokenSpan> span = qa::find_mention(tokens, name);
        if (span && (!best || span->last - span->first > best->last - best->first)) best = span;
      };
      for (const std::string& name : question.topic_names) try_name(name);
      for (const std::string& topic : question.topics) {
        try_name(topic);
        for (const std::string& name : names.of(topic)) try_name(name);
      }
      if (best) ++out.by_name;
    }
    if (best) {
      out.aligned.push_back({question.id, question.question, *best});
    } else {
      ++out.not_found;
    }
  }
  return out;
}

MentionFigures measure_mentions(const qa::MentionTagger& tagger, const Alignment& questions,
                                const TopicNames& names) {
  std::vector<double> exact, among_five, covered, longest;
  double seconds = 0;
  for (const AlignedQuestion& question : questions.aligned) {
    const auto start = std::chrono::steady_clock::now();
    const qa::MentionTags tags = tagger.tag(question.question, {.least_probability = 1e-4F, .max_spans = 5});
    seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const auto is_gold = [&](const qa::TaggedSpan& span) {
      return qa::TokenSpan{span.first, span.last} == question.mention;
    };
    exact.push_back(!tags.spans.empty() && is_gold(tags.spans.front()) ? 1 : 0);
    among_five.push_back(std::any_of(tags.spans.begin(), tags.spans.end(), is_gold) ? 1 : 0);
    covered.push_back(!tags.spans.empty() && tags.spans.front().first < question.mention.last &&
                              question.mention.first < tags.spans.front().last
                          ? 1
                          : 0);
    if (!names.empty()) {
      longest.push_back(longest_name(qa::mention_tokens(question.question), names) == question.mention ? 1
                                                                                                       : 0);
    }
  }
  MentionFigures figures;
  figures.questions = exact.size();
  figures.not_aligned = questions.not_found;
  figures.exact = datasets::mean_figure(exact);
  figures.among_five = datasets::mean_figure(among_five);
  figures.covered = datasets::mean_figure(covered);
  figures.longest_name = datasets::mean_figure(longest);
  exact.resize(exact.size() + questions.not_found, 0.0);
  figures.exact_of_all = datasets::mean_figure(exact);
  if (figures.questions > 0) figures.milliseconds = 1000 * seconds / static_cast<double>(figures.questions);
  return figures;
}

base::Json figures_json(const MentionFigures& figures) {
  base::Json out = {{"questions", figures.questions}, {"not_aligned", figures.not_aligned}};
  add_figure(out, "mention_exact", figures.exact);
  add_figure(out, "mention_exact_of_all", figures.exact_of_all);
  add_figure(out, "mention_among_5", figures.among_five);
  add_figure(out, "mention_overlap", figures.covered);
  add_figure(out, "baseline_mention_exact", figures.longest_name);
  out["ms_mean"] = base::json_number(figures.milliseconds, 4);
  return out;
}

std::vector<std::vector<std::string>> figure_rows(const MentionFigures& figures) {
  return {{"questions", grouped(figures.questions)},
          {"not aligned", grouped(figures.not_aligned)},
          {"mention exact", shown_figure(figures.exact)},
          {"mention exact, of all", shown_figure(figures.exact_of_all)},
          {"among the five best", shown_figure(figures.among_five)},
          {"shares a word", shown_figure(figures.covered)},
          {"longest name: exact", shown_figure(figures.longest_name)},
          {"ms, mean", decimal(figures.milliseconds, 3)}};
}

}  // namespace askbase::cli
