// Text encodings of files as people have them. Thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace askbase::base {

enum class Charset { utf8, utf16le, utf16be, gb18030 };
std::string_view charset_name(Charset charset);

// By byte order mark, else UTF-16 by the pattern of NULs, else UTF-8 when the sample is valid, else
// GB18030 when that decodes to plausible Chinese. Error unsupported, naming the first bad byte, otherwise.
// The sample may end inside a character; `whole` says that it is the entire content.
Result<Charset> detect_charset(std::string_view sample, bool whole);

// To UTF-8, byte order mark dropped. Error bad_input with the byte offset and line of the first bad byte
// (so mixed encodings are refused, not garbled).
Result<std::string> decode(std::string_view bytes, Charset charset);

}  // namespace askbase::base
