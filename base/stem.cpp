#include "base/stem.h"

#include <algorithm>
#include <libstemmer.h>
#include <memory>

namespace askbase::base {

std::string stem_english(std::string_view lower_case_word) {
  // Porter 2 knows English letters only; leaving the rest alone keeps codes and foreign words intact.
  const bool english = std::all_of(lower_case_word.begin(), lower_case_word.end(),
                                   [](char c) { return (c >= 'a' && c <= 'z') || c == '\''; });
  if (!english) return std::string(lower_case_word);

  struct Delete {
    void operator()(sb_stemmer* stemmer) const { sb_stemmer_delete(stemmer); }
  };
  thread_local const std::unique_ptr<sb_stemmer, Delete> stemmer(sb_stemmer_new("english", "UTF_8"));
  if (stemmer == nullptr) return std::string(lower_case_word);
  const sb_symbol* stem =
      sb_stemmer_stem(stemmer.get(), reinterpret_cast<const sb_symbol*>(lower_case_word.data()),
                      static_cast<int>(lower_case_word.size()));
  if (stem == nullptr) return std::string(lower_case_word);  // out of memory
  return {reinterpret_cast<const char*>(stem), static_cast<std::size_t>(sb_stemmer_length(stemmer.get()))};
}

}  // namespace askbase::base
