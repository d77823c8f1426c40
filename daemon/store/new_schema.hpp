// The schema of a new recording: tables, views, their descriptions and the reference table of GPUs.
#pragma once
#include "store/sqlite.hpp"

namespace fade::store {

// In one transaction, so that a file has either the whole schema and fade's mark or nothing. `db`: an empty database.
Result<void> create_schema(sqlite::Db& db);

}  // namespace fade::store
