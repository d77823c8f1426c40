#include "store/idle_book.hpp"

#include <algorithm>
#include <vector>

namespace fade::store {
namespace {

constexpr std::size_t kMostKept = 400,
                      kMostWritten = 100;  // the rest stands in where late calls cut a longer one into pieces

}  // namespace

IdleBook::IdleBook(sqlite::Db& db, Failure& failure)
    : clear_(db, failure, "DELETE FROM idle_ WHERE process = ?"),
      idle_(db, failure, "INSERT OR REPLACE INTO idle_ VALUES (?,?,?,?,?)") {}

void IdleBook::begin_process(ProcessRow process, std::int64_t at) { processes_[process].busy_until = at; }

void IdleBook::add(Process& process, std::int64_t from, const Gap& gap) {
  if (gap.to - from < kShortest) return;
  process.gaps[from] = gap;
  process.changed = true;
  if (process.gaps.size() <= kMostKept) return;
  process.gaps.erase(std::min_element(process.gaps.begin(), process.gaps.end(), [](const auto& a, const auto& b) {
    return a.second.to - a.first < b.second.to - b.first;
  }));
}

// Calls arrive in the order of their returns: a long one of another thread may turn out to have run during an apparent
// gap.
void IdleBook::cover(Process& process, const Call& call) {
  auto gap = process.gaps.upper_bound(call.entry);
  if (gap != process.gaps.begin()) --gap;
  std::vector<std::pair<std::int64_t, Gap>> left;
  while (gap != process.gaps.end() && gap->first < call.exit) {
    const auto [from, what] = *gap;
    if (what.to <= call.entry) {
      ++gap;
      continue;
    }
    if (from < call.entry) left.push_back({from, {call.entry, what.before, call.call}});
    if (call.exit < what.to) left.push_back({call.exit, {what.to, call.call, what.after}});
    gap = process.gaps.erase(gap);
    process.changed = true;
  }
  for (const auto& [from, what] : left) add(process, from, what);
}

IdleBook::Process* IdleBook::of(ProcessRow process) {
  const auto found = processes_.find(process);
  return found == processes_.end() ? nullptr : &found->second;
}

void IdleBook::write(ProcessRow row, Process& process) {
  if (!process.changed) return;
  process.changed = false;
  std::vector<std::pair<std::int64_t, Gap>> longest(process.gaps.begin(), process.gaps.end());
  const std::size_t n = std::min(longest.size(), kMostWritten);
  std::partial_sort(longest.begin(), longest.begin() + static_cast<std::ptrdiff_t>(n), longest.end(),
                    [](const auto& a, const auto& b) { return a.second.to - a.first > b.second.to - b.first; });
  clear_(row);
  for (std::size_t i = 0; i < n; ++i) {
    const auto& [from, gap] = longest[i];
    idle_(row, from, gap.to - from, unless(gap.before, 0), unless(gap.after, 0));
  }
}

// A process without any call has no gaps: it is not one that works with a GPU.
void IdleBook::end_process(ProcessRow row, std::int64_t at) {
  const auto found = processes_.find(row);
  if (found == processes_.end()) return;
  Process& process = found->second;
  if (process.has_calls && at > process.busy_until) add(process, process.busy_until, {at, process.last, 0});
  write(row, process);
  processes_.erase(found);
}

void IdleBook::end_recording(std::int64_t at) {
  while (!processes_.empty()) end_process(processes_.begin()->first, at);
}

void IdleBook::flush() {
  for (auto& [row, process] : processes_) write(row, process);
}

}  // namespace fade::store
