// The reference table of AMD's GPUs (schema/gpus.tsv), put into every new database, so that its views can compare with
// it wherever the file is opened, and with the table of the fade that made it.
#pragma once
#include <string_view>

#include "store/sqlite.hpp"

namespace fade::store {

// `table`: tab separated, the first line names the columns. The data are fade's own: a line that is not understood
// stops the program.
Result<void> write_gpus(sqlite::Db& db, std::string_view table);

}  // namespace fade::store
