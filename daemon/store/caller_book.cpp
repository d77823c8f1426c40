#include "store/caller_book.hpp"

namespace fade::store {

CallerBook::CallerBook(sqlite::Db& db, Failure& failure, const Libraries& libraries)
    : libraries_(libraries),
      write_(db, failure,
             "INSERT INTO caller_stat_ VALUES (?1,?2,?3,?4,?5,?6,?7) ON CONFLICT DO UPDATE SET n = n + excluded.n, "
             "errors = errors + excluded.errors, "
             "total = total + excluded.total, self = self + excluded.self") {}

void CallerBook::flush() {
  for (const auto& [key, sum] : sums_)
    write_(key.process, libraries_.path(key.library), key.function, sum.n, sum.errors, sum.total, sum.self);
  sums_.clear();
}

}  // namespace fade::store
