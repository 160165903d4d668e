// Chinese character variants for the .cpp files of base/. Thread-safe.
#pragma once

#include <string_view>

namespace askbase::base {

// One character of the class of variants that `c` belongs to ("臺", "台" -> "台"; "乾", "幹", "干" -> "干"),
// the same for all of them; other characters unchanged. Unlike to_simplified() it never looks at the
// neighbours, so the keys of two pieces of text put together are the key of the text put together.
char32_t han_variant_class(char32_t c);

}  // namespace askbase::base
