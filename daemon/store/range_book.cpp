#include "store/range_book.hpp"

#include <algorithm>
#include <iterator>

namespace fade::store {
namespace {

constexpr std::size_t kDeepest = 1'024;       // ranges of one thread within each other
constexpr std::size_t kMostStarted = 65'536;  // open at once, of all processes
constexpr std::size_t kMostNames = 10'000;    // that are summed up by themselves
constexpr std::uint64_t kObject = 64;         // bytes of an object of PyTorch in front of the part that pop takes
constexpr const char* kUnread = "(name not read)";
constexpr const char* kOtherNames = "(other names)";

}  // namespace

RangeBook::RangeBook(sqlite::Db& db, Failure& failure, StepBook& steps)
    : steps_(steps),
      last_id_(last_row<RangeRow>(db, "range_")),
      last_name_(last_row<RangeNameRow>(db, "range_name_")),
      range_(db, failure, "INSERT OR REPLACE INTO range_ VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)"),
      name_(db, failure, "INSERT INTO range_name_ VALUES (?,?)"),
      sum_(db, failure,
           "INSERT INTO range_stat_ VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9) ON CONFLICT DO UPDATE SET n = n + excluded.n, "
           "unclosed = unclosed + excluded.unclosed, total = total + excluded.total, min = min(min, excluded.min), "
           "max = max(max, excluded.max), hist = hist_merge(hist, excluded.hist)"),
      fault_(db, failure, "INSERT INTO range_fault_ VALUES (?1,?2,?3) ON CONFLICT DO UPDATE SET n = n + excluded.n") {}

RangeBook::Name RangeBook::new_name(const std::string& name) {
  const RangeNameRow row = ++last_name_;
  name_(row, name);
  return {row, row, steps_.begins_with_range(name)};
}

// Programs may make names without end ("step 1", "step 2" ...): beyond the limit they have no sums of their own, and
// names without rows of their ranges no row.
RangeBook::Name RangeBook::name_of(const std::optional<std::string>& text) {
  const std::string name = text ? *text : kUnread;
  if (const auto known = names_.find(name); known != names_.end()) return known->second;
  if (names_.size() < kMostNames) return names_.emplace(name, new_name(name)).first->second;
  const auto other = names_.find(kOtherNames);
  const Name& others =
      other != names_.end() ? other->second : names_.emplace(kOtherNames, new_name(kOtherNames)).first->second;
  if (!keep_rows_) return {others.row, others.row, steps_.begins_with_range(name)};
  Name made = new_name(name);
  made.sum_row = others.row;
  return made;
}

void RangeBook::fault(ProcessRow process, const char* kind) { ++faults_[{process, kind}]; }

void RangeBook::call(const MarkerCall& call) {
  Thread& thread = threads_[call.thread];
  thread.process = call.process;
  // One library may hand the call on to another: the inner call has reported everything.
  const bool is_same = thread.handled != 0 && thread.handled == call.id;
  thread.handled = call.parent;
  if (is_same) return;
  if (call.kind == probes::Kind::RangePush) return push(thread, call);
  if (call.kind == probes::Kind::RangePop) return pop(thread, call);
  if (call.kind == probes::Kind::RangeStart) return start(thread, call);
  if (call.kind == probes::Kind::RangeStop) return stop(call);
  mark(thread, call);
}

// A range begins when the call that opens it has returned and ends when the one that closes it is entered.
RangeBook::Open RangeBook::opened(const Thread& thread, const MarkerCall& call, Form form) {
  return {.id = ++last_id_,
          .process = call.process,
          .thread = call.thread,
          .up = thread.open.empty() ? RangeRow() : thread.open.back().id,
          .call = call.call,
          .at = call.exit,
          .name = name_of(call.name),
          .form = form,
          .domain = call.domain,
          .object = call.has_object ? call.object : 0,
          .depth = thread.open.size()};
}

void RangeBook::push(Thread& thread, const MarkerCall& call) {
  if (thread.open.size() >= kDeepest) {
    ++thread.too_deep;
    return fault(call.process, "nested too deep");
  }
  const Open& range = thread.open.emplace_back(opened(thread, call, Form::Pushed));
  if (range.name.is_step)
    steps_.range_opened(range.id, {call.process, call.thread}, call.name.value_or(kUnread), range.call, range.at);
}

void RangeBook::pop(Thread& thread, const MarkerCall& call) {
  if (thread.too_deep > 0) {
    --thread.too_deep;
    return;
  }
  const auto is_its = [&](const Open& range) {
    if (!call.has_object || range.object == 0)
      return call.has_object == (range.object != 0) && range.domain == call.domain;
    return call.object - range.object < kObject;
  };
  const auto found = std::find_if(thread.open.rbegin(), thread.open.rend(), is_its);
  if (found == thread.open.rend() && call.has_object) return;
  if (found == thread.open.rend()) return fault(call.process, call.result < 0 ? "pop without push" : "push not seen");
  close(*found, {call.entry, Ended::Closed, call.call, call.thread});
  thread.open.erase(std::next(found).base());
}

void RangeBook::start(Thread& thread, const MarkerCall& call) {
  const StartKey key{call.process, static_cast<std::uint64_t>(call.result)};
  if (const auto old = started_.find(key);
      old != started_.end()) {  // libraries without a tool give every range the id 0
    fault(call.process, "id used twice");
    close(old->second, {call.entry, Ended::Closed, call.call, call.thread});
    started_.erase(old);
  }
  if (started_.size() >= kMostStarted) return fault(call.process, "too many open");
  const Open& range = started_.emplace(key, opened(thread, call, Form::Started)).first->second;
  if (range.name.is_step)
    steps_.range_opened(range.id, {call.process, call.thread}, call.name.value_or(kUnread), range.call, range.at);
}

void RangeBook::stop(const MarkerCall& call) {
  const auto found = started_.find({call.process, call.range_id});
  if (found == started_.end()) return fault(call.process, "stop without start");
  close(found->second, {call.entry, Ended::Closed, call.call, call.thread});
  started_.erase(found);
}

void RangeBook::mark(Thread& thread, const MarkerCall& call) {
  Open range = opened(thread, call, Form::Mark);
  range.at = call.entry;
  close(range, {call.entry, Ended::Closed, call.call, call.thread});
}

void RangeBook::close(Open& range, const Closing& closing) {
  const std::int64_t until = std::max(closing.at, range.at), ns = until - range.at;
  Sum& sum = sums_[{range.process, range.name.sum_row, range.form}];
  ++sum.n;
  sum.unclosed += closing.how != Ended::Closed;
  sum.total += ns;
  sum.min = std::min(sum.min, ns);
  sum.max = std::max(sum.max, ns);
  sum.histogram.add(ns);
  if (range.name.is_step) steps_.range_closed(range.id, {closing.call, until, closing.how == Ended::Closed});
  if (keep_rows_) write(range, ns, closing);
}

void RangeBook::write(Open& range, std::optional<std::int64_t> ns, const Closing& closing) {
  range.has_row = true;
  range_(range.id, range.process, range.thread, static_cast<int>(range.form), range.name.row,
         static_cast<std::int64_t>(range.depth), unless(range.up, 0), range.at, ns, static_cast<int>(closing.how),
         unless(closing.thread, 0), range.call, unless(closing.call, 0));
}

void RangeBook::end_pushed(Thread& thread, const Closing& closing) {
  for (; !thread.open.empty(); thread.open.pop_back()) close(thread.open.back(), closing);
  thread.too_deep = 0;
}

void RangeBook::end_started(ProcessRow process, const Closing& closing) {
  for (auto entry = started_.begin(); entry != started_.end();) {
    const bool is_meant = process == 0 || entry->first.first == process;
    if (is_meant) close(entry->second, closing);
    entry = is_meant ? started_.erase(entry) : std::next(entry);
  }
}

void RangeBook::end_all(ProcessRow process, const Closing& closing) {
  for (auto entry = threads_.begin(); entry != threads_.end();) {
    const bool is_meant = process == 0 || entry->second.process == process;
    if (is_meant) end_pushed(entry->second, closing);
    entry = is_meant ? threads_.erase(entry) : std::next(entry);
  }
  end_started(process, closing);
}

// Ranges that were started there may still be stopped by another thread.
void RangeBook::end_thread(ThreadRow thread, std::int64_t at) {
  const auto found = threads_.find(thread);
  if (found == threads_.end()) return;
  end_pushed(found->second, {.at = at, .how = Ended::Thread});
  threads_.erase(found);
}

void RangeBook::end_process(ProcessRow process, std::int64_t at) {
  end_all(process, {.at = at, .how = Ended::Process});
}
void RangeBook::exec_process(ProcessRow process, std::int64_t at) { end_all(process, {.at = at, .how = Ended::Exec}); }
void RangeBook::end_recording(std::int64_t at) { end_all(0, {.at = at, .how = Ended::Recording}); }

void RangeBook::flush() {
  for (const auto& [key, sum] : sums_) {
    const std::vector<std::byte> histogram = sum.histogram.encode();
    sum_(key.process, static_cast<int>(key.form), key.name, sum.n, sum.unclosed, sum.total, sum.min, sum.max,
         std::span<const std::byte>(histogram));
  }
  for (const auto& [key, n] : faults_) fault_(key.first, key.second, n);
  sums_.clear();
  faults_.clear();
  if (!keep_rows_) return;
  const auto show = [&](Open& range) {
    if (!range.has_row) write(range, std::nullopt, {});
  };
  for (auto& [row, thread] : threads_)
    for (Open& range : thread.open) show(range);
  for (auto& [key, range] : started_) show(range);
}

}  // namespace fade::store
