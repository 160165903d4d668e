// The tables of a KB in memory, for tests of what is built on Snapshot and Write alone. A Write checks what
// the contract asks of its caller: ascending keys in each table, each once.
#pragma once

#include <algorithm>
#include <array>
#include <doctest/doctest.h>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kb/entity_index.h"
#include "kb/storage.h"

namespace askbase::test {

using MemoryTable = std::map<std::string, std::string, std::less<>>;
using MemoryTables = std::array<MemoryTable, kb::table_count>;

class MemoryCursor : public kb::Cursor {
 public:
  MemoryCursor(const MemoryTable& table, std::string_view prefix)
      : table_(table), prefix_(prefix), at_(table.end()) {}
  void seek(std::string_view key) override {
    at_ = table_.lower_bound(std::max<std::string_view>(key, prefix_));
  }
  bool valid() const override { return at_ != table_.end() && at_->first.starts_with(prefix_); }
  void next() override { ++at_; }
  std::string_view key() const override { return at_->first; }
  std::string_view value() const override { return at_->second; }
  base::Status status() const override { return {}; }

 private:
  const MemoryTable& table_;
  std::string prefix_;
  MemoryTable::const_iterator at_;
};

class MemorySnapshot : public kb::Snapshot {
 public:
  explicit MemorySnapshot(MemoryTables tables) : tables_(std::move(tables)) {}
  base::Result<bool> get(kb::Table table, std::string_view key, std::string& value) const override {
    const MemoryTable& rows = tables_[static_cast<std::size_t>(table)];
    const auto at = rows.find(key);
    if (at == rows.end()) return false;
    value = at->second;
    return true;
  }
  std::unique_ptr<kb::Cursor> cursor(kb::Table table, std::string_view prefix) const override {
    return std::make_unique<MemoryCursor>(tables_[static_cast<std::size_t>(table)], prefix);
  }
  const MemoryTable& table(kb::Table table) const { return tables_[static_cast<std::size_t>(table)]; }

 private:
  MemoryTables tables_;
};

class MemoryWrite : public kb::Write {
 public:
  explicit MemoryWrite(MemoryTables& tables) : tables_(tables) {}
  base::Status put(kb::Table table, std::string_view key, std::string_view value) override {
    return change(table, key, std::string(value));
  }
  base::Status erase(kb::Table table, std::string_view key) override {
    return change(table, key, std::nullopt);
  }
  base::Status commit() override {
    for (std::size_t table = 0; table < changes_.size(); ++table) {
      for (auto& [key, value] : changes_[table]) {
        if (value) {
          tables_[table].insert_or_assign(key, *value);
        } else {
          tables_[table].erase(key);
        }
      }
    }
    return {};
  }
  std::size_t size(kb::Table table) const { return changes_[static_cast<std::size_t>(table)].size(); }

 private:
  base::Status change(kb::Table table, std::string_view key, std::optional<std::string> value) {
    auto& changes = changes_[static_cast<std::size_t>(table)];
    if (!changes.empty() && changes.back().first >= key) {
      return base::fail(base::ErrorCode::internal, "keys not in ascending order");
    }
    changes.emplace_back(key, std::move(value));
    return {};
  }

  MemoryTables& tables_;
  std::array<std::vector<std::pair<std::string, std::optional<std::string>>>, kb::table_count> changes_;
};

inline kb::TermId entity(std::uint64_t serial) { return kb::make_id(kb::IdType::iri, serial); }

// A KB of names only.
struct NameTables {
  MemoryTables tables;
  std::uint64_t entities = 0;

  void change(const std::vector<kb::EntityName>& added, const std::vector<kb::EntityName>& removed = {},
              std::size_t threads = 1) {
    const MemorySnapshot before(tables);
    kb::NameChanges changes(before, threads);
    for (const kb::EntityName& name : removed) changes.remove(name);
    for (const kb::EntityName& name : added) changes.add(name);
    MemoryWrite write(tables);
    REQUIRE(changes.write(write));
    REQUIRE(write.commit());
  }
  // Labels of entities 1, 2, ...
  void add(const std::vector<std::string>& texts) {
    std::vector<kb::EntityName> names;
    for (const std::string& text : texts)
      names.push_back({entity(++entities), text, "", kb::NameKind::label});
    change(names);
  }
  MemorySnapshot snapshot() const { return MemorySnapshot(tables); }
  kb::View view() const { return kb::View(std::make_shared<const MemorySnapshot>(tables)); }
  const MemoryTable& table(kb::Table table) const { return tables[static_cast<std::size_t>(table)]; }
};

inline constexpr kb::Table name_tables[] = {kb::Table::names, kb::Table::words, kb::Table::vocabulary,
                                            kb::Table::grams};

}  // namespace askbase::test
