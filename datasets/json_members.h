// Members of JSON objects in data files. Internal to datasets/; for .cpp files, as base/json.h.
#pragma once

#include <string>

#include "base/json.h"
#include "base/result.h"

namespace askbase::datasets {

// An optional string member; null counts as absent, and leaves `out` as it is. Error bad_input without the
// place.
inline base::Status read_optional_text(const base::Json& object, const char* key, std::string& out) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return {};
  if (!found->is_string()) {
    return base::fail(base::ErrorCode::bad_input, std::string("\"") + key + "\" is not a string");
  }
  out = found->get<std::string>();
  return {};
}

}  // namespace askbase::datasets
