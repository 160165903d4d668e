// The table behind base/pinyin.h.
#pragma once

#include <string_view>

namespace askbase::base {

extern const std::string_view pinyin_table;  // lines of a reading, a space, and its characters

}  // namespace askbase::base
