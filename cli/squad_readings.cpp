#include "cli/squad_readings.h"

#include <chrono>

#include "base/interrupt.h"
#include "base/progress.h"
#include "base/text.h"

namespace askbase::cli {

base::Result<SquadReadings> read_squad_set(const reader::TextReader& model, const datasets::SquadSet& set,
                                           nn::Team& team) {
  base::Progress progress("reading", set.questions.size(), "questions");
  const auto workspace = model.workspace();
  SquadReadings all;
  const auto start = std::chrono::steady_clock::now();
  for (const datasets::SquadQuestion& question : set.questions) {
    if (base::interrupted()) return base::fail(base::ErrorCode::cancelled, "stopped");
    const std::string& text = set.contexts[question.context].text;
    const std::string_view texts[] = {text};
    ASKBASE_ASSIGN(const auto readings, model.read(question.question, texts, {}, *workspace, team));
    datasets::ReadAnswer answer;
    double log_share = 0;
    answer.null_odds = readings[0].null_odds;
    if (!readings[0].spans.empty()) {
      const base::OffsetMap offsets(text);
      const reader::ReadSpan& span = readings[0].spans.front();
      const std::size_t from = offsets.byte(span.begin), to = offsets.byte(span.end);
      answer.text = text.substr(from, to - from);
      log_share = span.log_share;
    }
    all.answers.push_back(std::move(answer));
    all.log_shares.push_back(log_share);
    progress.update(all.answers.size());
  }
  progress.finish();
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  all.seconds = taken.count();
  return all;
}

}  // namespace askbase::cli
