#include "web/query.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace askbase::web {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

Outcome<std::string> decode(std::string_view text, bool plus_is_space, const char* what) {
  auto decoded = percent_decode(text, plus_is_space);
  if (!decoded) {
    return reject(400, "invalid-request",
                  std::string("The ") + what + " holds a % that is not followed by two hexadecimal digits.");
  }
  if (!base::valid_utf8(*decoded)) {
    return reject(400, "invalid-request",
                  std::string("The ") + what + " is not UTF-8 after percent-decoding.");
  }
  return std::move(*decoded);
}

}  // namespace

std::optional<std::string> percent_decode(std::string_view text, bool plus_is_space) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      const int high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
      if (high < 0 || low < 0) return std::nullopt;
      out.push_back(static_cast<char>(high * 16 + low));
      i += 2;
    } else {
      out.push_back(plus_is_space && text[i] == '+' ? ' ' : text[i]);
    }
  }
  return out;
}

std::string percent_encode(std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  constexpr std::string_view marks = "-._~";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
        marks.find(c) != std::string_view::npos) {
      out.push_back(c);
    } else {
      out.push_back('%');
      out.push_back(digits[byte >> 4]);
      out.push_back(digits[byte & 15]);
    }
  }
  return out;
}

Outcome<Query> Query::parse(std::string_view target) {
  target = target.substr(0, target.find('#'));
  // The absolute form, which proxies use: the authority does not matter here.
  if (const std::size_t scheme = target.find("://"); scheme < target.find_first_of("/?")) {
    target.remove_prefix(std::min(target.find('/', scheme + 3), target.size()));
    if (!target.starts_with('/')) target = "/";
  }
  const std::size_t mark = std::min(target.find('?'), target.size());
  Query query;
  auto path = decode(target.substr(0, mark), false, "path");
  if (!path) return tl::unexpected(path.error());
  query.path_ = std::move(*path);
  std::string_view rest = target.substr(std::min(mark + 1, target.size()));
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('&'), rest.size());
    const std::string_view pair = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (pair.empty()) continue;
    const std::size_t equals = std::min(pair.find('='), pair.size());
    auto name = decode(pair.substr(0, equals), true, "query");
    if (!name) return tl::unexpected(name.error());
    auto value = decode(pair.substr(std::min(equals + 1, pair.size())), true, "query");
    if (!value) return tl::unexpected(value.error());
    query.parameters_.emplace_back(std::move(*name), std::move(*value));
  }
  return query;
}

std::string_view Query::get(std::string_view name) const {
  for (const auto& [key, value] : parameters_) {
    if (key == name) return value;
  }
  return {};
}

bool Query::has(std::string_view name) const {
  return std::any_of(parameters_.begin(), parameters_.end(), [&](const auto& p) { return p.first == name; });
}

Outcome<int> Query::number(std::string_view name, int fallback, int least, int most) const {
  const std::string_view text = get(name);
  if (text.empty()) return fallback;
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most) {
    return invalid_field(std::string(name),
                         "an integer from " + std::to_string(least) + " to " + std::to_string(most));
  }
  return value;
}

Outcome<void> Query::allow(std::initializer_list<std::string_view> names) const {
  for (const auto& [name, value] : parameters_) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      std::string known;
      for (const std::string_view one : names) known.append(known.empty() ? "" : ", ").append(one);
      return reject(400, "unknown-field",
                    "The query parameter \"" + name + "\" is not known here; there " +
                        (names.size() == 0 ? "are none" : "are: " + known) + ".",
                    name);
    }
    const auto same = [&, key = std::string_view(name)](const auto& other) { return other.first == key; };
    if (std::count_if(parameters_.begin(), parameters_.end(), same) > 1) {
      return reject(400, "invalid-field", "The query parameter \"" + name + "\" stands twice.", name);
    }
  }
  return {};
}

}  // namespace askbase::web
