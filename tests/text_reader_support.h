// A reader that finds given words, so that what is built upon readers can be tested without a model.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <thread>

#include "base/text.h"
#include "reader/text_reader.h"

namespace askbase::test {

class FakeReader final : public reader::TextReader {
 public:
  // Texts that are answers wherever they stand, with the confidence in them.
  explicit FakeReader(std::map<std::string, double> answers) : answers_(std::move(answers)) {}
  FakeReader(std::map<std::string, double> answers, bool abstains, bool slow = false)
      : answers_(std::move(answers)), abstains_(abstains), slow_(slow) {}

  std::unique_ptr<Workspace> workspace() const override { return std::make_unique<Workspace>(); }

  base::Result<std::vector<reader::Reading>> read(std::string_view, std::span<const std::string_view> texts,
                                                  const reader::ReadOptions& options, Workspace&, nn::Team&,
                                                  const Stop& stop) const override {
    const int now = ++reading_;
    for (int most = most_; now > most && !most_.compare_exchange_weak(most, now);) {
    }
    ++calls_;
    const auto leave = [&](auto result) {
      --reading_;
      return result;
    };
    while (slow_ && !(stop && stop())) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (stop && stop())
      return leave(base::Result<std::vector<reader::Reading>>(
          base::fail(base::ErrorCode::timeout, "the time for reading is over")));
    std::vector<reader::Reading> readings;
    for (const std::string_view text : texts) readings.push_back(reading_of(text, options.top));
    texts_ += static_cast<int>(texts.size());
    return leave(base::Result<std::vector<reader::Reading>>(std::move(readings)));
  }

  const reader::ReadCalibration& calibration() const override { return calibration_; }
  int calls() const { return calls_; }
  int texts() const { return texts_; }
  int most_at_once() const { return most_; }

 private:
  reader::Reading reading_of(std::string_view text, std::size_t top) const {
    reader::Reading reading;
    const base::OffsetMap offsets(text);
    for (const auto& [answer, confidence] : answers_) {
      const std::size_t at = text.find(answer);
      if (at == std::string_view::npos) continue;
      reader::ReadSpan span;
      span.begin = offsets.code_point_at_byte(at);
      span.end = offsets.code_point_at_byte(at + answer.size());
      span.confidence = confidence;
      span.score = std::log(confidence / (1 - confidence));
      reading.spans.push_back(span);
    }
    std::stable_sort(
        reading.spans.begin(), reading.spans.end(),
        [](const reader::ReadSpan& a, const reader::ReadSpan& b) { return a.confidence > b.confidence; });
    if (reading.spans.size() > top) reading.spans.resize(top);
    reading.null_odds =
        reading.spans.empty() ? std::numeric_limits<double>::infinity() : -reading.spans.front().score;
    reading.answered = !reading.spans.empty() && !abstains_;
    return reading;
  }

  const std::map<std::string, double> answers_;
  const bool abstains_ = false, slow_ = false;
  const reader::ReadCalibration calibration_;
  mutable std::atomic<int> calls_{0}, texts_{0}, reading_{0}, most_{0};
};

}  // namespace askbase::test
