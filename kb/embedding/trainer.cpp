#include "kb/embedding/trainer.h"

#include <cmath>
#include <cstring>

#include "base/file.h"
#include "base/json.h"
#include "nn/safetensors.h"

namespace askbase::kb::embedding {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::string_view checkpoint_format = "askbase-embedding-checkpoint 1";

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Tells the facts of one run from those of another (FNV-1a over their indexes).
std::uint64_t fingerprint(const TrainingData& data) {
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  const auto add = [&](std::uint64_t x) { hash = (hash ^ x) * 0x100000001B3ULL; };
  add(data.entities);
  add(data.relations);
  for (const auto& part : {data.facts, data.validation}) {
    add(part.size());
    for (const Fact& fact : part) {
      add(fact.head);
      add(fact.relation);
      add(fact.tail);
    }
  }
  return hash;
}

// What must be the same for a run to go on.
base::Json describe(const TrainOptions& o, const TrainingData& data) {
  return {{"model", model_name(o.model.kind)},
          {"dim", o.model.dim},
          {"relation_dim", o.model.relation_dim},
          {"norm", o.model.norm == Norm::l1 ? "l1" : "l2"},
          {"loss", loss_name(o.loss)},
          {"optimiser", optimiser_name(o.optimiser)},
          {"rate", o.rate},
          {"batch", o.batch},
          {"negatives", o.negatives},
          {"shared", o.shared},
          {"sampling", sampling_name(o.sampling)},
          {"filter", o.filter},
          {"margin", o.margin},
          {"temperature", o.temperature},
          {"initial", o.initial},
          {"l2", o.l2},
          {"n3", o.n3},
          {"dropout", o.dropout},
          {"power", o.power},
          {"reciprocal", o.reciprocal},
          {"unit_entities", o.unit_entities},
          {"seed", o.seed},
          {"facts", std::to_string(fingerprint(data))}};
}

}  // namespace

struct Trainer::State {
  TrainOptions options;
  TrainingData data;
  std::unique_ptr<const Model<float>> model;
  nn::Team team;
  std::unique_ptr<Engine<float>> engine;
  TrainState<float> train;
  QueryIndex known;  // with a validation only

  Tables<float> best;  // empty: the last are the best
  std::uint64_t best_epoch = 0, bad_validations = 0;
  double best_mrr = 0, last_loss = 0;
  bool ended = false, validation_due = false;

  State(const TrainOptions& o, const TrainingData& d)
      : options(o), data(d), model(Model<float>::make(o.model)), team(o.threads) {}

  std::vector<std::pair<std::string, nn::Matrix<float>*>> tensors() {
    std::vector<std::pair<std::string, nn::Matrix<float>*>> out;
    const auto add = [&](const std::string& name, Tables<float>& tables) {
      if (tables.entities.empty()) return;
      out.emplace_back(name + "/entities", &tables.entities);
      out.emplace_back(name + "/relations", &tables.relations);
    };
    add("values", train.values);
    add("squares", train.squares);
    add("means", train.means);
    add("best", best);
    return out;
  }

  base::Status save(const fs::path& path) {
    std::vector<nn::TensorSource> sources;
    for (const auto& [name, matrix] : tensors())
      sources.push_back(nn::tensor_of(name, {matrix->rows(), matrix->cols()}, matrix->data()));
    const base::Json where = {{"epoch", train.epoch},
                              {"batch", train.batch},
                              {"step", train.step},
                              {"best_epoch", best_epoch},
                              {"best_mrr", best_mrr},
                              {"last_loss", last_loss},
                              {"bad_validations", bad_validations},
                              {"ended", ended},
                              {"validation_due", validation_due}};
    if (path.has_parent_path()) ASKBASE_TRY(base::make_directories(path.parent_path()));
    return nn::write_safetensors(path, std::move(sources),
                                 {{"format", std::string(checkpoint_format)},
                                  {"run", base::dump_json(describe(options, data))},
                                  {"state", base::dump_json(where)}});
  }

  base::Status read(const fs::path& path) {
    ASKBASE_ASSIGN(const nn::SafetensorsFile file, nn::SafetensorsFile::open(path));
    const auto damaged = [&](const std::string& why) {
      return base::fail(base::ErrorCode::corrupt, path.string() + ": " + why,
                        "start the training anew, without --resume");
    };
    if (file.metadata("format") != checkpoint_format) return damaged("it is no checkpoint of embeddings");
    ASKBASE_ASSIGN(const base::Json run, base::parse_json(file.metadata("run")));
    const base::Json wanted = describe(options, data);
    for (const auto& [key, value] : wanted.items()) {
      const auto found = run.find(key);
      const std::string had = found == run.end() ? "nothing" : base::dump_json(*found),
                        has = base::dump_json(value);
      if (had == has) continue;
      const bool facts = key == "facts";
      return base::fail(base::ErrorCode::invalid_argument,
                        facts ? path.string() + " was trained on other facts than these"
                              : path.string() + " was begun with " + key + " " + had + ", not " + has,
                        facts ? "the data changed since: start the training anew, without --resume"
                              : "give the options of the first run, or start anew, without --resume");
    }
    ASKBASE_ASSIGN(const base::Json where, base::parse_json(file.metadata("state")));
    try {
      train.epoch = where.at("epoch").get<std::uint64_t>();
      train.batch = where.at("batch").get<std::uint64_t>();
      train.step = where.at("step").get<std::uint64_t>();
      best_epoch = where.at("best_epoch").get<std::uint64_t>();
      best_mrr = where.at("best_mrr").get<double>();
      last_loss = where.at("last_loss").get<double>();
      bad_validations = where.at("bad_validations").get<std::uint64_t>();
      ended = where.at("ended").get<bool>();
      validation_due = where.at("validation_due").get<bool>();
    } catch (const std::exception&) {
      return damaged("it does not say where the training stood");
    }
    if (file.find("best/entities") != nullptr) best = like(train.values);
    for (const auto& [name, matrix] : tensors()) {
      const nn::TensorInfo* info = file.find(name);
      if (info == nullptr || info->shape != nn::Shape{matrix->rows(), matrix->cols()})
        return damaged("the tensor \"" + name + "\" is missing or of another size");
      ASKBASE_TRY(file.read(*info, matrix->data()));
    }
    return {};
  }

  static Tables<float> like(const Tables<float>& t) {
    return {nn::Matrix<float>(t.entities.rows(), t.entities.cols()),
            nn::Matrix<float>(t.relations.rows(), t.relations.cols())};
  }

  // True when the training should end.
  bool judge(double mrr) {
    if (mrr > best_mrr) {
      best_mrr = mrr;
      best_epoch = train.epoch;
      bad_validations = 0;
      best = train.values;
      return false;
    }
    return ++bad_validations >= options.patience;
  }
};

Trainer::Trainer(std::unique_ptr<State> state) : state_(std::move(state)) {}
Trainer::~Trainer() = default;

base::Result<std::unique_ptr<Trainer>> Trainer::create(const TrainOptions& options,
                                                       const TrainingData& data) {
  ASKBASE_TRY(validate(options));
  if (data.facts.empty()) {
    return base::fail(base::ErrorCode::invalid_argument, "there are no facts to train on",
                      "embeddings are learned from facts whose objects are entities; load some first");
  }
  if (data.entities < 2) {
    return base::fail(base::ErrorCode::invalid_argument, "there is only one entity to train on",
                      "embeddings tell entities apart; load facts about more of them");
  }
  for (const auto& part : {data.facts, data.validation, data.others}) {
    for (const Fact& fact : part) {
      if (fact.head >= data.entities || fact.tail >= data.entities || fact.relation >= data.relations)
        return base::fail(base::ErrorCode::invalid_argument, "a fact names an entity outside the data", "");
    }
  }
  if (data.entities > UINT32_MAX / 2 || data.facts.size() > UINT32_MAX)
    return base::fail(base::ErrorCode::too_large, "there are more than 2^32 facts to train on", "");
  auto state = std::make_unique<State>(options, data);
  const TrainingFacts facts{data.facts, data.entities, data.relations};
  state->train = first_state(*state->model, options, data.entities, data.relations);
  state->engine = options.matrix() ? matrix_engine(*state->model, options, facts, state->team)
                                   : sampled_engine(*state->model, options, facts);
  if (!data.validation.empty()) state->known = QueryIndex({data.facts, data.validation, data.others});
  return std::unique_ptr<Trainer>(new Trainer(std::move(state)));
}

base::Status Trainer::resume(const fs::path& checkpoint) { return state_->read(checkpoint); }

base::Result<TrainOutcome> Trainer::run(const RunOptions& run) {
  State& s = *state_;
  TrainOutcome outcome;
  auto last_save = Clock::now();
  const double batches = static_cast<double>(s.engine->batches());
  const auto may_go_on = [&] { return !run.go_on || run.go_on(); };
  bool stopped = false;
  while (!s.ended && (s.validation_due || s.train.epoch < s.options.epochs)) {
    const auto start = Clock::now();
    EpochSummary summary;
    if (!s.validation_due) {
      const EpochReport report = s.engine->epoch(s.train, [&](std::uint64_t batch) {
        if (run.on_progress) {
          run.on_progress((static_cast<double>(s.train.epoch) + static_cast<double>(batch) / batches) /
                          static_cast<double>(s.options.epochs));
        }
        return may_go_on();
      });
      if (!report.finished) {
        stopped = true;
        break;
      }
      s.last_loss = report.loss;
      if (!std::isfinite(report.loss)) {
        return base::fail(
            base::ErrorCode::bad_input,
            "the training diverged: in epoch " + std::to_string(s.train.epoch) + " the loss is not a number",
            "lower --rate or --initial; the last checkpoint, if any, is from before");
      }
      summary.active =
          report.pairs > 0 ? static_cast<double>(report.active) / static_cast<double>(report.pairs) : 0;
      summary.facts_per_second = static_cast<double>(report.facts) / std::max(1e-9, seconds_since(start));
      const bool last = s.train.epoch == s.options.epochs;
      s.validation_due =
          !s.data.validation.empty() && (last || s.train.epoch % s.options.validate_every == 0);
    }
    summary.epoch = s.train.epoch;
    summary.loss = s.last_loss;
    if (s.validation_due) {
      RankOptions rank;
      rank.reciprocal = s.options.reciprocal;
      rank.go_on = [&](std::uint64_t) { return may_go_on(); };
      const auto ranks = rank_facts(*s.model, s.train.values, s.data.validation, s.known, rank, s.team);
      if (ranks.empty()) {  // the checkpoint says that it is still due
        stopped = true;
        break;
      }
      summary.mrr = mean_reciprocal_rank(ranks);
      s.validation_due = false;
      s.ended = outcome.stopped_early = s.judge(*summary.mrr);
    }
    summary.seconds = seconds_since(start);
    if (run.on_epoch) run.on_epoch(summary);
    if (!run.checkpoint.empty() && Clock::now() - last_save >= run.checkpoint_every) {
      ASKBASE_TRY(s.save(run.checkpoint));
      last_save = Clock::now();
    }
  }
  if (stopped && !run.checkpoint.empty()) ASKBASE_TRY(s.save(run.checkpoint));
  outcome.finished = !stopped;
  outcome.epochs = s.train.epoch;
  outcome.best_epoch = s.best.entities.empty() ? s.train.epoch : s.best_epoch;
  outcome.best_mrr = s.best_mrr;
  outcome.loss = s.last_loss;
  return outcome;
}

const Model<float>& Trainer::model() const { return *state_->model; }
const Tables<float>& Trainer::tables() const {
  return state_->best.entities.empty() ? state_->train.values : state_->best;
}
Tables<float> Trainer::take_tables() {
  return std::move(state_->best.entities.empty() ? state_->train.values : state_->best);
}

}  // namespace askbase::kb::embedding
