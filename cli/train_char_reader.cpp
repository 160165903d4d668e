#include "cli/train_char_reader.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "base/interrupt.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/card.h"
#include "cli/command.h"
#include "cli/figures.h"
#include "cli/output.h"
#include "cli/training.h"
#include "datasets/squad.h"
#include "datasets/squad_metric.h"
#include "datasets/squad_split.h"
#include "nn/model_folder.h"
#include "reader/char_reader.h"
#include "reader/overlap_baseline.h"

namespace askbase::cli {

namespace {

using datasets::SquadSet;

constexpr datasets::AnswerForm kForm = datasets::AnswerForm::cmrc;

// Puts `more` behind `set`, but for the questions at `left_out`.
void append(SquadSet& set, const SquadSet& more, const std::vector<std::size_t>& left_out) {
  const std::unordered_set<std::size_t> out(left_out.begin(), left_out.end());
  const std::size_t first = set.contexts.size();
  set.contexts.insert(set.contexts.end(), more.contexts.begin(), more.contexts.end());
  for (std::size_t q = 0; q < more.questions.size(); ++q) {
    if (out.contains(q)) continue;
    set.questions.push_back(more.questions[q]);
    set.questions.back().context += first;
  }
}

// Every context or none of its questions: a part of the contexts, evenly over the set.
void keep_share(SquadSet& set, double share) {
  const std::vector<datasets::SquadQuestion> all = std::move(set.questions);
  set.questions.clear();
  for (const datasets::SquadQuestion& question : all) {
    const auto place = static_cast<double>(question.context);
    if (std::floor((place + 1) * share) > std::floor(place * share)) set.questions.push_back(question);
  }
}

reader::ReadingSet reading_set(const SquadSet& set) {
  reader::ReadingSet reading;
  std::vector<std::size_t> places(set.contexts.size(), SIZE_MAX);  // contexts without questions are left out
  for (const datasets::SquadQuestion& question : set.questions) {
    std::size_t& place = places[question.context];
    if (place == SIZE_MAX) {
      place = reading.contexts.size();
      reading.contexts.push_back(set.contexts[question.context].text);
    }
    reader::ReadingQuestion& read = reading.questions.emplace_back();
    read.question = question.question;
    read.context = place;
    if (!question.answers.empty()) {
      read.begin = question.answers.front().begin;
      read.end = question.answers.front().end;
    }
  }
  return reading;
}

struct Answers {
  std::vector<std::string> texts;
  std::vector<double> confidences;
};

base::Result<Answers> answers_of(const reader::TextReader& reader, const SquadSet& set, nn::Team& team) {
  Answers answers;
  const auto workspace = reader.workspace();
  for (const datasets::SquadQuestion& question : set.questions) {
    ASKBASE_TRY(base::check_interrupt());
    const std::string& text = set.contexts[question.context].text;
    const std::string_view texts[1] = {text};
    ASKBASE_ASSIGN(const std::vector<reader::Reading> readings,
                   reader.read(question.question, texts, {}, *workspace, team));
    if (readings[0].spans.empty()) {
      answers.texts.emplace_back();
      answers.confidences.push_back(0);
      continue;
    }
    const reader::ReadSpan& best = readings[0].spans.front();
    const base::OffsetMap offsets(text);
    answers.texts.push_back(
        text.substr(offsets.byte(best.begin), offsets.byte(best.end) - offsets.byte(best.begin)));
    answers.confidences.push_back(best.confidence);
  }
  return answers;
}

// Logistic regression of the F1 of each answer on the log-odds that the reader gave (Platt 1999, here with
// soft targets), by Newton's method. Without a fit, confidence is sigmoid(log p).
reader::ReadCalibration fitted(const SquadSet& valid, const Answers& answers) {
  std::vector<double> x, y;
  for (std::size_t i = 0; i < answers.texts.size(); ++i) {
    const double c = std::clamp(answers.confidences[i], 1e-9, 1 - 1e-9);
    x.push_back(std::log(c / (1 - c)));
    y.push_back(datasets::answer_score(kForm, answers.texts[i], valid.questions[i].answers).f1);
  }
  double offset = 0, slope = 1;
  for (int step = 0; step < 50; ++step) {
    double g0 = 0, g1 = 0, h00 = 1e-6, h01 = 0, h11 = 1e-6;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double p = 1 / (1 + std::exp(-(offset + slope * x[i]))), w = p * (1 - p);
      g0 += p - y[i];
      g1 += (p - y[i]) * x[i];
      h00 += w;
      h01 += w * x[i];
      h11 += w * x[i] * x[i];
    }
    const double determinant = h00 * h11 - h01 * h01;
    if (!(std::abs(determinant) > 1e-12)) break;
    offset -= (h11 * g0 - h01 * g1) / determinant;
    slope -= (h00 * g1 - h01 * g0) / determinant;
  }
  reader::ReadCalibration calibration{.offset = 0, .by_null = 0, .by_rivals = 1, .null_threshold = 1e9};
  if (std::isfinite(offset) && std::isfinite(slope) && slope > 0) {
    calibration.offset = offset;
    calibration.by_rivals = slope;
  }
  return calibration;
}

struct Measured {
  std::string name, path;
  datasets::SquadFigures model, sentence, clause;
};

base::Result<Measured> measure(const std::string& path, const reader::TextReader& reader, const SquadSet& set,
                               nn::Team& team) {
  ASKBASE_ASSIGN(const Answers answers, answers_of(reader, set, team));
  std::vector<std::string> sentences, clauses;
  for (const datasets::SquadQuestion& question : set.questions) {
    const std::string& text = set.contexts[question.context].text;
    sentences.push_back(reader::best_sentence(question.question, text));
    clauses.push_back(reader::nearest_clause(question.question, text));
  }
  std::string name = file_name(path);
  name = name.substr(0, name.find('.'));
  return Measured{name, path, datasets::squad_figures(kForm, set, answers.texts),
                  datasets::squad_figures(kForm, set, sentences),
                  datasets::squad_figures(kForm, set, clauses)};
}

// A character reader to go on from, or LAC's network with a fresh reading network.
base::Result<std::unique_ptr<reader::CharModel>> start_of(const CharReaderArguments& arguments) {
  const std::filesystem::path folder = arguments.lac;
  std::error_code ignored;
  if (std::filesystem::exists(folder / "config.json", ignored)) return reader::CharModel::load(folder);
  return reader::CharModel::from_lac(folder, arguments.network, arguments.training.seed);
}

std::string quoted_options(const CharReaderArguments& arguments) {
  const reader::CharTraining& t = arguments.training;
  std::string text =
      " --seed " + std::to_string(t.seed) + " --epochs " + std::to_string(t.epochs) +
      (t.schedule_epochs > 0 ? " --schedule-epochs " + std::to_string(t.schedule_epochs) : "") + " --rate " +
      base::dump_json(base::json_number(t.rate)) + " --ema " +
      base::dump_json(base::json_number(t.ema_decay)) + " --hidden " +
      std::to_string(arguments.network.hidden) + " --layers " + std::to_string(arguments.network.layers) +
      " --threads " + std::to_string(arguments.threads);
  if (arguments.share < 1) text += " --share " + base::dump_json(base::json_number(arguments.share));
  return text;
}

base::Result<std::string> hash_line(const std::string& path, const std::string& what) {
  ASKBASE_ASSIGN(const std::string hash, hash_of(path));
  return "- " + what + ": " + file_name(path) + " (sha256 " + hash + ")\n";
}

base::Result<std::string> card_text(const CharReaderArguments& arguments,
                                    const reader::CharTrainingResult& result, std::size_t overlapping,
                                    const std::vector<Measured>& measured) {
  std::string card = R"(# Chinese reader

Given a question and a text in Chinese (Simplified or Traditional), the span of the text that answers it.

## Architecture

A bidirectional LSTM reader over characters after DrQA (Chen 2017) and BiDAF (Seo 2017). Its input is what LAC, a
network for lexical analysis (Jiao 2018), says of each character: its vector, the states of two bidirectional GRU
layers, and its tag (word borders, parts of speech, names). LAC's weights are frozen. Question and context share an
encoder, each place of the context looks at the question, features tell what the two have in common, a second LSTM
reads that, and bilinear scores find the start and the end. `reader/char_network.h` has the equations, `config.json`
the sizes. Character vectors are int8 with a scale a row, all else half floats. It has learned from texts that do
answer: its confidence says how good a span is, and it never finds that a text has no answer.

## Training

```
askbase train reader --kind bilstm --encoder )";
  card += file_name(arguments.lac) + " ";
  std::string names, tests;
  for (const std::string& path : arguments.data) names += " " + file_name(path);
  for (const std::string& path : arguments.test) tests += " " + file_name(path);
  card += "\\\n  --data" + names + " --valid " + file_name(arguments.valid) +
          (tests.empty() ? "" : " \\\n  --test" + tests) + " \\\n " + quoted_options(arguments) +
          " --out zh-reader\n```\n\nThe same files, options and CPU type give the same bytes.\n\n";
  for (const std::string& path : arguments.data) {
    ASKBASE_ASSIGN(const std::string line, hash_line(path, "trained on"));
    card += line;
  }
  if (!arguments.valid.empty()) {
    ASKBASE_ASSIGN(const std::string line, hash_line(arguments.valid, "chosen and calibrated on"));
    card += line;
  }
  card += "- " + grouped(result.questions) + " questions; " + grouped(overlapping) +
          " left out because they, or their texts, stand in a set to measure on\n";
  card += "- " + std::to_string(result.run.steps) + " steps, " + decimal(result.run.seconds / 60, 0) +
          " minutes; at the best one, " + std::to_string(result.run.best_step) + ", on the set to choose by:";
  for (const auto& [name, value] : result.run.best.values) card += " " + name + " " + decimal(value, 2);
  card += "\n";
  if (!measured.empty()) {
    card += R"(
## Quality

Exact match and F1 in percent by the official script of CMRC 2018 (characters; F1 of the longest common run), measured
on what this folder holds, once, at the end of the command above; 95 % bootstrap intervals.

| set | questions | reader | exact match | F1 |
| --- | ---: | --- | --- | --- |
)";
    for (const Measured& m : measured) {
      const auto row = [&](const char* name, const datasets::SquadFigures& figures) {
        card += "| " + m.name + " | " + grouped(figures.questions) + " | " + name + " | " +
                shown_figure(figures.exact_match, 2) + " | " + shown_figure(figures.f1, 2) + " |\n";
      };
      row("this one", m.model);
      row("the sentence that shares most with the question", m.sentence);
      row("the clause with most of the question beside it", m.clause);
    }
    card += "\n";
    for (const Measured& m : measured) {
      ASKBASE_ASSIGN(const std::string line, hash_line(m.path, "measured on"));
      card += line;
    }
  }
  return card + R"(
## Sources

- Character vectors and lexical network: LAC (Baidu, Apache License 2.0) as the Python package jieba 0.42 ships it
  (MIT): Debian's python3-jieba, folder lac_small.
- CMRC 2018 (Cui 2019), CC BY-SA 4.0; DRCD (Shao 2018), CC BY-SA 3.0.
)";
}

}  // namespace

base::Result<int> run_train_char_reader(CharReaderArguments arguments) {
  ASKBASE_TRY(nn::check_model_place(arguments.out));
  SquadSet valid, train;
  std::vector<SquadSet> tests;
  if (!arguments.valid.empty()) {
    ASKBASE_ASSIGN(valid, datasets::read_squad(arguments.valid));
  }
  for (const std::string& path : arguments.test) {
    ASKBASE_ASSIGN(SquadSet set, datasets::read_squad(path));
    tests.push_back(std::move(set));
  }
  std::size_t overlapping = 0;
  for (const std::string& path : arguments.data) {
    ASKBASE_ASSIGN(const SquadSet set, datasets::read_squad(path));
    std::vector<std::size_t> left_out;
    for (const SquadSet& test : tests) {
      const std::vector<std::size_t> more = datasets::overlapping_questions(set, test);
      left_out.insert(left_out.end(), more.begin(), more.end());
    }
    std::sort(left_out.begin(), left_out.end());
    left_out.erase(std::unique(left_out.begin(), left_out.end()), left_out.end());
    overlapping += left_out.size();
    append(train, set, left_out);
  }
  if (arguments.share < 1) keep_share(train, arguments.share);

  ASKBASE_ASSIGN(const std::unique_ptr<reader::CharModel> model, start_of(arguments));
  nn::Team team(arguments.threads);
  const auto judge = [&valid](const std::vector<reader::ReadingGuess>& guesses) {
    std::vector<std::string> answers;
    for (const reader::ReadingGuess& guess : guesses) answers.push_back(guess.answer);
    const datasets::SquadFigures figures = datasets::squad_figures(kForm, valid, answers, {.resamples = 0});
    const double exact = figures.exact_match.value.value_or(0), f1 = figures.f1.value.value_or(0);
    return nn::Evaluation{f1, {{"exact_match", exact}, {"f1", f1}}};
  };
  ASKBASE_ASSIGN(const reader::CharTrainingResult result,
                 reader::train_char_reader(*model, reading_set(train), reading_set(valid), judge,
                                           arguments.training, team));
  const bool finished = result.run.stop != nn::StopReason::time;

  std::vector<Measured> measured;
  ASKBASE_ASSIGN(std::string card, card_text(arguments, result, overlapping, measured));
  ASKBASE_TRY(model->save(arguments.out, card));
  if (!valid.questions.empty()) {
    // With the weights as they were written.
    ASKBASE_ASSIGN(const auto written, reader::CharReader::load(arguments.out));
    ASKBASE_ASSIGN(const Answers answers, answers_of(*written, valid, team));
    model->set_calibration(fitted(valid, answers));
    ASKBASE_TRY(model->save(arguments.out, card));
  }
  if (finished && !tests.empty()) {
    ASKBASE_ASSIGN(const auto written, reader::CharReader::load(arguments.out));
    for (std::size_t i = 0; i < tests.size(); ++i) {
      ASKBASE_ASSIGN(Measured m, measure(arguments.test[i], *written, tests[i], team));
      measured.push_back(std::move(m));
    }
    ASKBASE_ASSIGN(card, card_text(arguments, result, overlapping, measured));
    ASKBASE_TRY(model->save(arguments.out, card));
  }
  ASKBASE_TRY(write_curves_page(arguments.report, arguments.curves, "reader", arguments.training.seed));

  base::Json out = {
      {"task", "reader"},           {"train", result.questions},       {"left_out", result.left_out},
      {"overlapping", overlapping}, {"valid", valid.questions.size()}, {"steps", result.run.steps},
      {"finished", finished}};
  std::vector<std::vector<std::string>> rows = {
      {"questions", grouped(result.questions)},
      {"left out: without an answer", grouped(result.left_out)},
      {"left out: in texts or questions to measure on", grouped(overlapping)},
      {"validation questions", grouped(valid.questions.size())},
      {"steps", grouped(static_cast<std::uint64_t>(result.run.steps))}};
  for (const auto& [name, value] : result.run.best.values) {
    out["valid_" + name] = base::json_number(value);
    rows.push_back({"validation " + name, decimal(value, 2)});
  }
  for (const Measured& m : measured) {
    const auto add = [&](const std::string& key, const char* words, const datasets::SquadFigures& figures) {
      add_figure(out, m.name + key + "_exact_match", figures.exact_match);
      add_figure(out, m.name + key + "_f1", figures.f1);
      rows.push_back({m.name + words + " exact match", shown_figure(figures.exact_match, 2)});
      rows.push_back({m.name + words + " F1", shown_figure(figures.f1, 2)});
    };
    add("", "", m.model);
    add("_sentence", ", best sentence,", m.sentence);
    add("_clause", ", nearest clause,", m.clause);
  }
  out["seconds"] = base::json_number(result.run.seconds, 4);
  rows.push_back({"seconds", decimal(result.run.seconds, 1)});
  print_training(arguments.json, out, rows, arguments.out);
  if (!arguments.json && !finished) print_line("time is over: --resume goes on");
  return exit_done;
}

}  // namespace askbase::cli
