#include "store/cached_book.hpp"

namespace fade::store {

CachedBook::CachedBook(sqlite::Db& db, Failure& failure, const Directory& directory)
    : directory_(directory),
      base_(last_row<CachedCopyRow>(db, "cached_copy_")),
      search_(db, failure, "INSERT INTO cached_search_ VALUES (NULL,?,?,?,?,?,?,?,?)"),
      copy_(db, failure, "INSERT OR REPLACE INTO cached_copy_ VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,NULL,NULL,?)"),
      drop_fields_(db, failure, "DELETE FROM cached_field_ WHERE copy = ?"),
      field_(db, failure, "INSERT INTO cached_field_ VALUES (NULL,?,?,?,?,?,?,?,?)"),
      changed_(db, failure, "UPDATE cached_copy_ SET changed = ?2 WHERE id = ?1"),
      put_back_(db, failure, "UPDATE cached_copy_ SET put_back = ?2 WHERE id = ?1"),
      left_(db, failure, "UPDATE cached_copy_ SET problem = ?2 WHERE id = ?1") {}

CachedCopyRow CachedBook::row(CachedId id) const {
  return id == 0 ? CachedCopyRow() : CachedCopyRow::of(base_.value() + id.value());
}

void CachedBook::on(const CachedSearch& n) {
  search_(directory_.process_row(n.process), n.at, n.ns, n.bytes, n.left, n.copies, n.held_ns, unless_empty(n.limit));
}

// A copy of which more is known now replaces its row.
void CachedBook::on(const CachedCopy& n) {
  drop_fields_(row(n.copy));
  copy_(row(n.copy), unless(row(n.parent), 0), directory_.process_row(n.process), n.at, n.address, n.layout,
        unless(n.device, -1), unless_empty(n.name), unless_empty(n.arch), unless_empty(n.pci), unless_empty(n.library),
        unless_empty(n.mapping), unless_empty(n.known_by), unless_empty(n.problem));
}

void CachedBook::on(const CachedField& n) {
  field_(row(n.copy), directory_.rule_row(n.rule), n.offset, n.field, n.was, n.became, std::span(n.old_bytes),
         std::span(n.new_bytes));
}

void CachedBook::on(const CachedChange& n) {
  using What = CachedChange::What;
  if (n.what == What::Left) left_(row(n.copy), n.problem);
  else (n.what == What::Changed ? changed_ : put_back_)(row(n.copy), n.at);
}

}  // namespace fade::store
