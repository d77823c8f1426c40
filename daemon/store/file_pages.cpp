#include "store/file_pages.hpp"

#include <utility>

namespace fade::store {
namespace {

constexpr int kPassivePages = 4'000;   // 64 MB of WAL
constexpr int kRestartPages = 16'384;  // 256 MB
constexpr int kRestartPatience = 50;   // ms that readers may hold a restart up

}  // namespace

Result<void> FilePages::prepare() {
  Result<sqlite::Stmt> query = file_.db.prepare("PRAGMA page_count");
  if (!query) return tl::unexpected(std::move(query.error()));
  count_ = std::move(*query);
  page_size_ = static_cast<std::uint64_t>(file_.db.integer("PRAGMA page_size").value_or(0));
  sqlite3_wal_hook(
      file_.db.get(),
      [](void* self, sqlite3*, const char*, int count) {
        static_cast<FilePages*>(self)->in_log_ = count;
        return SQLITE_OK;
      },
      this);
  return {};
}

std::uint64_t FilePages::bytes() {
  const Result<bool> row = count_.step();
  const auto pages = row && *row ? static_cast<std::uint64_t>(count_.integer(0)) : 0;
  count_.reset();
  return pages * page_size_;
}

// A reader may keep the log from being used again; beyond 256 MB we wait for it a moment.
void FilePages::checkpoint(int patience) {
  if (!file_.wal || in_log_ < kPassivePages) return;
  const bool restart = in_log_ > kRestartPages;
  if (restart) sqlite3_busy_timeout(file_.db.get(), kRestartPatience);
  sqlite3_wal_checkpoint_v2(file_.db.get(), nullptr, restart ? SQLITE_CHECKPOINT_RESTART : SQLITE_CHECKPOINT_PASSIVE,
                            nullptr, nullptr);
  if (restart) sqlite3_busy_timeout(file_.db.get(), patience);
}

}  // namespace fade::store
