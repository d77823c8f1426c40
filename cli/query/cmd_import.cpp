// import FILE: what another profiler recorded of the same run goes into the recording, in one transaction. fade's own
// times of the GPU stay; a process has its times from one source.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <memory>

#include "base/fd.hpp"
#include "base/log.hpp"
#include "base/output_file.hpp"
#include "base/path.hpp"
#include "cli/query/command.hpp"
#include "cli/query/import_clock.hpp"
#include "cli/query/import_operators.hpp"
#include "cli/query/import_stage.hpp"
#include "cli/query/import_works.hpp"
#include "cli/table/human.hpp"
#include "cli/table/text.hpp"
#include "store/histogram.hpp"

namespace fade::query {
namespace {

struct SessionClock {
  std::int64_t id = 0, boot_ns = 0, start_ns = 0;
};

struct Imported {
  std::int64_t id = 0, calls = 0, matched = 0;
  ClockShift clock;
  ImportedWorks works;
  ImportedOperators operators;
};

std::string cannot(const std::string& file) { return "cannot import " + table::printable(file); }

// Bytes that differ give other numbers; this is no proof against forgery.
Result<std::string> fingerprint_of(const std::string& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat about {};
  if (!fd || ::fstat(fd.get(), &about) != 0) return fail_errno(cannot(path));
  if (!S_ISREG(about.st_mode))
    return fail(cannot(path), "it is no regular file", "save it as a file first: import reads it twice");
  std::array<std::uint64_t, 2> hash{0xCBF29CE484222325u, 0x9E3779B97F4A7C15u};
  std::vector<unsigned char> buffer(1 << 16);
  std::uint64_t size = 0;
  for (;;) {
    const ssize_t got = ::read(fd.get(), buffer.data(), buffer.size());
    if (got < 0) return fail_errno(cannot(path));
    if (got == 0 && size == 0)
      return fail(cannot(path), "it is empty", "the profiler writes its file when the program ends: was it killed?");
    if (got == 0) return fmt::format("{:x}-{:016x}{:016x}", size, hash[0], hash[1]);
    size += static_cast<std::uint64_t>(got);
    for (ssize_t i = 0; i < got; ++i) {
      hash[0] = (hash[0] ^ buffer[static_cast<std::size_t>(i)]) * 0x100000001B3u;
      hash[1] = (hash[1] + buffer[static_cast<std::size_t>(i)]) * 0xC2B2AE3D27D4EB4Fu;
    }
  }
}

Result<sqlite::Db> open_for_writing(const std::string& path) {
  auto db = sqlite::Db::open(literal_path(path), SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX);
  if (!db) return db;
  if (sqlite3_db_readonly(db->get(), "main") == 1)
    return fail("cannot write " + path, "the file is read-only for us", "copy it to where you may write");
  // The file's own triggers and views are not trusted with a connection that writes.
  sqlite3_db_config(db->get(), SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(db->get(), SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(db->get(), SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_busy_timeout(db->get(), 5000);
  if (auto done = db->exec("PRAGMA cache_size = -16384; PRAGMA temp_store = FILE"); !done)
    return tl::unexpected(done.error());
  if (auto done = store::register_histogram_functions(*db); !done) return tl::unexpected(done.error());
  return db;
}

// The signal that ends the import; 0: none yet.
std::atomic<int> g_ended_by{0};
static_assert(std::atomic<int>::is_always_lock_free);

// From the first write to the commit, a signal only asks for the end: SQLite then takes back what was written.
class EndedBySignal {
 public:
  EndedBySignal() = default;
  void begin(sqlite::Db& db) {
    db_ = &db;
    struct sigaction wanted {};
    wanted.sa_handler = [](int signal) { g_ended_by = signal; };
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
      ::sigaction(kSignals[i], nullptr, &before_[i]);
      if (before_[i].sa_handler == SIG_DFL) ::sigaction(kSignals[i], &wanted, nullptr);
    }
    struct sigaction ignored {};
    ignored.sa_handler = SIG_IGN;  // beyond `ulimit -f` a write shall fail, so that it is taken back
    ::sigaction(SIGXFSZ, &ignored, nullptr);
    sqlite3_progress_handler(
        db.get(), 10'000, [](void*) { return int{g_ended_by != 0}; }, nullptr);
  }
  EndedBySignal(const EndedBySignal&) = delete;
  EndedBySignal& operator=(const EndedBySignal&) = delete;
  ~EndedBySignal() {
    if (!db_) return;
    sqlite3_progress_handler(db_->get(), 0, nullptr, nullptr);
    for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &before_[i], nullptr);
  }

 private:
  static constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP, SIGQUIT};
  sqlite::Db* db_ = nullptr;
  std::array<struct sigaction, kSignals.size()> before_{};
};

Result<SessionClock> session_of(sqlite::Db& db, const Context& context, const Recording& recording) {
  auto chosen = chosen_session(context.settings, recording);
  if (!chosen) return tl::unexpected(chosen.error());
  const bool is_only = recording.sessions.size() == 1;
  const auto* id = is_only ? &recording.sessions.front() : std::get_if<std::int64_t>(&*chosen);
  if (!id) return usage("import takes one session", {}, "fade-query import FILE --session N");
  auto row = db.prepare("SELECT boot_ns, start_ns FROM session_ WHERE id = ?");
  if (!row) return tl::unexpected(row.error());
  row->bind(*id);
  auto got = row->step();
  if (!got) return tl::unexpected(got.error());
  return SessionClock{*id, row->integer(0), row->integer(1)};
}

Result<foreign::Origin> read_file(const std::string& path, foreign::Sink& sink) {
  if (foreign::is_perfetto(path))
    return fail(
        cannot(path),
        "it is a trace of Perfetto (protobuf), which names no process and thread of a call as import needs them",
        "rocprofv3 --output-format rocpd, or PyTorch's export_chrome_trace, write what it takes");
  return foreign::is_sqlite(path) ? foreign::read_rocpd(path, sink) : foreign::read_kineto(path, sink);
}

// The file's own clock comes first. Kineto's older releases and other tools use another one.
std::vector<KnownClock> clocks_of(const foreign::Origin& origin, const SessionClock& session) {
  std::vector<KnownClock> out{{"boot", -session.boot_ns}, {"real", -session.start_ns}};
  if (origin.clock == foreign::Clock::Real) std::swap(out[0], out[1]);
  return out;
}

Result<void> refuse_strangers(ImportStage& stage, const std::string& file) {
  if (stage.has_processes()) return {};
  auto pids = stage.pids_of_file();
  if (!pids) return tl::unexpected(pids.error());
  if (pids->empty())
    return fail(cannot(file), "it has neither calls, nor work of a GPU, nor operators",
                "record with rocprofv3 --hip-trace --kernel-trace --output-format rocpd, or with torch.profiler's "
                "ProfilerActivity.CPU and CUDA");
  return fail(cannot(file), fmt::format("it is of another run: none of its processes ({}) is in the recording", *pids),
              "fade-query processes      shows those of the recording");
}

// Another run may have had the same process ids, as in containers.
Result<void> refuse_other_times(const Imported& i) {
  const bool has_any = i.matched + i.works.works + i.works.known + i.operators.operators + i.operators.known > 0;
  if (has_any || i.works.elsewhere + i.operators.elsewhere == 0) return {};
  return fail("", "nothing in it lies in the time of the recording", "is it of the same run?");
}

Result<Imported> take_rows(sqlite::Db& db, const SessionClock& session, const foreign::Origin& origin,
                           ImportStage& stage) {
  Imported out;
  if (auto done = stage.pair_calls(); !done) return tl::unexpected(done.error());
  auto clock = find_clock(db, clocks_of(origin, session));
  if (!clock) return tl::unexpected(clock.error());
  out.clock = *clock;
  if (auto done = tie_calls(db, *clock); !done) return tl::unexpected(done.error());
  auto id = db.integer("SELECT coalesce(max(id), 0) + 1 FROM import_"),
       calls = db.integer("SELECT count(*) FROM in_call c JOIN in_process p ON p.pid = c.pid"),
       matched = db.integer("SELECT count(*) FROM tie");
  if (!id || !calls || !matched) return tl::unexpected(db.error("cannot count the calls"));
  out.id = *id, out.calls = *calls, out.matched = *matched;
  auto works = import_works(db, *id, clock->shift);
  if (!works) return tl::unexpected(works.error());
  out.works = *works;
  auto operators = import_operators(db, *id, clock->shift);
  if (!operators) return tl::unexpected(operators.error());
  out.operators = *operators;
  if (auto fine = refuse_other_times(out); !fine) return tl::unexpected(fine.error());
  return out;
}

Result<void> write_import(sqlite::Db& db, const Imported& i, std::int64_t session, const std::string& file,
                          const foreign::Origin& origin, const std::string& fingerprint) {
  auto spread = db.integer(
      "SELECT coalesce((SELECT apart FROM tie ORDER BY apart LIMIT 1 OFFSET (SELECT count(*) / 2 FROM tie)), -1)");
  auto row = db.prepare("INSERT INTO import_ VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
  if (!spread || !row) return tl::unexpected(db.error("cannot write the import"));
  const std::string name = file.substr(file.rfind('/') + 1);
  row->bind(i.id, session, name, origin.format, fingerprint, i.clock.clock, i.clock.shift,
            *spread < 0 ? std::nullopt : std::optional(*spread), i.calls, i.matched, i.works.works, i.works.tied,
            i.operators.operators, i.works.elsewhere + i.operators.elsewhere);
  return row->run();
}

std::string share(std::int64_t part, std::int64_t whole) {
  return fmt::format("{} of {} ({:.1f} %)", part, whole,
                     whole > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0);
}

std::string summary(const Imported& i, std::string_view format) {
  std::string out = fmt::format("{} as import {}\n", format, i.id);
  out +=
      fmt::format("  clock      {}{}\n", i.clock.clock, i.matched > 0 ? "" : ", not checked: no call was seen by both");
  if (i.calls > 0) out += fmt::format("  calls      {} were seen by fade as well\n", share(i.matched, i.calls));
  if (i.works.works > 0)
    out += fmt::format("  GPU work   {} kernels, copies and fills are tied to calls\n",
                       share(i.works.tied, i.works.works));
  if (i.works.known > 0)
    out +=
        fmt::format("  GPU work   {} not taken: the recording has times of these processes already\n", i.works.known);
  if (i.operators.operators > 0) out += fmt::format("  operators  {}\n", i.operators.operators);
  if (i.operators.known > 0)
    out += fmt::format("  operators  {} not taken: the recording has operators of these processes already\n",
                       i.operators.known);
  if (const std::int64_t n = i.works.elsewhere + i.operators.elsewhere; n > 0)
    out += fmt::format("  elsewhere  {} rows of processes, threads or times that are not in the recording\n", n);
  return out;
}

Result<std::string> import_into(sqlite::Db& db, const Context& context, const Recording& recording,
                                const std::string& file, const std::string& fingerprint, EndedBySignal& guard) {
  auto session = session_of(db, context, recording);
  if (!session) return tl::unexpected(session.error());
  ImportStage stage(db);
  if (auto done = stage.begin(); !done) return tl::unexpected(done.error());
  auto origin = read_file(file, stage);
  if (!origin) return tl::unexpected(origin.error());
  if (auto done = stage.find_processes(session->id, origin->base); !done) return tl::unexpected(done.error());
  if (auto fine = refuse_strangers(stage, file); !fine) return tl::unexpected(fine.error());
  guard.begin(db);
  auto imported = take_rows(db, *session, *origin, stage);
  if (!imported) return tl::unexpected(imported.error());
  if (auto done = write_import(db, *imported, session->id, file, *origin, fingerprint); !done)
    return tl::unexpected(done.error());
  return summary(*imported, origin->format);
}

Result<std::string> import_file(const Context& context, const Recording& recording, const std::string& file) {
  auto fingerprint = fingerprint_of(file);
  if (!fingerprint) return fingerprint;
  auto db = open_for_writing(recording.path);
  if (!db) return tl::unexpected(db.error());
  EndedBySignal guard;
  auto transaction = sqlite::Txn::begin(*db);
  if (!transaction) return tl::unexpected(transaction.error());
  auto same = db->prepare("SELECT id FROM import_ WHERE fingerprint = ?");
  if (!same) return tl::unexpected(same.error());
  same->bind(*fingerprint);
  auto known = same->step();
  if (!known) return tl::unexpected(known.error());
  if (*known)
    return fmt::format("{} is in the recording already: import {}\n", table::printable(file), same->integer(0));
  *same = sqlite::Stmt();
  auto told = import_into(*db, context, recording, file, *fingerprint, guard);
  if (!told) {
    Error error = told.error();
    if (error.message.empty()) error.message = cannot(file);
    return tl::unexpected(std::move(error));
  }
  if (auto done = transaction->commit(); !done) return tl::unexpected(done.error());
  return told;
}

}  // namespace

Result<void> import_trace(Context& context, Recording& recording) {
  if (context.words.empty())
    return usage("import takes a file", "a rocpd database or a trace of PyTorch's profiler",
                 "fade-query import trace.pt.trace.json run.db");
  if (recording.state == State::Running)
    return fail("cannot import into " + recording.path, "it is still being recorded", "wait for its end");
  if (auto allowed = check_output_file(recording.path); !allowed) return allowed;
  auto told = import_file(context, recording, context.words[0]);
  if (!told && g_ended_by != 0) {
    log::info("{}: ended by a signal, nothing was written", cannot(context.words[0]));
    ::raise(g_ended_by);
  }
  if (!told) return tl::unexpected(told.error());
  return context.output.bytes->write(*told);
}

}  // namespace fade::query
