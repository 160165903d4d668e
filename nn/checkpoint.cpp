#include "nn/checkpoint.h"

#include "base/json.h"

namespace askbase::nn {

namespace {

using base::ErrorCode;
using base::fail;
using base::Json;
using base::Result;
using base::Status;

constexpr int kFormat = 1;

// Every field of the state with its name, for writing and for reading.
template <typename State, typename Visit>
void each_field(State& s, Visit&& visit) {
  visit("step", s.step);
  visit("optimizer_steps", s.optimizer_steps);
  visit("epoch", s.epoch);
  visit("batch", s.batch);
  visit("seconds", s.seconds);
  visit("evaluation_due", s.evaluation_due);
  visit("evaluations", s.evaluations);
  visit("without_gain", s.without_gain);
  visit("averaged", s.averaged);
  visit("best_step", s.best_step);
  visit("best_metric", s.best_metric);
  visit("loss", s.loss);
  visit("weight", s.weight);
  visit("last_loss", s.last_loss);
}

bool get(const Json& value, bool& out) {
  if (!value.is_boolean()) return false;
  out = value.get<bool>();
  return true;
}
bool get(const Json& value, std::int64_t& out) {
  if (!value.is_number_integer()) return false;
  out = value.get<std::int64_t>();
  return out >= -1;
}
bool get(const Json& value, double& out) {
  if (!value.is_number()) return false;
  out = value.get<double>();
  return true;
}

Status read_state(const Json& json, TrainingState& state, const std::string& name) {
  std::string wrong;
  each_field(state, [&](const char* key, auto& field) {
    const auto found = json.find(key);
    if (found == json.end() || !get(*found, field)) wrong = key;
  });
  const auto values = json.find("best_values");
  if (values == json.end() || !values->is_object()) {
    wrong = "best_values";
  } else {
    for (const auto& [key, value] : values->items()) {
      double number = 0;
      if (!get(value, number)) wrong = "best_values";
      state.best_values.emplace_back(key, number);
    }
  }
  if (wrong.empty() && (state.step < 0 || state.epoch < 0 || state.batch < 0)) wrong = "step";
  if (wrong.empty()) return {};
  return fail(ErrorCode::corrupt,
              name + ": not a whole checkpoint: its state has no usable \"" + wrong + "\"");
}

}  // namespace

template <typename T>
Status save_checkpoint(const std::filesystem::path& path, const TrainingState& state,
                       const RunDescription& run, const std::vector<NamedView<const T>>& tensors) {
  Json words = Json::object();
  each_field(state, [&](const char* key, const auto& field) { words[key] = field; });
  words["best_values"] = Json::object();
  for (const auto& [key, value] : state.best_values) words["best_values"][key] = value;
  Json description = Json::object();
  for (const auto& [key, value] : run) description[key] = value;
  std::vector<TensorSource> sources;
  for (const NamedView<const T>& tensor : tensors) {
    sources.push_back(tensor_of(tensor.name, {tensor.values.rows, tensor.values.cols}, tensor.values.data));
  }
  return write_safetensors(path, std::move(sources),
                           {{"format", std::to_string(kFormat)},
                            {"kind", "askbase checkpoint"},
                            {"state", base::dump_json(words)},
                            {"run", base::dump_json(description)}});
}

Result<Checkpoint> Checkpoint::open(const std::filesystem::path& path) {
  auto file = SafetensorsFile::open(path);
  if (!file) {
    base::Error error = std::move(file).error();
    if (error.code == ErrorCode::not_found)
      error.hint = "there is no checkpoint to go on from: begin without --resume";
    return tl::unexpected(std::move(error));
  }
  Checkpoint checkpoint(std::move(*file));
  const SafetensorsFile& f = checkpoint.file_;
  if (f.metadata("kind") != "askbase checkpoint") {
    return fail(ErrorCode::corrupt, f.name() + ": not a checkpoint of askbase");
  }
  if (f.metadata("format") != std::to_string(kFormat)) {
    return fail(ErrorCode::unsupported,
                f.name() + ": a checkpoint of format " + f.metadata("format") + "; this program reads " +
                    std::to_string(kFormat),
                "begin without --resume, or use the program that wrote it");
  }
  const Result<Json> state = base::parse_json(f.metadata("state")), run = base::parse_json(f.metadata("run"));
  if (!state || !run || !state->is_object() || !run->is_object()) {
    return fail(ErrorCode::corrupt, f.name() + ": not a whole checkpoint: its state does not parse");
  }
  ASKBASE_TRY(read_state(*state, checkpoint.state_, f.name()));
  for (const auto& [key, value] : run->items()) {
    if (!value.is_string()) return fail(ErrorCode::corrupt, f.name() + ": not a whole checkpoint: \"run\"");
    checkpoint.run_.emplace_back(key, value.get<std::string>());
  }
  return checkpoint;
}

Status Checkpoint::check(const RunDescription& run) const {
  const auto find = [](const RunDescription& in, const std::string& key) -> const std::string* {
    for (const auto& [name, value] : in) {
      if (name == key) return &value;
    }
    return nullptr;
  };
  // A hash says no more than that it is another one.
  const auto shown = [](const std::string* value) {
    return value == nullptr ? "nothing" : value->size() > 20 ? value->substr(0, 8) + "..." : *value;
  };
  std::string differences;
  const auto differ = [&](const std::string& key, const std::string* then, const std::string* now) {
    differences += (differences.empty() ? "" : "; ") + key + " was " + shown(then) + " and is " + shown(now);
  };
  for (const auto& [key, value] : run_) {
    const std::string* now = find(run, key);
    if (now == nullptr || *now != value) differ(key, &value, now);
  }
  for (const auto& [key, value] : run) {
    if (find(run_, key) == nullptr) differ(key, nullptr, &value);
  }
  if (differences.empty()) return {};
  return fail(ErrorCode::invalid_argument, file_.name() + ": a checkpoint of another run: " + differences,
              "resume with the options and data of that run, or begin without --resume");
}

template <typename T>
Status Checkpoint::read(const std::vector<NamedView<T>>& tensors) const {
  for (const NamedView<T>& tensor : tensors) {
    const TensorInfo* info = file_.find(tensor.name);
    if (info == nullptr) return fail(ErrorCode::corrupt, file_.name() + ": " + tensor.name + " is missing");
    if (info->shape != Shape{tensor.values.rows, tensor.values.cols} ||
        dtype_size(info->dtype) != sizeof(T)) {
      return fail(ErrorCode::corrupt, file_.name() + ": " + tensor.name + " has another shape");
    }
    ASKBASE_TRY(file_.read(*info, tensor.values.data));
  }
  return {};
}

template Status save_checkpoint<float>(const std::filesystem::path&, const TrainingState&,
                                       const RunDescription&, const std::vector<NamedView<const float>>&);
template Status save_checkpoint<double>(const std::filesystem::path&, const TrainingState&,
                                        const RunDescription&, const std::vector<NamedView<const double>>&);
template Status Checkpoint::read<float>(const std::vector<NamedView<float>>&) const;
template Status Checkpoint::read<double>(const std::vector<NamedView<double>>&) const;

}  // namespace askbase::nn
