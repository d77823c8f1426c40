#include "store/check_book.hpp"

#include <cmath>
#include <optional>

namespace fade::store {
namespace {

std::int64_t signed_cell(std::uint64_t value) { return static_cast<std::int64_t>(value); }
std::optional<std::int64_t> signed_cell(const std::optional<std::uint64_t>& value) {
  return value ? std::optional(static_cast<std::int64_t>(*value)) : std::nullopt;
}

// SQLite stores a NaN as NULL.
std::optional<double> number_if_differing(const ProductChecked& n, double value) {
  return n.differing > 0 && !std::isnan(value) ? std::optional(value) : std::nullopt;
}

}  // namespace

CheckBook::CheckBook(sqlite::Db& db, Failure& failure, Directory& directory, StepBook& steps)
    : directory_(directory),
      steps_(steps),
      row_(db, failure,
           "INSERT INTO check_ (call, thread, fn, caller, stack, step, ts, held_ns, type, ops, m, n, k, batch, "
           "checked, bytes, problem, elements, differing, at_row, at_column, at_matrix, got, wanted, worst, allowed, "
           "shown, folder, blas) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"),
      left_(db, failure,
            "INSERT INTO check_left_ VALUES (?1,?2,?3,?4) ON CONFLICT DO UPDATE SET calls = calls + excluded.calls") {}

void CheckBook::on(const ProductChecked& n) {
  const ThreadEntry* thread = directory_.thread(n.thread);
  if (!thread) return;
  const ThreadRow row = directory_.thread_row(n.thread);
  row_(unless(directory_.call_row(n.call), 0), row, directory_.function_row(n.function),
       unless(directory_.site_row(n.caller), 0), unless(directory_.stack_row(n.stack), 0),
       unless(steps_.open_step(directory_.process_row(thread->process), row), 0), n.at, n.held_ns, n.type, n.ops,
       signed_cell(n.m), signed_cell(n.n), signed_cell(n.k), signed_cell(n.batch), signed_cell(n.checked),
       signed_cell(n.bytes), unless_empty(n.problem), signed_cell(n.elements), signed_cell(n.differing),
       signed_cell(n.row), signed_cell(n.column), signed_cell(n.matrix), number_if_differing(n, n.got),
       number_if_differing(n, n.wanted), number_if_differing(n, n.worst), number_if_differing(n, n.limit),
       unless_empty(n.shown), unless_empty(n.folder), unless_empty(n.blas));
}

void CheckBook::on(const ProductsLeft& n) {
  left_(directory_.process_row(n.process), directory_.function_row(n.function), n.reason, signed_cell(n.calls));
}

}  // namespace fade::store
