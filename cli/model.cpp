// askbase model import|list|info
#include <algorithm>
#include <map>
#include <memory>
#include <system_error>

#include "base/file.h"
#include "cli/command.h"
#include "cli/model_compress.h"
#include "cli/models.h"
#include "cli/output.h"
#include "nn/model_folder.h"
#include "reader/bert_model.h"

namespace askbase::cli {
namespace {

namespace fs = std::filesystem;

struct ModelArguments {
  std::string folder, out, storage = "fp16", casing;
  bool json = false;
};

// What can be told of a model of any kind without loading it.
struct ModelFacts {
  std::string name, kind, config;
  std::uint64_t weights = 0, bytes = 0, tensors = 0;
  std::map<std::string, std::uint64_t> storages;  // weights by dtype
};

base::Result<ModelFacts> facts_of(const fs::path& path) {
  ASKBASE_ASSIGN(const nn::ModelFolder folder, nn::ModelFolder::open(path, ""));
  ModelFacts facts;
  const fs::path place = fs::absolute(path).lexically_normal();
  facts.name = (place.has_filename() ? place : place.parent_path()).filename().string();
  facts.kind = folder.kind();
  facts.config = folder.config();
  for (const nn::TensorInfo& tensor : folder.weights().tensors()) {
    if (tensor.name.ends_with(".scale")) continue;  // beside the int8 weights that it belongs to
    ++facts.tensors;
    facts.weights += tensor.count();
    facts.storages[std::string(nn::dtype_name(tensor.dtype))] += tensor.count();
  }
  std::error_code problem;
  for (fs::directory_iterator it(path, problem), end; !problem && it != end; it.increment(problem)) {
    std::error_code ignored;
    if (it->is_regular_file(ignored)) facts.bytes += it->file_size(ignored);
  }
  if (problem) return tl::unexpected(base::io_error(problem.value(), "read", path));
  return facts;
}

base::Json facts_json(const ModelFacts& facts) {
  return {{"name", facts.name},       {"kind", facts.kind},   {"weights", facts.weights},
          {"tensors", facts.tensors}, {"bytes", facts.bytes}, {"storage", base::Json(facts.storages)}};
}

std::string storages_text(const ModelFacts& facts) {
  std::string text;
  for (const auto& [storage, weights] : facts.storages) {
    text += (text.empty() ? "" : ", ") + grouped(weights) + " " + storage;
  }
  return text;
}

std::string card_of(const reader::BertModel& model, const ModelArguments& arguments) {
  const reader::BertConfig& config = model.config();
  std::string card =
      "# BERT encoder\n\nTaken over by askbase from a folder of Hugging Face. Its origin and licence are " +
      std::string("those of that folder; write them here.\n\n");
  card += "- " + std::to_string(config.layers) + " layers, hidden " + std::to_string(config.hidden) + ", " +
          std::to_string(config.heads) + " heads, feed-forward " + std::to_string(config.feed_forward) +
          ", " + std::to_string(config.positions) + " positions\n";
  card += "- vocabulary of " + std::to_string(config.vocabulary) + " pieces, " +
          (model.tokenizer().options().lower_case ? "uncased" : "cased") + "\n";
  card += "- " + grouped(static_cast<std::uint64_t>(model.parameters().total())) + " weights, stored as " +
          arguments.storage + "\n";
  if (model.span_head() != nullptr) card += "- with a head for the start and end of answers (qa_outputs)\n";
  for (const std::string& name : model.left_out()) card += "- left out: " + name + "\n";
  return card;
}

base::Result<int> run_import(const ModelArguments& arguments) {
  const auto storage = nn::storage_by_name(arguments.storage);
  reader::ImportOptions options;
  if (!arguments.casing.empty()) options.lower_case = arguments.casing == "uncased";
  ASKBASE_ASSIGN(const auto model, reader::BertModel::import(arguments.folder, options));
  ASKBASE_TRY(model->save(arguments.out, storage.value(), card_of(*model, arguments)));
  // As it will be used: what was written is read again.
  ASKBASE_TRY(reader::BertModel::load(arguments.out));
  ASKBASE_ASSIGN(const ModelFacts facts, facts_of(arguments.out));
  if (arguments.json) {
    base::Json json = facts_json(facts);
    json["casing"] = model->tokenizer().options().lower_case ? "uncased" : "cased";
    json["span_head"] = model->span_head() != nullptr;
    json["left_out"] = model->left_out();
    print(base::dump_json(json) + "\n");
    return exit_done;
  }
  print_line("written to " + arguments.out + ": " + grouped(facts.weights) + " weights as " +
             arguments.storage + ", " + readable_bytes(facts.bytes));
  for (const std::string& name : model->left_out()) print_line("left out: " + name);
  return exit_done;
}

base::Result<int> run_list(const ModelArguments& arguments, const Globals& globals) {
  const fs::path folder = models_folder(globals);
  std::vector<fs::path> found;
  std::error_code problem;
  if (!folder.empty()) {
    for (fs::directory_iterator it(folder, problem), end; !problem && it != end; it.increment(problem)) {
      std::error_code ignored;
      if (fs::exists(it->path() / "config.json", ignored)) found.push_back(it->path());
    }
    if (problem) return tl::unexpected(base::io_error(problem.value(), "read", folder));
  }
  std::sort(found.begin(), found.end());
  base::Json list = base::Json::array();
  std::vector<std::vector<std::string>> rows;
  for (const fs::path& path : found) {
    const auto facts = facts_of(path);
    if (facts) {
      list.push_back(facts_json(*facts));
      rows.push_back(
          {facts->name, facts->kind, grouped(facts->weights) + " weights", readable_bytes(facts->bytes)});
    } else {
      list.push_back({{"name", path.filename().string()}, {"error", facts.error().message}});
      rows.push_back({path.filename().string(), "broken", printable(facts.error().message), ""});
    }
  }
  if (arguments.json) {
    print(base::dump_json(list) + "\n");
  } else if (rows.empty()) {
    print_line("no models" + (folder.empty() ? std::string() : " in " + folder.string()));
  } else {
    print(table(rows));
  }
  return exit_done;
}

base::Result<int> run_info(const ModelArguments& arguments, const Globals& globals) {
  fs::path path = arguments.folder;
  std::error_code ignored;
  // A name is one of the models that `list` shows.
  if (!fs::exists(path, ignored) && arguments.folder.find('/') == std::string::npos) {
    path = models_folder(globals) / arguments.folder;
  }
  if (!fs::is_directory(path, ignored)) {
    return base::fail(base::ErrorCode::not_found, "no model " + arguments.folder,
                      "askbase model list shows those that are there; or name a folder");
  }
  ASKBASE_ASSIGN(const ModelFacts facts, facts_of(path));
  ASKBASE_ASSIGN(const base::Json config, base::parse_json(facts.config));
  if (facts.kind == reader::kEncoderKind) ASKBASE_TRY(reader::BertModel::load(path));
  if (arguments.json) {
    base::Json json = facts_json(facts);
    json["config"] = config;
    print(base::dump_json(json) + "\n");
    return exit_done;
  }
  std::vector<std::vector<std::string>> rows = {{"name", facts.name},
                                                {"kind", facts.kind},
                                                {"weights", storages_text(facts)},
                                                {"size", readable_bytes(facts.bytes)}};
  for (const auto& [key, value] : config.items()) {
    if (key == "kind" || value.is_object() || value.is_array()) continue;
    rows.push_back({key, printable(value.is_string() ? value.get<std::string>() : base::dump_json(value))});
  }
  print(table(rows));
  return exit_done;
}

}  // namespace

void add_model(const Command& askbase) {
  const Command model = askbase.add("model", "Show trained models, and take over those of others",
                                    "  askbase model list\n"
                                    "  askbase model import all-MiniLM-L6-v2 --out models/en-sentence");
  model.needs_subcommand();
  auto arguments = std::make_shared<ModelArguments>();

  const Command taken = model.add(
      "import", "A BERT encoder from a folder of Hugging Face: config.json, vocab.txt, model.safetensors",
      "  askbase model import all-MiniLM-L6-v2 --out models/en-sentence\n"
      "  askbase model import bert-base-chinese --out zh --casing uncased --storage int8");
  taken.argument("DIR", arguments->folder, "Folder of Hugging Face");
  taken.option("--out", "DIR", arguments->out, "Model folder to write; one that is there is replaced");
  taken.option("--storage", "KIND", arguments->storage, "Of the weights: fp32, fp16, bf16 or int8; fp16",
               Command::one_of({"fp32", "fp16", "bf16", "int8"}));
  taken.option("--casing", "CASING", arguments->casing,
               "uncased or cased, where the folder's tokenizer_config.json does not say",
               Command::one_of({"uncased", "cased"}));
  taken.flag("--json", arguments->json, "Print one JSON document");
  taken.require("--out");
  taken.on_run([arguments](const Globals&) { return run_import(*arguments); });

  add_model_compress(model);

  const Command list =
      model.add("list", "The models that ship, or those of --models", "  askbase model list --json");
  list.flag("--json", arguments->json, "Print one JSON document");
  list.on_run([arguments](const Globals& globals) { return run_list(*arguments, globals); });

  const Command info =
      model.add("info", "One model: kind, sizes, configuration", "  askbase model info question-type");
  info.argument("DIR", arguments->folder, "Name of a model that list shows, or its folder");
  info.flag("--json", arguments->json, "Print one JSON document");
  info.on_run([arguments](const Globals& globals) { return run_info(*arguments, globals); });
}  // namespace askbase::cli

}  // namespace askbase::cli
