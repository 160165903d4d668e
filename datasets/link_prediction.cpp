#include "datasets/link_prediction.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <map>
#include <unordered_map>

#include "base/input.h"
#include "base/text.h"
#include "datasets/bootstrap.h"

namespace askbase::datasets {

namespace {

namespace fs = std::filesystem;

tl::unexpected<base::Error> bad(const std::string& file, std::uint64_t line, const std::string& reason,
                                const std::string& hint = "") {
  return base::fail(base::ErrorCode::bad_input, file + ":" + std::to_string(line) + ": " + reason, hint);
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r'))
    text.remove_suffix(1);
  return text;
}

// By tabs where there are any, else by runs of spaces.
std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> out;
  const bool tabs = line.find('\t') != std::string_view::npos;
  while (true) {
    const std::size_t end = line.find(tabs ? '\t' : ' ');
    const std::string_view field = trimmed(line.substr(0, end));
    if (tabs || !field.empty()) out.push_back(field);
    if (end == std::string_view::npos) return out;
    line.remove_prefix(end + 1);
  }
}

std::optional<std::uint64_t> to_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

base::Status for_lines(const fs::path& path,
                       const std::function<base::Status(std::string_view line, std::uint64_t number)>& use) {
  ASKBASE_ASSIGN(const auto input, base::Input::open(path));
  base::LineReader reader(*input);
  std::string_view line;
  while (true) {
    ASKBASE_ASSIGN(const bool more, reader.next(line));
    if (!more) return {};
    const std::string_view text = trimmed(line);
    if (text.empty()) continue;
    if (!base::valid_utf8(text)) return bad(path.string(), reader.line_number(), "the line is not UTF-8");
    ASKBASE_TRY(use(text, reader.line_number()));
  }
}

enum class Split { train, valid, test };

std::optional<Split> split_of(const fs::path& path) {
  std::string name = path.filename().string();
  for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  const bool train = name.find("train") != std::string::npos, test = name.find("test") != std::string::npos;
  const bool valid = name.find("valid") != std::string::npos || name.find("dev") != std::string::npos;
  if (train + test + valid != 1) return std::nullopt;
  return train ? Split::train : valid ? Split::valid : Split::test;
}

std::vector<LinkFact>& part_of(LinkData& data, Split split) {
  return split == Split::train ? data.train : split == Split::valid ? data.valid : data.test;
}

// Names in the order of their first coming.
class Numbering {
 public:
  explicit Numbering(std::vector<std::string>& names) : names_(names) {}
  std::uint32_t of(std::string_view name) {
    const auto [at, added] =
        numbers_.try_emplace(std::string(name), static_cast<std::uint32_t>(names_.size()));
    if (added) names_.emplace_back(name);
    return at->second;
  }

 private:
  std::vector<std::string>& names_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

base::Status read_tsv(LinkData& data, const std::vector<std::pair<fs::path, Split>>& files) {
  Numbering entities(data.entities), relations(data.relations);
  for (const Split split : {Split::train, Split::valid, Split::test}) {
    for (const auto& [path, its] : files) {
      if (its != split) continue;
      ASKBASE_TRY(for_lines(path, [&](std::string_view line, std::uint64_t number) -> base::Status {
        const auto fields = fields_of(line);
        if (fields.size() != 3 || fields[0].empty() || fields[1].empty() || fields[2].empty()) {
          return bad(path.string(), number,
                     "a fact is head, relation and tail, separated by tabs; this line has " +
                         std::to_string(fields.size()) + (fields.size() == 1 ? " field" : " fields"),
                     "names with spaces need tabs between the fields");
        }
        const std::uint32_t head = entities.of(fields[0]);
        const std::uint32_t relation = relations.of(fields[1]);
        part_of(data, split).push_back({head, relation, entities.of(fields[2])});
        return {};
      }));
    }
    if (split == Split::train) {
      data.train_entities = static_cast<std::uint32_t>(data.entities.size());
      data.train_relations = static_cast<std::uint32_t>(data.relations.size());
    }
  }
  return {};
}

using Names = std::map<std::uint64_t, std::string>;  // by id

base::Result<Names> read_names(const fs::path& path) {
  Names names;
  bool first = true;
  ASKBASE_TRY(for_lines(path, [&](std::string_view line, std::uint64_t number) -> base::Status {
    const bool head = first;
    first = false;
    const std::size_t cut = line.find_last_of(" \t");
    if (cut == std::string_view::npos) {
      if (head && to_number(line)) return {};  // the count
      return bad(path.string(), number, "a line is a name and its id", "for example: Paris<TAB>17");
    }
    const auto id = to_number(line.substr(cut + 1));
    if (!id)
      return bad(path.string(), number, "the id \"" + std::string(line.substr(cut + 1)) + "\" is no number");
    if (!names.emplace(*id, std::string(trimmed(line.substr(0, cut)))).second)
      return bad(path.string(), number, "the id " + std::to_string(*id) + " comes twice");
    return {};
  }));
  return names;
}

struct IdLine {
  std::array<std::uint64_t, 3> ids{};
  std::uint64_t line = 0;
};

base::Result<std::vector<IdLine>> read_ids(const fs::path& path, std::vector<std::string>& notices) {
  std::vector<IdLine> out;
  std::optional<std::uint64_t> count;
  bool first = true;
  ASKBASE_TRY(for_lines(path, [&](std::string_view line, std::uint64_t number) -> base::Status {
    const bool head = first;
    first = false;
    IdLine one;
    one.line = number;
    std::size_t fields = 0;
    for (std::string_view rest = line; !rest.empty(); ++fields) {
      const std::size_t end = rest.find_first_of(" \t");
      const auto id = to_number(rest.substr(0, end));
      if (!id) return bad(path.string(), number, "\"" + std::string(rest.substr(0, end)) + "\" is no id");
      if (fields < 3) one.ids[fields] = *id;
      rest = end == std::string_view::npos ? std::string_view() : trimmed(rest.substr(end));
    }
    if (head && fields == 1) {
      count = one.ids[0];
      return {};
    }
    if (fields != 3)
      return bad(path.string(), number, "a fact is three ids; this line has " + std::to_string(fields));
    out.push_back(one);
    return {};
  }));
  if (count && *count != out.size()) {
    notices.push_back(path.filename().string() + " announces " + std::to_string(*count) + " facts and has " +
                      std::to_string(out.size()) + ".");
  }
  return out;
}

base::Status read_openke(LinkData& data, const fs::path& folder, const LinkOptions& options) {
  ASKBASE_ASSIGN(const Names entity_names, read_names(folder / "entity2id.txt"));
  ASKBASE_ASSIGN(const Names relation_names, read_names(folder / "relation2id.txt"));
  std::array<std::vector<IdLine>, 3> lines;
  const std::array<const char*, 3> files = {"train2id.txt", "valid2id.txt", "test2id.txt"};
  std::error_code ignored;
  for (std::size_t s = 0; s < 3; ++s) {
    if (!fs::exists(folder / files[s], ignored)) continue;
    ASKBASE_ASSIGN(lines[s], read_ids(folder / files[s], data.notices));
  }
  // Which column holds the relation.
  std::string order = options.openke_order;
  if (order.empty()) {
    const auto fits = [&](std::size_t relation, std::size_t tail) {
      for (const auto& part : lines) {
        for (const IdLine& one : part) {
          if (!relation_names.contains(one.ids[relation]) || !entity_names.contains(one.ids[tail]))
            return false;
        }
      }
      return true;
    };
    const bool hrt = fits(1, 2), htr = fits(2, 1);
    order = hrt && !htr ? "hrt" : "htr";
    if (hrt && htr) {
      data.notices.push_back(
          "The ids fit both orders of columns; head, tail, relation was taken, as OpenKE writes them.");
    }
  }
  const std::size_t relation_column = order == "hrt" ? 1 : 2, tail_column = order == "hrt" ? 2 : 1;
  // Entities and relations of the training first.
  std::unordered_map<std::uint64_t, std::uint32_t> entities, relations;
  const auto number = [](std::unordered_map<std::uint64_t, std::uint32_t>& numbers, const Names& names,
                         std::vector<std::string>& list, std::uint64_t id) -> std::optional<std::uint32_t> {
    if (const auto known = numbers.find(id); known != numbers.end()) return known->second;
    const auto name = names.find(id);
    if (name == names.end()) return std::nullopt;
    const auto at = static_cast<std::uint32_t>(list.size());
    list.push_back(name->second);
    numbers.emplace(id, at);
    return at;
  };
  for (std::size_t s = 0; s < 3; ++s) {
    auto& part = part_of(data, static_cast<Split>(s));
    for (const IdLine& one : lines[s]) {
      const auto head = number(entities, entity_names, data.entities, one.ids[0]);
      const auto tail = number(entities, entity_names, data.entities, one.ids[tail_column]);
      const auto relation = number(relations, relation_names, data.relations, one.ids[relation_column]);
      if (!head || !tail || !relation) {
        const std::uint64_t id = !head ? one.ids[0] : !tail ? one.ids[tail_column] : one.ids[relation_column];
        return bad((folder / files[s]).string(), one.line,
                   "the id " + std::to_string(id) + " stands not in " +
                       (head && tail ? "relation2id.txt" : "entity2id.txt"),
                   "the columns may be in another order: --openke-order hrt or htr");
      }
      part.push_back({*head, *relation, *tail});
    }
    if (s > 0) continue;
    data.train_entities = static_cast<std::uint32_t>(data.entities.size());
    data.train_relations = static_cast<std::uint32_t>(data.relations.size());
  }
  // Entities without a fact are candidates, too.
  for (const auto& [id, name] : entity_names) number(entities, entity_names, data.entities, id);
  for (const auto& [id, name] : relation_names) number(relations, relation_names, data.relations, id);
  return {};
}

void note_repeats(LinkData& data) {
  std::uint64_t repeats = 0;
  for (auto* part : {&data.train, &data.valid, &data.test}) {
    std::vector<LinkFact> sorted = *part;
    std::sort(sorted.begin(), sorted.end());
    repeats += static_cast<std::uint64_t>(sorted.end() - std::unique(sorted.begin(), sorted.end()));
  }
  if (repeats > 0)
    data.notices.push_back(std::to_string(repeats) + " facts come more than once within their split.");
}

}  // namespace

base::Result<LinkData> read_link_data(const std::vector<fs::path>& paths, const LinkOptions& options) {
  LinkData data;
  std::error_code ignored;
  std::vector<std::pair<fs::path, Split>> files;
  if (paths.size() == 1 && fs::is_directory(paths[0], ignored)) {
    if (fs::exists(paths[0] / "entity2id.txt", ignored)) {
      ASKBASE_TRY(read_openke(data, paths[0], options));
      note_repeats(data);
      return data;
    }
    std::vector<fs::path> inside;
    for (const auto& entry : fs::directory_iterator(paths[0], ignored)) inside.push_back(entry.path());
    std::sort(inside.begin(), inside.end());
    for (const fs::path& path : inside) {
      const std::string name = path.filename().string();
      const bool facts = name.find(".txt") != std::string::npos || name.find(".tsv") != std::string::npos;
      if (const auto split = split_of(path); facts && split) files.emplace_back(path, *split);
    }
    if (files.empty()) {
      return base::fail(
          base::ErrorCode::not_found, paths[0].string() + " has no files of facts",
          "it needs entity2id.txt and train2id.txt (OpenKE), or train.tsv, valid.tsv, test.tsv");
    }
  } else {
    for (const fs::path& path : paths) {
      if (fs::is_directory(path, ignored)) {
        return base::fail(base::ErrorCode::bad_input, path.string() + " is a folder among files",
                          "name one folder, or the files of a benchmark");
      }
      auto split = split_of(path);
      if (!split && paths.size() == 1) split = Split::test;
      if (!split) {
        return base::fail(base::ErrorCode::bad_input, "it is unclear which split " + path.string() + " is",
                          "a file's name holds \"train\", \"valid\" or \"test\"");
      }
      files.emplace_back(path, *split);
    }
  }
  ASKBASE_TRY(read_tsv(data, files));
  note_repeats(data);
  return data;
}

LinkFigures link_figures(std::span<const double> ranks, std::size_t group, const BootstrapOptions& options) {
  constexpr std::size_t kinds = 5;
  LinkFigures figures;
  figures.ranks = ranks.size();
  if (ranks.empty() || group == 0) return figures;
  // Sums of each fact.
  const std::size_t facts = ranks.size() / group;
  std::vector<std::array<double, kinds>> sums(facts);
  for (std::size_t i = 0; i < facts * group; ++i) {
    auto& sum = sums[i / group];
    sum[0] += 1 / ranks[i];
    sum[1] += ranks[i] <= 1 ? 1 : 0;
    sum[2] += ranks[i] <= 3 ? 1 : 0;
    sum[3] += ranks[i] <= 10 ? 1 : 0;
    sum[4] += ranks[i];
  }
  const std::array<Figure*, kinds> out = {&figures.mrr, &figures.hits_at_1, &figures.hits_at_3,
                                          &figures.hits_at_10, &figures.mean_rank};
  const double over = static_cast<double>(facts * group);
  for (std::size_t k = 0; k < kinds; ++k) {
    double total = 0;
    for (const auto& sum : sums) total += sum[k];
    out[k]->value = total / over;
  }
  if (options.resamples == 0) return figures;
  BootstrapRandom random(options.seed);
  std::array<std::vector<double>, kinds> drawn;
  for (std::size_t b = 0; b < options.resamples; ++b) {
    std::array<double, kinds> total{};
    for (std::size_t i = 0; i < facts; ++i) {
      const auto& sum = sums[random.below(facts)];
      for (std::size_t k = 0; k < kinds; ++k) total[k] += sum[k];
    }
    for (std::size_t k = 0; k < kinds; ++k) drawn[k].push_back(total[k] / over);
  }
  for (std::size_t k = 0; k < kinds; ++k) out[k]->interval = interval_of(drawn[k]);
  return figures;
}

}  // namespace askbase::datasets
