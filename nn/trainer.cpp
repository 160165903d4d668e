#include "nn/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <limits>
#include <memory>

#include "base/interrupt.h"
#include "base/sha256.h"
#include "nn/checkpoint.h"
#include "nn/curves.h"
#include "nn/random.h"
#include "nn/weights.h"

namespace askbase::nn {

namespace {

using base::ErrorCode;
using base::fail;
using base::Result;
using base::Status;
using std::chrono::steady_clock;

constexpr std::uint64_t kDropoutStream = 0x64726F70ULL << 32;  // "drop", apart from the streams of other uses
constexpr int kMostWorkers = 1 << 10, kMostAccumulated = 1 << 10;

double seconds_since(steady_clock::time_point start) {
  return std::chrono::duration<double>(steady_clock::now() - start).count();
}

std::string number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

template <typename T>
class Run {
 public:
  Run(TrainingTask<T>& task, Parameters<T>& p, const TrainerConfig& config, Team& team)
      : task_(task),
        p_(p),
        config_(config),
        team_(team),
        optimizer_(p, config.optimizer),
        batches_(lengths_of(task), config.batching, config.seed) {
    workers_ = config.workers > 0 ? config.workers : team.size();
    for (int k = 0; k < workers_; ++k) gradients_.emplace_back(p);
    shards_.resize(static_cast<std::size_t>(workers_));
    if (config.averaging == Averaging::ema) average_.copy_from(p);
    plan_schedule();
  }

  Result<TrainingResult> go() {
    ASKBASE_TRY(begin());
    bool stopped_by_time = false;
    while (state_.evaluation_due || !finished()) {
      if (!base::check_interrupt()) return interrupted();
      if (config_.minutes > 0 && seconds_since(start_) >= config_.minutes * 60) {
        stopped_by_time = true;
        break;
      }
      if (state_.evaluation_due) {
        const Status evaluated = evaluate();
        if (!evaluated && evaluated.error().code == ErrorCode::cancelled) return interrupted();
        ASKBASE_TRY(evaluated);
        continue;
      }
      ASKBASE_TRY(step());
      if (checkpoint_due()) ASKBASE_TRY(save());
    }
    ASKBASE_TRY(save());
    const Status concluded = conclude();
    if (!concluded && concluded.error().code == ErrorCode::cancelled) return interrupted();
    ASKBASE_TRY(concluded);
    if (progress_) progress_->finish();
    return result(stopped_by_time);
  }

 private:
  static std::vector<Index> lengths_of(const TrainingTask<T>& task) {
    std::vector<Index> lengths;
    for (Index i = 0; i < task.example_count(); ++i) lengths.push_back(task.length(i));
    return lengths;
  }

  std::int64_t steps_of(Index batches) const {
    return (batches + config_.accumulate - 1) / config_.accumulate;
  }

  // The steps of all epochs, which the decay of the learning rate is spread over.
  void plan_schedule() {
    schedule_ = config_.schedule;
    batches_.plan(0);
    steps_per_epoch_ = steps_of(batches_.count());
    const bool needed = schedule_.kind != ScheduleKind::constant || schedule_.warmup_share > 0;
    if (schedule_.total_steps > 0 || !needed) return;
    if (config_.epochs == 0) {
      schedule_.total_steps = config_.steps;
      return;
    }
    for (std::int64_t epoch = 0; epoch < config_.epochs; ++epoch) {
      batches_.plan(epoch);
      schedule_.total_steps += steps_of(batches_.count());
    }
    if (config_.steps > 0) schedule_.total_steps = std::min(schedule_.total_steps, config_.steps);
  }

  Status begin() {
    if (config_.resume) ASKBASE_TRY(resume());
    if (!config_.curves.empty()) {
      ASKBASE_ASSIGN(CurveWriter writer,
                     CurveWriter::open(config_.curves, config_.resume ? state_.step : -1));
      curves_ = std::make_unique<CurveWriter>(std::move(writer));
    }
    start_ = last_checkpoint_ = steady_clock::now();
    if (config_.progress) {
      const double per_step =
          static_cast<double>(batches_.example_count()) / static_cast<double>(steps_per_epoch_);
      double left = std::numeric_limits<double>::infinity();
      if (config_.epochs > 0) {
        left = static_cast<double>(config_.epochs * steps_per_epoch_ - state_.step) * per_step;
      }
      if (config_.steps > 0)
        left = std::min(left, static_cast<double>(config_.steps - state_.step) * per_step);
      const auto total = std::isfinite(left) ? static_cast<std::uint64_t>(std::max(0.0, left)) : 0;
      progress_ = std::make_unique<base::Progress>(config_.name, total, "examples", config_.progress_sink);
    }
    return {};
  }

  bool finished() const {
    return (config_.epochs > 0 && state_.epoch >= config_.epochs) ||
           (config_.steps > 0 && state_.step >= config_.steps) ||
           (config_.patience > 0 && state_.without_gain >= config_.patience);
  }

  std::string place() const {
    return "step " + std::to_string(state_.step + 1) + " (epoch " + std::to_string(state_.epoch + 1) +
           ", batch " + std::to_string(state_.batch + 1) + " of " + std::to_string(batches_.count()) + ")";
  }

  Status step() {
    const steady_clock::time_point began = steady_clock::now();
    if (planned_epoch_ != state_.epoch) {
      batches_.plan(state_.epoch);
      planned_epoch_ = state_.epoch;
      task_.begin_epoch(state_.epoch);
    }
    parts_.assign(static_cast<std::size_t>(workers_), {});
    const Index last = std::min<Index>(batches_.count(), state_.batch + config_.accumulate);
    for (Index batch = state_.batch; batch < last; ++batch) run_batch(batch, batch == state_.batch);
    LossSum sum;
    for (const WorkerPart& part : parts_) {
      if (part.problem) std::rethrow_exception(part.problem);
      if (!part.not_finite.empty()) {
        return fail(
            ErrorCode::bad_input,
            config_.name + ": the loss is not a number at " + place() + ", in " + part.not_finite,
            "a smaller learning rate or gradient clipping often helps; the last checkpoint is intact");
      }
      sum.loss += part.sum.loss;
      sum.weight += part.sum.weight;
    }
    // A batch without anything to learn from (no labelled token) changes nothing.
    if (sum.weight > 0) ASKBASE_TRY(update(sum));
    state_.loss += sum.loss;
    state_.weight += sum.weight;
    state_.batch = last;
    ++state_.step;
    if (state_.batch >= batches_.count()) {
      ++state_.epoch;
      state_.batch = 0;
    }
    state_.evaluation_due = evaluation_in_turn();
    step_seconds_ += seconds_since(began);
    if (progress_) progress_->update(static_cast<std::uint64_t>(examples_));
    if (state_.step % std::max<std::int64_t>(1, config_.log_every) == 0 || state_.evaluation_due)
      return record();
    return {};
  }

  bool evaluation_in_turn() const {
    return config_.evaluate_every > 0 ? state_.step % config_.evaluate_every == 0 : state_.batch == 0;
  }

  // The last record and evaluation of a call that ends between two of them. They come after the checkpoint,
  // so that a run which goes on with a larger limit is the same as one that had it from the beginning.
  Status conclude() {
    if (state_.step == 0 || evaluation_in_turn()) return {};
    if (state_.weight > 0) ASKBASE_TRY(record(true));
    return evaluate(true);
  }

  struct WorkerPart {
    LossSum sum;
    std::string not_finite;
    std::exception_ptr problem;
  };

  void run_batch(Index batch, bool first) {
    const std::span<const Index> examples = batches_.batch(batch);
    for (std::vector<Index>& shard : shards_) shard.clear();
    for (std::size_t i = 0; i < examples.size(); ++i) shards_[i % shards_.size()].push_back(examples[i]);
    examples_ += static_cast<Index>(examples.size());
    const auto part = [&](Index begin, Index end) {
      for (Index k = begin; k < end; ++k) run_shard(static_cast<int>(k), batch, first);
    };
    if (workers_ == 1) {
      part(0, 1);  // outside of the team, so that the layers may use it
    } else {
      team_.parallel_for(workers_, 1, part);
    }
  }

  void run_shard(int worker, Index batch, bool first) {
    const auto k = static_cast<std::size_t>(worker);
    WorkerPart& part = parts_[k];
    if (first) gradients_[k].clear();
    if (shards_[k].empty() || part.problem || !part.not_finite.empty()) return;
    const auto counter = static_cast<std::uint64_t>(state_.step) * kMostAccumulated * kMostWorkers +
                         static_cast<std::uint64_t>(batch - state_.batch) * kMostWorkers + k;
    const auto random = Philox(config_.seed, kDropoutStream).block(counter);
    Context context;
    if (workers_ == 1) context.team = &team_;
    context.training = true;
    context.precision = config_.precision;
    context.dropout_key = (std::uint64_t{random[0]} << 32) | random[1];
    try {
      const LossSum sum =
          task_.loss(p_, {shards_[k], worker, state_.step, state_.epoch}, gradients_[k], context);
      part.sum.loss += sum.loss;
      part.sum.weight += sum.weight;
      if (std::isfinite(sum.loss) && std::isfinite(sum.weight)) return;
      part.not_finite = shards_[k].size() == 1 ? "example" : "one of the examples";
      for (std::size_t i = 0; i < std::min<std::size_t>(8, shards_[k].size()); ++i) {
        part.not_finite += (i == 0 ? " " : ", ") + std::to_string(shards_[k][i]);
      }
      if (shards_[k].size() > 8) part.not_finite += ", ...";
    } catch (...) {
      part.problem = std::current_exception();
    }
  }

  Status update(const LossSum& sum) {
    const double scale = 1.0 / sum.weight;
    const double norm = std::sqrt(sum_gradients<T>(gradients_, team_)) * scale;
    if (!std::isfinite(norm)) {
      const std::string where = first_non_finite(p_, gradients_[0]);
      return fail(ErrorCode::bad_input,
                  config_.name + ": the gradient" + (where.empty() ? "s'" : " of " + where) +
                      (where.empty() ? " norm" : "") + " is not a number at " + place(),
                  "a smaller learning rate or gradient clipping often helps; the last checkpoint is intact");
    }
    rate_ = learning_rate(schedule_, state_.step);
    optimizer_.step(p_, gradients_[0], rate_, scale * clip_factor(norm, config_.clip_norm), team_);
    if (config_.averaging == Averaging::ema) {
      const auto t = static_cast<double>(++state_.averaged);
      average_.move_towards(p_, 1.0 - std::min(config_.ema_decay, (1.0 + t) / (10.0 + t)), team_);
    }
    return {};
  }

  double epochs_done() const {
    const double share = state_.batch == 0 || batches_.count() == 0
                             ? 0.0
                             : static_cast<double>(state_.batch) / static_cast<double>(batches_.count());
    return static_cast<double>(state_.epoch) + share;
  }

  double seconds() const { return state_.seconds + seconds_since(start_); }
  double examples_per_second() const {
    return step_seconds_ > 0 ? static_cast<double>(examples_) / step_seconds_ : 0.0;
  }

  Status record(bool last = false) {
    state_.last_loss = state_.weight > 0 ? state_.loss / state_.weight : 0.0;
    state_.loss = state_.weight = 0.0;
    if (progress_) {
      char text[48];
      std::snprintf(text, sizeof text, "loss %.4f", state_.last_loss);
      progress_->note(text);
    }
    if (!curves_) return {};
    CurveRecord line{state_.step,
                     epochs_done(),
                     {{"loss", state_.last_loss},
                      {"learning_rate", rate_},
                      {"rate", examples_per_second()},
                      {"seconds", seconds()}}};
    if (last) line.values.emplace_back(kOutOfTurn, 1.0);
    return curves_->append(line);
  }

  Status evaluate(bool last = false) {
    const bool mean = config_.averaging == Averaging::mean && state_.evaluations + 1 >= config_.average_from;
    const bool averaged = config_.averaging == Averaging::ema || mean;
    if (mean) {
      // Undone below when the evaluation is cancelled: it is repeated after the resume.
      if (average_.empty()) average_.copy_from(p_);
      before_mean_ = average_;
      average_.move_towards(p_, 1.0 / static_cast<double>(state_.averaged + 1), team_);
    }
    if (averaged) average_.swap_with(p_);
    auto evaluated = task_.evaluate(p_, team_);
    const bool better =
        evaluated && *evaluated && (state_.best_step < 0 || (*evaluated)->metric > state_.best_metric);
    if (better) best_.copy_from(p_);
    if (averaged) average_.swap_with(p_);
    if (!evaluated) {
      if (mean) average_ = before_mean_;
      return tl::unexpected(std::move(evaluated).error());
    }
    state_.evaluation_due = false;
    ++state_.evaluations;
    if (mean) ++state_.averaged;
    if (!*evaluated) return {};
    const Evaluation& found = **evaluated;
    if (!std::isfinite(found.metric)) {
      return fail(ErrorCode::bad_input, config_.name + ": the validation metric is not a number after step " +
                                            std::to_string(state_.step));
    }
    if (better) {
      state_.best_step = state_.step;
      state_.best_metric = found.metric;
      state_.best_values = found.values;
      state_.without_gain = 0;
    } else {
      ++state_.without_gain;
    }
    if (!curves_) return {};
    CurveRecord line{state_.step, epochs_done(), found.values};
    line.values.emplace_back("metric", found.metric);
    line.values.emplace_back("seconds", seconds());
    if (last) line.values.emplace_back(kOutOfTurn, 1.0);
    return curves_->append(line);
  }

  // Everything that a checkpoint holds, to write from or to read into.
  std::vector<NamedView<T>> tensors(bool best) {
    std::vector<NamedView<T>> views;
    for (ParameterId id = 0; id < p_.count(); ++id) {
      if (!p_.options(id).frozen) views.push_back({"parameters/" + p_.name(id), p_.mutable_view(id)});
    }
    for (NamedView<T>& view : optimizer_.state(p_)) views.push_back({"optimizer/" + view.name, view.values});
    if (!average_.empty()) average_.add_views(p_, "average/", views);
    if (best) best_.add_views(p_, "best/", views);
    return views;
  }

  bool checkpoint_due() const {
    return (config_.checkpoint_every > 0 && state_.step % config_.checkpoint_every == 0) ||
           (config_.checkpoint_minutes > 0 &&
            seconds_since(last_checkpoint_) >= config_.checkpoint_minutes * 60);
  }

  Status save() {
    last_checkpoint_ = steady_clock::now();
    if (config_.checkpoint.empty()) return {};
    std::string where;
    if (!p_.finite(&where)) {
      return fail(ErrorCode::bad_input, config_.name + ": the weights of " + where +
                                            " are not numbers after step " + std::to_string(state_.step) +
                                            "; the checkpoint before is kept");
    }
    TrainingState state = state_;
    state.seconds = seconds();
    state.optimizer_steps = optimizer_.steps();
    std::vector<NamedView<const T>> views;
    for (NamedView<T>& view : tensors(state_.best_step >= 0))
      views.push_back({std::move(view.name), view.values});
    ASKBASE_TRY(save_checkpoint<T>(config_.checkpoint, state, describe(), views));
    last_checkpoint_ = steady_clock::now();
    return {};
  }

  Status resume() {
    ASKBASE_ASSIGN(const Checkpoint checkpoint, Checkpoint::open(config_.checkpoint));
    ASKBASE_TRY(checkpoint.check(describe()));
    state_ = checkpoint.state();
    if (config_.averaging == Averaging::mean && state_.averaged > 0) average_.copy_from(p_);
    if (state_.best_step >= 0) best_.copy_from(p_);
    ASKBASE_TRY(checkpoint.read(tensors(state_.best_step >= 0)));
    optimizer_.set_steps(state_.optimizer_steps);
    rate_ = state_.step > 0 ? learning_rate(schedule_, state_.step - 1) : 0.0;
    batches_.plan(state_.epoch);
    if (state_.batch >= batches_.count()) {
      return fail(ErrorCode::corrupt, config_.checkpoint.string() + ": stands at batch " +
                                          std::to_string(state_.batch) + " of an epoch of " +
                                          std::to_string(batches_.count()));
    }
    return {};
  }

  tl::unexpected<base::Error> interrupted() {
    if (config_.checkpoint.empty()) {
      return fail(ErrorCode::cancelled,
                  config_.name + ": interrupted after step " + std::to_string(state_.step),
                  "no checkpoint was asked for, so nothing is kept");
    }
    if (Status saved = save(); !saved) return tl::unexpected(std::move(saved).error());
    return fail(ErrorCode::cancelled,
                config_.name + ": interrupted after step " + std::to_string(state_.step) +
                    "; the checkpoint is " + config_.checkpoint.string(),
                "the same command with --resume goes on from there");
  }

  const RunDescription& describe();

  TrainingResult result(bool stopped_by_time) {
    TrainingResult r;
    const bool at_limit = (config_.epochs > 0 && state_.epoch >= config_.epochs) ||
                          (config_.steps > 0 && state_.step >= config_.steps);
    r.stop = stopped_by_time ? StopReason::time : at_limit ? StopReason::limit : StopReason::patience;
    r.steps = state_.step;
    r.epochs = state_.epoch;
    r.best_step = state_.best_step;
    r.best = {state_.best_metric, state_.best_values};
    r.loss = state_.last_loss;
    r.seconds = seconds();
    r.examples_per_second = examples_per_second();
    if (state_.best_step >= 0) {
      best_.copy_to(p_);
    } else if (!average_.empty()) {
      average_.copy_to(p_);
    }
    return r;
  }

  TrainingTask<T>& task_;
  Parameters<T>& p_;
  const TrainerConfig& config_;
  Team& team_;
  int workers_ = 1;
  Optimizer<T> optimizer_;
  Batches batches_;
  ScheduleConfig schedule_;
  std::int64_t steps_per_epoch_ = 1, planned_epoch_ = -1;
  std::vector<Gradients<T>> gradients_;
  std::vector<std::vector<Index>> shards_;
  std::vector<WorkerPart> parts_;
  Weights<T> average_, before_mean_, best_;
  TrainingState state_;
  RunDescription description_;  // made once: the frozen weights may be many
  double rate_ = 0.0, step_seconds_ = 0.0;
  Index examples_ = 0;  // of this call
  std::unique_ptr<CurveWriter> curves_;
  std::unique_ptr<base::Progress> progress_;
  steady_clock::time_point start_, last_checkpoint_;
};

template <typename T>
const RunDescription& Run<T>::describe() {
  RunDescription& run = description_;
  if (!run.empty()) return run;
  const auto add = [&run](const char* key, const auto& value) {
    if constexpr (std::is_arithmetic_v<std::decay_t<decltype(value)>>) {
      run.emplace_back(key, number(static_cast<double>(value)));
    } else {
      run.emplace_back(key, std::string(value));
    }
  };
  add("precision", sizeof(T) == sizeof(float) ? "float" : "double");
  run.emplace_back("seed", std::to_string(config_.seed));
  add("workers", workers_);
  add("products", static_cast<int>(config_.precision));
  add("accumulate", config_.accumulate);
  add("clip_norm", config_.clip_norm);
  add("evaluate_every", config_.evaluate_every);
  const OptimizerConfig& o = config_.optimizer;
  add("optimizer", optimizer_name(o.kind));
  add("momentum", o.momentum);
  add("beta1", o.beta1);
  add("beta2", o.beta2);
  add("epsilon", o.epsilon);
  add("weight_decay", o.weight_decay);
  for (const RateFactor& f : o.rate_factors) run.emplace_back("rate of " + f.prefix, number(f.factor));
  add("schedule", schedule_name(schedule_.kind));
  add("learning_rate", schedule_.rate);
  add("warmup_steps", schedule_.warmup_steps);
  add("warmup_share", schedule_.warmup_share);
  add("schedule's steps", schedule_.total_steps);
  add("schedule's final_share", schedule_.final_share);
  add("batch's max_examples", config_.batching.max_examples);
  add("batch's max_tokens", config_.batching.max_tokens);
  add("batch's sort_window", config_.batching.sort_window);
  add("shuffle", config_.batching.shuffle ? "yes" : "no");
  add("averaging", static_cast<int>(config_.averaging));
  add("ema_decay", config_.ema_decay);
  add("average_from", config_.average_from);
  add("examples", batches_.example_count());
  base::Sha256 lengths, shapes, frozen;
  for (Index i = 0; i < batches_.example_count(); ++i) {
    const Index length = batches_.length(i);
    lengths.append({reinterpret_cast<const char*>(&length), sizeof length});
  }
  for (ParameterId id = 0; id < p_.count(); ++id) {
    std::string words = p_.name(id) + (p_.options(id).frozen  ? " frozen"
                                       : p_.options(id).decay ? " decay"
                                                              : "");
    for (const Index n : p_.shape(id)) words += " " + std::to_string(n);
    shapes.append(words + "\n");
    if (!p_.options(id).frozen) continue;
    frozen.append(
        {reinterpret_cast<const char*>(p_[id].data), static_cast<std::size_t>(p_[id].size()) * sizeof(T)});
  }
  run.emplace_back("lengths of the examples", lengths.hex());
  run.emplace_back("parameters", shapes.hex());
  run.emplace_back("frozen weights", frozen.hex());
  run.emplace_back("data", task_.fingerprint());
  return run;
}

}  // namespace

template <typename T>
Result<TrainingResult> train(TrainingTask<T>& task, Parameters<T>& p, const TrainerConfig& config,
                             Team& team) {
  if (task.example_count() < 1) {
    return fail(ErrorCode::bad_input, config.name + ": there are no examples to train on");
  }
  if (config.epochs <= 0 && config.steps <= 0 && config.minutes <= 0) {
    return fail(ErrorCode::invalid_argument,
                config.name + ": neither epochs nor steps nor minutes are limited");
  }
  if (config.accumulate < 1 || config.accumulate > kMostAccumulated || config.workers < 0 ||
      config.workers > kMostWorkers || team.size() > kMostWorkers) {
    return fail(ErrorCode::invalid_argument, config.name + ": accumulate and workers must lie in 1 .. 1024");
  }
  const ScheduleConfig& schedule = config.schedule;
  if ((schedule.kind != ScheduleKind::constant ||
       (schedule.warmup_share > 0 && schedule.warmup_steps == 0)) &&
      config.epochs <= 0 && config.steps <= 0 && schedule.total_steps <= 0) {
    return fail(
        ErrorCode::invalid_argument,
        config.name + ": a learning rate that changes over the run needs epochs, steps or total_steps");
  }
  if (config.resume && config.checkpoint.empty()) {
    return fail(ErrorCode::invalid_argument, config.name + ": no checkpoint is named to resume from");
  }
  return Run<T>(task, p, config, team).go();
}

template Result<TrainingResult> train<float>(TrainingTask<float>&, Parameters<float>&, const TrainerConfig&,
                                             Team&);
template Result<TrainingResult> train<double>(TrainingTask<double>&, Parameters<double>&,
                                              const TrainerConfig&, Team&);

}  // namespace askbase::nn
