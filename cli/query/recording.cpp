#include "cli/query/recording.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "base/fd.hpp"
#include "base/path.hpp"
#include "cli/query/user_lines.hpp"
#include "schema/schema.hpp"

namespace fade::query {
namespace {

constexpr std::string_view kMagic{"SQLite format 3\0", 16};
const char* const kListFix = "fade-query list      shows the recordings in this directory";

std::int64_t ns_of(const timespec& t) { return std::int64_t{t.tv_sec} * 1000000000 + t.tv_nsec; }

std::int64_t size_of(const std::string& path) {
  struct stat s {};
  return ::stat(path.c_str(), &s) == 0 ? s.st_size : 0;
}

Result<void> look_at(int fd, const std::string& path) {
  struct stat s {};
  if (::fstat(fd, &s) != 0) return fail_errno("cannot open " + path);
  if (S_ISDIR(s.st_mode))
    return fail("cannot open " + path, "it is a directory",
                "cd " + path + " && fade-query      takes the newest recording there", EISDIR);
  if (!S_ISREG(s.st_mode)) return fail("cannot open " + path, "it is not a file", kListFix);
  if (s.st_size == 0 && size_of(path + "-wal") > 0) return {};  // all of it is still in the write-ahead log
  if (s.st_size == 0) return fail("cannot read " + path, "it is empty: nothing was recorded into it", kListFix);
  char magic[16] = {};
  if (::pread(fd, magic, sizeof magic, 0) != sizeof magic || std::string_view(magic, 16) != kMagic)
    return fail(path + " is not a recording of fade", "it is not an SQLite database", kListFix);
  return {};
}

// Who holds SQLite's shared lock on the file (in WAL mode every connection does, until it closes). Must be asked while
// this process has no connection to it: closing any descriptor of a file gives up all of a process's locks on it.
std::optional<Pid> holder_of(int fd) {
  constexpr off_t kPendingByte = 0x40000000;  // https://www.sqlite.org/src/file/src/os.h
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = kPendingByte;
  lock.l_len = 512;
  if (::fcntl(fd, F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) return std::nullopt;
  return Pid::of(lock.l_pid);
}

// A log left by a killed fade goes into the file, so that it is one file again and readable from anywhere. A journal
// left by a killed import is rolled back. Only if the file is ours; where that fails, reading works or says why.
void take_in_log(const std::string& path) {
  struct stat s {};
  if (::stat(path.c_str(), &s) != 0 || s.st_uid != ::geteuid() || ::access(path.c_str(), W_OK) != 0) return;
  sqlite3* raw = nullptr;
  if (sqlite3_open_v2(literal_path(path).c_str(), &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr) ==
      SQLITE_OK) {
    sqlite3_db_config(raw, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(raw, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_exec(raw, "SELECT count(*) FROM sqlite_master", nullptr, nullptr,
                 nullptr);  // without a read there is no log to checkpoint
    sqlite3_wal_checkpoint_v2(raw, nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
  }
  sqlite3_close(raw);
}

std::int64_t integer(const Result<table::Value>& value) {
  const auto* n = value ? std::get_if<std::int64_t>(&*value) : nullptr;
  return n ? *n : 0;
}

Result<void> check_identity(Database& db, const std::string& path) {
  auto id = db.one("PRAGMA application_id");
  if (!id) {
    Error e = id.error();
    e.message = "cannot read " + path;
    if (e.fix.empty() && size_of(path + "-journal") > 0)
      e.fix = fmt::format("cp {0} {0}-journal /tmp/      and read it there: an import that was killed is to be undone",
                          path);
    if (e.fix.empty() && ::access((path + "-wal").c_str(), F_OK) == 0)
      e.fix = fmt::format(
          "cp {0} {0}-wal /tmp/      and read it there: its log cannot be read from a directory that we may not write "
          "to",
          path);
    return tl::unexpected(e);
  }
  if (integer(id) != schema::kApplicationId)
    return fail(path + " is not a recording of fade", "it is an SQLite database of something else", kListFix);
  const std::int64_t version = integer(db.one("PRAGMA user_version"));
  if (version > schema::kVersion)
    return fail(
        "cannot read " + path,
        fmt::format("it was recorded by a newer fade (schema {}, this one knows {})", version, schema::kVersion),
        "read it with the fade that recorded it, or a newer one");
  if (version < 1)
    return fail("cannot read " + path, "the recording ended before it began: it has no schema", kListFix);
  if (version < schema::kVersion)
    return fail(
        "cannot read " + path,
        fmt::format("it was recorded by an older fade (schema {}, this one reads {})", version, schema::kVersion),
        "read it with the fade that recorded it, or with sqlite3: the views are in the file");
  return {};
}

// How many of its sessions were not closed.
Result<std::size_t> read_sessions(Recording& r) {
  std::size_t open = 0;
  auto statement = r.database.prepare("SELECT id, clean FROM sessions ORDER BY id");
  if (!statement) return tl::unexpected(statement.error());
  for (;;) {
    auto row = statement->step();
    if (!row) return tl::unexpected(row.error());
    if (!*row) return open;
    const auto id = statement->value(0);
    if (const auto* n = std::get_if<std::int64_t>(&id)) r.sessions.push_back(*n);
    open += statement->value(1) != table::Value{std::int64_t{1}};
  }
}

// The views of a recording cannot tell whether fade was killed or still records, and name both. Here it is known, if
// only the newest session is open: an older one must have been cut off.
void take_state(Recording& r, std::size_t open, bool alive) {
  constexpr std::string_view kEither = "fade was killed, or is still recording";
  r.state = open == 0 ? State::Closed : alive ? State::Running : State::Unclosed;
  const bool known = open > 0 && (!alive || open == 1);
  r.database.put_in_texts(known ? kEither : "", alive ? "fade is still recording" : "fade was killed");
}

bool is_merged(Database& database) {
  return integer(database.one("SELECT 1 FROM meta_ WHERE key = 'merged_files'")) == 1;
}

Result<Recording> open_once(const std::string& path) {
  std::optional<Pid> holder;
  {
    const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!fd) return fail("cannot open " + path, ::strerror(errno), errno == ENOENT ? kListFix : "", errno);
    if (auto fine = look_at(fd.get(), path); !fine) return tl::unexpected(fine.error());
    holder = holder_of(fd.get());
  }
  if (!holder && (size_of(path + "-wal") > 0 || size_of(path + "-journal") > 0)) take_in_log(path);
  auto db = Database::open(path);
  if (!db) return tl::unexpected(db.error());
  if (auto fine = check_identity(*db, path); !fine) return tl::unexpected(fine.error());
  if (auto made = use_user_lines(*db, {}); !made) return tl::unexpected(made.error());
  Recording r{path, std::move(*db), State::Closed, holder, {}, false};
  const auto open = read_sessions(r);
  if (!open) return tl::unexpected(with_context("cannot read " + path, open.error()));
  take_state(r, *open, holder.has_value());
  r.is_merged = is_merged(r.database);
  return r;
}

}  // namespace

// A writer may have come after the look at the lock. The lock can be asked only without a connection to the file.
Result<Recording> open_recording(const std::string& path) {
  {
    auto opened = open_once(path);
    if (!opened || opened->state != State::Unclosed) return opened;
  }
  return open_once(path);
}

// The state of each file was told when it was read.
Result<Recording> as_recording(Database database, const std::string& name) {
  if (auto made = use_user_lines(database, {}); !made) return tl::unexpected(made.error());
  Recording r{name, std::move(database), State::Closed, std::nullopt, {}, true};
  if (auto read = read_sessions(r); !read) return tl::unexpected(with_context("cannot read " + name, read.error()));
  return r;
}

Result<Recording> connect_again(const Recording& recording) {
  auto db = Database::open(recording.path);
  if (!db) return tl::unexpected(db.error());
  if (auto made = use_user_lines(*db, {}); !made) return tl::unexpected(made.error());
  Recording r{recording.path,   std::move(*db),     recording.state,
              recording.holder, recording.sessions, recording.is_merged};
  if (auto looked = look_again(r); !looked) return tl::unexpected(looked.error());
  return r;
}

Result<void> look_again(Recording& recording) {
  recording.sessions.clear();
  const auto open = read_sessions(recording);
  if (!open) return tl::unexpected(open.error());
  // A holder in another namespace of processes has the number -1, and is believed.
  const bool alive =
      recording.holder && (*recording.holder <= 0 || ::kill(recording.holder->value(), 0) == 0 || errno == EPERM);
  take_state(recording, *open, alive);
  return {};
}

bool is_held(const std::string& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  return fd && holder_of(fd.get()).has_value();
}

std::string state_text(const Recording& r) {
  if (r.state == State::Closed) return {};
  if (r.state == State::Running && *r.holder > 0)
    return fmt::format("still being recorded (process {} has it open): sums are up to 2 s behind", *r.holder);
  if (r.state == State::Running) return "still being recorded: sums are up to 2 s behind";
  return "not closed cleanly (fade was killed, or could not write): the last moments may be missing";
}

bool is_recording(const std::string& path) {
  constexpr std::size_t kHeader = 100,
                        kApplicationId = 68;  // https://www.sqlite.org/fileformat2.html#the_database_header
  struct stat s {};
  if (::stat(path.c_str(), &s) != 0 || !S_ISREG(s.st_mode)) return false;
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  std::array<unsigned char, kHeader> head{};
  if (!fd || ::pread(fd.get(), head.data(), head.size(), 0) != static_cast<ssize_t>(head.size())) return false;
  if (std::memcmp(head.data(), kMagic.data(), kMagic.size()) != 0) return false;
  std::uint32_t id = 0;
  for (std::size_t i = 0; i < 4; ++i) id = id << 8 | head[kApplicationId + i];
  return id == schema::kApplicationId;
}

std::vector<FoundFile> recordings_in(const std::string& directory) {
  std::vector<FoundFile> found;
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(::opendir(directory.c_str()), ::closedir);
  while (const dirent* entry = dir ? ::readdir(dir.get()) : nullptr) {
    const std::string_view name(entry->d_name);
    const std::string path = directory == "." ? std::string(name) : directory + "/" + std::string(name);
    const bool usual_name = name.starts_with("fade-") && name.ends_with(".db");
    if (!usual_name && !is_recording(path)) continue;
    struct stat s {
    }, log{};
    if (::stat(path.c_str(), &s) != 0 || !S_ISREG(s.st_mode)) continue;
    // While recording, the log changes and the file itself does not.
    if (::stat((path + "-wal").c_str(), &log) != 0) log = s;
    found.push_back({path, s.st_size, std::max(ns_of(s.st_mtim), ns_of(log.st_mtim))});
  }
  std::sort(found.begin(), found.end(), [](const FoundFile& a, const FoundFile& b) {
    return a.changed_ns != b.changed_ns ? a.changed_ns > b.changed_ns : a.path < b.path;
  });
  return found;
}

}  // namespace fade::query
