// The size of a recording's file, and the log that SQLite keeps beside it. For the thread that writes.
#pragma once
#include <cstdint>

#include "base/result.hpp"
#include "store/database_file.hpp"
#include "store/sqlite.hpp"

namespace fade::store {

class FilePages {
 public:
  explicit FilePages(DatabaseFile& file) : file_(file) {}
  FilePages(const FilePages&) = delete;  // the connection keeps its address
  FilePages& operator=(const FilePages&) = delete;

  Result<void> prepare();  // once, before the next two
  // The size of the file after the open transaction is committed.
  std::uint64_t bytes();
  // Takes the log into the file if it has become long. Then the connection has `patience` in ms again.
  void checkpoint(int patience);
  void close() { count_ = {}; }  // statements go before their connection

 private:
  DatabaseFile& file_;
  sqlite::Stmt count_;
  std::uint64_t page_size_ = 0;
  int in_log_ = 0;
};

}  // namespace fade::store
