#include "qa/path_text.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "base/tokenize.h"

namespace askbase::qa {

namespace {

// The names of a Freebase property, and their words.
struct FreebaseName {
  std::vector<std::string> parts;  // domain, ..., type, property
};

bool name_character(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; }

// The steps of "a.b.c..d.e.f" or "/a/b/c"; nothing where it is another kind of identifier.
std::vector<FreebaseName> freebase_steps(std::string_view identifier) {
  std::vector<FreebaseName> steps;
  char separator = '.';
  if (!identifier.empty() && identifier.front() == '/') {
    separator = '/';
    identifier.remove_prefix(1);
  }
  FreebaseName name;
  std::string part;
  const auto end_part = [&] {
    if (part.empty()) return false;
    name.parts.push_back(std::exchange(part, {}));
    return true;
  };
  const auto end_name = [&] {
    if (name.parts.size() < 3) return false;
    steps.push_back(std::exchange(name, {}));
    return true;
  };
  for (std::size_t i = 0; i < identifier.size(); ++i) {
    const char c = identifier[i];
    if (name_character(c)) {
      part += c;
    } else if (c == separator) {
      if (!end_part()) return {};
      if (i + 1 < identifier.size() && identifier[i + 1] == separator) {
        if (!end_name()) return {};
        ++i;
      }
    } else {
      return {};
    }
  }
  if (!end_part() || !end_name()) return {};
  return steps;
}

std::string spaced(std::string text) {
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

PathText freebase_text(const std::vector<FreebaseName>& steps) {
  PathText text;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    if (s > 0) {
      text.words.emplace_back(step_word);
      text.units.emplace_back(step_word);
    }
    std::string prefix;
    const std::vector<std::string>& parts = steps[s].parts;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      for (std::string& word : path_words(spaced(parts[i]))) text.words.push_back(std::move(word));
      // A property alone, as another schema would call it; what it belongs to with its place.
      prefix += (i == 0 ? "" : ".") + parts[i];
      text.units.push_back(i + 1 == parts.size() ? base::match_key(spaced(parts[i])) : prefix);
    }
  }
  return text;
}

// Ways of saying one step, without its direction.
std::vector<PathText> step_texts(const RelationStep& step) {
  std::vector<PathText> texts;
  const auto add = [&](PathText text) {
    if (!text.words.empty() && std::find(texts.begin(), texts.end(), text) == texts.end()) {
      texts.push_back(std::move(text));
    }
  };
  const auto add_plain = [&](std::string_view text) {
    PathText plain{path_words(text), {}};
    if (!plain.words.empty()) plain.units.push_back(base::match_key(text));
    add(std::move(plain));
  };
  const std::vector<FreebaseName> names = freebase_steps(step.identifier);
  if (!names.empty()) add(freebase_text(names));
  for (const std::string& text : step.texts) add_plain(text);
  if (texts.empty()) add_plain(readable_identifier(step.identifier));
  return texts;
}

}  // namespace

std::vector<std::string> path_words(std::string_view text) {
  std::vector<std::string> words;
  for (base::Token& token : base::tokenize_characters(text)) {
    if (token.kind == base::TokenKind::punctuation || token.key.empty()) continue;
    if (words.size() == max_path_words) break;
    words.push_back(std::move(token.key));
  }
  return words;
}

bool is_freebase_name(std::string_view identifier) { return !freebase_steps(identifier).empty(); }

std::string readable_identifier(std::string_view identifier) {
  while (!identifier.empty() && (identifier.back() == '/' || identifier.back() == '#')) {
    identifier.remove_suffix(1);
  }
  const std::size_t at = identifier.find_last_of("#/:");
  return base::readable_name(at == std::string_view::npos ? identifier : identifier.substr(at + 1));
}

std::vector<PathText> path_texts(std::span<const RelationStep> path, std::size_t most) {
  std::vector<std::vector<PathText>> steps;
  std::size_t ways = 0;
  for (const RelationStep& step : path) {
    steps.push_back(step_texts(step));
    if (steps.back().empty()) return {};
    ways = std::max(ways, steps.back().size());
  }
  std::vector<PathText> texts;
  for (std::size_t way = 0; way < std::min(ways, most); ++way) {
    PathText text;
    for (std::size_t s = 0; s < steps.size(); ++s) {
      const PathText& step = steps[s][std::min(way, steps[s].size() - 1)];
      for (const auto& [from, to] :
           {std::pair{&step.words, &text.words}, std::pair{&step.units, &text.units}}) {
        if (s > 0) to->emplace_back(step_word);
        if (path[s].inverse) to->emplace_back(inverse_word);
        to->insert(to->end(), from->begin(), from->end());
      }
    }
    text.words.resize(std::min(text.words.size(), max_path_words));
    text.units.resize(std::min(text.units.size(), max_path_units));
    texts.push_back(std::move(text));
  }
  return texts;
}

}  // namespace askbase::qa
