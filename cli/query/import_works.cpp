#include "cli/query/import_works.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/query/import_steps.hpp"
#include "cli/query/import_ties.hpp"
#include "store/gpu_call_sums.hpp"
#include "store/gpu_sums.hpp"
#include "store/gpu_timeline.hpp"

namespace fade::query {
namespace {

constexpr std::int64_t kUnknownWay = -2;  // gpu_copy_.kind

constexpr std::string_view kWorksInOrder = R"(
SELECT w.process, w.kind, w.is_kernel, w.name, w.mangled, w.start, w."end", w.bytes, w.call,
  coalesce(p.thread, w.thread),
       p.ts, p.te, p.previous, p.kind, p.stream,
       coalesce(p.device, (SELECT d.device FROM device_of d WHERE d.process = w.process AND d.number = w.device)),
       p.direction, p.bytes, p.kernel,
       row_number() OVER (PARTITION BY w.call, w.is_kernel ORDER BY w.start, w.id) AS nth,
       count(*) OVER (PARTITION BY w.call, w.is_kernel) AS of_call,
       iif(w.queue < 0, NULL, dense_rank() OVER (PARTITION BY w.process ORDER BY w.queue < 0, w.queue)) AS queue
FROM work w LEFT JOIN placed p ON p.call = w.call ORDER BY w."end", w.id)";
enum InWork {
  kWorkProcess,
  kWorkKind,
  kWorkIsKernel,
  kWorkName,
  kWorkMangled,
  kWorkStart,
  kWorkEnd,
  kWorkBytes,
  kWorkCall,
  kWorkThread,
  kWorkEntry,
  kWorkExit,
  kWorkPrevious,
  kWorkCallKind,
  kWorkStream,
  kWorkDevice,
  kWorkDirection,
  kWorkCallBytes,
  kWorkLaunched,
  kWorkNth,
  kWorkOfCall,
  kWorkQueue
};

constexpr std::string_view kWaitsInOrder = R"(
SELECT c.thread, c.ts, c.ts + c.dur AS te, f.kind = 'copy', c.id, s.device
FROM main.call_ c JOIN main.function_ f ON f.id = c.fn LEFT JOIN copy_of y ON y.call = c.id
LEFT JOIN main.stream_ s ON s.id = y.stream
WHERE c.fn IN (SELECT fn FROM main.wait_) AND c.dur IS NOT NULL
  AND c.thread IN (SELECT id FROM main.thread_ WHERE process IN (SELECT process FROM work))
ORDER BY te, c.id)";

// A launch that ran one kernel says which kernel of the program it is; until then its name does.
constexpr std::string_view kKernelByName = R"(
SELECT id FROM kernel_ WHERE session = (SELECT session FROM process_ WHERE id = ?1)
  AND (demangled = ?2 OR name IN (?2, ?3))
ORDER BY id LIMIT 1)";

constexpr std::string_view kCounts = R"(
INSERT OR REPLACE INTO gpu_count_ (process, seen, timed, unread, untied, untold, uncalled)
SELECT w.process, count(w.call) + (
         SELECT count(*) FROM call_ c JOIN thread_ t ON t.id = c.thread JOIN launch_ l ON l.id = c.launch
           AND NOT l.captured
         WHERE t.process = w.process AND coalesce(c.result, 0) = 0 AND c.id NOT IN (SELECT call FROM placed)),
       count(w.call), 0, count(*) - count(w.call), 0, 0
FROM work w GROUP BY w.process;
INSERT OR REPLACE INTO gpu_source_ SELECT DISTINCT process, {} FROM work;)";

std::optional<std::int64_t> optional(const sqlite::Stmt& row, int at) {
  return row.is_null(at) ? std::nullopt : std::optional(row.integer(at));
}

class WorksImport {
 public:
  explicit WorksImport(sqlite::Db& db)
      : db_(db),
        sums_(db, failure_),
        timeline_(db, failure_),
        call_sums_(db, failure_),
        kernel_(db, failure_,
                "INSERT INTO gpu_kernel_ (id, process, object, name, demangled, kernel) VALUES (?,?,0,?,?,?)"),
        launched_(db, failure_, "UPDATE gpu_kernel_ SET kernel = ?2 WHERE id = ?1"),
        row_(db, failure_,
             "INSERT INTO gpu_work_ (process, kind, kernel, device, queue, stream, call, thread, ts, dur, bytes) "
             "VALUES (?,?,?,?,?,?,?,?,?,?,?)"),
        last_kernel_(store::last_row<store::GpuKernelRow>(db, "gpu_kernel_")) {}
  Result<void> run();

 private:
  Result<void> prepare();
  Result<void> add(const sqlite::Stmt& row);
  struct Kernel {
    store::GpuKernelRow row = 0;
    bool is_launched = false;  // a launch said which kernel of the program it is
  };
  Result<store::GpuKernelRow> kernel_of(const sqlite::Stmt& row);
  Result<void> new_kernel(const sqlite::Stmt& row, Kernel& kernel);
  void add_sums(const sqlite::Stmt& row, store::GpuKind kind, store::GpuKernelRow kernel, std::int64_t bytes);
  Result<void> add_waits_until(std::int64_t time);
  Result<void> finish();
  static store::GpuKind kind_of(const sqlite::Stmt& row);

  sqlite::Db& db_;
  store::Failure failure_;
  store::GpuSums sums_;
  store::GpuTimeline timeline_;
  store::GpuCallSums call_sums_;
  store::Write kernel_, launched_, row_;
  store::GpuKernelRow last_kernel_;
  std::map<std::pair<std::int64_t, std::string>, Kernel> kernels_;
  StepsByTime steps_;
  sqlite::Stmt waits_, by_name_;
  bool has_wait_ = false;
};

Result<void> WorksImport::prepare() {
  auto waits = db_.prepare(kWaitsInOrder), by_name = db_.prepare(kKernelByName);
  if (!waits) return tl::unexpected(waits.error());
  if (!by_name) return tl::unexpected(by_name.error());
  waits_ = std::move(*waits);
  by_name_ = std::move(*by_name);
  auto row = waits_.step();
  if (!row) return tl::unexpected(row.error());
  has_wait_ = *row;
  return steps_.read(db_);
}

// Waits come before works that end later, so that each idle time finds the wait that explains it.
Result<void> WorksImport::add_waits_until(std::int64_t time) {
  while (has_wait_ && waits_.integer(2) <= time) {
    timeline_.waited(store::ThreadRow::of(waits_.integer(0)), {.entry = waits_.integer(1),
                                                               .exit = waits_.integer(2),
                                                               .is_copy = waits_.integer(3) != 0,
                                                               .call = store::CallRow::of(waits_.integer(4)),
                                                               .device = store::DeviceRow::of(waits_.integer(5))});
    auto row = waits_.step();
    if (!row) return tl::unexpected(row.error());
    has_wait_ = *row;
  }
  return {};
}

// As while recording: a kernel that a copy or a fill put to run stands for that.
store::GpuKind WorksImport::kind_of(const sqlite::Stmt& row) {
  const auto kind = static_cast<store::GpuKind>(row.integer(kWorkKind));
  if (kind != store::GpuKind::Kernel || row.is_null(kWorkCall)) return kind;
  const std::string_view call = row.text(kWorkCallKind);
  return call == "copy" ? store::GpuKind::Copy : call == "set" ? store::GpuKind::Fill : kind;
}

Result<store::GpuKernelRow> WorksImport::kernel_of(const sqlite::Stmt& row) {
  if (row.integer(kWorkIsKernel) == 0) return store::GpuKernelRow(0);
  Kernel& known = kernels_[{row.integer(kWorkProcess), std::string(row.text(kWorkName))}];
  if (known.row == 0)
    if (auto done = new_kernel(row, known); !done) return tl::unexpected(done.error());
  const bool is_alone = row.integer(kWorkOfCall) == 1 && row.text(kWorkCallKind) == "launch";
  if (is_alone && !known.is_launched && !row.is_null(kWorkLaunched)) {
    known.is_launched = true;
    launched_(known.row, row.integer(kWorkLaunched));
  }
  return known.row;
}

Result<void> WorksImport::new_kernel(const sqlite::Stmt& row, Kernel& kernel) {
  const std::string_view name = row.text(kWorkName), mangled = row.text(kWorkMangled);
  by_name_.bind(row.integer(kWorkProcess), name, mangled);
  auto found = by_name_.step();
  if (!found) return tl::unexpected(found.error());
  const std::optional<std::int64_t> of_name = *found ? optional(by_name_, 0) : std::nullopt;
  by_name_.reset();
  const bool differ = !mangled.empty() && mangled != name;
  kernel.row = ++last_kernel_;
  kernel_(kernel.row, row.integer(kWorkProcess), mangled.empty() ? name : mangled,
          store::unless_empty(differ ? name : std::string_view()), of_name);
  return {};
}

// The moment when the work was put to run is not in the file: no later than the return of its call, or its own begin.
void WorksImport::add_sums(const sqlite::Stmt& row, store::GpuKind kind, store::GpuKernelRow kernel,
                           std::int64_t bytes) {
  const auto process = store::ProcessRow::of(row.integer(kWorkProcess));
  const auto device = store::DeviceRow::of(row.integer(kWorkDevice));
  const std::int64_t start = row.integer(kWorkStart), end = row.integer(kWorkEnd), exit = row.integer(kWorkExit);
  sums_.add({.process = process, .device = device, .kernel = kernel, .kind = kind}, start, end, bytes);
  const std::int64_t at = row.is_null(kWorkEntry) ? 0 : std::min(exit, start);
  const std::int64_t newly = timeline_.add(
      {.process = process,
       .device = device,
       .is_kernel = kind == store::GpuKind::Kernel,
       .is_copy = kind == store::GpuKind::Copy,
       .start = start,
       .end = end,
       .edge = {store::CallRow::of(row.integer(kWorkCall)), store::ThreadRow::of(row.integer(kWorkThread)), at,
                row.integer(kWorkEntry), exit, row.integer(kWorkPrevious), true}});
  if (row.is_null(kWorkCall)) {
    if (kind == store::GpuKind::Copy) call_sums_.copy(process, device, kUnknownWay, end - start, bytes);
    return;
  }
  const std::string_view call = row.text(kWorkCallKind);
  const bool moves = call == "copy" || call == "set";
  if (kind == store::GpuKind::Kernel && !moves && row.integer(kWorkNth) == 1)
    call_sums_.delay(process, kernel, store::StreamRow::of(row.integer(kWorkStream)), start - row.integer(kWorkEntry));
  if (kind == store::GpuKind::Copy)
    call_sums_.copy(process, device,
                    call == "copy" && !row.is_null(kWorkDirection) ? row.integer(kWorkDirection) : kUnknownWay,
                    end - start, bytes);
  if (const store::StepRow step = steps_.at(row.integer(kWorkProcess), row.integer(kWorkThread), exit); step != 0)
    call_sums_.step(step, end - start, newly);
}

Result<void> WorksImport::add(const sqlite::Stmt& row) {
  if (auto done = add_waits_until(row.integer(kWorkEnd)); !done) return done;
  auto kernel = kernel_of(row);
  if (!kernel) return tl::unexpected(kernel.error());
  const store::GpuKind kind = kind_of(row);
  const bool moves = kind == store::GpuKind::Copy || kind == store::GpuKind::Fill;
  std::int64_t bytes = moves ? std::max<std::int64_t>(row.integer(kWorkBytes), 0) : 0;
  if (moves && row.integer(kWorkIsKernel) != 0) bytes = row.integer(kWorkNth) == 1 ? row.integer(kWorkCallBytes) : 0;
  const std::int64_t start = row.integer(kWorkStart);
  add_sums(row, kind, *kernel, bytes);
  row_(row.integer(kWorkProcess), static_cast<int>(kind), store::unless(*kernel, 0), optional(row, kWorkDevice),
       optional(row, kWorkQueue), optional(row, kWorkStream), optional(row, kWorkCall), optional(row, kWorkThread),
       start, row.integer(kWorkEnd) - start, moves ? std::optional(bytes) : std::nullopt);
  return {};
}

Result<void> WorksImport::finish() {
  if (auto done = add_waits_until(INT64_MAX); !done) return done;
  sums_.flush();
  timeline_.flush();
  call_sums_.flush();
  if (failure_) return tl::unexpected(std::move(*failure_.error));
  return {};
}

Result<void> WorksImport::run() {
  if (auto done = prepare(); !done) return done;
  auto rows = db_.prepare(kWorksInOrder);
  if (!rows) return tl::unexpected(rows.error());
  for (;;) {
    auto row = rows->step();
    if (!row) return tl::unexpected(row.error());
    if (!*row) return finish();
    if (auto done = add(*rows); !done) return done;
    if (failure_) return tl::unexpected(std::move(*failure_.error));
  }
}

}  // namespace

Result<ImportedWorks> import_works(sqlite::Db& db, std::int64_t import, std::int64_t shift) {
  auto out = tie_works(db, shift);
  if (!out || out->works == 0) return out;
  if (auto done = WorksImport(db).run(); !done) return tl::unexpected(done.error());
  if (auto done = db.exec(fmt::format(fmt::runtime(kCounts), import)); !done) return tl::unexpected(done.error());
  return out;
}

}  // namespace fade::query
