#include "qa/mention_model.h"

#include <algorithm>
#include <unordered_map>

#include "base/json.h"
#include "base/text.h"

namespace askbase::qa {

namespace {

using nn::Index;

base::Result<MentionConfig> read_config(const base::Json& json) {
  MentionConfig config;
  const auto language = json.find("language");
  if (language == json.end() || (*language != "en" && *language != "zh")) {
    return base::fail(base::ErrorCode::corrupt, "config.json: \"language\" is neither \"en\" nor \"zh\"");
  }
  config.language = language->get<std::string>();
  const auto learned = json.find("learn_words");
  if (learned == json.end() || !learned->is_boolean()) {
    return base::fail(base::ErrorCode::corrupt, "config.json: \"learn_words\" is neither true nor false");
  }
  config.learn_words = learned->get<bool>();
  ASKBASE_ASSIGN(config.dimensions, base::whole_number(json, "dimensions", 1, 1024, "config.json"));
  ASKBASE_ASSIGN(config.own_words, base::whole_number(json, "own_words", 0, 1 << 20, "config.json"));
  ASKBASE_ASSIGN(config.own_dimensions, base::whole_number(json, "own_dimensions", 1, 1024, "config.json"));
  ASKBASE_ASSIGN(config.letter_dimensions,
                 base::whole_number(json, "letter_dimensions", 1, 1024, "config.json"));
  ASKBASE_ASSIGN(config.filters, base::whole_number(json, "filters", 1, 1024, "config.json"));
  ASKBASE_ASSIGN(config.pair_rows, base::whole_number(json, "pair_rows", 0, 1 << 20, "config.json"));
  ASKBASE_ASSIGN(config.pair_dimensions, base::whole_number(json, "pair_dimensions", 1, 1024, "config.json"));
  ASKBASE_ASSIGN(config.shapes, base::whole_number(json, "shapes", 1, shape_count, "config.json"));
  ASKBASE_ASSIGN(config.hidden, base::whole_number(json, "hidden", 1, 1024, "config.json"));
  ASKBASE_ASSIGN(config.layers, base::whole_number(json, "layers", 1, 8, "config.json"));
  ASKBASE_ASSIGN(config.input_dropout, base::number_between(json, "input_dropout", 0, 0.95, "config.json"));
  ASKBASE_ASSIGN(config.output_dropout, base::number_between(json, "output_dropout", 0, 0.95, "config.json"));
  return config;
}

MentionConfig with_tables(MentionConfig config, Index words, Index letters) {
  config.words = words;
  config.first_learned = QuestionVocabulary::special;
  config.letters = letters;
  return config;
}

}  // namespace

MentionModel::MentionModel(QuestionVocabulary vocabulary, LetterTable letters, MentionConfig config)
    : vocabulary_(std::move(vocabulary)),
      letters_(std::move(letters)),
      network_(parameters_, with_tables(std::move(config), vocabulary_.size(), letters_.size())) {}

base::Result<std::unique_ptr<MentionModel>> MentionModel::load(const std::filesystem::path& path) {
  ASKBASE_ASSIGN(const nn::ModelFolder folder, nn::ModelFolder::open(path, kMentionTaggerKind));
  ASKBASE_ASSIGN(const base::Json json, base::parse_json(folder.config()));
  ASKBASE_ASSIGN(MentionConfig config, read_config(json));
  ASKBASE_ASSIGN(const std::string words, folder.read("vocab.txt"));
  ASKBASE_ASSIGN(QuestionVocabulary vocabulary, QuestionVocabulary::parse(words));
  ASKBASE_ASSIGN(const std::string letters, folder.read("letters.txt"));
  ASKBASE_ASSIGN(LetterTable table, LetterTable::parse(letters));
  if (config.own_words > vocabulary.size()) {
    return base::fail(base::ErrorCode::corrupt, "config.json: \"own_words\" is more than vocab.txt has");
  }
  auto model = std::make_unique<MentionModel>(std::move(vocabulary), std::move(table), std::move(config));
  ASKBASE_TRY(folder.fill(model->parameters_));
  return model;
}

std::string MentionModel::config_json() const {
  const MentionConfig& config = network_.config();
  return base::dump_json({{"language", config.language},
                          {"learn_words", config.learn_words},
                          {"dimensions", config.dimensions},
                          {"own_words", config.own_words},
                          {"own_dimensions", config.own_dimensions},
                          {"letter_dimensions", config.letter_dimensions},
                          {"filters", config.filters},
                          {"pair_rows", config.pair_rows},
                          {"pair_dimensions", config.pair_dimensions},
                          {"shapes", config.shapes},
                          {"hidden", config.hidden},
                          {"layers", config.layers},
                          {"input_dropout", config.input_dropout},
                          {"output_dropout", config.output_dropout}});
}

base::Status MentionModel::save(const std::filesystem::path& folder, std::string card) const {
  nn::ModelToSave save;
  save.kind = kMentionTaggerKind;
  save.config = config_json();
  save.files = {{.name = "vocab.txt", .content = vocabulary_.text(), .vocabulary = true},
                {.name = "letters.txt", .content = letters_.text(), .vocabulary = true},
                {.name = "README.md", .content = std::move(card), .vocabulary = false}};
  save.storage = nn::Storage::fp16;
  save.small = nn::Storage::fp16;
  save.storage_of = [](const std::string& name) {
    return name == "words.weight" || name == "own.weight" || name == "pairs.weight" ? nn::Storage::int8
                                                                                    : nn::Storage::fp16;
  };
  return nn::save_model(folder, save, parameters_);
}

MentionText MentionModel::text_of(const std::vector<base::Token>& tokens) const {
  MentionText text;
  text.quoted = quoted_tokens(tokens);
  const bool pairs = network_.config().pair_rows > 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const base::Token& token = tokens[i];
    // A Traditional character is found by its key, which is a Simplified one.
    const std::string folded = token.kind == base::TokenKind::han ? token.key : base::fold_case(token.text);
    std::int32_t row = vocabulary_.row(folded);
    if (row < QuestionVocabulary::special && !token.key.empty() && token.key != folded) {
      row = vocabulary_.row(token.key);
    }
    text.words.push_back(row);
    if (pairs) text.keys.push_back(token.key.empty() ? folded : token.key);
    std::u32string letters = base::to_code_points(token.text);
    if (letters.size() > MentionText::most_letters) letters.resize(MentionText::most_letters);
    text.letters.push_back(std::move(letters));
    text.kinds.push_back(token.kind);
    text.joined.push_back(i > 0 && tokens[i - 1].end == token.begin ? 1 : 0);
  }
  return text;
}

void MentionModel::clear(Cache& cache) const {
  cache.sentences.clear();
  cache.words.clear();
  cache.own.clear();
  cache.pairs.clear();
  cache.shapes.clear();
  cache.spellings.clear();
  cache.spelled.clear();
  cache.letters.clear();
  cache.known_spellings.clear();
}

void MentionModel::add(const MentionText& text, const Reading& reading, Cache& cache) const {
  const MentionConfig& config = network_.config();
  const std::size_t n = std::min(text.size(), reading.tokens);
  const auto is_hidden = [&](std::size_t i) { return !reading.hidden.empty() && reading.hidden[i] != 0; };
  const auto key = [&](std::size_t i) { return is_hidden(i) ? std::string_view("?") : text.keys[i]; };
  for (std::size_t i = 0; i < n; ++i) {
    const bool hidden = is_hidden(i);
    const std::int32_t word = hidden ? QuestionVocabulary::unknown : text.words[i];
    cache.words.push_back(word);
    if (config.own_words > 0) cache.own.push_back(word < config.own_words ? word : 0);
    if (config.pair_rows > 0) {
      const auto rows = static_cast<std::int32_t>(config.pair_rows);
      cache.pairs.push_back(pair_row(i > 0 ? key(i - 1) : "", key(i), rows));
      cache.pairs.push_back(pair_row(key(i), i + 1 < n ? key(i + 1) : "", rows));
    }
    const bool in_mention = i >= reading.mention.first && i < reading.mention.last;
    std::u32string letters = reading.casing == Casing::as_written
                                 ? text.letters[i]
                                 : cased(text.letters[i], reading.casing, in_mention,
                                         (reading.casing == Casing::title_mention && i == 0) ||
                                             (in_mention && i == reading.mention.first));
    const std::uint32_t quoted = text.quoted[i] != 0 ? shape_quoted : 0U;
    cache.shapes.push_back(shape_of(letters, text.kinds[i], i == 0, text.joined[i] != 0) | quoted);
    const auto [known, added] = cache.known_spellings.try_emplace(
        std::move(letters), static_cast<Index>(cache.known_spellings.size()));
    if (added) {
      cache.spelled.add(static_cast<Index>(known->first.size()));
      for (const char32_t letter : known->first) cache.letters.push_back(letters_.row(letter));
    }
    cache.spellings.push_back(known->second);
  }
  cache.sentences.add(static_cast<Index>(n));
}

}  // namespace askbase::qa
