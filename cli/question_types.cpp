#include "cli/question_types.h"

#include <chrono>

#include "cli/figures.h"
#include "cli/output.h"

namespace askbase::cli {

QuestionTypeFigures measure_question_types(const qa::QuestionTypeClassifier& classifier,
                                           const std::vector<datasets::TypedQuestion>& questions) {
  std::vector<double> right, right_fine;
  const auto start = std::chrono::steady_clock::now();
  for (const datasets::TypedQuestion& question : questions) {
    const qa::QuestionType type = classifier.classify(question.question);
    right.push_back(type.coarse == question.coarse() ? 1.0 : 0.0);
    right_fine.push_back(type.fine == question.fine ? 1.0 : 0.0);
  }
  const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - start;
  return {.questions = questions.size(),
          .accuracy = datasets::mean_figure(right),
          .fine_accuracy = datasets::mean_figure(right_fine),
          .milliseconds = questions.empty() ? 0 : taken.count() / static_cast<double>(questions.size())};
}

datasets::Figure coarse_accuracy(const std::vector<datasets::TypedQuestion>& questions,
                                 const std::vector<std::string>& answers) {
  std::vector<double> right;
  for (std::size_t i = 0; i < questions.size(); ++i)
    right.push_back(answers[i] == questions[i].coarse() ? 1.0 : 0.0);
  return datasets::mean_figure(right);
}

base::Json figures_json(const QuestionTypeFigures& figures) {
  base::Json out = {{"questions", figures.questions}};
  add_figure(out, "accuracy", figures.accuracy);
  add_figure(out, "fine_accuracy", figures.fine_accuracy);
  out["ms_mean"] = base::json_number(figures.milliseconds, 4);
  return out;
}

std::vector<std::vector<std::string>> figure_rows(const QuestionTypeFigures& figures) {
  return {{"questions", grouped(figures.questions)},
          {"accuracy", shown_figure(figures.accuracy)},
          {"fine_accuracy", shown_figure(figures.fine_accuracy)},
          {"ms, mean", decimal(figures.milliseconds, 3)}};
}

}  // namespace askbase::cli
