#include "datasets/bootstrap.h"

#include <numeric>

namespace askbase::datasets {

Figure mean_figure(const std::vector<double>& values, const BootstrapOptions& options) {
  if (values.empty()) return {};
  const auto n = static_cast<double>(values.size());
  Figure figure{.value = std::accumulate(values.begin(), values.end(), 0.0) / n, .interval = std::nullopt};
  if (options.resamples == 0) return figure;
  BootstrapRandom random(options.seed);
  std::vector<double> means;
  for (std::size_t i = 0; i < options.resamples; ++i) {
    double sum = 0;
    for (std::size_t k = 0; k < values.size(); ++k) sum += values[random.below(values.size())];
    means.push_back(sum / n);
  }
  figure.interval = interval_of(means);
  return figure;
}

}  // namespace askbase::datasets
