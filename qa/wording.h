// How answers are said: values as people write them, sentences, reasons, descriptions of entities; in English
// and in Chinese, Simplified or Traditional. One Wording belongs to one answer and one thread (it keeps the
// names that it has looked up).
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "qa/answer.h"
#include "qa/reading.h"

namespace askbase::qa {

class Wording {
 public:
  // language: english or chinese.
  Wording(const kb::View& view, const Lexicon& lexicon, base::Language language, bool traditional);

  // The name to show for an entity. Errors: corrupt, io.
  base::Result<std::string> name(kb::TermId id);
  // A value of a predicate, with grouping of digits, dates in words, and its unit.
  base::Result<Value> value(kb::TermId id, std::optional<std::size_t> predicate);
  // "A, B and C" or "A、B和C"; beyond the limit the number of those left out.
  std::string join(const std::vector<Value>& values, std::size_t limit) const;
  // The value with its unit.
  std::string with_unit(const Value& value) const;

  // The sentence that answers. values: of the answers, in their order.
  base::Result<std::string> sentence(const Question& question, const Reading& reading,
                                     const std::vector<Value>& values);
  std::string yes_or_no(bool truth) const;

  // What a person needs to tell this entity from its namesakes: "city in Ontario, Canada".
  base::Result<std::string> description(kb::TermId id);
  // A question that the forward fact of this entity answers: "What is the capital of France?"
  base::Result<std::string> question_about(kb::TermId entity, std::size_t predicate);
  // The question in the other direction: "Which country has Paris as its capital?"
  base::Result<std::string> inverse_question(kb::TermId object, std::size_t predicate);

  // subject: the name concerned, relation: the predicate's label; either may be empty.
  std::string reason(Reason reason, bool small_talk, std::string_view subject,
                     std::string_view relation) const;

  std::string predicate_label(std::size_t predicate) const;
  std::string class_label(std::size_t index) const;
  std::string_view language_tag() const;
  // Simplified text in the script of the question.
  std::string in_script(std::string text) const;

 private:
  bool chinese() const { return language_ == base::Language::chinese; }
  std::string label_of(const std::vector<RelationText>& texts) const;
  std::string unit_of(std::size_t predicate) const;
  base::Result<std::string> object_text(const Reading& reading);
  base::Result<std::string> english(const Question& question, const Reading& reading,
                                    const std::vector<Value>& values);
  base::Result<std::string> chinese_sentence(const Reading& reading, const std::vector<Value>& values);
  std::string english_count(const Reading& reading, const std::vector<Value>& values,
                            const std::string& subject);
  base::Result<std::string> class_of(kb::TermId entity);
  // What a path of relations leads to, of a name: "the capital of the country of Lyon", "里昂的国家的首都".
  std::string english_chain(const Chain& chain, const std::string& subject, bool several) const;
  std::string chinese_chain(const Chain& chain, const std::string& subject) const;

  const kb::View& view_;
  const Lexicon& lexicon_;
  base::Language language_;
  bool traditional_;
  std::unordered_map<std::uint64_t, std::string> names_;
};

// "1234567.5" -> "1,234,567.5"; text that is not a plain decimal number is returned as it is.
std::string group_digits(std::string_view number);
// "1990-07-04" -> "4 July 1990", "1990年7月4日"; other text is returned as it is.
std::string date_in_words(std::string_view date, base::Language language);
// "official language" -> "official languages", "city" -> "cities", "name of X" -> "names of X".
std::string english_plural(std::string_view noun);

}  // namespace askbase::qa
