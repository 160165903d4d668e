// Backups of a KB, and bringing older formats up.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "kb/store.h"

namespace askbase::kb {

// Copies the KB into a folder that must not exist yet; the copy is a KB itself. Safe while this or another
// process writes (the copy is one committed state). Files are linked where the file system allows. The copy
// is opened and its checksums are verified before it appears under its name. Errors: invalid_argument (the
// folder exists), corrupt, io, locked (others commit without a pause).
base::Status backup(const Store& store, const std::filesystem::path& folder);

// The other way round: a KB in a folder that must not exist yet, from a backup. Errors: as above, and
// not_found, unsupported as Storage::open.
base::Status restore(const std::filesystem::path& backup_folder, const std::filesystem::path& folder);

struct UpgradeReport {
  std::uint32_t from = 0, to = 0;  // equal: the KB has the present format, and nothing was done
  std::filesystem::path kept;      // where the KB stands as it was, when something was done
};
// Brings a KB of an older format up to the present one: in a copy, which is checked and then takes the KB's
// place in one step. The KB as it was stays beside it as FOLDER.format-N. Errors: not_found, locked, corrupt,
// unsupported (newer, or too old), io, invalid_argument (FOLDER.format-N exists).
base::Result<UpgradeReport> upgrade(const std::filesystem::path& folder);

// One step of an upgrade: rewrites the tables of format `from` as those of from + 1. It works on a copy: no
// need to be careful about being interrupted.
struct UpgradeStep {
  std::uint32_t from = 0;
  std::function<base::Status(Storage&)> apply;
};
// upgrade() with given steps, ascending.
base::Result<UpgradeReport> upgrade_by(const std::filesystem::path& folder,
                                       const std::vector<UpgradeStep>& steps);

}  // namespace askbase::kb
