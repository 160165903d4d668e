#include "qa/path_matcher_config.h"

#include "base/json.h"

namespace askbase::qa {

namespace {

using base::Json;

tl::unexpected<base::Error> wrong(const std::string& name, const std::string& what) {
  return base::fail(base::ErrorCode::corrupt, "config.json: \"" + name + "\" is no " + what);
}

base::Result<std::string> text_of(const Json& config, const char* name) {
  const auto found = config.find(name);
  if (found == config.end() || !found->is_string()) return wrong(name, "text");
  return found->get<std::string>();
}

}  // namespace

base::Result<PathMatcherConfig> parse_path_matcher_config(const std::string& text) {
  ASKBASE_ASSIGN(const Json json, base::parse_json(text));
  PathMatcherConfig config;
  ASKBASE_ASSIGN(config.language, text_of(json, "language"));
  if (config.language != "en" && config.language != "zh") return wrong("language", "\"en\" or \"zh\"");
  ASKBASE_ASSIGN(config.dimensions, base::whole_number(json, "dimensions", 1, 1024, "config.json"));
  ASKBASE_ASSIGN(config.hidden, base::whole_number(json, "hidden", 1, 1024, "config.json"));
  ASKBASE_ASSIGN(config.buckets, base::whole_number(json, "buckets", 1, 1 << 22, "config.json"));
  ASKBASE_ASSIGN(config.mention_tail, base::whole_number(json, "mention_tail", 0, 16, "config.json"));
  ASKBASE_ASSIGN(config.aspects, base::whole_number(json, "aspects", 0, 2, "config.json"));
  // Models of single relations may leave it out.
  if (json.contains("steps")) {
    ASKBASE_ASSIGN(config.steps, base::whole_number(json, "steps", 1, 16, "config.json"));
  }
  const auto alignment = json.find("alignment");
  if (alignment == json.end() || !alignment->is_boolean()) return wrong("alignment", "true or false");
  config.alignment = alignment->get<bool>();
  ASKBASE_ASSIGN(config.attention, text_of(json, "attention"));
  if (const auto attention = path_attention(config); !attention) {
    return base::fail(base::ErrorCode::corrupt, "config.json: " + attention.error().message);
  }
  return config;
}

std::string path_matcher_config_text(const PathMatcherConfig& config) {
  Json json = {{"language", config.language},
               {"dimensions", config.dimensions},
               {"hidden", config.hidden},
               {"buckets", config.buckets},
               {"attention", config.attention},
               {"alignment", config.alignment},
               {"mention_tail", config.mention_tail},
               {"aspects", config.aspects},
               {"word_dropout", config.word_dropout},
               {"state_dropout", config.state_dropout}};
  if (config.steps > 1) json["steps"] = config.steps;
  return base::dump_json(json);
}

}  // namespace askbase::qa
