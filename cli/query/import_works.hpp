// The work of GPUs from an imported file, tied to fade's calls, as rows and sums of the recording: the same that fade
// makes while it records (store/gpu_sums.hpp and its neighbours). Works on the tables of ImportStage, after
// tie_calls().
#pragma once
#include <cstdint>

#include "store/sqlite.hpp"

namespace fade::query {

struct ImportedWorks {
  std::int64_t works = 0, tied = 0;
  std::int64_t known = 0;      // not taken: their processes have times already
  std::int64_t elsewhere = 0;  // of processes or times that are not in the session
};
// `import`: the row of import_. `shift`: to the session's clock.
Result<ImportedWorks> import_works(sqlite::Db& db, std::int64_t import, std::int64_t shift);

}  // namespace fade::query
