#include "store/caller_book.hpp"

namespace fade::store {

CallerBook::CallerBook(sqlite::Db& db, Failure& failure, const Libraries& libraries)
    : libraries_(libraries),
      write_(db, failure,
             "INSERT INTO caller_stat_ VALUES (?1,?2,?3,?4,?5,?6,?7) ON CONFLICT DO UPDATE SET n = n + excluded.n, errors = errors + excluded.errors, "
             "total = total + excluded.total, self = self + excluded.self") {}

void CallerBook::call(RowId process, LibraryId library, RowId function, std::int64_t ns, std::int64_t self_ns, bool failed) {
  const Key key{process, function, library};
  if (!last_sum_ || last_key_ != key) {
    last_key_ = key;
    last_sum_ = &sums_[key];
  }
  ++last_sum_->n;
  last_sum_->errors += failed;
  last_sum_->total += ns;
  last_sum_->self += self_ns;
}

void CallerBook::flush() {
  for (const auto& [key, sum] : sums_) write_(key.process, libraries_.path(key.library), key.function, sum.n, sum.errors, sum.total, sum.self);
  sums_.clear();
  last_sum_ = nullptr;
}

}  // namespace fade::store
