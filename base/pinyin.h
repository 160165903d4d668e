// How Chinese characters sound: most slips in typed Chinese are characters of the same sound. Thread-safe.
#pragma once

#include <cstdint>
#include <string_view>

namespace askbase::base {

// A number for the most common reading of the character, tones left out ("首", "手" and "守" share one);
// 0 for characters outside GB 2312 (traditional ones are not in it: ask with match keys).
std::uint16_t sound_of(char32_t c);
// The characters of that sound among those of GB 2312; empty for 0. Lives as long as the program.
std::u32string_view characters_of_sound(std::uint16_t sound);

}  // namespace askbase::base
