#include "cli/query/push_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <thread>

#include "base/log.hpp"
#include "base/path.hpp"
#include "cli/push/http.hpp"
#include "cli/table/human.hpp"
#include "cli/table/text.hpp"
#include "store/sqlite.hpp"

namespace fade::query {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kFirstPause{500}, kLongestPause{10'000}, kNap{100}, kLook{500};
// A snapshot is due when the recording has become longer by this part, so all snapshots together are at most some four
// times as large as the last one.
constexpr int kSnapshotPart = 3;

// A program that records makes its recording one plain file at the end. It cannot while another one has it open, so
// that one does it. Where the file may only be read, its companions stay.
void make_one_file(const std::string& path) {
  auto db = sqlite::Db::open(literal_path(path), SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX);
  if (!db) return;
  if (auto done = db->exec("PRAGMA busy_timeout = 5000; PRAGMA journal_mode = DELETE"); !done)
    log::debug("{}", done.error().text());
}

}  // namespace

// SQLite locks bytes from 0x40000000 on (https://www.sqlite.org/src/file/src/os.h), and all of them over NFS. Locks of
// this kind belong to the open file, so SQLite's locks of this process stay as they are.
Result<PushLock> PushLock::of(const std::string& path) {
  constexpr off_t kByte = 0x50000000;
  Fd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = kByte;
  lock.l_len = 1;
  if (fd && ::fcntl(fd.get(), F_OFD_SETLK, &lock) != 0 && (errno == EAGAIN || errno == EACCES))
    return fail("cannot send " + path, "another fade-query push sends it now", "wait for its end", EBUSY);
  return PushLock(std::move(fd));  // a file that may only be read has no lock
}

bool PushFile::sleep(std::chrono::nanoseconds time) const {
  const auto until = steady_clock::now() + time;
  while (!stop_ && steady_clock::now() < until)
    std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(kNap, until - steady_clock::now()));
  return !stop_;
}

// The pauses grow, so that a server that starts again is not met by all ranks at once.
template <class Attempt>
Result<void> PushFile::patiently(const Attempt& attempt) {
  const auto begun = steady_clock::now();
  std::chrono::nanoseconds pause = kFirstPause;
  for (;; pause = std::min<std::chrono::nanoseconds>(2 * pause, kLongestPause)) {
    auto done = attempt();
    const bool is_hopeless = done || done.error().code != push::kUnreachable || stop_;
    if (is_hopeless || steady_clock::now() - begun + pause > wish_.patience) return done;
    if (!std::exchange(is_away_, true)) log::info("{}; trying again", done.error().sentence());
    if (!sleep(pause)) return done;
  }
}

Result<Recording> PushFile::open() const {
  auto recording = open_recording(path_);
  if (!recording) return recording;
  if (recording->is_merged)
    return fail("cannot send " + path_, "it was merged of several files, so its rows have other numbers",
                "send the files that it was merged of");
  recording->database.stop_with(&stop_);
  return recording;
}

Result<void> PushFile::send_all(Recording& recording) {
  return patiently([&]() -> Result<void> {
    if (auto fine = check_server(); !fine) return fine;
    if (auto done = to_->send_rows(recording, true); !done) return done;
    const bool complete = recording.state == State::Closed;
    if (auto done = to_->send_snapshot(recording, complete); !done) return done;
    return complete ? to_->verify(recording) : Result<void>();
  });
}

Result<void> PushFile::begin(Recording& recording, std::int64_t session) {
  auto made = PushRecording::of(server_, recording, session, wish_.job);
  if (!made) return tl::unexpected(made.error());
  to_ = std::make_unique<PushRecording>(std::move(*made));
  return {};
}

// Once, before the first request about rows.
Result<void> PushFile::check_server() {
  if (is_checked_) return {};
  auto fine = server_.check();
  is_checked_ = fine.has_value();
  return fine;
}

Result<bool> PushFile::is_there(Recording& recording) {
  bool out = false;
  auto asked = patiently([&]() -> Result<void> {
    if (auto fine = check_server(); !fine) return fine;
    auto found = to_->is_there(recording);
    out = found && *found;
    return found ? Result<void>() : tl::unexpected(found.error());
  });
  return asked ? Result<bool>(out) : tl::unexpected(asked.error());
}

Result<PushedFile> PushFile::send() {
  PushedFile out;
  auto lock = PushLock::of(path_);
  if (!lock) return tl::unexpected(lock.error());
  auto recording = open();
  if (!recording) return tl::unexpected(recording.error());
  for (const std::int64_t session : recording->sessions) {
    if (auto begun = begin(*recording, session); !begun) return tl::unexpected(begun.error());
    auto there = is_there(*recording);
    if (!there) return tl::unexpected(there.error());
    ++out.sessions;
    out.already_there += *there;
    if (*there) continue;
    if (auto done = send_all(*recording); !done) return tl::unexpected(done.error());
    out.rows += to_->rows();
  }
  return out;
}

Result<void> PushFile::round(Recording& recording, bool first) {
  const auto now = steady_clock::now();
  const auto pause = std::max<std::chrono::nanoseconds>(wish_.every, (now - begun_) / kSnapshotPart);
  if (auto fine = check_server(); !fine) return fine;
  if (to_->keeps_rows())
    if (auto done = to_->send_rows(recording, false); !done) return done;
  if (!first && now - last_snapshot_ < pause) return {};
  last_snapshot_ = now;
  return to_->send_snapshot(recording, false);
}

// Returns true after the last round.
Result<bool> PushFile::look(bool first) {
  auto recording = open();
  if (!recording) return tl::unexpected(recording.error());
  if (!to_)
    if (auto begun = begin(*recording, recording->sessions.empty() ? 0 : recording->sessions.back()); !begun)
      return tl::unexpected(begun.error());
  if (recording->state != State::Running) {
    auto done = send_all(*recording);
    return done ? Result<bool>(true) : tl::unexpected(done.error());
  }
  const auto done = round(*recording, first);
  if (!done && done.error().code != push::kUnreachable) return tl::unexpected(done.error());
  const bool was_away = std::exchange(is_away_, !done);
  if (!done && !was_away) log::info("{}; the recording goes on, and is sent later", done.error().sentence());
  if (done && was_away) log::info("{} is back", server_.address().url);
  return false;
}

// Between two rounds nothing of the file is open but the lock: a recording cannot become one plain file while another
// program has it open.
bool PushFile::wait_for_more() const {
  const auto until = steady_clock::now() + wish_.every;
  while (steady_clock::now() < until && is_held(path_))
    if (!sleep(kLook)) return false;
  return !stop_;
}

Result<PushedFile> PushFile::follow() {
  auto lock = PushLock::of(path_);
  if (!lock) return tl::unexpected(lock.error());
  for (bool first = true;; first = false) {
    auto last = look(first);
    if (!last) return tl::unexpected(last.error());
    if (*last) {
      make_one_file(path_);
      return PushedFile{1, 0, to_->rows()};
    }
    if (!wait_for_more()) return fail("cannot send all of " + path_, "it was ended before", {}, ECANCELED);
  }
}

// The job belongs to the command: under another one all rows would be sent once more.
std::string PushFile::what_is_left() const {
  const std::string job = to_ && to_->has_named_job() ? " --job " + table::shell_word(to_->job()) : std::string();
  const std::string fix =
      fmt::format("fade-query push {} {}{}{}      sends the rest", table::shell_word(server_.address().text()),
                  table::shell_word(path_), wish_.again, job);
  auto recording = to_ ? open_recording(path_) : fail({});
  auto rows = recording ? to_->missing(*recording) : tl::unexpected(recording.error());
  return rows ? fmt::format("{} of {} are not on the server yet: {}", table::human_counted(*rows, "row"),
                            table::printable(path_), fix)
              : fmt::format("{} is not on the server yet: {}", table::printable(path_), fix);
}

}  // namespace fade::query
