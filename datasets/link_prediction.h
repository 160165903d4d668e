// Link-prediction benchmarks: facts in splits, and the figures of ranks. All functions are thread-safe.
//
// Two forms are read, plain, gzip or zstd:
//   TSV      one fact a line: head TAB relation TAB tail (names may hold spaces), or, on lines without a tab,
//            three words separated by spaces. Blank lines are skipped.
//   OpenKE   a folder with entity2id.txt, relation2id.txt ("name TAB id") and train2id.txt, valid2id.txt,
//            test2id.txt: ids of head, tail and relation, in this order. Ids may start anywhere and have
//            gaps. A first line with a single number is a count. A folder without entity2id.txt is read as
//            train/valid/test .txt or .tsv files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "datasets/metrics.h"

namespace askbase::datasets {

struct LinkFact {
  std::uint32_t head = 0, relation = 0, tail = 0;
  auto operator<=>(const LinkFact&) const = default;
};

struct LinkData {
  std::vector<std::string> entities, relations;  // names; those of train come first
  std::uint32_t train_entities = 0, train_relations = 0;
  std::vector<LinkFact> train, valid, test;
  std::vector<std::string> notices;  // one sentence each
};

struct LinkOptions {
  // Columns of OpenKE's *2id.txt: "htr" as OpenKE writes them, or "hrt" as some of its users do. Empty: as
  // the ids fit, "htr" when they fit both.
  std::string openke_order;
};

// A folder, or files whose names hold "train", "valid" (or "dev") or "test"; a single other file is taken for
// test facts. Errors: not_found, io, bad_input with file:line: reason, or when the split of a file is
// unclear.
base::Result<LinkData> read_link_data(const std::vector<std::filesystem::path>& paths,
                                      const LinkOptions& options = {});

// Figures over ranks; each fact has two, of its tail and of its head.
struct LinkFigures {
  std::uint64_t ranks = 0;
  Figure mrr, hits_at_1, hits_at_3, hits_at_10, mean_rank;
};
// ranks: `group` consecutive ones belong to one fact and are drawn together by the bootstrap.
LinkFigures link_figures(std::span<const double> ranks, std::size_t group,
                         const BootstrapOptions& options = {});

}  // namespace askbase::datasets
