// Which call of the recording each work of an imported file belongs to. Works on the tables of ImportStage, after
// tie_calls(); makes the tables work (times of the session, with the call) and placed (what sums want of those calls).
#pragma once
#include <cstdint>

#include "cli/query/import_works.hpp"

namespace fade::query {

Result<ImportedWorks> tie_works(sqlite::Db& db, std::int64_t shift);

}  // namespace fade::query
