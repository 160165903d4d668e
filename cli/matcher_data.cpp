#include "cli/matcher_data.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/text.h"
#include "base/tokenize.h"
#include "qa/path_text.h"

namespace askbase::cli {

namespace {

using datasets::PathStep;

std::string words_of(std::string_view text) {
  std::string joined;
  for (const std::string& word : qa::path_words(text)) joined += word + ' ';
  return joined;
}

bool is_wikidata(std::string_view relation) {
  return relation.size() > 1 && relation.front() == 'P' &&
         relation.find_first_not_of("0123456789", 1) == std::string_view::npos;
}

// Freebase, Wikidata, and whatever else: relations of two of them do not compete.
std::uint32_t schema_of(std::string_view relation) {
  if (is_wikidata(relation)) return 1;
  return qa::is_freebase_name(relation) ? 0 : 2;
}

std::string key_of(const std::vector<PathStep>& steps) {
  std::string key;
  for (const PathStep& step : steps) key += datasets::path_step_text(step) + '\n';
  return key;
}

// The property alone, as another schema might call it.
std::string plain_name(const std::string& freebase) {
  std::string name = freebase.substr(freebase.find_last_of("./") + 1);
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

}  // namespace

qa::MentionRange find_mention(std::string_view question, std::span<const std::string> names) {
  std::vector<base::Token> words;
  for (base::Token& token : base::tokenize_characters(question)) {
    if (token.kind != base::TokenKind::punctuation && !token.key.empty()) words.push_back(std::move(token));
  }
  // The longest run of words that a name and the question share, whole names before parts of one.
  std::size_t best_begin = 0, best_length = 0;
  bool best_whole = false;
  for (const std::string& name : names) {
    const std::vector<std::string> wanted = qa::path_words(name);
    for (std::size_t i = 0; i < words.size(); ++i) {
      for (std::size_t k = 0; k < wanted.size(); ++k) {
        std::size_t same = 0, letters = 0;
        while (i + same < words.size() && k + same < wanted.size() &&
               words[i + same].key == wanted[k + same]) {
          letters += base::count_code_points(words[i + same].key);
          ++same;
        }
        const bool whole = same == wanted.size();
        const std::size_t least = base::contains_han(name) ? 2 : 4;
        if (same == 0 || (!whole && letters < least)) continue;
        if (std::pair(whole, same) > std::pair(best_whole, best_length)) {
          best_begin = i;
          best_length = same;
          best_whole = whole;
        }
      }
    }
  }
  if (best_length == 0) return {};
  return {words[best_begin].begin, words[best_begin + best_length - 1].end, {}};
}

qa::MatchExample pool_question(const std::string& question) {
  qa::MatchExample example;
  std::string_view rest = question;
  for (const std::string_view mark : {"$ARG1", "$ARG2"}) {
    const std::size_t at = rest.find(mark);
    if (at == 0) rest.remove_prefix(mark.size());
    if (at != 0 && at != std::string_view::npos && at + mark.size() == rest.size()) {
      rest.remove_suffix(mark.size());
    }
  }
  example.question = rest;
  for (const std::string_view place : {"#head_entity#", "<e>"}) {
    const std::size_t at = example.question.find(place);
    if (at == std::string::npos) continue;
    const std::size_t begin = base::count_code_points(std::string_view(example.question).substr(0, at));
    example.mentions.push_back({begin, begin + place.size(), {}});
    break;
  }
  return example;
}

qa::TrainingPath path_of_name(const std::string& relation) {
  qa::TrainingPath path;
  path.schema = schema_of(relation);
  qa::RelationStep step{.identifier = relation, .texts = {}, .inverse = false};
  if (path.schema == 0) step.texts.push_back(plain_name(relation));
  path.texts = qa::path_texts({&step, 1});
  return path;
}

base::Status MatcherData::add_names(const std::filesystem::path& file) {
  std::unordered_set<std::string> topics;
  for (const Pending& pending : pending_) {
    topics.insert(pending.question.topics.begin(), pending.question.topics.end());
  }
  for (const auto& [relation, answers] : answers_) topics.insert(answers.type);
  std::unordered_set<std::string> with_label;
  return datasets::read_entity_names(file, [&](const datasets::EntityName& name) {
    if (name.lang != language_ || name.kind == "description") return true;
    if (!is_wikidata(name.id) && !topics.contains(name.id)) return true;
    std::vector<std::string>& names = names_[name.id];
    if (names.size() > 8) return true;
    // The label first, wherever the file has it.
    const bool label = name.kind == "label" && with_label.insert(name.id).second;
    names.insert(label ? names.begin() : names.end(), name.name);
    return true;
  });
}

base::Status MatcherData::add_facts(const std::filesystem::path& file) {
  std::unordered_set<std::string> topics;
  for (const Pending& pending : pending_) {
    topics.insert(pending.question.topics.begin(), pending.question.topics.end());
  }
  return datasets::read_named_facts(
      file,
      [&](const datasets::NamedFact& fact) {
        const auto add = [&](const std::string& entity, bool inverse) {
          std::vector<PathStep>& list = relations_of_[entity];
          const PathStep step{fact.relation, inverse};
          if (list.size() < 64 && std::find(list.begin(), list.end(), step) == list.end())
            list.push_back(step);
        };
        if (topics.contains(fact.subject)) add(fact.subject, false);
        // Only Wikidata's questions follow relations backwards.
        if (is_wikidata(fact.relation) && topics.contains(fact.object)) add(fact.object, true);
        return true;
      },
      true);
}

base::Status MatcherData::add_aspects(const std::filesystem::path& file,
                                      const std::vector<std::string>& type_relations) {
  constexpr std::size_t kRelations = 4;
  // Of an entity: its first type, and its first relations.
  std::unordered_map<std::string, Answers> entities;
  const auto is_type = [&](const std::string& relation) {
    return std::find(type_relations.begin(), type_relations.end(), relation) != type_relations.end();
  };
  ASKBASE_TRY(datasets::read_named_facts(
      file,
      [&](const datasets::NamedFact& fact) {
        Answers& entity = entities[fact.subject];
        if (is_type(fact.relation)) {
          if (entity.type.empty()) entity.type = fact.object;
        } else if (entity.relations.size() < kRelations &&
                   std::find(entity.relations.begin(), entity.relations.end(), fact.relation) ==
                       entity.relations.end()) {
          entity.relations.push_back(fact.relation);
        }
        return true;
      },
      true));
  struct Counts {
    std::map<std::string, std::size_t> types, relations;
  };
  std::map<std::string, Counts> counts;
  ASKBASE_TRY(datasets::read_named_facts(
      file,
      [&](const datasets::NamedFact& fact) {
        for (const auto& [key, answer] :
             {std::pair(fact.relation, fact.object), std::pair("^" + fact.relation, fact.subject)}) {
          const auto found = entities.find(answer);
          if (found == entities.end()) continue;
          Counts& count = counts[key];
          if (!found->second.type.empty()) ++count.types[found->second.type];
          for (const std::string& relation : found->second.relations) {
            if (relation != fact.relation) ++count.relations[relation];
          }
        }
        return true;
      },
      true));
  const auto most = [](std::map<std::string, std::size_t>& count) {
    const auto best = std::max_element(count.begin(), count.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    if (best == count.end()) return std::string();
    std::string name = best->first;
    count.erase(best);
    return name;
  };
  for (auto& [relation, count] : counts) {
    Answers& answers = answers_[relation];
    if (answers.type.empty()) answers.type = most(count.types);
    while (answers.relations.size() < kRelations && !count.relations.empty()) {
      answers.relations.push_back(most(count.relations));
    }
  }
  return {};
}

void MatcherData::describe_answers(const PathStep& last, qa::TrainingPath& path) const {
  const auto found = answers_.find(datasets::path_step_text(last));
  if (found == answers_.end()) return;
  const auto add = [&](const std::string& id, std::vector<std::string>& to) {
    const auto known = names_.find(id);
    std::string text = id;
    if (known != names_.end()) {
      text = known->second.front();
    } else if (qa::is_freebase_name(id)) {
      text = plain_name(id);
    }
    for (std::string& word : qa::path_words(text)) to.push_back(std::move(word));
  };
  if (!found->second.type.empty()) add(found->second.type, path.answer_type);
  for (const std::string& relation : found->second.relations) add(relation, path.answer_context);
}

base::Status MatcherData::leave_out(const std::vector<std::filesystem::path>& files) {
  for (const std::filesystem::path& file : files) {
    ASKBASE_ASSIGN(const auto questions, datasets::read_kb_questions({file}));
    for (const datasets::KbQuestion& question : questions) excluded_.insert(words_of(question.question));
  }
  return {};
}

bool MatcherData::is_left_out(const std::string& question) const {
  return !excluded_.empty() && excluded_.contains(words_of(question));
}

base::Status MatcherData::add_questions(const std::vector<std::filesystem::path>& files, std::size_t every) {
  ASKBASE_ASSIGN(auto questions, datasets::read_kb_questions(files));
  std::size_t next = 0;
  for (datasets::KbQuestion& question : questions) {
    if (question.path.empty() || question.lang != language_) continue;
    const bool valid = every > 0 && next++ % every == 0;
    pending_.push_back({std::move(question), valid});
  }
  return {};
}

base::Status MatcherData::add_pools(const std::filesystem::path& relations,
                                    const std::filesystem::path& questions, std::size_t every,
                                    std::size_t times, const std::string& group) {
  ASKBASE_ASSIGN(const datasets::RelationPools pools, datasets::read_relation_pools(relations, questions));
  const auto number = static_cast<std::uint32_t>(groups_.size());
  if (every > 0) groups_.push_back(group);
  for (std::size_t i = 0; i < pools.questions.size(); ++i) {
    const datasets::RelationPoolQuestion& pool = pools.questions[i];
    qa::MatchExample example = pool_question(pool.question);
    for (const std::uint32_t gold : pool.gold)
      example.gold.push_back(path_of({{pools.relations[gold], false}}));
    for (const std::uint32_t rival : pool.pool) {
      if (std::find(pool.gold.begin(), pool.gold.end(), rival) != pool.gold.end()) continue;
      if (!pools.relations[rival].empty())
        example.rivals.push_back(path_of({{pools.relations[rival], false}}));
    }
    const bool valid = every > 0 && i % every == 0;
    if (valid) example.group = number;
    for (std::size_t k = 0; k < (valid ? 1 : times); ++k) pool_examples_.emplace_back(valid, example);
  }
  return {};
}

std::uint32_t MatcherData::path_of(const std::vector<PathStep>& steps) {
  const auto [found, fresh] =
      path_by_key_.try_emplace(key_of(steps), static_cast<std::uint32_t>(paths_.size()));
  if (fresh) paths_.push_back(steps);
  return found->second;
}

base::Result<qa::MatchData> MatcherData::finish(std::size_t valid_limit, bool among_all) {
  qa::MatchData data;
  data.valid_among_all = among_all;
  std::uint32_t questions_group = static_cast<std::uint32_t>(groups_.size());
  bool has_valid = false;
  for (const Pending& pending : pending_) {
    const datasets::KbQuestion& question = pending.question;
    if (!pending.valid && is_left_out(question.question)) {
      ++left_out_;
      continue;
    }
    qa::MatchExample example;
    example.question = question.question;
    std::vector<std::string> names = {question.mention};
    names.insert(names.end(), question.topic_names.begin(), question.topic_names.end());
    for (const std::string& topic : question.topics) {
      if (const auto known = names_.find(topic); known != names_.end()) {
        names.insert(names.end(), known->second.begin(), known->second.end());
      }
    }
    const qa::MentionRange range = find_mention(question.question, names);
    if (range.end > range.begin) example.mentions = {range};
    if (example.mentions.empty()) ++without_mention_;
    example.gold = {path_of(question.path)};
    for (const std::string& topic : question.topics) {
      const auto known = relations_of_.find(topic);
      if (known == relations_of_.end()) continue;
      for (const PathStep& step : known->second) {
        const std::uint32_t path = path_of({step});
        if (path != example.gold[0]) example.rivals.push_back(path);
      }
    }
    if (pending.valid) {
      has_valid = true;
      example.group = questions_group;
      data.valid.push_back(std::move(example));
    } else {
      data.train.push_back(std::move(example));
    }
  }
  if (has_valid) groups_.emplace_back("accuracy");
  for (auto& [valid, example] : pool_examples_)
    (valid ? data.valid : data.train).push_back(std::move(example));

  // Predicates that no question asks for are rivals, too.
  for (const auto& [id, names] : names_) {
    if (is_wikidata(id)) path_of({{id, false}});
  }
  for (const std::vector<PathStep>& steps : paths_) {
    qa::TrainingPath path;
    path.schema = schema_of(steps.front().relation);
    path.steps = static_cast<std::uint32_t>(steps.size());
    std::vector<qa::RelationStep> relations;
    bool readable = true;
    for (const PathStep& step : steps) {
      qa::RelationStep relation{.identifier = step.relation, .texts = {}, .inverse = step.inverse};
      if (is_wikidata(step.relation)) {
        const auto known = names_.find(step.relation);
        readable = readable && known != names_.end();
        if (known != names_.end()) relation.texts = known->second;
      } else if (qa::is_freebase_name(step.relation)) {
        relation.texts = {plain_name(step.relation)};
      }
      relations.push_back(std::move(relation));
    }
    if (readable) path.texts = qa::path_texts(relations);
    describe_answers(steps.back(), path);
    data.paths.push_back(std::move(path));
  }
  const auto silent = [&](std::uint32_t path) { return data.paths[path].texts.empty(); };
  for (auto* part : {&data.train, &data.valid}) {
    for (qa::MatchExample& example : *part) {
      std::erase_if(example.gold, silent);
      std::erase_if(example.rivals, silent);
    }
    std::erase_if(*part, [](const qa::MatchExample& example) { return example.gold.empty(); });
  }
  if (valid_limit > 0) {
    std::vector<std::size_t> sizes(groups_.size()), seen(groups_.size());
    for (const qa::MatchExample& example : data.valid) ++sizes[example.group];
    std::erase_if(data.valid, [&](const qa::MatchExample& example) {
      const std::size_t all = sizes[example.group], i = seen[example.group]++;
      return all > valid_limit && (i * valid_limit) / all == ((i + 1) * valid_limit) / all;
    });
  }
  data.groups = groups_;
  return data;
}

}  // namespace askbase::cli
