// Vectors of other programs: .npy, TSV, OpenKE.
#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <functional>
#include <map>

#include "base/file.h"
#include "base/input.h"
#include "base/json.h"
#include "base/text.h"
#include "kb/embedding/vectors.h"

namespace askbase::kb::embedding {

namespace {

namespace fs = std::filesystem;

tl::unexpected<base::Error> bad(const fs::path& path, const std::string& why, const std::string& hint = "") {
  return base::fail(base::ErrorCode::bad_input, path.string() + ": " + why, hint);
}

// A table as a file gives it: rows without padding.
struct Packed {
  Index rows = 0, cols = 0;
  std::vector<float> values;
  const float* row(Index r) const { return values.data() + r * cols; }
};

// ---- .npy: "\x93NUMPY", version, length of the header, a Python dictionary, the numbers.

std::string npy_header(Index rows, Index cols) {
  std::string dictionary = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::to_string(rows) +
                           ", " + std::to_string(cols) + "), }";
  const std::size_t prefix = 10;
  dictionary.append(64 - (prefix + dictionary.size() + 1) % 64, ' ');
  dictionary += '\n';
  std::string out("\x93NUMPY\x01\x00", 8);
  out += static_cast<char>(dictionary.size() & 0xFF);
  out += static_cast<char>(dictionary.size() >> 8);
  return out + dictionary;
}

// The value of a key of the header's dictionary, up to the next comma outside parentheses.
std::string npy_field(const std::string& header, const std::string& key) {
  const std::size_t at = header.find("'" + key + "'");
  if (at == std::string::npos) return {};
  std::size_t i = header.find(':', at);
  if (i == std::string::npos) return {};
  std::string out;
  int depth = 0;
  for (++i; i < header.size(); ++i) {
    const char c = header[i];
    if (c == '(') ++depth;
    if (c == ')') --depth;
    if ((c == ',' && depth == 0) || c == '}') break;
    if (c != ' ' && c != '\'') out += c;
  }
  return out;
}

base::Result<Packed> read_npy(const fs::path& path) {
  ASKBASE_ASSIGN(const std::string bytes, base::read_file(path, std::uint64_t{8} << 30));
  if (bytes.size() < 10 || bytes.compare(0, 6, "\x93NUMPY") != 0) return bad(path, "it is no .npy file");
  const auto byte = [&](std::size_t i) {
    return static_cast<std::size_t>(static_cast<unsigned char>(bytes[i]));
  };
  const std::size_t version = byte(6), start = version == 1 ? 10 : 12;
  if (version < 1 || version > 3 || bytes.size() < start) return bad(path, "its .npy version is unknown");
  std::size_t length = byte(8) | byte(9) << 8;
  if (version > 1) length |= byte(10) << 16 | byte(11) << 24;
  if (length > bytes.size() - start) return bad(path, "its header is cut off");
  const std::string header = bytes.substr(start, length);
  const std::string type = npy_field(header, "descr"), shape = npy_field(header, "shape");
  if (npy_field(header, "fortran_order") != "False") {
    return base::fail(base::ErrorCode::unsupported, path.string() + ": it is in column order",
                      "save it with numpy.ascontiguousarray");
  }
  if (type != "<f4" && type != "<f8") {
    return base::fail(base::ErrorCode::unsupported, path.string() + ": numbers of type \"" + type + "\"",
                      "save it as float32 or float64");
  }
  Packed out;
  const char* at = shape.data() + 1;
  const char* end = shape.data() + shape.size();
  std::uint64_t dims[2] = {0, 0};
  bool understood = shape.size() > 4 && shape.front() == '(' && shape.back() == ')';
  for (int d = 0; d < 2 && understood; ++d) {
    const auto [next, error] = std::from_chars(at, end, dims[d]);
    understood = error == std::errc() && next < end && *next == (d == 0 ? ',' : ')');
    at = next + 1;
  }
  if (!understood) return bad(path, "its shape " + shape + " is not of two dimensions");
  const std::uint64_t size = type == "<f4" ? 4 : 8, data = bytes.size() - start - length;
  if (dims[1] == 0 || dims[0] > data / size / dims[1] || dims[0] * dims[1] * size != data)
    return bad(path,
               "its shape " + shape + " does not fit its " + std::to_string(data) + " bytes of numbers");
  out.rows = static_cast<Index>(dims[0]);
  out.cols = static_cast<Index>(dims[1]);
  out.values.resize(static_cast<std::size_t>(dims[0] * dims[1]));
  const char* numbers = bytes.data() + start + length;
  if (size == 4) {
    std::memcpy(out.values.data(), numbers, data);
  } else {
    for (std::size_t i = 0; i < out.values.size(); ++i) {
      double x = 0;
      std::memcpy(&x, numbers + 8 * i, 8);
      out.values[i] = static_cast<float>(x);
    }
  }
  return out;
}

base::Status for_lines(const fs::path& path,
                       const std::function<base::Status(std::string_view line, std::uint64_t number)>& use) {
  ASKBASE_ASSIGN(const auto input, base::Input::open(path));
  base::LineReader reader(*input, std::size_t{256} << 20);
  std::string_view line;
  while (true) {
    ASKBASE_ASSIGN(const bool more, reader.next(line));
    if (!more) return {};
    if (!line.empty()) ASKBASE_TRY(use(line, reader.line_number()));
  }
}

// Numbers separated by tabs, spaces or commas.
base::Result<Packed> read_rows_of_text(const fs::path& path) {
  Packed out;
  ASKBASE_TRY(for_lines(path, [&](std::string_view line, std::uint64_t number) -> base::Status {
    Index count = 0;
    const char* at = line.data();
    const char* end = line.data() + line.size();
    while (at < end) {
      if (*at == ' ' || *at == '\t' || *at == ',' || *at == '\r') {
        ++at;
        continue;
      }
      float x = 0;
      const auto [next, error] = std::from_chars(at, end, x);
      if (error != std::errc())
        return bad(path, "line " + std::to_string(number) + ": \"" + std::string(at, std::min(at + 20, end)) +
                             "\" is no number");
      out.values.push_back(x);
      ++count;
      at = next;
    }
    if (count == 0) return {};
    if (out.rows > 0 && count != out.cols) {
      return bad(path, "line " + std::to_string(number) + " has " + std::to_string(count) + " numbers, not " +
                           std::to_string(out.cols));
    }
    out.cols = count;
    ++out.rows;
    return {};
  }));
  if (out.rows == 0) return bad(path, "it has no numbers");
  return out;
}

// Names by row, from "row TAB name" (or a name alone).
base::Result<std::vector<std::string>> read_name_list(const fs::path& folder, const std::string& stem) {
  fs::path path = folder / (stem + ".tsv");
  std::error_code ignored;
  if (!fs::exists(path, ignored)) path = folder / (stem + ".txt");
  std::vector<std::string> names;
  ASKBASE_TRY(for_lines(path, [&](std::string_view line, std::uint64_t number) -> base::Status {
    const std::string_view name = line.substr(line.find_last_of('\t') + 1);
    if (name.empty() || !base::valid_utf8(name))
      return bad(path, "line " + std::to_string(number) + " has no name in UTF-8");
    names.emplace_back(name);
    return {};
  }));
  return names;
}

// "name TAB id" with a count before; ids are rows once put in order, wherever they start.
base::Result<std::vector<std::string>> read_openke_names(const fs::path& path) {
  std::map<std::uint64_t, std::string> names;
  bool first = true;
  ASKBASE_TRY(for_lines(path, [&](std::string_view line, std::uint64_t number) -> base::Status {
    while (!line.empty() && (line.back() == ' ' || line.back() == '\r' || line.back() == '\t'))
      line.remove_suffix(1);
    const std::size_t cut = line.find_last_of(" \t");
    const bool head = first;
    first = false;
    if (cut == std::string_view::npos && head) return {};
    std::uint64_t id = 0;
    const std::string_view digits = cut == std::string_view::npos ? line : line.substr(cut + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), id);
    if (cut == std::string_view::npos || error != std::errc() || end != digits.data() + digits.size())
      return bad(path, "line " + std::to_string(number) + " is not a name and its id");
    if (!base::valid_utf8(line)) return bad(path, "line " + std::to_string(number) + " is not UTF-8");
    std::string_view name = line.substr(0, cut);
    while (!name.empty() && (name.back() == ' ' || name.back() == '\t')) name.remove_suffix(1);
    if (!names.emplace(id, std::string(name)).second)
      return bad(path, "line " + std::to_string(number) + ": the id " + std::to_string(id) + " comes twice");
    return {};
  }));
  std::vector<std::string> out;
  for (auto& [id, name] : names) out.push_back(std::move(name));
  return out;
}

base::Status check_rows(const Packed& table, std::size_t names, const fs::path& path, const char* what) {
  if (table.rows == static_cast<Index>(names)) return {};
  return bad(path,
             "it has " + std::to_string(table.rows) + " rows for " + std::to_string(names) + " " + what);
}

// From packed tables; the dimensions are told from them.
base::Result<EmbeddingSet> assemble(std::vector<std::string> entities, std::vector<std::string> relations,
                                    const Packed& entity_rows, const Packed& relation_rows,
                                    const ImportOptions& options, const fs::path& folder) {
  EmbeddingSet set;
  set.model.kind = options.kind;
  set.model.norm = options.norm;
  set.model.dim = entity_rows.cols;
  if (options.kind == ModelKind::transr) {
    // r and M: k + k * dim numbers.
    set.model.relation_dim = relation_rows.cols / (1 + entity_rows.cols);
  }
  set.reciprocal = options.reciprocal;
  if (const base::Status valid = validate(set.model); !valid) return bad(folder, valid.error().message);
  const auto model = Model<float>::make(set.model);
  if (model->relation_size() != relation_rows.cols) {
    return bad(folder,
               "relations of " + std::string(model_name(options.kind)) + " have " +
                   std::to_string(model->relation_size()) + " numbers when entities have " +
                   std::to_string(entity_rows.cols) + ", these have " + std::to_string(relation_rows.cols),
               "name the model that they were trained with: --kind");
  }
  ASKBASE_TRY(check_rows(entity_rows, entities.size(), folder, "entities"));
  ASKBASE_TRY(
      check_rows(relation_rows, relations.size() * (options.reciprocal ? 2 : 1), folder, "relations"));
  set.entities = std::move(entities);
  set.relations = std::move(relations);
  set.trained_entities = set.entities.size();
  set.tables.entities = nn::Matrix<float>(entity_rows.rows, model->entity_width());
  set.tables.relations = nn::Matrix<float>(relation_rows.rows, model->relation_width());
  for (Index r = 0; r < entity_rows.rows; ++r)
    model->unpack_entity(entity_rows.row(r), set.tables.entities.row(r));
  for (Index r = 0; r < relation_rows.rows; ++r) {
    model->unpack_relation(relation_rows.row(r), set.tables.relations.row(r));
    model->constrain_relation(set.tables.relations.row(r));
  }
  set.notes.emplace_back("imported_from", folder.filename().string());
  ASKBASE_TRY(check_finite(set, folder.string()));
  return set;
}

// Columns of a, then those of b.
base::Result<Packed> beside(const Packed& a, const Packed& b, const fs::path& path) {
  if (a.rows != b.rows) {
    return bad(path, "two tables that belong together have " + std::to_string(a.rows) + " and " +
                         std::to_string(b.rows) + " rows");
  }
  Packed out{a.rows, a.cols + b.cols, {}};
  out.values.reserve(static_cast<std::size_t>(out.rows * out.cols));
  for (Index r = 0; r < a.rows; ++r) {
    out.values.insert(out.values.end(), a.row(r), a.row(r) + a.cols);
    out.values.insert(out.values.end(), b.row(r), b.row(r) + b.cols);
  }
  return out;
}

base::Result<Packed> from_json(const base::Json& json, const std::string& key, const fs::path& path) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_array() || found->empty())
    return bad(path, "it has no parameter \"" + key + "\"",
               "name the model that it was trained with: --kind");
  Packed out;
  for (const base::Json& row : *found) {
    if (!row.is_array() || (out.rows > 0 && static_cast<Index>(row.size()) != out.cols))
      return bad(path, "\"" + key + "\" is not a table");
    for (const base::Json& x : row) {
      if (!x.is_number()) return bad(path, "\"" + key + "\" holds something that is no number");
      out.values.push_back(x.get<float>());
    }
    out.cols = static_cast<Index>(row.size());
    ++out.rows;
  }
  return out;
}

std::string npy_content(const nn::Matrix<float>& table, Index size,
                        const std::function<void(const float*, float*)>& pack) {
  std::string out = npy_header(table.rows(), size);
  std::vector<float> row(static_cast<std::size_t>(size));
  for (Index r = 0; r < table.rows(); ++r) {
    pack(table.row(r), row.data());
    out.append(reinterpret_cast<const char*>(row.data()), row.size() * sizeof(float));
  }
  return out;
}

std::string one_line(std::string_view name) {
  std::string out(name);
  for (char& c : out) {
    if (c == '\t' || c == '\n' || c == '\r') c = ' ';
  }
  return out;
}

std::string name_lines(const std::vector<std::string>& names, std::size_t rows) {
  std::string out;
  for (std::size_t r = 0; r < rows; ++r)
    out += std::to_string(r) + "\t" + one_line(names[r % names.size()]) + "\n";
  return out;
}

std::string tsv_content(const nn::Matrix<float>& table, const std::vector<std::string>& names, Index size,
                        const std::function<void(const float*, float*)>& pack) {
  std::string out;
  std::vector<float> row(static_cast<std::size_t>(size));
  std::array<char, 32> digits{};
  for (Index r = 0; r < table.rows(); ++r) {
    out += one_line(names[static_cast<std::size_t>(r) % names.size()]);
    pack(table.row(r), row.data());
    for (const float x : row) {
      const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), x);
      out += '\t';
      out.append(digits.data(), end);
    }
    out += '\n';
  }
  return out;
}

}  // namespace

base::Status export_npy(const EmbeddingSet& set, const fs::path& folder) {
  const auto model = Model<float>::make(set.model);
  ASKBASE_TRY(base::make_directories(folder));
  ASKBASE_TRY(base::write_file_atomic(
      folder / "entities.npy",
      npy_content(set.tables.entities, model->entity_size(),
                  [&](const float* row, float* out) { model->pack_entity(row, out); })));
  ASKBASE_TRY(base::write_file_atomic(
      folder / "relations.npy",
      npy_content(set.tables.relations, model->relation_size(),
                  [&](const float* row, float* out) { model->pack_relation(row, out); })));
  ASKBASE_TRY(
      base::write_file_atomic(folder / "entities.tsv", name_lines(set.entities, set.entities.size())));
  return base::write_file_atomic(folder / "relations.tsv", name_lines(set.relations, set.relations.size()));
}

base::Status export_tsv(const EmbeddingSet& set, const fs::path& folder) {
  const auto model = Model<float>::make(set.model);
  ASKBASE_TRY(base::make_directories(folder));
  ASKBASE_TRY(base::write_file_atomic(
      folder / "entities.tsv",
      tsv_content(set.tables.entities, set.entities, model->entity_size(),
                  [&](const float* row, float* out) { model->pack_entity(row, out); })));
  return base::write_file_atomic(
      folder / "relations.tsv",
      tsv_content(set.tables.relations, set.relations, model->relation_size(),
                  [&](const float* row, float* out) { model->pack_relation(row, out); }));
}

base::Result<EmbeddingSet> import_npy(const fs::path& folder, const ImportOptions& options) {
  ASKBASE_ASSIGN(const Packed entities, read_npy(folder / "entities.npy"));
  ASKBASE_ASSIGN(const Packed relations, read_npy(folder / "relations.npy"));
  ASKBASE_ASSIGN(auto entity_names, read_name_list(folder, "entities"));
  ASKBASE_ASSIGN(auto relation_names, read_name_list(folder, "relations"));
  return assemble(std::move(entity_names), std::move(relation_names), entities, relations, options, folder);
}

base::Result<EmbeddingSet> import_openke(const fs::path& folder, const ImportOptions& options) {
  ASKBASE_ASSIGN(auto entity_names, read_openke_names(folder / "entity2id.txt"));
  ASKBASE_ASSIGN(auto relation_names, read_openke_names(folder / "relation2id.txt"));
  Packed entities, relations;
  std::error_code ignored;
  const bool second_table = options.kind == ModelKind::transh || options.kind == ModelKind::transr;
  const fs::path json_path = folder / "embedding.vec.json";
  if (fs::exists(json_path, ignored)) {
    ASKBASE_ASSIGN(const std::string text, base::read_file(json_path, std::uint64_t{4} << 30));
    ASKBASE_ASSIGN(const base::Json json, base::parse_json(text));
    const auto table = [&](const std::string& key) { return from_json(json, key, json_path); };
    if (options.kind == ModelKind::complex) {
      ASKBASE_ASSIGN(const Packed re, table("ent_re_embeddings.weight"));
      ASKBASE_ASSIGN(const Packed im, table("ent_im_embeddings.weight"));
      ASKBASE_ASSIGN(entities, beside(re, im, json_path));
      ASKBASE_ASSIGN(const Packed rel_re, table("rel_re_embeddings.weight"));
      ASKBASE_ASSIGN(const Packed rel_im, table("rel_im_embeddings.weight"));
      ASKBASE_ASSIGN(relations, beside(rel_re, rel_im, json_path));
    } else {
      ASKBASE_ASSIGN(entities, table("ent_embeddings.weight"));
      ASKBASE_ASSIGN(relations, table("rel_embeddings.weight"));
      if (second_table) {
        const bool h = options.kind == ModelKind::transh;
        ASKBASE_ASSIGN(Packed more, table(h ? "norm_vector.weight" : "transfer_matrix.weight"));
        if (!h && more.cols == entities.cols * relations.cols) {
          // OpenKE multiplies rows by M (dim, k); here M (k, dim) multiplies columns.
          const Index dim = entities.cols, k = relations.cols;
          for (Index r = 0; r < more.rows; ++r) {
            const std::vector<float> matrix(more.row(r), more.row(r) + dim * k);
            float* out = more.values.data() + r * dim * k;
            for (Index i = 0; i < k; ++i) {
              for (Index j = 0; j < dim; ++j) out[i * dim + j] = matrix[static_cast<std::size_t>(j * k + i)];
            }
          }
        }
        ASKBASE_ASSIGN(relations, beside(relations, more, json_path));
      }
    }
  } else {
    ASKBASE_ASSIGN(entities, read_rows_of_text(folder / "entity2vec.vec"));
    ASKBASE_ASSIGN(relations, read_rows_of_text(folder / "relation2vec.vec"));
    if (second_table) {
      ASKBASE_ASSIGN(Packed more, read_rows_of_text(folder / "A.vec"));
      // A matrix may stand in several lines.
      if (relations.rows > 0 && more.rows % relations.rows == 0) {
        more.cols *= more.rows / relations.rows;
        more.rows = relations.rows;
      }
      ASKBASE_ASSIGN(relations, beside(relations, more, folder / "A.vec"));
    }
  }
  return assemble(std::move(entity_names), std::move(relation_names), entities, relations, options, folder);
}

}  // namespace askbase::kb::embedding
