#include "base/pinyin.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/pinyin_data.h"
#include "base/text.h"

namespace askbase::base {
namespace {

struct Sounds {
  std::unordered_map<char32_t, std::uint16_t> of_character;
  std::vector<std::u32string> characters;  // by sound; 0 is empty

  Sounds() : characters(1) {
    of_character.reserve(8192);
    std::string_view rest = pinyin_table;
    while (!rest.empty()) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(rest.size(), line.size() + 1));
      const std::size_t space = line.find(' ');
      if (space == std::string_view::npos) continue;
      characters.push_back(to_code_points(line.substr(space + 1)));
      for (const char32_t c : characters.back()) {
        of_character[c] = static_cast<std::uint16_t>(characters.size() - 1);
      }
    }
  }
};

const Sounds& sounds() {
  static const Sounds all;
  return all;
}

}  // namespace

std::uint16_t sound_of(char32_t c) {
  const auto found = sounds().of_character.find(c);
  return found == sounds().of_character.end() ? std::uint16_t{0} : found->second;
}

std::u32string_view characters_of_sound(std::uint16_t sound) {
  return sound < sounds().characters.size() ? std::u32string_view(sounds().characters[sound])
                                            : std::u32string_view();
}

}  // namespace askbase::base
