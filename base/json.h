// The one place that names nlohmann/json. Include it in .cpp files only.
//
// parse_json() bounds the nesting depth while parsing: copying or dumping a value nested 100,000 deep
// overflows the stack. dump_json() never throws on bad UTF-8 and prints floats as short as they read back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/result.h"

namespace askbase::base {

using Json = nlohmann::ordered_json;

// Error bad_input with line and column, for syntax, depth, duplicate keys, invalid UTF-8 or trailing text.
Result<Json> parse_json(std::string_view text, std::size_t max_depth = 64);
// One line; indent >= 0 for pretty printing. Invalid UTF-8 becomes U+FFFD.
std::string dump_json(const Json& value, int indent = -1);
// A double rounded to the given significant digits, so that 0.1f prints as 0.1.
double json_number(double value, int significant_digits = 6);

// A member of a file's object that has to be a whole number, or a number, from least to most. Error corrupt,
// with the file's name.
Result<std::int64_t> whole_number(const Json& object, const char* name, std::int64_t least, std::int64_t most,
                                  const std::string& file);
Result<double> number_between(const Json& object, const char* name, double least, double most,
                              const std::string& file);

}  // namespace askbase::base
