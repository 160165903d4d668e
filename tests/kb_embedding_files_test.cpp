// Files of vectors: our own, .npy, TSV, OpenKE; damaged and strange ones.
#include <cmath>
#include <cstring>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include "base/file.h"
#include "kb/embedding/vectors.h"
#include "tests/kb_embedding_support.h"

using namespace askbase;
using namespace askbase::kb::embedding;
using namespace askbase::test;

namespace {

EmbeddingSet small_set(const ModelConfig& config, bool reciprocal = false) {
  EmbeddingSet set;
  set.model = config;
  set.reciprocal = reciprocal;
  set.entities = {"北京", "New York", "a\xC3\xA9"};
  set.relations = {"首都", "located in"};
  set.trained_entities = 3;
  Model<float>::make(config)->initialise(set.tables, 3, reciprocal ? 4 : 2, 3, 0.5);
  set.notes = {{"loss", "margin"}};
  return set;
}

bool same(const EmbeddingSet& a, const EmbeddingSet& b) {
  const auto equal = [](const nn::Matrix<float>& x, const nn::Matrix<float>& y) {
    return x.rows() == y.rows() && x.cols() == y.cols() &&
           std::equal(x.data(), x.data() + x.size(), y.data());
  };
  return a.entities == b.entities && a.relations == b.relations &&
         equal(a.tables.entities, b.tables.entities) && equal(a.tables.relations, b.tables.relations) &&
         a.model.kind == b.model.kind && a.model.dim == b.model.dim;
}

void put(const std::filesystem::path& path, const std::string& content) {
  REQUIRE(base::write_file_atomic(path, content));
}

std::string words(const base::Error& error) { return error.message + " " + error.hint; }

}  // namespace

TEST_CASE("embedding files: what is saved is loaded, for every model and odd sizes") {
  const ScratchFolder folder;
  const auto file = folder / "deep/vectors.safetensors";
  for (const Index dim : {2, 6, 8, 22}) {
    for (const ModelConfig& config : all_models(dim, 3)) {
      CAPTURE(case_name(config));
      EmbeddingSet set = small_set(config, config.norm == Norm::l1);
      REQUIRE(save(set, file));
      const auto loaded = load(file);
      REQUIRE_MESSAGE(loaded, words(loaded ? base::Error{} : loaded.error()));
      CHECK(same(set, *loaded));
      CHECK(loaded->reciprocal == set.reciprocal);
      CHECK(loaded->model.norm == config.norm);
      CHECK(loaded->notes == set.notes);
      CHECK_FALSE(loaded->of_kb());
    }
  }
  EmbeddingSet set = small_set({.dim = 3});
  set.entity_ids = {5, std::uint64_t{1} << 63, 7};
  set.relation_ids = {1, 2};
  set.kb_version = 12;
  set.kb_facts = 34;
  set.trained_entities = 2;
  REQUIRE(save(set, file));
  const auto loaded = load(file).value();
  CHECK(loaded.entity_ids == set.entity_ids);
  CHECK(loaded.relation_ids == set.relation_ids);
  CHECK(loaded.kb_version == 12);
  CHECK(loaded.kb_facts == 34);
  CHECK(loaded.trained_entities == 2);
}

TEST_CASE("embedding files: damaged, foreign and missing ones are refused") {
  const ScratchFolder folder;
  const auto file = folder / "vectors";
  CHECK(load(file).error().code == base::ErrorCode::not_found);
  put(file, "not a file of vectors");
  CHECK_FALSE(load(file));
  REQUIRE(save(small_set({.dim = 5}), file));
  const std::string whole = base::read_file(file).value();
  for (std::size_t cut = 0; cut < whole.size(); cut += 7) {
    put(file, whole.substr(0, cut));
    CHECK_FALSE(load(file));
  }
  const auto replaced = [&](const std::string& from, const std::string& to) {
    std::string changed = whole;
    const std::size_t at = changed.find(from);
    REQUIRE(at != std::string::npos);
    REQUIRE(from.size() == to.size());
    put(file, changed.replace(at, from.size(), to));
    return load(file);
  };
  CHECK(replaced("askbase-embeddings 1", "askbase-embeddings 2").error().code ==
        base::ErrorCode::unsupported);
  CHECK(replaced("\"dim\":\"5\"", "\"dim\":\"6\"").error().code == base::ErrorCode::corrupt);
  CHECK(replaced("\"dim\":\"5\"", "\"dim\":\"x\"").error().code == base::ErrorCode::corrupt);
  CHECK(replaced("\"dim\":\"5\"", "\"dim\":\"0\"").error().code == base::ErrorCode::corrupt);
  CHECK(replaced("transe", "transq").error().code == base::ErrorCode::corrupt);
  // Not a number: neither written nor read.
  EmbeddingSet bad = small_set({.dim = 5});
  bad.tables.entities(1, 2) = std::numeric_limits<float>::infinity();
  const auto refused = save(bad, folder / "bad");
  REQUIRE_FALSE(refused);
  CHECK(words(refused.error()).find("New York") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(folder / "bad"));
}

TEST_CASE("embedding files: .npy there and back") {
  const ScratchFolder folder;
  for (const ModelConfig& config : all_models(6, 4)) {
    CAPTURE(case_name(config));
    const EmbeddingSet set = small_set(config, true);
    REQUIRE(export_npy(set, folder / "npy"));
    const auto back =
        import_npy(folder / "npy", {.kind = config.kind, .norm = config.norm, .reciprocal = true});
    REQUIRE_MESSAGE(back, words(back ? base::Error{} : back.error()));
    CHECK(same(set, *back));
  }
  const std::string bytes = base::read_file(folder / "npy/entities.npy").value();
  CHECK(bytes.compare(0, 8, std::string("\x93NUMPY\x01\x00", 8)) == 0);
  CHECK((bytes.size() - 3 * 6 * 4) % 64 == 0);

  const auto import = [&] {
    return import_npy(folder / "npy", {.kind = ModelKind::complex, .norm = Norm::l2, .reciprocal = true});
  };
  put(folder / "npy/entities.npy", bytes.substr(0, bytes.size() - 1));
  CHECK_FALSE(import());
  put(folder / "npy/entities.npy", "numbers");
  CHECK(words(import().error()).find("entities.npy") != std::string::npos);
  std::string nan = bytes;
  const float value = std::nanf("");
  std::memcpy(nan.data() + nan.size() - 4, &value, 4);
  put(folder / "npy/entities.npy", nan);
  CHECK(words(import().error()).find("finite") != std::string::npos);
  std::string fortran = bytes;
  fortran.replace(fortran.find("False"), 5, "True ");
  put(folder / "npy/entities.npy", fortran);
  CHECK(import().error().code == base::ErrorCode::unsupported);
  std::string huge = bytes;
  huge.replace(huge.find("(3, 6)"), 6, "(9, 6)");
  put(folder / "npy/entities.npy", huge);
  CHECK_FALSE(import());
  put(folder / "npy/entities.npy", bytes);
  put(folder / "npy/entities.tsv", "0\tone\n");
  CHECK(words(import().error()).find("1 entities") != std::string::npos);
  put(folder / "npy/entities.tsv", "0\tone\n1\ttwo\n2\tthree\n");
  CHECK(import());
  CHECK(words(import_npy(folder / "npy", {.kind = ModelKind::transh, .norm = Norm::l2, .reciprocal = true})
                  .error())
            .find("--kind") != std::string::npos);
}

TEST_CASE("embedding files: .npy as numpy writes it, of doubles") {
  const ScratchFolder folder;
  const auto npy = [](int rows, std::initializer_list<double> numbers) {
    std::string header =
        "{'descr': '<f8', 'fortran_order': False, 'shape': (" + std::to_string(rows) + ", 2), }";
    header.append(118 - header.size() - 1, ' ');
    header += '\n';
    std::string out("\x93NUMPY\x01\x00", 8);
    out += static_cast<char>(header.size());
    out += '\0';
    out += header;
    for (const double x : numbers) out.append(reinterpret_cast<const char*>(&x), 8);
    return out;
  };
  put(folder / "entities.npy", npy(2, {1, 2, 3, 4}));
  put(folder / "relations.npy", npy(1, {0.5, -0.25}));
  put(folder / "entities.txt", "甲\n乙 丙\n");
  put(folder / "relations.txt", "r\n");
  const auto set = import_npy(folder.path(), {}).value();
  CHECK(set.entities == std::vector<std::string>{"甲", "乙 丙"});
  CHECK(set.tables.entities(1, 0) == 3);
  CHECK(set.tables.relations(0, 1) == -0.25F);
  CHECK(set.tables.relations(0, 2) == 0);  // padding
}

TEST_CASE("embedding files: TSV has a name and its numbers on each line") {
  const ScratchFolder folder;
  EmbeddingSet set = small_set({.dim = 2});
  set.entities[1] = "tab\there";
  REQUIRE(export_tsv(set, folder.path()));
  std::ifstream in(folder / "entities.tsv");
  std::string line;
  REQUIRE(std::getline(in, line));
  CHECK(line.substr(0, line.find('\t')) == "北京");
  CHECK(std::stof(line.substr(line.find('\t') + 1)) == set.tables.entities(0, 0));
  REQUIRE(std::getline(in, line));
  CHECK(line.starts_with("tab here\t"));
}

TEST_CASE("embedding files: OpenKE's vectors") {
  const ScratchFolder folder;
  put(folder / "entity2id.txt", "3\n/m/01 x\t1\n上海\t2\nthird\t3\n");  // ids from 1, names with spaces
  put(folder / "relation2id.txt", "1\nr\t7\n");
  put(folder / "entity2vec.vec", "1\t2\t\n3\t4\t\n5\t6\t\n");
  put(folder / "relation2vec.vec", "0.5 -1e-2\n");
  const auto set = import_openke(folder.path(), {}).value();
  CHECK(set.entities == std::vector<std::string>{"/m/01 x", "上海", "third"});
  CHECK(set.tables.entities(2, 1) == 6);
  CHECK(set.tables.relations(0, 1) == -0.01F);

  // TransH: normal vectors; TransR: matrices, here in one line and in several.
  put(folder / "A.vec", "3 4\n");
  const auto transh = import_openke(folder.path(), {.kind = ModelKind::transh}).value();
  CHECK(transh.tables.relations(0, 8) == doctest::Approx(0.6));
  put(folder / "A.vec", "1 2\n3 4\n");
  const auto transr = import_openke(folder.path(), {.kind = ModelKind::transr}).value();
  CHECK(transr.model.relation_dim == 2);
  CHECK(transr.tables.relations(0, 8 + 8 + 1) == 4);

  put(folder / "entity2vec.vec", "1\t2\n3\n");
  CHECK(words(import_openke(folder.path(), {}).error()).find("line 2") != std::string::npos);
  put(folder / "entity2vec.vec", "1\t2\n3\tx\n");
  CHECK(words(import_openke(folder.path(), {}).error()).find("line 2") != std::string::npos);
  put(folder / "entity2vec.vec", "1\tnan\n3\t4\n5\t6\n");
  CHECK(words(import_openke(folder.path(), {}).error()).find("finite") != std::string::npos);
  put(folder / "entity2vec.vec", "1\t2\n3\t4\n");
  CHECK(words(import_openke(folder.path(), {}).error()).find("2 rows for 3") != std::string::npos);

  put(folder / "embedding.vec.json",
      R"({"ent_re_embeddings.weight": [[1],[2],[3]], "ent_im_embeddings.weight": [[4],[5],[6]],
          "rel_re_embeddings.weight": [[7]], "rel_im_embeddings.weight": [[8]]})");
  const auto complex = import_openke(folder.path(), {.kind = ModelKind::complex}).value();
  CHECK(complex.model.dim == 2);
  CHECK(complex.tables.entities(1, 0) == 2);
  CHECK(complex.tables.entities(1, 8) == 5);
  CHECK(words(import_openke(folder.path(), {}).error()).find("ent_embeddings.weight") != std::string::npos);
  put(folder / "entity2id.txt", "2\na\t1\nb\t1\n");
  CHECK(words(import_openke(folder.path(), {}).error()).find("twice") != std::string::npos);
}
