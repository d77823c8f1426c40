#include "store/coverage_rows.hpp"

namespace fade::store {

Result<void> write_coverage(sqlite::Db& db, SessionRow session, const Coverage& coverage) {
  auto txn = sqlite::Txn::begin(db);
  if (!txn) return tl::unexpected(std::move(txn.error()));
  Failure failure;
  Write filter(db, failure, "INSERT INTO filter_ (session, kind, value) VALUES (?,?,?)");
  Write functions(db, failure,
                  "INSERT INTO selection_ (session, api, grp, kind, why, n, names) VALUES (?,?,?,?,?,?,?)");
  for (const Coverage::Filter& f : coverage.filters) filter(session, f.kind, f.value);
  for (const Coverage::Functions& f : coverage.functions)
    functions(session, f.api, f.group, f.kind, unless_empty(f.why), f.n, unless_empty(f.names));
  if (failure) return tl::unexpected(std::move(*failure.error));
  return txn->commit();
}

}  // namespace fade::store
