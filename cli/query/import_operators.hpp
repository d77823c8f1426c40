// The operators of an imported file as rows and sums of the recording, with the work of GPUs that calls in them put to
// run. Works on the tables of ImportStage, after import_works().
#pragma once
#include <cstdint>

#include "store/sqlite.hpp"

namespace fade::query {

struct ImportedOperators {
  std::int64_t operators = 0;
  std::int64_t known = 0;  // not taken: their processes have operators already
  std::int64_t elsewhere =
      0;  // of processes that are not in the session, of times outside of it, or of threads that fade did not see
};
Result<ImportedOperators> import_operators(sqlite::Db& db, std::int64_t import, std::int64_t shift);

}  // namespace fade::query
