// How Store makes an Update. For the .cpp files of kb/.
#pragma once

#include <functional>
#include <memory>

#include "base/result.h"
#include "kb/records.h"
#include "kb/store.h"

namespace askbase::kb {

// ended: called by the update's destructor.
base::Result<std::unique_ptr<Update>> make_update(Storage& storage, const UpdateOptions& options,
                                                  std::function<void()> ended);

}  // namespace askbase::kb
