// Predicates by the names that people call them. One thread.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kb/store.h"

namespace askbase::kb {

class PredicateNames {
 public:
  explicit PredicateNames(const View& view) : view_(view) {}

  // The IRI of a predicate that the KB uses or declares, named by its IRI, by the end of an urn:askbase:p:
  // IRI or by a label. Error not_found, which names the nearest ones, also when several are called so.
  base::Result<std::string> find(std::string_view name);

 private:
  base::Status read();

  const View& view_;
  bool read_ = false;
  // Match keys of labels and of the readable ends of IRIs -> IRI; an empty one when there are several.
  std::map<std::string, std::string> by_key_;
  std::map<std::string, std::string> shown_;  // match key -> as written
  std::set<std::string, std::less<>> iris_;
};

}  // namespace askbase::kb
