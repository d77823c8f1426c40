#include "store/writer.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "base/deaf_thread.hpp"
#include "base/log.hpp"
#include "store/call_account.hpp"
#include "store/coverage_rows.hpp"
#include "store/database_file.hpp"
#include "store/file_pages.hpp"
#include "store/kfd_rows.hpp"
#include "store/outage.hpp"
#include "store/recorder.hpp"
#include "store/session_row.hpp"
#include "store/size_limit.hpp"

namespace fade::store {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 100ms;  // for a batch to fill
constexpr std::int64_t kSumsAfter = 1'000'000'000;
constexpr int kLockPatience = 100;               // ms that one attempt waits for a lock; how many attempts says Outage
constexpr std::uint64_t kLeastRoom = 256 << 10;  // bytes, beyond an empty recording
constexpr int kClosePatience = 2'000;            // ms that readers may hold the last checkpoint up

tl::unexpected<Error> too_small(std::uint64_t empty) {
  const std::uint64_t least = (empty + kLeastRoom + (1 << 20) - 1) >> 20;
  return fail("the size limit is too small", fmt::format("a recording without a call has {} KB", empty >> 10),
              fmt::format("--max-size {}M", least));
}

}  // namespace

// The life of the thread between queue and file: batches, transactions, the file's limits and failures, the end. Each
// of these has a class of its own; which comes when is one thing.
class Writer::Impl {
 public:
  Impl(WriterOptions options, SessionInfo session, EventQueue& queue, DatabaseFile file)
      : options_(std::move(options)),
        session_(std::move(session)),
        queue_(queue),
        file_(std::move(file)),
        pages_(file_),
        outage_(queue, session_.clock, file_.path),
        limit_(options_.max_bytes, options_.on_full, options_.detail) {}

  Result<void> prepare(KernelFilter filter);
  void abandon();
  const std::string& path() const { return file_.path; }
  Result<void> start();
  LiveTotals live() const;
  Totals finish();

 private:
  void run();
  void tell();
  void store(const Batch& batch, std::int64_t since);
  void name_frames();
  template <class Attempt>
  bool insist(const Attempt& attempt);
  bool begin();
  void write_outages();
  void commit();
  bool end_transaction();
  bool write_sums();
  std::uint64_t room();
  void look_at_size();
  void check_size();
  void give_up(const Error& error);
  void close_session();
  void write_rest();
  void write_end(Failure& failure);
  void write_loss();

  const WriterOptions options_;
  const SessionInfo session_;
  EventQueue& queue_;
  DatabaseFile file_;
  FilePages pages_;
  SessionRow row_ = 0;
  std::unique_ptr<Recorder> recorder_;
  std::thread thread_;

  // Writer thread, from start() to its end.
  std::optional<sqlite::Txn> txn_;
  std::int64_t oldest_ = 0;   // when the first batch of this transaction may have begun
  std::int64_t sums_at_ = 0;  // when rollups were written last
  CallAccount account_;
  Outage outage_;
  std::vector<Outage::Report> outages_;  // which no row tells of yet
  SizeLimit limit_;
  bool gave_up_ = false;

  mutable std::mutex live_mutex_;
  LiveTotals live_;  // protected by the mutex
};

Result<void> Writer::Impl::prepare(KernelFilter filter) {
  sqlite::Db& db = file_.db;
  Result<SessionRow> row = write_session(db, session_, options_.detail);
  if (!row) return tl::unexpected(std::move(row.error()));
  row_ = *row;
  if (auto written = write_coverage(db, row_, session_.coverage); !written) return written;
  if (!session_.kfd.root.empty())
    if (auto written = write_topology(db, row_, session_.kfd); !written) return written;
  recorder_ =
      std::make_unique<Recorder>(db, row_, options_.detail, std::move(filter), options_.step, options_.detail_rule);
  if (recorder_->failure()) return tl::unexpected(*recorder_->failure());
  recorder_->names().look_for_debug_files_in(options_.debug_root);
  if (auto counted = pages_.prepare(); !counted) return counted;
  recorder_->set_room([this] { return room(); });
  if (file_.is_new && !limit_.has_room(pages_.bytes(), kLeastRoom)) return too_small(pages_.bytes());
  sqlite3_busy_timeout(db.get(), kLockPatience);
  return {};
}

// Drops statements that could not be prepared; statements go before their connection.
void Writer::Impl::abandon() {
  recorder_.reset();
  pages_.close();
  store::abandon(file_);
}

Result<void> Writer::Impl::start() {
  auto thread = start_deaf_thread([this] { run(); }, "writes the database");
  if (!thread) return tl::unexpected(std::move(thread.error()));
  thread_ = std::move(*thread);
  return {};
}

void Writer::Impl::run() {
  Batch batch;
  sums_at_ = boottime_ns();
  for (;;) {
    const std::int64_t since = boottime_ns();
    if (!queue_.take(batch, kPatience)) break;
    if (!gave_up_) store(batch, since);
    for (BatchReader* reader : options_.readers) reader->read(batch);
    if (!gave_up_ && batch.empty()) name_frames();
    queue_.want_detail(!recorder_->is_quiet(session_.clock.now()));
    tell();
  }
  close_session();
}

void Writer::Impl::store(const Batch& batch, std::int64_t since) {
  if (!batch.empty()) {
    if (!txn_) {
      oldest_ = since;
      if (!begin()) return;
    }
    recorder_->apply(batch,
                     limit_.is_near(pages_.bytes()) ? Recorder::Look([this] { look_at_size(); }) : Recorder::Look());
    if (recorder_->failure()) return give_up(*recorder_->failure());
  }
  if (txn_ && (batch.urgent || boottime_ns() - oldest_ >= options_.commit_after_ns)) commit();
}

// The queue has been empty for a while: a good moment for work that takes long. The queue has room for the batches that
// come meanwhile.
void Writer::Impl::name_frames() {
  const std::int64_t now = boottime_ns();
  if (txn_ || !recorder_->names().is_due(now)) return;
  Result<sqlite::Txn> txn = sqlite::Txn::begin(file_.db);
  if (!txn && Outage::is_lock(txn.error())) return;  // another time
  if (!txn) return give_up(txn.error());
  txn_.emplace(std::move(*txn));
  recorder_->names().name_some(now);
  if (recorder_->failure()) return give_up(*recorder_->failure());
  commit();
}

void Writer::Impl::tell() {
  LiveTotals now = recorder_->live();
  now.dropped += account_.never_applied() + queue_.refused();
  if (gave_up_) {
    const std::uint64_t handed_over = queue_.handed_over();
    now.dropped = account_.dropped(handed_over);
    now.calls = handed_over - now.dropped + recorder_->only_counted();
  }
  const std::lock_guard lock(live_mutex_);
  now.database_bytes = live_.database_bytes;
  live_ = now;
}

LiveTotals Writer::Impl::live() const {
  const std::lock_guard lock(live_mutex_);
  return live_;
}

// Until no other process has the database locked. False: it cannot be written any more.
template <class Attempt>
bool Writer::Impl::insist(const Attempt& attempt) {
  const std::int64_t since = session_.clock.now();
  for (;;) {
    const Result<void> done = attempt();
    if (!done && (!Outage::is_lock(done.error()) || !outage_.goes_on(since))) {
      give_up(done.error());
      return false;
    }
    if (done) break;
    tell();
  }
  if (const auto report = outage_.end()) outages_.push_back(*report);
  return true;
}

bool Writer::Impl::begin() {
  const bool begun = insist([&]() -> Result<void> {
    Result<sqlite::Txn> txn = sqlite::Txn::begin(file_.db);
    if (!txn) return tl::unexpected(txn.error());
    txn_.emplace(std::move(*txn));
    return {};
  });
  if (begun) write_outages();
  return begun && !gave_up_;
}

void Writer::Impl::write_outages() {
  if (outages_.empty()) return;
  Failure failure;
  Write note(file_.db, failure, "INSERT INTO lifecycle_ (session, ts, kind, value, detail) VALUES (?,?,'locked',?,?)");
  Write drop(file_.db, failure,
             "INSERT INTO drop_ (session, ts, dur, n, reason) "
             "VALUES (?,?,?,?,'another process had the database locked')");
  for (const Outage::Report& outage : outages_) {
    note(row_, outage.at, outage.refused, outage.text());
    if (outage.refused > 0) drop(row_, outage.at, outage.duration, outage.refused);
    account_.drop_written(outage.refused);
  }
  outages_.clear();
  if (failure) give_up(*failure.error);
}

void Writer::Impl::commit() {
  const std::int64_t now = boottime_ns();
  if (now - sums_at_ >= kSumsAfter) {
    recorder_->flush_sums();
    sums_at_ = now;
    if (!write_sums()) return;
  }
  if (!end_transaction()) return;
  check_size();
  pages_.checkpoint(kLockPatience);
}

// The recorder has written its sums; the data that belong to them go with them.
bool Writer::Impl::write_sums() {
  Failure failure;
  if (recorder_->failure()) failure.note(*recorder_->failure());
  else limit_.write(file_.db, failure, row_, session_.clock.now(), recorder_->rows_left_out());
  if (failure) give_up(*failure.error);
  else account_.sums_written(recorder_->applied());
  return !failure;
}

bool Writer::Impl::end_transaction() {
  if (!insist([&] { return txn_->commit(); })) return false;
  txn_.reset();
  account_.committed(recorder_->applied());
  return true;
}

std::uint64_t Writer::Impl::room() {
  if (options_.max_bytes == 0) return room_without_end();
  const std::uint64_t used = pages_.bytes();
  return used < options_.max_bytes ? options_.max_bytes - used : 0;
}

// Within a transaction, while calls come: sums are written early enough to be counted.
void Writer::Impl::look_at_size() {
  if (gave_up_ || recorder_->failure()) return;
  if (limit_.wants_sums(pages_.bytes(), recorder_->sums_waiting())) {
    recorder_->flush_sums();
    if (!write_sums()) return;
    limit_.sums_written(pages_.bytes());
  }
  check_size();
}

void Writer::Impl::check_size() {
  const std::uint64_t now = pages_.bytes();
  {
    const std::lock_guard lock(live_mutex_);
    live_.database_bytes = now;
  }
  // The program may be far ahead: what is left out begins behind what was recorded.
  if (!limit_.look(now, recorder_->last_ns(), recorder_->rows_left_out())) return;
  recorder_->keep(limit_.keep());
  log::info("{} has {} of {} MB; {}", file_.path, now >> 20, options_.max_bytes >> 20, limit_.reason());
}

void Writer::Impl::give_up(const Error& error) {
  if (gave_up_) return;
  gave_up_ = true;
  recorder_->fail(error);  // it may be in the middle of a batch
  txn_.reset();
  account_.rolled_back();
  queue_.discard();
  log::error("cannot write {}: {}; the program runs on, what it does from now on is not recorded", file_.path,
             error.cause);
}

// The row that tells of the loss needs a little room. The message and the totals tell of it without that room.
void Writer::Impl::write_loss() {
  Failure failure;
  const std::uint64_t lost = account_.lost(queue_.handed_over());
  Write write(file_.db, failure,
              "INSERT INTO drop_ (session, ts, dur, n, reason) VALUES (?,?,0,?,'the database could not be written')");
  write(row_, session_.clock.now(), lost);
}

void Writer::Impl::write_end(Failure& failure) {
  Write write(file_.db, failure, "UPDATE session_ SET end_ns = ?2, clean = 1 WHERE id = ?1");
  write(row_, session_.clock.real_ns + session_.clock.now());
}

// Everything that waits, in one transaction: where it fails, the session is not closed.
void Writer::Impl::write_rest() {
  if (!txn_ && !begin()) return;
  recorder_->finish();
  if (!write_sums()) return;
  Failure failure;
  write_end(failure);
  if (failure) return give_up(*failure.error);
  end_transaction();
}

void Writer::Impl::close_session() {
  if (!gave_up_) write_rest();
  if (gave_up_) return write_loss();
  sqlite3_busy_timeout(file_.db.get(), kClosePatience);
  const Result<void> done = make_single_file(file_);
  if (done) return;
  if (!Outage::is_lock(done.error())) return give_up(done.error());
  log::info("{} could not be brought into one file: {}; the file beside it (-wal) belongs to it", file_.path,
            done.error().cause);
}

Totals Writer::Impl::finish() {
  queue_.close();
  if (thread_.joinable()) thread_.join();
  const std::uint64_t handed_over = queue_.handed_over(), dropped = account_.dropped(handed_over);
  Totals totals = recorder_->totals();
  totals.calls = handed_over - dropped + totals.counted;
  totals.dropped += dropped;
  recorder_.reset();
  pages_.close();
  file_.db.close();
  return totals;
}

Writer::Writer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Writer::~Writer() {
  if (impl_) finish();
}

Result<std::unique_ptr<Writer>> Writer::open(WriterOptions options, SessionInfo session, EventQueue& queue) {
  Result<KernelFilter> filter = KernelFilter::make(options.kernel_include, options.kernel_exclude);
  if (!filter) return tl::unexpected(std::move(filter.error()));
  Result<DatabaseFile> file = open_database(options.path, options.open_mode);
  if (!file) return tl::unexpected(std::move(file.error()));
  auto impl = std::make_unique<Impl>(std::move(options), std::move(session), queue, std::move(*file));
  if (Result<void> ready = impl->prepare(std::move(*filter)); !ready) {
    impl->abandon();
    return tl::unexpected(with_context("cannot set up " + impl->path(), std::move(ready.error())));
  }
  return std::unique_ptr<Writer>(new Writer(std::move(impl)));
}

LiveTotals Writer::live() const { return impl_->live(); }

Result<void> Writer::start() { return impl_->start(); }

Totals Writer::finish() {
  const std::unique_ptr<Impl> impl = std::move(impl_);
  return impl->finish();
}

}  // namespace fade::store
