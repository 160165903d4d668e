// Questions, facts and pools of relations as the matcher's training and evaluation take them.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "datasets/kb_questions.h"
#include "qa/path_matcher_training.h"

namespace askbase::cli {

// Collects examples; paths with the same relations are one path. Not for several threads.
class MatcherData {
 public:
  explicit MatcherData(std::string language) : language_(std::move(language)) {}

  // Names of predicates, topics and types, for schemas whose identifiers say nothing (Wikidata). To be read
  // after questions and facts: of the others only those that these need are kept. Languages other than the
  // data's are skipped.
  base::Status add_names(const std::filesystem::path& file);
  // What else a question's entity offers. To be read after the questions.
  base::Status add_facts(const std::filesystem::path& file);
  // What the answers of each relation are, by facts with one of the type relations, and what else is said
  // about them: the aspects of a path. Reads the file twice.
  base::Status add_aspects(const std::filesystem::path& file, const std::vector<std::string>& type_relations);
  // Questions that must not be learned from: those with the same words are left out of the training.
  base::Status leave_out(const std::vector<std::filesystem::path>& files);

  // Every `every`-th question goes to the validation (0: none; 1: all), the others to the training.
  base::Status add_questions(const std::vector<std::filesystem::path>& files, std::size_t every);
  // The same; those of the training are there `times` times.
  base::Status add_pools(const std::filesystem::path& relations, const std::filesystem::path& questions,
                         std::size_t every, std::size_t times, const std::string& group);

  // Everything together. valid_limit: of each group, at most so many validation questions, evenly chosen.
  // all_paths: validation questions choose among all paths.
  base::Result<qa::MatchData> finish(std::size_t valid_limit, bool among_all);

  std::size_t left_out() const { return left_out_; }
  std::size_t without_mention() const { return without_mention_; }

 private:
  struct Pending {
    datasets::KbQuestion question;
    bool valid = false;
  };
  std::uint32_t path_of(const std::vector<datasets::PathStep>& steps);
  bool is_left_out(const std::string& question) const;

  std::string language_;
  std::vector<Pending> pending_;
  std::vector<std::vector<datasets::PathStep>> paths_;
  std::unordered_map<std::string, std::uint32_t> path_by_key_;
  std::vector<std::pair<bool, qa::MatchExample>> pool_examples_;  // valid, example
  std::vector<std::string> groups_;
  std::unordered_map<std::string, std::vector<std::string>> names_;
  std::unordered_map<std::string, std::vector<datasets::PathStep>> relations_of_;
  std::unordered_set<std::string> excluded_;
  // Of the answers of a relation ("^r": its subjects): the most common type and the most common relations.
  struct Answers {
    std::string type;
    std::vector<std::string> relations;
  };
  std::unordered_map<std::string, Answers> answers_;
  void describe_answers(const datasets::PathStep& last, qa::TrainingPath& path) const;
  std::size_t left_out_ = 0, without_mention_ = 0;
};

// The question of a pool, with the place of its mention: "#head_entity#" or "<e>", "$ARG1" and "$ARG2" taken
// away.
qa::MatchExample pool_question(const std::string& question);
// Where the words of one of the names stand in the question, the longest run of them; of a name that does not
// stand there as a whole its longest part of four letters or more. begin = end: nowhere.
qa::MentionRange find_mention(std::string_view question, std::span<const std::string> names);
// A path of a pool's or a KB's own name.
qa::TrainingPath path_of_name(const std::string& relation);

}  // namespace askbase::cli
