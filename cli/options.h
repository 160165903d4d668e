// Small additions to CLI11 for the files that declare options.
#pragma once

#include <CLI/CLI.hpp>

namespace askbase::cli {

// A check that says nothing in the help, where it would stand inside the option's name.
inline CLI::Validator quiet(const CLI::Validator& check) { return check.description(""); }

}  // namespace askbase::cli
