#include "base/json.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/text.h"

namespace askbase::base {
namespace {

// Builds the value from parser events, so that depth and duplicate keys are refused before anything deep
// exists. Containers in progress hang in the tree already; `open_` points at them. A pointer stays valid
// because a container's parent gets no further elements while the container is open.
class Builder : public nlohmann::json_sax<Json> {
 public:
  explicit Builder(std::size_t max_depth) : max_depth_(max_depth) {}

  bool null() override { return add(Json(nullptr)); }
  bool boolean(bool value) override { return add(Json(value)); }
  bool number_integer(number_integer_t value) override { return add(Json(value)); }
  bool number_unsigned(number_unsigned_t value) override { return add(Json(value)); }
  bool number_float(number_float_t value, const string_t&) override { return add(Json(value)); }
  bool string(string_t& value) override { return add(Json(std::move(value))); }
  bool binary(binary_t&) override { return false; }  // JSON text has none

  bool start_object(std::size_t) override {
    if (!open(Json::object())) return false;
    keys_.emplace_back();
    return true;
  }
  bool key(string_t& name) override {
    if (!keys_.back().insert(name).second) {
      problem = "duplicate key \"" + name + "\"";
      return false;
    }
    key_ = std::move(name);
    return true;
  }
  bool end_object() override {
    keys_.pop_back();
    open_.pop_back();
    return true;
  }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_array() override {
    open_.pop_back();
    return true;
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& exception) override {
    // "[json.exception.parse_error.101] parse error at line 1, column 5: syntax error while ..."
    std::string_view what = exception.what();
    if (const std::size_t colon = what.find(": "); colon != std::string_view::npos) {
      what.remove_prefix(colon + 2);
    }
    problem = what;
    syntax_position = position;
    return false;
  }

  Json root;
  std::string problem;
  std::size_t syntax_position = 0;  // of a syntax error: bytes up to and with the one that does not fit

 private:
  Json* add(Json&& value, int) {
    if (open_.empty()) {
      root = std::move(value);
      return &root;
    }
    Json& parent = *open_.back();
    if (parent.is_array()) {
      parent.push_back(std::move(value));
      return &parent.back();
    }
    // The key is known to be new, so no search through the members is needed.
    auto& members = parent.get_ref<Json::object_t&>();
    members.Container::emplace_back(std::move(key_), std::move(value));
    return &members.back().second;
  }
  bool add(Json&& value) {
    add(std::move(value), 0);
    return true;
  }
  bool open(Json&& container) {
    if (open_.size() >= max_depth_) {
      problem = "nested deeper than " + std::to_string(max_depth_) + " levels";
      return false;
    }
    open_.push_back(add(std::move(container), 0));
    return true;
  }

  std::size_t max_depth_;
  std::vector<Json*> open_;
  std::vector<std::unordered_set<std::string>> keys_;
  std::string key_;
};

// Counts the bytes that the parser has taken, to say where an event was refused.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, const char** reached) : at_(at), reached_(reached) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    ++at_;
    *reached_ = at_;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }
  bool operator!=(const CountingIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  const char** reached_;
};

// "line 3, column 7" of a byte; columns count code points.
std::string place(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, byte);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t line_start = before.rfind('\n');
  const std::string_view in_line =
      line_start == std::string_view::npos ? before : before.substr(line_start + 1);
  return "line " + std::to_string(line) + ", column " + std::to_string(count_code_points(in_line) + 1);
}

}  // namespace

Result<Json> parse_json(std::string_view text, std::size_t max_depth) {
  if (const auto bad = first_invalid_utf8(text)) {
    return fail(ErrorCode::bad_input,
                "JSON is not valid UTF-8 at " + place(text, *bad) + " (byte " + std::to_string(*bad) + ")");
  }
  Builder builder(max_depth);
  const char* reached = text.data();
  const CountingIterator begin(text.data(), &reached);
  const CountingIterator end(text.data() + text.size(), &reached);
  if (Json::sax_parse(begin, end, &builder)) return std::move(builder.root);
  // Either way the offending byte counts as read; the end of the text counts as one more.
  const std::size_t consumed = builder.syntax_position != 0 ? builder.syntax_position
                                                            : static_cast<std::size_t>(reached - text.data());
  const std::size_t byte = std::min(consumed == 0 ? 0 : consumed - 1, text.size());
  return fail(ErrorCode::bad_input, "JSON at " + place(text, byte) + ": " + builder.problem);
}

std::string dump_json(const Json& value, int indent) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

double json_number(double value, int significant_digits) {
  if (!std::isfinite(value)) return value;
  char digits[64];
  std::snprintf(digits, sizeof digits, "%.*g", std::clamp(significant_digits, 1, 17), value);
  return std::strtod(digits, nullptr);
}

Result<std::int64_t> whole_number(const Json& object, const char* name, std::int64_t least, std::int64_t most,
                                  const std::string& file) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number_integer() || *found < least || *found > most) {
    return fail(ErrorCode::corrupt, file + ": \"" + name + "\" is no number from " + std::to_string(least) +
                                        " to " + std::to_string(most));
  }
  return found->get<std::int64_t>();
}

Result<double> number_between(const Json& object, const char* name, double least, double most,
                              const std::string& file) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number() || *found < least || *found > most) {
    std::ostringstream range;
    range << least << " to " << most;
    return fail(ErrorCode::corrupt, file + ": \"" + name + "\" is no number from " + range.str());
  }
  return found->get<double>();
}

}  // namespace askbase::base
