// The database file: created, overwritten or added to, with the journal that its file system allows. Refuses files that
// fade did not make. Knows the schema's identity, not its rows.
#pragma once
#include <string>

#include "base/fd.hpp"
#include "base/recording.hpp"
#include "base/result.hpp"
#include "store/sqlite.hpp"

namespace fade::store {

// The connection goes before the descriptor: closing any descriptor of a file drops SQLite's locks on it.
struct DatabaseFile {
  std::string path;
  Fd lock;  // held for as long as we write
  sqlite::Db db;
  bool wal = true;      // false on network file systems, where shared memory does not work
  bool is_new = false;  // made by us
};

// After a failure, a file that it made is gone again.
Result<DatabaseFile> open_database(const std::string& path, OpenMode mode);

// Removes a file that fade made and could not use: it would only block the next attempt.
void abandon(DatabaseFile& file);

// Brings everything into the one file. The connection stays open.
Result<void> make_single_file(DatabaseFile& file);

// `magic`: from statfs(2).
bool is_network_file_system(long magic);

}  // namespace fade::store
