#include "store/batch_table.hpp"

#include <algorithm>
#include <new>

namespace fade::store {
namespace {

constexpr std::size_t kWorthAStatement = 16;  // rows
constexpr std::size_t kMostStatements = 64;   // for columns with one value
constexpr std::uint64_t kId = 1;              // as an empty column: SQLite gives the next one

// https://www.sqlite.org/vtab.html: an eponymous table that can only be scanned from the first row to the last.
struct Table : sqlite3_vtab {
  const BatchTable* batch = nullptr;
};
struct Cursor : sqlite3_vtab_cursor {
  const std::int64_t* row = nullptr;
  const std::int64_t* end = nullptr;
  std::size_t columns = 0;
  std::int64_t last_id = 0;  // of the table, when all rows before this one are in it
  bool has_ids = false;
  bool appended = false;  // this row's id is the next one
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

// https://www.sqlite.org/autoinc.html: no id means the greatest one and 1. That is appended; any other is searched for
// first.
void look_at_id(Cursor& cursor) {
  cursor.appended = cursor.has_ids && cursor.row < cursor.end && *cursor.row == cursor.last_id + 1;
}

int filter(sqlite3_vtab_cursor* cursor, int, const char*, int, sqlite3_value**) {
  auto* self = static_cast<Cursor*>(cursor);
  const BatchTable& batch = *static_cast<Table*>(self->pVtab)->batch;
  self->columns = batch.columns();
  self->row = batch.row(batch.first());
  self->end = batch.row(batch.end());
  self->last_id = batch.last_id();
  self->has_ids = batch.has_ids();
  look_at_id(*self);
  return SQLITE_OK;
}

int next(sqlite3_vtab_cursor* cursor) {
  auto* self = static_cast<Cursor*>(cursor);
  self->last_id = std::max(self->last_id, *self->row);
  self->row += self->columns;
  look_at_id(*self);
  return SQLITE_OK;
}

int at_end(sqlite3_vtab_cursor* cursor) {
  const auto* self = static_cast<Cursor*>(cursor);
  return self->row >= self->end;
}

int column(sqlite3_vtab_cursor* cursor, sqlite3_context* context, int at) {
  const auto* self = static_cast<Cursor*>(cursor);
  if (at == 0 && self->appended) return SQLITE_OK;
  const std::int64_t value = self->row[at];
  if (value != BatchTable::kNull) sqlite3_result_int64(context, value);  // nothing set is NULL
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
  if (sqlite3_create_module_v2(db.get(), source().c_str(), &kModule, this, nullptr) != SQLITE_OK)
    return tl::unexpected(db.error("cannot create the source of " + target_));
  Result<sqlite::Stmt> names = db.prepare("SELECT name, pk FROM pragma_table_info('" + target_ + "') ORDER BY cid");
  if (!names) return tl::unexpected(std::move(names.error()));
  for (Result<bool> row = names->step(); row && *row; row = names->step()) {
    has_ids_ = has_ids_ || (on_conflict_.empty() && names->integer(1) == 1);
    id_is_last_ = has_ids_ && names->integer(1) == 1;
    names_.insert(id_is_last_ ? names_.begin() : names_.end(), std::string(names->text(0)));
  }
  if (has_ids()) last_id_ = db.integer("SELECT max(rowid) FROM " + target_).value_or(0);
  db_ = &db;
  if (const auto all = insert_of({}); !all) return tl::unexpected(all.error());
  return {};
}

// Columns that SQLite need not fetch for every row cost next to nothing. Columns in the order of the table are not
// copied once more.
Result<sqlite::Stmt*> BatchTable::insert_of(const Shape& shape) {
  if (const auto known = inserts_.find(shape); known != inserts_.end()) return &known->second;
  std::string into, from;
  for (std::size_t i = 0; i < columns_; ++i) {
    const std::size_t column = (i + id_is_last_) % columns_;
    const std::uint64_t bit = std::uint64_t{1} << column;
    if (column == 0 && (shape.empty & kId)) continue;
    into += (into.empty() ? "" : ",") + names_[column];
    from += (from.empty() ? "" : ",") +
            (shape.empty & bit ? std::string("NULL")
                               : (shape.same & bit ? "?" + std::to_string(column + 1) : "c" + std::to_string(column)));
  }
  // OR ROLLBACK: a statement that cannot end half done keeps no copies of the pages it changes. The recorder gives up
  // either way.
  std::string sql = std::string("INSERT ") + (has_ids() ? "OR ROLLBACK " : "") + "INTO " + target_ + "(" + into +
                    ") SELECT " + from + " FROM " + source();
  if (!on_conflict_.empty()) sql += " WHERE true ON CONFLICT " + on_conflict_;
  Result<sqlite::Stmt> insert = db_->prepare(sql);
  if (!insert) return tl::unexpected(std::move(insert.error()));
  return &(inserts_[shape] = std::move(*insert));
}

Result<void> BatchTable::insert(const Shape& shape) {  // an equal column is bound once: DECISIONS 73
  const Result<sqlite::Stmt*> insert = insert_of(shape);
  if (!insert) return tl::unexpected(insert.error());
  for (std::size_t column = 0; column < columns_; ++column)
    if (shape.same >> column & 1) (*insert)->bind_int(static_cast<int>(column + 1), cells_[column]);
  return (*insert)->run();
}

BatchTable::Shape BatchTable::shape() const {
  Shape out;
  for (std::size_t column = has_ids_; used_ > 0 && column < columns_; ++column) {
    if (differ_[column] != 0) continue;
    const std::uint64_t bit = std::uint64_t{1} << column;
    if (cells_[column] == kNull) out.empty |= bit;
    else if (rows() >= kWorthAStatement) out.same |= bit;
  }
  const Shape appended{out.empty | kId, out.same};
  if (inserts_.size() >= kMostStatements && !inserts_.contains(out) && !inserts_.contains(appended)) out.same = 0;
  return out;
}

// Rows from first_ on for one statement. True: their ids are the next ones, one by one, so that SQLite need not look
// for rows that have them.
bool BatchTable::next_stretch() {
  end_ = rows();
  if (!id_is_last_) return false;
  std::int64_t last = last_id_;
  std::size_t following = 0;
  for (end_ = first_; end_ < rows(); ++end_) {
    const std::int64_t id = *row(end_);
    if (id != last + 1 && following >= kWorthAStatement) break;
    following = id == last + 1 ? following + 1 : 0;
    last = std::max(last, id);
  }
  if (following < kWorthAStatement) return false;
  if (end_ - first_ == following) return true;
  end_ -= following;
  return false;
}

Result<void> BatchTable::flush() {
  const Shape all = shape();
  Result<void> done;
  for (first_ = 0; done && first_ < rows(); first_ = end_) {
    Shape these = all;
    if (next_stretch()) these.empty |= kId;
    done = insert(these);
    for (std::size_t i = first_; has_ids_ && i < end_; ++i) last_id_ = std::max(last_id_, *row(i));
  }
  clear();
  return done;
}

}  // namespace fade::store
