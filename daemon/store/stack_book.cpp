#include "store/stack_book.hpp"

#include <algorithm>
#include <limits>

namespace fade::store {
namespace {

constexpr int kByLibunwind = 3;  // frame_.kind, after the kinds of FrameSeen

}  // namespace

StackBook::StackBook(sqlite::Db& db, Failure& failure, const Directory& directory)
    : directory_(directory),
      frame_(db, failure, "INSERT INTO frame_ VALUES (?,?,?,?,?,?,?,?,?)"),
      stack_(db, failure, "INSERT INTO stack_ VALUES (?,?,?)"),
      call_(db, failure, "INSERT OR REPLACE INTO call_stack_ VALUES (?,?)"),
      sum_(db, failure,
           "INSERT INTO stack_stat_ VALUES (?1,?2,?3,?4,?5,?6,?7,?8) ON CONFLICT DO UPDATE SET n = n + excluded.n, "
           "errors = errors + excluded.errors, "
           "total = total + excluded.total, self = self + excluded.self, bytes = bytes + excluded.bytes, first_call = "
           "min(first_call, excluded.first_call)") {}

void StackBook::on(const FrameSeen& n) {
  frame_(directory_.frame_row(n.frame), directory_.process_row(n.process),
         n.by_libunwind ? kByLibunwind : static_cast<int>(n.kind), unless(directory_.module_row(n.module), 0),
         static_cast<std::int64_t>(n.address), static_cast<std::int64_t>(n.offset), unless_empty(n.function),
         unless_empty(n.file), unless(n.line, 0));
}

void StackBook::on(const StackSeen& n) {
  stack_(directory_.stack_row(n.stack), unless(directory_.stack_row(n.parent), 0), directory_.frame_row(n.frame));
}

void StackBook::count(const StackCall& call) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 50;  // of one call: sizes come from the program
  Sum& sum = sums_[{directory_.stack_row(call.stack), call.function}];
  sum.first_call = sum.n == 0 ? call.call : std::min(sum.first_call, call.call);
  ++sum.n;
  sum.errors += call.failed;
  sum.total += call.ns;
  sum.self += call.self_ns;
  sum.bytes += static_cast<std::int64_t>(std::min(call.bytes, kMostBytes));
}

void StackBook::flush() {
  for (const auto& [key, sum] : sums_)
    sum_(key.stack, key.function, sum.n, sum.errors, sum.total, sum.self, sum.bytes, sum.first_call);
  sums_.clear();
}

}  // namespace fade::store
