#include "datasets/squad_split.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/text.h"
#include "base/unicode.h"

namespace askbase::datasets {

namespace {

// Texts shorter than this are compared as a whole only: short ones stand in many others by chance.
constexpr std::size_t kShortest = 40;

// Finds whether a text stands inside one of many others, at the start of a word.
class Haystack {
 public:
  explicit Haystack(const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      whole_.insert(text);
      for (std::size_t i = 0; i + kShortest <= text.size(); ++i) {
        if (i == 0 || text[i - 1] == ' ') {
          places_.emplace(std::string_view(text).substr(i, kShortest), std::string_view(text).substr(i));
        }
      }
    }
  }
  bool holds(std::string_view text) const {
    if (whole_.contains(text)) return true;
    if (text.size() < kShortest) return false;
    const auto [begin, end] = places_.equal_range(text.substr(0, kShortest));
    return std::any_of(begin, end, [&](const auto& place) { return place.second.starts_with(text); });
  }

 private:
  std::unordered_set<std::string_view> whole_;
  std::unordered_multimap<std::string_view, std::string_view> places_;
};

std::vector<std::string> comparable_contexts(const SquadSet& set) {
  std::vector<std::string> texts;
  for (const SquadContext& context : set.contexts) texts.push_back(comparable_text(context.text));
  return texts;
}

// Puts sets together.
class Builder {
 public:
  explicit Builder(SquadSet& set) : set_(set) {}
  void add(const SquadContext& context, SquadQuestion question) {
    const auto [found, fresh] = places_.try_emplace({context.title, context.text}, set_.contexts.size());
    if (fresh) set_.contexts.push_back(context);
    question.context = found->second;
    set_.questions.push_back(std::move(question));
  }

 private:
  SquadSet& set_;
  std::map<std::pair<std::string, std::string>, std::size_t> places_;
};

}  // namespace

std::string comparable_text(std::string_view text) {
  std::u32string kept;
  for (const char32_t c : base::to_code_points(text)) {
    if (base::is_alphanumeric(c)) {
      kept += base::simple_lower_case(c);
    } else if (!kept.empty() && kept.back() != U' ') {
      kept += U' ';
    }
  }
  if (!kept.empty() && kept.back() == U' ') kept.pop_back();
  return base::to_utf8(kept);
}

std::vector<std::size_t> overlapping_questions(const SquadSet& train, const SquadSet& valid) {
  const std::vector<std::string> train_texts = comparable_contexts(train),
                                 valid_texts = comparable_contexts(valid);
  std::unordered_set<std::string> asked;
  for (const SquadQuestion& question : valid.questions) asked.insert(comparable_text(question.question));
  std::vector<bool> overlaps(train_texts.size(), false);
  const Haystack in_valid(valid_texts);
  for (std::size_t i = 0; i < train_texts.size(); ++i) overlaps[i] = in_valid.holds(train_texts[i]);
  const Haystack in_train(train_texts);
  std::unordered_set<std::string_view> inside;  // validation texts that stand in training ones: rare
  for (const std::string& text : valid_texts) {
    if (in_train.holds(text)) inside.insert(text);
  }
  for (std::size_t i = 0; i < train_texts.size() && !inside.empty(); ++i) {
    overlaps[i] = overlaps[i] || std::any_of(inside.begin(), inside.end(), [&](std::string_view text) {
                    return train_texts[i].find(text) != std::string::npos;
                  });
  }
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < train.questions.size(); ++i) {
    const SquadQuestion& question = train.questions[i];
    if (overlaps[question.context] || asked.contains(comparable_text(question.question))) result.push_back(i);
  }
  return result;
}

base::Result<SquadSplit> split_squad(std::vector<SquadSet> sets, const std::vector<std::string>& held_out) {
  std::unordered_map<std::string, bool> titles;  // whether it was found
  for (const std::string& title : held_out) titles.emplace(title, false);
  SquadSplit split;
  SquadSet rest;
  Builder valid(split.valid), others(rest);
  for (const SquadSet& set : sets) {
    for (const SquadQuestion& question : set.questions) {
      const SquadContext& context = set.contexts[question.context];
      const auto title = titles.find(context.title);
      if (title != titles.end()) title->second = true;
      (title != titles.end() ? valid : others).add(context, question);
    }
  }
  for (const auto& [title, found] : titles) {
    if (!found) {
      return base::fail(base::ErrorCode::not_found, "no article has the title \"" + title + "\"",
                        "titles are written as the files have them");
    }
  }
  const std::vector<std::size_t> overlapping = overlapping_questions(rest, split.valid);
  split.overlapping = overlapping.size();
  Builder train(split.train);
  for (std::size_t i = 0, next = 0; i < rest.questions.size(); ++i) {
    if (next < overlapping.size() && overlapping[next] == i) {
      ++next;
      continue;
    }
    train.add(rest.contexts[rest.questions[i].context], std::move(rest.questions[i]));
  }
  return split;
}

}  // namespace askbase::datasets
