#include "cli/matcher_card.h"

#include <filesystem>

#include "cli/card.h"
#include "cli/output.h"

namespace askbase::cli {

namespace {

// "$DATA/kbqa/x.tsv.gz": a file of the benchmark data with its folder.
std::string data_name(const std::string& path) {
  const auto whole = std::filesystem::weakly_canonical(path);
  return "$DATA/" + whole.parent_path().filename().string() + "/" + whole.filename().string();
}

}  // namespace

base::Result<std::string> matcher_card(const MatcherCard& card) {
  const bool english = card.language == "en";
  std::string text =
      "# " + card.language + "-matcher\n\nTells how well " +
      (english ? std::string("an English") : std::string("a Chinese")) +
      " question asks for a path of relations of a knowledge base. Relations are read as text, so "
      "that\nthose of a knowledge base that was never seen are scored, too.\n\n## Architecture\n\n";
  text +=
      "One bidirectional LSTM over the question (its mention as one word), over the words of a path and over "
      "its\n"
      "names as wholes; a second one over the question, with a residual connection (HR-BiLSTM, Yu et al. "
      "2017);\n"
      "largest values; each path attends over the question's words (cross-attention, Hao et al. 2017); "
      "cosine.\n"
      "Beside it the cosines of the path's words with the question's nearest ones. Words outside the table "
      "are read\n"
      "by their character n-grams. Tables are int8 with a scale a row, everything else half floats.\n"
      "`qa/path_matcher_network.h` has the equations, `config.json` the sizes.\n\n## "
      "Training\n\n```\naskbase train "
      "matcher --lang " +
      card.language;
  for (const auto& [option, files] : card.files) {
    if (files.empty()) continue;
    text += " \\\n  " + option;
    for (const std::string& file : files) {
      text += " " + (option == "--vectors" ? file_name(file) : data_name(file));
    }
  }
  text += " \\\n  " + card.options + " \\\n  --out " + card.language + "-matcher\n```\n\n";
  text +=
      "`$DATA` is the folder of benchmark data. The\n"
      "same files, options and CPU type give the same bytes. AdamW, linear schedule, averaged weights; "
      "softmax over\n"
      "a question's path, others of its entity, others that share words with it and those of the batch.\n\n";
  text += "- " + grouped(card.train) + " questions to learn from (" + grouped(card.left_out) +
          " left out: their words are those of a question to be answered), " + grouped(card.valid) +
          " to choose the weights by\n- " + std::to_string(card.model->epochs) + " epochs, " +
          grouped(static_cast<std::uint64_t>(card.model->steps)) + " steps, " +
          decimal(card.model->seconds, 0) + " s\n";
  for (const auto& [name, value] : card.model->valid) {
    text += "- validation, " + name + ": " + decimal(value, 4) + "\n";
  }
  text += "\n| file | sha256 |\n| --- | --- |\n";
  for (const auto& [option, files] : card.files) {
    for (const std::string& file : files) {
      ASKBASE_ASSIGN(const std::string hash, hash_of(file));
      text += "| `" + file_name(file) + "` | " + hash + " |\n";
    }
  }
  return text;
}

}  // namespace askbase::cli
