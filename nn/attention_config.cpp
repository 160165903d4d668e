#include "nn/attention_config.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>

namespace askbase::nn {

namespace {

using base::ErrorCode;
using base::fail;

template <typename Enum>
using Name = std::pair<std::string_view, Enum>;

constexpr std::array<Name<Score>, 11> kScores{{{"dot", Score::dot},
                                               {"scaled_dot", Score::scaled_dot},
                                               {"cosine", Score::cosine},
                                               {"general", Score::general},
                                               {"biased_general", Score::biased_general},
                                               {"activated_general", Score::activated_general},
                                               {"kernel", Score::kernel},
                                               {"concat", Score::concat},
                                               {"additive", Score::additive},
                                               {"deep", Score::deep},
                                               {"location", Score::location}}};
constexpr std::array<Name<Distribution>, 4> kDistributions{{{"softmax", Distribution::softmax},
                                                            {"sparsemax", Distribution::sparsemax},
                                                            {"entmax", Distribution::entmax},
                                                            {"sigmoid", Distribution::sigmoid}}};
constexpr std::array<Name<Window>, 4> kWindows{{{"global", Window::global},
                                                {"hard", Window::hard},
                                                {"local_m", Window::local_m},
                                                {"local_p", Window::local_p}}};
constexpr std::array<Name<Activation>, 5> kActivations{{{"identity", Activation::identity},
                                                        {"relu", Activation::relu},
                                                        {"tanh", Activation::tanh},
                                                        {"sigmoid", Activation::sigmoid},
                                                        {"gelu", Activation::gelu}}};
constexpr std::array<Name<bool>, 2> kBooleans{{{"true", true}, {"false", false}}};

template <typename Names>
std::string allowed(const Names& names) {
  std::string text = "allowed: ";
  for (const auto& entry : names) text += (&entry == names.data() ? "" : ", ") + std::string(entry.first);
  return text;
}

template <typename Enum, std::size_t n>
base::Result<Enum> by_name(const std::array<Name<Enum>, n>& names, std::string_view what,
                           std::string_view name) {
  for (const auto& [text, value] : names) {
    if (text == name) return value;
  }
  return fail(ErrorCode::invalid_argument, "attention: " + std::string(what) + " \"" + std::string(name) +
                                               "\" is not known; " + allowed(names));
}

template <typename Enum, std::size_t n>
std::string_view name_in(const std::array<Name<Enum>, n>& names, Enum value) {
  for (const auto& [text, other] : names) {
    if (other == value) return text;
  }
  return "?";
}

// The fields in the order of writing: visit(name, field, names of an enum or nullptr).
template <typename Config, typename Visit>
void fields(Config& c, Visit&& visit) {
  visit("score", c.score, &kScores);
  visit("distribution", c.distribution, &kDistributions);
  visit("window", c.window, &kWindows);
  visit("activation", c.activation, &kActivations);
  visit("alpha", c.alpha, nullptr);
  visit("query", c.query, nullptr);
  visit("key", c.key, nullptr);
  visit("value", c.value, nullptr);
  visit("hidden", c.hidden, nullptr);
  visit("layers", c.layers, nullptr);
  visit("positions", c.positions, nullptr);
  visit("half_width", c.half_width, nullptr);
  visit("rows", c.rows, nullptr);
  visit("by_feature", c.by_feature, &kBooleans);
  visit("heads", c.heads, nullptr);
  visit("projected", c.projected, nullptr);
}

template <typename Number>
base::Result<Number> number(std::string_view name, std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return fail(ErrorCode::invalid_argument,
                "attention: " + std::string(name) + " \"" + std::string(text) + "\" is not a number");
  }
  return value;
}

std::string to_text(double value) {
  std::array<char, 32> buffer{};
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return {buffer.data(), end};
}
std::string to_text(Index value) { return std::to_string(value); }

base::Status assign(AttentionConfig& config, std::string_view name, std::string_view text) {
  base::Status status;
  bool known = false;
  std::string names;
  fields(config, [&](std::string_view field, auto& value, auto options) {
    names += (names.empty() ? "" : ", ") + std::string(field);
    if (field != name) return;
    known = true;
    const auto parsed = [&] {
      if constexpr (std::is_null_pointer_v<decltype(options)>) {
        return number<std::remove_reference_t<decltype(value)>>(name, text);
      } else {
        return by_name(*options, name, text);
      }
    }();
    if (parsed) {
      value = *parsed;
    } else {
      status = tl::unexpected<base::Error>(parsed.error());
    }
  });
  if (!known) {
    return fail(ErrorCode::invalid_argument,
                "attention: there is no setting \"" + std::string(name) + "\"; allowed: " + names);
  }
  return status;
}

base::Status wrong(const std::string& message) {
  return fail(ErrorCode::invalid_argument, "attention: " + message);
}

bool scores_by_layers(Score score) {
  return score == Score::concat || score == Score::additive || score == Score::deep;
}

}  // namespace

std::string_view score_name(Score score) { return name_in(kScores, score); }
std::string_view distribution_name(Distribution distribution) {
  return name_in(kDistributions, distribution);
}
std::string_view window_name(Window window) { return name_in(kWindows, window); }

base::Result<Score> score_by_name(std::string_view name) { return by_name(kScores, "score", name); }
base::Result<Distribution> distribution_by_name(std::string_view name) {
  return by_name(kDistributions, "distribution", name);
}
base::Result<Window> window_by_name(std::string_view name) { return by_name(kWindows, "window", name); }

base::Result<AttentionConfig> parse_attention(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  AttentionConfig config;
  for (std::size_t at = text.find_first_not_of(blanks); at != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(blanks, at), text.size());
    const std::string_view pair = text.substr(at, end - at);
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos) {
      return fail(ErrorCode::invalid_argument,
                  "attention: \"" + std::string(pair) + "\" is not of the form name=value");
    }
    ASKBASE_TRY(assign(config, pair.substr(0, equals), pair.substr(equals + 1)));
    at = text.find_first_not_of(blanks, end);
  }
  return config;
}

std::string attention_text(const AttentionConfig& config) {
  // Both are walked in step: what differs from a default is written.
  std::array<std::string, 16> defaults;
  const AttentionConfig plain;
  std::string text;
  std::size_t at = 0;
  const auto spell = [](const auto& value, auto options) -> std::string {
    if constexpr (std::is_null_pointer_v<decltype(options)>) {
      return to_text(value);
    } else {
      return std::string(name_in(*options, value));
    }
  };
  fields(plain, [&](std::string_view, const auto& value, auto options) {
    defaults.at(at++) = spell(value, options);
  });
  at = 0;
  fields(config, [&](std::string_view name, const auto& value, auto options) {
    const std::string spelled = spell(value, options);
    if (spelled != defaults.at(at++)) {
      text += (text.empty() ? "" : " ") + std::string(name) + "=" + spelled;
    }
  });
  return text;
}

base::Status validate(const AttentionConfig& c) {
  const std::string score(score_name(c.score));
  if (c.key <= 0) return wrong("key, the width of a key, must be at least 1");
  if (c.query < 0 || c.value < 0 || c.hidden < 0 || c.projected < 0 || c.positions < 0) {
    return wrong("query, value, hidden, projected and positions cannot be negative");
  }
  if (c.heads < 1 || c.rows < 1 || c.layers < 1) {
    return wrong("heads, rows and layers must be at least 1");
  }
  if (c.distribution == Distribution::entmax && !(c.alpha > 1 && c.alpha <= 10)) {
    return wrong("alpha of entmax must be above 1 and at most 10");
  }
  if (c.projected == 0 && c.heads > 1) return wrong("several heads need projected, a multiple of heads");
  if (c.projected % c.heads != 0) return wrong("projected must be a multiple of heads");
  const bool pooling = c.query == 0;
  const bool products = c.score == Score::dot || c.score == Score::scaled_dot || c.score == Score::cosine ||
                        c.score == Score::kernel;
  if (products && !pooling && c.projected == 0 && c.query != c.key) {
    return wrong("score " + score + " needs queries as wide as keys; general scores different widths");
  }
  const bool local = c.window == Window::local_m || c.window == Window::local_p;
  if (local && pooling) return wrong("window " + std::string(window_name(c.window)) + " needs queries");
  if (local && c.half_width < 1) return wrong("half_width must be at least 1");
  if (c.rows > 1 && !pooling) return wrong("rows is for pooling, that is query=0");
  if (c.rows > 1 && c.by_feature) return wrong("by_feature and rows exclude each other");
  if (c.by_feature && !scores_by_layers(c.score) && !(c.score == Score::location && pooling)) {
    return wrong("by_feature needs score concat, additive, deep, or location when pooling; not " + score);
  }
  if (c.score == Score::location && !pooling && c.positions == 0) {
    return wrong("score location needs positions, the most keys that it can tell apart");
  }
  return {};
}

}  // namespace askbase::nn
