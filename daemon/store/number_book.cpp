#include "store/number_book.hpp"

#include <algorithm>

namespace fade::store {
namespace {

bool is_found(const NumbersSeen& seen) { return seen.nan + seen.inf + seen.outside > 0; }

std::int64_t cell(std::uint64_t value) { return static_cast<std::int64_t>(value); }
std::optional<std::int64_t> cell(const std::optional<std::uint64_t>& value) {
  return value ? std::optional(static_cast<std::int64_t>(*value)) : std::nullopt;
}

}  // namespace

NumberBook::NumberBook(sqlite::Db& db, Failure& failure, Directory& directory, StepBook& steps)
    : directory_(directory),
      steps_(steps),
      last_(last_row<NumberRow>(db, "number_")),
      row_(db, failure, "INSERT INTO number_ VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"),
      sum_(db, failure,
           "INSERT INTO number_sum_ VALUES "
           "(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18,?19,?20,?21,?22) "
           "ON CONFLICT DO UPDATE SET copies = copies + excluded.copies, bytes = bytes + excluded.bytes, scanned = "
           "scanned + excluded.scanned, elements = elements + excluded.elements, nan = nan + excluded.nan, inf = inf + "
           "excluded.inf, outside = outside + excluded.outside, nan_copies = nan_copies + excluded.nan_copies, "
           "found_copies = found_copies + excluded.found_copies, least = min(coalesce(least, excluded.least), "
           "coalesce(excluded.least, least)), greatest = max(coalesce(greatest, excluded.greatest), "
           "coalesce(excluded.greatest, greatest)), first_found = coalesce(first_found, excluded.first_found), "
           "first_nan = coalesce(first_nan, excluded.first_nan)"),
      step_sum_(db, failure,
                "INSERT INTO number_step_ VALUES (?1,?2,?3,?4,?5,?6,?7) ON CONFLICT DO UPDATE SET copies = copies + "
                "excluded.copies, bytes = bytes + excluded.bytes, scanned = scanned + excluded.scanned"),
      left_(db, failure,
            "INSERT INTO number_left_ VALUES (?1,?2,?3,?4,?5) ON CONFLICT DO UPDATE SET copies = copies + "
            "excluded.copies, bytes = bytes + excluded.bytes") {}

void NumberBook::on(const NumbersSeen& seen, bool keep_rows) {
  const ThreadEntry* thread = directory_.thread(seen.thread);
  if (!thread) return;
  const ProcessRow process = directory_.process_row(thread->process);
  NumberRow row = 0;
  if (is_found(seen) || seen.checksum) {
    if (keep_rows && rows_ < kMostRows) row = write(seen, process);
    else left_(process, seen.down, "its row was not kept, only its sums", 1, cell(seen.scanned));
  }
  add_up(seen, process, row);
  const ThreadRow thread_row = directory_.thread_row(seen.thread);
  StepSum& step = step_sums_[{process, thread_row, steps_.open_step(process, thread_row), seen.down}];
  ++step.copies;
  step.bytes += seen.bytes;
  step.scanned += seen.scanned;
}

NumberRow NumberBook::write(const NumbersSeen& seen, ProcessRow process) {
  ++rows_;
  const NumberRow row = ++last_;
  const ThreadRow thread = directory_.thread_row(seen.thread);
  row_(row, unless(directory_.call_row(seen.call), 0), unless(directory_.call_row(seen.wait), 0), process, thread,
       directory_.function_row(seen.function), unless(directory_.site_row(seen.caller), 0),
       unless(directory_.stack_row(seen.stack), 0), unless(steps_.open_step(process, thread), 0), seen.at, seen.down,
       cell(seen.host), cell(seen.device), cell(seen.bytes), cell(seen.scanned), unless_empty(seen.type), seen.guessed,
       cell(seen.elements), cell(seen.nan), cell(seen.inf), cell(seen.outside), cell(seen.first),
       unless_empty(seen.first_value), seen.least, seen.greatest, cell(seen.checksum));
  return row;
}

void NumberBook::add_up(const NumbersSeen& seen, ProcessRow process, NumberRow row) {
  const bool is_crowded = sums_.size() >= kMostSums;
  Sum& sum = sums_[{process, directory_.function_row(seen.function), directory_.site_row(seen.caller),
                    is_crowded ? StackRow(0) : directory_.stack_row(seen.stack), seen.down,
                    is_crowded ? 0 : seen.device, seen.type, seen.guessed}];
  if (sum.copies++ == 0) sum.first = seen.at;
  sum.bytes += seen.bytes;
  sum.scanned += seen.scanned;
  sum.elements += seen.elements;
  sum.nan += seen.nan;
  sum.inf += seen.inf;
  sum.outside += seen.outside;
  sum.nan_copies += seen.nan > 0;
  sum.found_copies += is_found(seen);
  if (seen.least) sum.least = std::min(sum.least.value_or(*seen.least), *seen.least);
  if (seen.greatest) sum.greatest = std::max(sum.greatest.value_or(*seen.greatest), *seen.greatest);
  if (is_found(seen) && sum.first_found == 0) sum.first_found = row;
  if (seen.nan > 0 && sum.first_nan == 0) sum.first_nan = row;
}

void NumberBook::on(const NumbersLeft& n) {
  left_(directory_.process_row(n.process), n.down, n.reason, n.copies, n.bytes);
}

void NumberBook::flush() {
  for (const auto& [key, sum] : step_sums_) {
    const auto& [process, thread, step, down] = key;
    step_sum_(process, thread, step, down, sum.copies, sum.bytes, sum.scanned);
  }
  step_sums_.clear();
  for (auto& [key, sum] : sums_) {
    if (sum.copies == 0) continue;
    const auto& [process, function, site, stack, down, device, type, guessed] = key;
    sum_(process, function, site, stack, down, cell(device), type, guessed, sum.copies, sum.bytes, sum.scanned,
         sum.elements, sum.nan, sum.inf, sum.outside, sum.nan_copies, sum.found_copies, sum.least, sum.greatest,
         sum.first, unless(sum.first_found, 0), unless(sum.first_nan, 0));
    sum = {.first_found = sum.first_found, .first_nan = sum.first_nan};
  }
}

}  // namespace fade::store
