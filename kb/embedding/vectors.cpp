#include "kb/embedding/vectors.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/file.h"
#include "nn/safetensors.h"

namespace askbase::kb::embedding {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view format_words = "askbase-embeddings 1";

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) {
    out += name;
    out += '\0';
  }
  return out;
}

nn::TensorSource bytes_of(std::string name, const std::string& bytes) {
  return {std::move(name),
          nn::Dtype::u8,
          {static_cast<nn::Index>(bytes.size())},
          [&bytes](nn::Index first, nn::Index count, std::byte* out) {
            std::memcpy(out, bytes.data() + first, static_cast<std::size_t>(count));
          }};
}

nn::TensorSource ids_of(std::string name, const std::vector<std::uint64_t>& ids) {
  return {std::move(name),
          nn::Dtype::i64,
          {static_cast<nn::Index>(ids.size())},
          [&ids](nn::Index first, nn::Index count, std::byte* out) {
            std::memcpy(out, ids.data() + first, static_cast<std::size_t>(count) * sizeof(std::uint64_t));
          }};
}

// Rows of a padded table, packed while they are written.
template <typename Pack>
nn::TensorSource rows_of(std::string name, const nn::Matrix<float>& table, Index size, Pack pack) {
  return {std::move(name),
          nn::Dtype::f32,
          {table.rows(), size},
          [&table, size, pack](nn::Index first, nn::Index count, std::byte* out) {
            std::vector<float> row(static_cast<std::size_t>(size));
            for (nn::Index i = first; i < first + count;) {
              const nn::Index r = i / size, at = i % size;
              const nn::Index many = std::min(size - at, first + count - i);
              pack(table.row(r), row.data());
              std::memcpy(out, row.data() + at, static_cast<std::size_t>(many) * sizeof(float));
              out += many * static_cast<nn::Index>(sizeof(float));
              i += many;
            }
          }};
}

tl::unexpected<base::Error> damaged(const fs::path& path, const std::string& why) {
  return base::fail(base::ErrorCode::corrupt, path.string() + ": " + why,
                    "train or import the vectors again: askbase embed");
}

base::Result<std::string> read_bytes(const nn::SafetensorsFile& file, const fs::path& path,
                                     const std::string& name) {
  const nn::TensorInfo* info = file.find(name);
  if (info == nullptr) return damaged(path, "it has no tensor \"" + name + "\"");
  std::string out(static_cast<std::size_t>(info->end - info->begin), '\0');
  ASKBASE_TRY(file.read_bytes(*info, std::as_writable_bytes(std::span<char>(out.data(), out.size()))));
  return out;
}

base::Result<std::vector<std::string>> read_names(const nn::SafetensorsFile& file, const fs::path& path,
                                                  const std::string& name) {
  ASKBASE_ASSIGN(const std::string bytes, read_bytes(file, path, name));
  std::vector<std::string> out;
  for (std::size_t begin = 0; begin < bytes.size();) {
    const std::size_t end = bytes.find('\0', begin);
    if (end == std::string::npos) return damaged(path, "the names in \"" + name + "\" end within a name");
    out.emplace_back(bytes, begin, end - begin);
    begin = end + 1;
  }
  return out;
}

base::Result<std::vector<std::uint64_t>> read_ids(const nn::SafetensorsFile& file, const fs::path& path,
                                                  const std::string& name, std::size_t count) {
  if (file.find(name) == nullptr) return std::vector<std::uint64_t>();
  ASKBASE_ASSIGN(const std::string bytes, read_bytes(file, path, name));
  if (bytes.size() != count * sizeof(std::uint64_t))
    return damaged(path, "\"" + name + "\" has not one id a name");
  std::vector<std::uint64_t> out(count);
  std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

template <typename Unpack>
base::Status read_rows(const nn::SafetensorsFile& file, const fs::path& path, const std::string& name,
                       Index rows, Index size, Index width, nn::Matrix<float>& table, Unpack unpack) {
  const nn::TensorInfo* info = file.find(name);
  if (info == nullptr) return damaged(path, "it has no tensor \"" + name + "\"");
  if (info->shape != nn::Shape{rows, size}) {
    return damaged(path, "\"" + name + "\" should have " + std::to_string(rows) + " rows of " +
                             std::to_string(size) + " numbers");
  }
  table.resize(rows, width);
  // Packed rows come to lie at the end of the table and are spread from its beginning: no second copy.
  float* packed = table.data() + rows * (width - size);
  ASKBASE_TRY(file.read(*info, packed));
  if (width == size) return {};
  std::vector<float> row(static_cast<std::size_t>(size));
  for (Index r = 0; r < rows; ++r) {
    std::copy_n(packed + r * size, size, row.data());
    unpack(row.data(), table.row(r));
  }
  return {};
}

base::Result<std::uint64_t> number(const nn::SafetensorsFile& file, const fs::path& path,
                                   std::string_view key) {
  const std::string text = file.metadata(key);
  std::uint64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9' || value > (std::uint64_t{1} << 58))
      return damaged(path, "\"" + std::string(key) + "\" is no number: \"" + text + "\"");
    value = value * 10 + static_cast<std::uint64_t>(c - '0');
  }
  if (text.empty()) return damaged(path, "it does not say \"" + std::string(key) + "\"");
  return value;
}

constexpr std::string_view known_keys[] = {"format",           "model",      "dim",
                                           "relation_dim",     "norm",       "reciprocal",
                                           "trained_entities", "kb_version", "kb_facts"};

}  // namespace

base::Status check_finite(const EmbeddingSet& set, const std::string& where) {
  const auto check = [&](const nn::Matrix<float>& table, const std::vector<std::string>& names,
                         const char* what) -> base::Status {
    for (Index r = 0; r < table.rows(); ++r) {
      for (Index i = 0; i < table.cols(); ++i) {
        if (std::isfinite(table(r, i))) continue;
        const auto name = names.empty() ? std::string() : names[static_cast<std::size_t>(r) % names.size()];
        return base::fail(
            base::ErrorCode::bad_input,
            where + ": the vector of the " + what + " \"" + name + "\" has a number that is not finite",
            "vectors that diverged are of no use; train with a lower --rate");
      }
    }
    return {};
  };
  ASKBASE_TRY(check(set.tables.entities, set.entities, "entity"));
  return check(set.tables.relations, set.relations, "relation");
}

base::Status save(const EmbeddingSet& set, const fs::path& path) {
  ASKBASE_TRY(check_finite(set, path.string()));
  if (path.has_parent_path()) ASKBASE_TRY(base::make_directories(path.parent_path()));
  const auto model = Model<float>::make(set.model);
  const std::string entity_names = joined(set.entities), relation_names = joined(set.relations);
  std::vector<nn::TensorSource> tensors;
  tensors.push_back(rows_of("entities", set.tables.entities, model->entity_size(),
                            [&](const float* row, float* packed) { model->pack_entity(row, packed); }));
  tensors.push_back(rows_of("relations", set.tables.relations, model->relation_size(),
                            [&](const float* row, float* packed) { model->pack_relation(row, packed); }));
  tensors.push_back(bytes_of("entity_names", entity_names));
  tensors.push_back(bytes_of("relation_names", relation_names));
  if (set.of_kb()) {
    tensors.push_back(ids_of("entity_ids", set.entity_ids));
    tensors.push_back(ids_of("relation_ids", set.relation_ids));
  }
  std::vector<std::pair<std::string, std::string>> metadata = {
      {"format", std::string(format_words)},
      {"model", std::string(model_name(set.model.kind))},
      {"dim", std::to_string(set.model.dim)},
      {"relation_dim", std::to_string(set.model.relation_dim)},
      {"norm", set.model.norm == Norm::l1 ? "l1" : "l2"},
      {"reciprocal", set.reciprocal ? "1" : "0"},
      {"trained_entities", std::to_string(set.trained_entities)},
      {"kb_version", std::to_string(set.kb_version)},
      {"kb_facts", std::to_string(set.kb_facts)}};
  metadata.insert(metadata.end(), set.notes.begin(), set.notes.end());
  return nn::write_safetensors(path, std::move(tensors), metadata);
}

base::Result<EmbeddingSet> load(const fs::path& path) {
  ASKBASE_ASSIGN(const nn::SafetensorsFile file, nn::SafetensorsFile::open(path));
  const std::string format = file.metadata("format");
  if (!format.starts_with("askbase-embeddings ")) {
    return base::fail(base::ErrorCode::unsupported, path.string() + " does not hold embeddings of askbase",
                      "askbase embed trains them, askbase embed import reads those of others");
  }
  if (format != format_words) {
    return base::fail(base::ErrorCode::unsupported, path.string() + " is of a newer format: " + format,
                      "use the version of askbase that wrote it, or train again");
  }
  EmbeddingSet set;
  const auto kind = model_from_name(file.metadata("model"));
  if (!kind) return damaged(path, "it names an unknown model \"" + file.metadata("model") + "\"");
  set.model.kind = *kind;
  ASKBASE_ASSIGN(const std::uint64_t dim, number(file, path, "dim"));
  ASKBASE_ASSIGN(const std::uint64_t relation_dim, number(file, path, "relation_dim"));
  set.model.dim = static_cast<Index>(dim);
  set.model.relation_dim = static_cast<Index>(relation_dim);
  set.model.norm = file.metadata("norm") == "l1" ? Norm::l1 : Norm::l2;
  if (const base::Status valid = validate(set.model); !valid) return damaged(path, valid.error().message);
  set.reciprocal = file.metadata("reciprocal") == "1";
  ASKBASE_ASSIGN(set.trained_entities, number(file, path, "trained_entities"));
  ASKBASE_ASSIGN(set.kb_version, number(file, path, "kb_version"));
  ASKBASE_ASSIGN(set.kb_facts, number(file, path, "kb_facts"));
  ASKBASE_ASSIGN(set.entities, read_names(file, path, "entity_names"));
  ASKBASE_ASSIGN(set.relations, read_names(file, path, "relation_names"));
  ASKBASE_ASSIGN(set.entity_ids, read_ids(file, path, "entity_ids", set.entities.size()));
  ASKBASE_ASSIGN(set.relation_ids, read_ids(file, path, "relation_ids", set.relations.size()));
  if (set.trained_entities > set.entities.size())
    return damaged(path, "it says that more entities were trained than it has");
  const auto model = Model<float>::make(set.model);
  ASKBASE_TRY(read_rows(file, path, "entities", static_cast<Index>(set.entities.size()), model->entity_size(),
                        model->entity_width(), set.tables.entities,
                        [&](const float* packed, float* row) { model->unpack_entity(packed, row); }));
  ASKBASE_TRY(read_rows(file, path, "relations",
                        static_cast<Index>(set.relations.size() * (set.reciprocal ? 2 : 1)),
                        model->relation_size(), model->relation_width(), set.tables.relations,
                        [&](const float* packed, float* row) { model->unpack_relation(packed, row); }));
  for (const auto& [key, value] : file.metadata()) {
    if (std::find(std::begin(known_keys), std::end(known_keys), key) == std::end(known_keys))
      set.notes.emplace_back(key, value);
  }
  return set;
}

}  // namespace askbase::kb::embedding
