#include "cli/merge/merger.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>

#include "base/path.hpp"
#include "probes/call_block.hpp"
#include "schema/schema.hpp"
#include "store/new_schema.hpp"

namespace fade::merge {
namespace {

// A file that is thrown away if anything goes wrong needs neither a journal nor a sync for each page.
constexpr std::string_view kSettings =
    "PRAGMA main.journal_mode = OFF; PRAGMA main.synchronous = OFF; PRAGMA main.locking_mode = EXCLUSIVE; "
    "PRAGMA main.cache_size = -65536; PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF; "
    "PRAGMA cell_size_check = ON";
constexpr std::int64_t kMostIds = std::int64_t{1} << 61;  // so that sums of some files do not overflow

std::string identifier(std::string_view name) { return fmt::format("\"{}\"", name); }

// As SQLite wants the name of a file that it may only read (https://www.sqlite.org/uri.html).
std::string read_only_uri(const std::string& path) {
  std::string out = "file:";
  const std::unique_ptr<char, void (*)(void*)> whole(::realpath(path.c_str(), nullptr), ::free);
  for (const char c : std::string(whole ? whole.get() : literal_path(path).c_str())) {
    const bool is_plain = c == '/' || c == '-' || c == '_' || c == '.' || (c >= '0' && c <= '9') ||
                          (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    out += is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out + "?mode=ro";
}

void moved_block(sqlite3_context* context, int, sqlite3_value** values) {
  const auto* data = static_cast<const std::byte*>(sqlite3_value_blob(values[0]));
  const auto size = static_cast<std::size_t>(sqlite3_value_bytes(values[0]));
  const auto out = probes::with_moved_calls({data, data ? size : 0}, sqlite3_value_int64(values[1]));
  if (!out) return sqlite3_result_value(context, values[0]);  // a damaged block stays one
  sqlite3_result_blob64(context, out->data(), out->size(), SQLITE_TRANSIENT);
}

// The attached file; gone with the object. The transaction must have ended.
class Source {
 public:
  static Result<Source> attach(sqlite::Db& db, const std::string& path) {
    auto statement = db.prepare("ATTACH ?1 AS source");
    if (!statement) return tl::unexpected(statement.error());
    const std::string uri = read_only_uri(path);
    statement->bind_text(1, uri);
    if (auto done = statement->run(); !done) return tl::unexpected(done.error());
    return Source(db);
  }
  Source(Source&& other) noexcept : db_(std::exchange(other.db_, nullptr)) {}
  Source& operator=(Source&&) = delete;
  ~Source() {
    if (db_) (void)db_->exec("DETACH source");
  }

 private:
  explicit Source(sqlite::Db& db) : db_(&db) {}
  sqlite::Db* db_;
};

}  // namespace

Result<Merger> Merger::create(const std::string& path) {
  auto db = sqlite::Db::open(literal_path(path),
                             SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI);
  if (!db) return tl::unexpected(db.error());
  sqlite3_db_config(db->get(), SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_busy_timeout(db->get(), 5000);
  sqlite3_create_function_v2(db->get(), "fade_moved_block", 2, SQLITE_UTF8 | SQLITE_DIRECTONLY, nullptr, moved_block,
                             nullptr, nullptr, nullptr);
  Merger out(std::move(*db), References(schema::references()));
  if (auto done = out.db_.exec(kSettings); !done) return tl::unexpected(done.error());
  if (auto done = store::create_schema(out.db_); !done) return tl::unexpected(done.error());
  // Views that were written as rows are known to a connection when it reads the schema again.
  if (auto done = out.db_.exec("PRAGMA writable_schema = RESET"); !done) return tl::unexpected(done.error());
  sqlite3_db_config(out.db_.get(), SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);  // not before: it forbids to write the views
  if (auto done = out.read_tables(); !done) return tl::unexpected(done.error());
  return out;
}

// Tables that have rows in a new file are the same in each file.
Result<bool> Merger::is_constant(std::string_view table) {
  if (references_.is_of_file(table)) return true;
  auto found = db_.integer(fmt::format("SELECT EXISTS (SELECT 1 FROM main.{})", identifier(table)));
  return found ? Result<bool>(*found != 0) : tl::unexpected(found.error());
}

Result<void> Merger::read_tables() {
  auto rows = db_.prepare(schema::page_sql("merge_columns"));
  if (!rows) return tl::unexpected(rows.error());
  std::vector<Table> all;
  for (;;) {
    auto more = rows->step();
    if (!more) return tl::unexpected(more.error());
    if (!*more) break;
    const std::string_view table = rows->text(0), name = rows->text(2), type = rows->text(3);
    if (all.empty() || all.back().name != table) all.push_back({std::string(table), {}});
    const bool is_number = type == "INTEGER" || type == "BLOB";
    const auto holds = is_number ? references_.in(table, name) : Holds{};
    FADE_CHECK(holds);  // schema/references.tsv lacks a column
    const bool is_key = rows->integer(4) == 1 && holds->what == Holds::What::Ids && holds->table == table;
    all.back().columns.push_back({std::string(name), *holds, is_key});
  }
  for (Table& table : all) {
    auto constant = is_constant(table.name);
    if (!constant) return tl::unexpected(constant.error());
    if (!*constant) tables_.push_back(std::move(table));
  }
  return {};
}

Result<Added> Merger::add(const std::string& path) {
  const std::string doing = "cannot merge " + path;
  auto source = Source::attach(db_, path);
  if (!source) return tl::unexpected(with_context(doing, source.error()));
  auto transaction = sqlite::Txn::begin(db_, "BEGIN");
  if (!transaction) return tl::unexpected(with_context(doing, transaction.error()));
  if (auto fine = check_tables(); !fine) return tl::unexpected(with_context(doing, fine.error()));
  auto added = look_at_sessions();
  if (!added) return tl::unexpected(with_context(doing, added.error()));
  if (added->known > 0 && added->known < added->sessions)
    return fail(doing,
                fmt::format("{} of its {} sessions came with another file already", added->known, added->sessions),
                "leave out the file that has fewer of them");
  if (!added->left_out())
    if (auto done = copy_all(); !done) return tl::unexpected(with_context(doing, done.error()));
  if (auto done = transaction->commit(); !done) return tl::unexpected(with_context(doing, done.error()));
  return added;
}

Result<void> Merger::check_tables() {
  auto differs = db_.text(schema::page_sql("merge_tables"));
  if (!differs) return tl::unexpected(differs.error());
  if (differs->empty()) return {};
  return fail("", fmt::format("its table {} has another form: a fade of another state recorded it", *differs),
              "record again with this fade, or merge with the fade that recorded it");
}

Result<Added> Merger::look_at_sessions() {
  auto row = db_.prepare(schema::page_sql("merge_known"));
  if (!row) return tl::unexpected(row.error());
  auto got = row->step();
  if (!got) return tl::unexpected(got.error());
  return Added{row->integer(0), row->integer(1)};
}

Result<void> Merger::copy_all() {
  for (const Table& table : tables_)
    if (references_.is_shared(table.name))
      if (auto done = share(table); !done) return done;
  auto highest = highest_ids();
  if (!highest) return tl::unexpected(highest.error());
  for (const Table& table : tables_)
    if (!references_.is_shared(table.name))
      if (auto done = copy(table); !done) return done;
  for (const auto& [table, id] : *highest) {
    bases_[table] += id;
    if (bases_[table] > kMostIds) return fail("", fmt::format("an id of its table {} is out of range", table));
  }
  // Reports find the calls of a session by its last one, which fade did not write if it was killed.
  auto last = db_.prepare("UPDATE session_ SET last_call = ?1 WHERE id = ?2 AND last_call < ?1");
  if (!last) return tl::unexpected(last.error());
  last->bind(bases_["call_"], bases_["session_"]);
  ++files_;
  return last->run();
}

// The highest id of each table in the attached file: of its rows, and of references to rows that are missing.
Result<Merger::Ids> Merger::highest_ids() {
  Ids out;
  for (const Table& table : tables_) {
    std::vector<std::string> targets;
    std::string list;
    for (const Column& column : table.columns) {
      if (column.holds.what != Holds::What::Ids) continue;
      targets.push_back(column.holds.table);
      list += fmt::format("{}max({})", list.empty() ? "" : ", ", identifier(column.name));
    }
    if (targets.empty()) continue;
    auto row = db_.prepare(fmt::format("SELECT {} FROM source.{}", list, identifier(table.name)));
    if (!row) return tl::unexpected(row.error());
    if (auto got = row->step(); !got) return tl::unexpected(got.error());
    for (std::size_t i = 0; i < targets.size(); ++i) {
      std::int64_t& highest = out[targets[i]];
      highest = std::max(highest, row->integer(static_cast<int>(i)));
      if (highest > kMostIds) return fail("", fmt::format("an id in its table {} is out of range", table.name));
    }
  }
  return out;
}

// Rows that the new file does not have yet, and a table from the ids of the attached file to those of the new one.
Result<void> Merger::share(const Table& table) {
  std::string names, same;
  for (const Column& column : table.columns) {
    if (column.is_key) continue;
    names += fmt::format("{}s.{}", names.empty() ? "" : ", ", identifier(column.name));
    same +=
        fmt::format("{}m.{} IS s.{}", same.empty() ? "" : " AND ", identifier(column.name), identifier(column.name));
  }
  std::string into = names;
  for (std::size_t at = 0; (at = into.find("s.\"", at)) != into.npos;) into.erase(at, 2);
  return db_.exec(fmt::format(
      "INSERT INTO main.{0} ({1}) SELECT DISTINCT {2} FROM source.{0} s LEFT JOIN main.{0} m ON {3} WHERE m.id IS NULL;"
      "DROP TABLE IF EXISTS temp.moved_{4};"
      "CREATE TEMP TABLE moved_{4} AS SELECT s.id AS old, min(m.id) AS new FROM source.{0} s JOIN main.{0} m ON {3} "
      "GROUP BY s.id; CREATE UNIQUE INDEX temp.moved_{4}_old ON moved_{4} (old)",
      identifier(table.name), into, names, same, table.name));
}

std::string Merger::moved(const Column& column) const {
  const std::string name = identifier(column.name);
  if (column.holds.what == Holds::What::Numbers) return name;
  if (references_.is_shared(column.holds.table))
    return fmt::format(
        "CASE WHEN {0} > 0 THEN coalesce((SELECT new FROM temp.moved_{1} WHERE old = {0}), 0) ELSE {0} END", name,
        column.holds.table);
  const auto base = bases_.find(column.holds.table);
  if (base == bases_.end() || base->second == 0) return name;
  if (column.holds.what == Holds::What::PackedCalls) return fmt::format("fade_moved_block({}, {})", name, base->second);
  return fmt::format("CASE WHEN {0} > 0 THEN {0} + {1} ELSE {0} END", name, base->second);
}

// SQLite copies pages without looking into rows where a statement selects all columns as they are.
Result<void> Merger::copy(const Table& table) {
  std::string columns, values;
  bool is_moved = false;
  for (const Column& column : table.columns) {
    const std::string value = moved(column);
    is_moved |= value != identifier(column.name);
    columns += (columns.empty() ? "" : ", ") + identifier(column.name);
    values += (values.empty() ? "" : ", ") + value;
  }
  const std::string sql = is_moved
                              ? fmt::format("INSERT INTO main.{0} ({1}) SELECT {2} FROM source.{0}",
                                            identifier(table.name), columns, values)
                              : fmt::format("INSERT INTO main.{0} SELECT * FROM source.{0}", identifier(table.name));
  auto done = db_.exec(sql);
  if (done && table.name == "call_") calls_ += sqlite3_changes64(db_.get());
  return done;
}

Result<sqlite::Db> Merger::finish() {
  auto note = db_.prepare("INSERT INTO meta_ VALUES ('merged_files', ?1)");
  if (!note) return tl::unexpected(note.error());
  const std::string files = std::to_string(files_);  // a bound text is not copied
  note->bind(files);
  if (auto done = note->run(); !done) return tl::unexpected(done.error());
  return std::move(db_);
}

}  // namespace fade::merge
