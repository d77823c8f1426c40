#include "store/batch_table.hpp"

#include <algorithm>
#include <new>

namespace fade::store {
namespace {

// https://www.sqlite.org/vtab.html: an eponymous table that can only be scanned from the first row to the last.
struct Table : sqlite3_vtab {
  const BatchTable* batch = nullptr;
};
struct Cursor : sqlite3_vtab_cursor {
  const std::int64_t* row = nullptr;
  const std::int64_t* end = nullptr;
  std::size_t columns = 0;
  std::int64_t last_id = 0;  // of the table, when all rows before this one are in it
};

int connect(sqlite3* db, void* batch, int, const char* const*, sqlite3_vtab** out, char**) {
  const auto* rows = static_cast<const BatchTable*>(batch);
  std::string declaration = "CREATE TABLE x(c0";
  for (std::size_t i = 1; i < rows->columns(); ++i) declaration += ",c" + std::to_string(i);
  if (const int code = sqlite3_declare_vtab(db, (declaration + ")").c_str()); code != SQLITE_OK) return code;
  auto* table = new (std::nothrow) Table{};
  if (!table) return SQLITE_NOMEM;
  table->batch = rows;
  *out = table;
  return SQLITE_OK;
}

int disconnect(sqlite3_vtab* table) {
  delete static_cast<Table*>(table);
  return SQLITE_OK;
}

int best_index(sqlite3_vtab* table, sqlite3_index_info* info) {
  info->estimatedRows = static_cast<sqlite3_int64>(static_cast<Table*>(table)->batch->rows());
  return SQLITE_OK;
}

int open_cursor(sqlite3_vtab*, sqlite3_vtab_cursor** out) {
  *out = new (std::nothrow) Cursor{};
  return *out ? SQLITE_OK : SQLITE_NOMEM;
}

int close_cursor(sqlite3_vtab_cursor* cursor) {
  delete static_cast<Cursor*>(cursor);
  return SQLITE_OK;
}

int filter(sqlite3_vtab_cursor* cursor, int, const char*, int, sqlite3_value**) {
  auto* self = static_cast<Cursor*>(cursor);
  const BatchTable& batch = *static_cast<Table*>(self->pVtab)->batch;
  self->columns = batch.columns();
  self->row = batch.row(0);
  self->end = batch.row(batch.rows());
  self->last_id = batch.last_id();
  return SQLITE_OK;
}

int next(sqlite3_vtab_cursor* cursor) {
  auto* self = static_cast<Cursor*>(cursor);
  self->last_id = std::max(self->last_id, *self->row);
  self->row += self->columns;
  return SQLITE_OK;
}

int at_end(sqlite3_vtab_cursor* cursor) {
  const auto* self = static_cast<Cursor*>(cursor);
  return self->row >= self->end;
}

int column(sqlite3_vtab_cursor* cursor, sqlite3_context* context, int at) {
  const auto* self = static_cast<Cursor*>(cursor);
  const std::int64_t value = self->row[at];
  // https://www.sqlite.org/autoinc.html: no id means the greatest one and 1. That is appended; any other is searched for first.
  const bool appended = at == 0 && value == self->last_id + 1;
  if (value != BatchTable::kNull && !appended) sqlite3_result_int64(context, value);  // nothing set is NULL
  return SQLITE_OK;
}

int row_id(sqlite3_vtab_cursor* cursor, sqlite3_int64* out) {
  const auto* self = static_cast<Cursor*>(cursor);
  *out = self->end - self->row;
  return SQLITE_OK;
}

constexpr sqlite3_module make_module() {
  sqlite3_module out{};
  out.xConnect = connect;
  out.xDisconnect = disconnect;
  out.xBestIndex = best_index;
  out.xOpen = open_cursor;
  out.xClose = close_cursor;
  out.xFilter = filter;
  out.xNext = next;
  out.xEof = at_end;
  out.xColumn = column;
  out.xRowid = row_id;
  return out;
}
constexpr sqlite3_module kModule = make_module();

}  // namespace

Result<void> BatchTable::attach(sqlite::Db& db) {
  const std::string source = target_ + "src";
  if (sqlite3_create_module_v2(db.get(), source.c_str(), &kModule, this, nullptr) != SQLITE_OK)
    return tl::unexpected(db.error("cannot create the source of " + target_));
  last_id_ = db.integer("SELECT max(rowid) FROM " + target_).value_or(0);
  Result<sqlite::Stmt> insert = db.prepare("INSERT INTO " + target_ + " SELECT * FROM " + source);
  if (!insert) return tl::unexpected(std::move(insert.error()));
  insert_ = std::move(*insert);
  return {};
}

Result<void> BatchTable::flush() {
  if (cells_.empty()) return {};
  Result<void> done = insert_.run();
  for (std::size_t i = 0; i < rows(); ++i) last_id_ = std::max(last_id_, *row(i));
  cells_.clear();
  return done;
}

}  // namespace fade::store
