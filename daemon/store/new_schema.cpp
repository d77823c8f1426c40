#include "store/new_schema.hpp"

#include <string_view>

#include "schema/schema.hpp"
#include "store/gpu_table.hpp"

namespace fade::store {
namespace {

// Only readers use views. SQLite's work for a CREATE VIEW (it parses the SELECT, copies it, and parses the stored copy
// once more) takes four times as long as all other work that a program waits for here. So the rows of the views are
// written directly, as SQLite would write them (DECISIONS 66).
Result<void> insert_views(sqlite::Stmt& insert) {
  for (const schema::View& view : schema::each_view()) {
    insert.bind_text(1, view.name);
    insert.bind_text(2, view.sql);
    if (auto done = insert.run(); !done) return done;
  }
  return {};
}

Result<void> create_views(sqlite::Db& db) {
  if (auto done = db.exec("PRAGMA writable_schema = ON"); !done) return done;
  auto insert =
      db.prepare("INSERT INTO sqlite_master (type, name, tbl_name, rootpage, sql) VALUES ('view', ?1, ?1, 0, ?2)");
  // some builds of SQLite forbid this to all programs
  const Result<void> done = insert ? insert_views(*insert) : db.exec(schema::views());
  return done ? db.exec("PRAGMA writable_schema = OFF") : done;
}

}  // namespace

// Without waiting for the disk: the program waits for us, and an empty recording is no loss.
Result<void> create_schema(sqlite::Db& db) {
  if (auto done = db.exec("PRAGMA page_size = 16384; PRAGMA synchronous = OFF"); !done) return done;
  auto txn = sqlite::Txn::begin(db);
  if (!txn) return tl::unexpected(std::move(txn.error()));
  if (auto done = db.exec(schema::tables()); !done) return done;
  if (auto done = create_views(db); !done) return done;
  if (auto done = db.exec(schema::docs()); !done) return done;
  if (auto done = write_gpus(db, schema::gpus()); !done) return done;
  return txn->commit();
}

}  // namespace fade::store
