#include "reader/index_terms.h"

#include <utility>

#include "base/stem.h"
#include "base/text.h"
#include "base/tokenize.h"

namespace askbase::reader {
namespace {

void cut_off(std::string& term) {
  if (term.size() <= longest_term_bytes) return;
  std::size_t end = longest_term_bytes;
  while (end > 0 && (static_cast<unsigned char>(term[end]) & 0xC0U) == 0x80U) --end;
  term.resize(end);
}

bool is_clitic(std::string_view word) {
  return word.starts_with('\'') || word.starts_with("\u2019") || word == "n't" || word == "n\u2019t";
}

// Separators inside a number come and go ("1,000" and "1000"); the decimal point stays.
std::string number_term(std::string_view text) {
  std::string out;
  for (const char c : text)
    if (c != ',' && c != ' ' && c != '\'') out += c;
  return out;
}

}  // namespace

void TermReader::read(std::string_view text, const std::function<void(const IndexTerm&)>& visit) {
  std::string term, pair;
  const base::Token* before = nullptr;  // the Han character before, when nothing but white space lies between
  const std::vector<base::Token> tokens = base::tokenize_characters(text);
  for (const base::Token& token : tokens) {
    const base::Token* const left = std::exchange(before, nullptr);
    if (token.kind == base::TokenKind::punctuation) continue;
    if (token.kind == base::TokenKind::han) {
      const bool adjacent =
          left != nullptr &&
          base::trim(text.substr(left->end_byte, token.begin_byte - left->end_byte)).empty();
      if (adjacent) {
        pair = left->key;
        pair += token.key;
        visit({pair, left->begin_byte, true});
      }
      visit({token.key, token.begin_byte, false});
      before = &token;
      continue;
    }
    if (token.kind == base::TokenKind::number && token.key.find(' ') != std::string::npos) {
      term = number_term(token.text);
      cut_off(term);
      visit({term, token.begin_byte, false});
      continue;
    }
    if (token.key.empty() || is_clitic(token.text)) continue;
    const auto known = stems_.find(token.key);
    if (known != stems_.end()) {
      visit({known->second, token.begin_byte, false});
      continue;
    }
    term = token.key;
    std::erase(term, ' ');  // "u s a", of "U.S.A"
    cut_off(term);
    term = base::stem_english(term);
    visit({term, token.begin_byte, false});
    if (stems_.size() >= most_remembered) stems_.clear();
    if (token.key.size() <= longest_term_bytes) stems_.emplace(token.key, term);
  }
}

}  // namespace askbase::reader
