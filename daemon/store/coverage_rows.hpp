// The coverage of a session, as rows.
#pragma once
#include "base/coverage.hpp"
#include "store/write.hpp"

namespace fade::store {

// Fills filter_ and selection_ for the session, in a transaction of its own.
Result<void> write_coverage(sqlite::Db& db, SessionRow session, const Coverage& coverage);

}  // namespace fade::store
