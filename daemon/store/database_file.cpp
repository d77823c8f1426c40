#include "store/database_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/output_file.hpp"
#include "base/path.hpp"
#include "schema/schema.hpp"
#include "store/histogram.hpp"
#include "store/new_schema.hpp"

namespace fade::store {
namespace {

constexpr const char* kElsewhere = "choose another file with --output FILE";
constexpr mode_t kOwnerOnly = 0600;
constexpr const char* kFiles[] = {"", "-wal", "-shm", "-journal"};  // of one database

enum class Content { Missing, Empty, Ours, Older, Newer, Foreign };

std::uint32_t big_endian(const std::array<unsigned char, 100>& header, std::size_t at) {
  return std::uint32_t{header[at]} << 24 | std::uint32_t{header[at + 1]} << 16 | std::uint32_t{header[at + 2]} << 8 |
         header[at + 3];
}

// https://www.sqlite.org/fileformat.html, 1.3: user_version at 60, application_id at 68.
Content content_of(int fd) {
  std::array<unsigned char, 100> header{};
  struct stat status {};
  if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) return Content::Foreign;
  const ssize_t got = ::pread(fd, header.data(), header.size(), 0);
  if (got == 0) return Content::Empty;
  if (got != static_cast<ssize_t>(header.size()) || std::memcmp(header.data(), "SQLite format 3", 16) != 0)
    return Content::Foreign;
  if (big_endian(header, 68) != schema::kApplicationId) return Content::Foreign;
  const std::uint32_t version = big_endian(header, 60);
  if (version > schema::kVersion) return Content::Newer;
  return version > 0 && version < schema::kVersion ? Content::Older : Content::Ours;
}

// Follows no symbolic link: the target of a link is not the file that the user named.
Result<Fd> open_existing(const std::string& path) {
  Fd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd && errno == ELOOP) return fail("cannot write " + path, "it is a symbolic link", kElsewhere, ELOOP);
  if (!fd) return fail_errno("cannot write " + path, errno, kElsewhere);
  return fd;
}

bool exists(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0;
}

Result<Fd> create(const std::string& path) {
  Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kOwnerOnly));
  if (fd) return fd;
  const int error = errno;
  struct stat s {};
  if (error == EEXIST && ::stat(path.c_str(), &s) == 0 && !S_ISREG(s.st_mode))
    return fail("cannot create " + path, S_ISDIR(s.st_mode) ? "it is a directory" : "it is not a plain file",
                kElsewhere, EISDIR);
  const std::string folder = path.substr(0, path.rfind('/') == path.npos ? 0 : path.rfind('/'));
  if (error == ENOENT && !folder.empty() && ::stat(folder.c_str(), &s) != 0)
    return fail("cannot create " + path, "directory " + folder + " does not exist", "mkdir -p " + folder, error);
  if (error == EEXIST)
    return fail(path + " exists", "fade does not overwrite a recording unless told to",
                "--force overwrites it, --append adds to it", EEXIST);
  return fail_errno("cannot create " + path, error, kElsewhere);
}

// Two recordings in one file at the same time would give the same ids twice.
Result<void> lock(const std::string& path, int fd) {
  if (::flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return {};
  return fail("cannot write " + path, "another fade is recording into it", kElsewhere, EBUSY);
}

Result<void> refuse(const std::string& path, Content content) {
  if (content == Content::Foreign) return fail("will not touch " + path, "it is not a fade database", kElsewhere);
  if (content == Content::Newer)
    return fail("cannot write " + path, "it was written by a newer fade",
                "update fade, or choose another file with --output FILE");
  if (content == Content::Older) return fail("cannot write " + path, "it was written by an older fade", kElsewhere);
  return {};
}

Result<Fd> overwrite(const std::string& path) {
  if (!exists(path)) return create(path);
  Result<Fd> old = open_existing(path);
  if (!old) return old;
  const Content content = content_of(old->get());
  if (auto ours = refuse(path, content == Content::Foreign ? content : Content::Ours); !ours)
    return tl::unexpected(std::move(ours.error()));
  if (auto free = lock(path, old->get()); !free) return tl::unexpected(std::move(free.error()));
  for (const char* suffix : kFiles)
    if (::unlink((path + suffix).c_str()) != 0 && errno != ENOENT)
      return fail_errno("cannot overwrite " + path + suffix, errno, kElsewhere);
  return create(path);
}

Result<Fd> append(const std::string& path) {
  if (!exists(path)) return create(path);
  Result<Fd> fd = open_existing(path);
  if (!fd) return fd;
  if (auto ours = refuse(path, content_of(fd->get())); !ours) return tl::unexpected(std::move(ours.error()));
  return fd;
}

Result<Fd> open_fd(const std::string& path, OpenMode mode) {
  if (mode == OpenMode::Overwrite) return overwrite(path);
  return mode == OpenMode::Append ? append(path) : create(path);
}

bool on_network(int fd) {
  struct statfs status {};
  return ::fstatfs(fd, &status) == 0 && is_network_file_system(static_cast<long>(status.f_type));
}

// The name must still mean the file that was created or checked.
Result<void> same_file(const std::string& path, int fd) {
  struct stat by_name {
  }, by_fd{};
  if (::lstat(path.c_str(), &by_name) == 0 && ::fstat(fd, &by_fd) == 0 && by_name.st_ino == by_fd.st_ino &&
      by_name.st_dev == by_fd.st_dev)
    return {};
  return fail("cannot write " + path, "somebody replaced it just now", kElsewhere);
}

// SQLite opens the files beside the database by their names. A file of another user there could be read and changed by
// that user.
Result<void> check_companions(const std::string& path) {
  struct stat main {
  }, beside{};
  const bool has_main = ::lstat(path.c_str(), &main) == 0;
  for (const char* suffix : kFiles) {
    if (*suffix == '\0' || ::lstat((path + suffix).c_str(), &beside) != 0) continue;
    const bool is_known =
        beside.st_uid == ::geteuid() || beside.st_uid == 0 || (has_main && beside.st_uid == main.st_uid);
    if (!is_known) return fail("cannot write " + path, path + suffix + " is of another user", kElsewhere, EPERM);
    if (!S_ISREG(beside.st_mode))
      return fail("cannot write " + path, path + suffix + " is not a file", kElsewhere, EPERM);
  }
  return {};
}

Result<void> connect(DatabaseFile& file) {
  Result<sqlite::Db> db = sqlite::Db::open(literal_path(file.path), SQLITE_OPEN_READWRITE);
  if (!db) return tl::unexpected(std::move(db.error()));
  file.db = std::move(*db);
  return {};
}

Result<void> set_journal(DatabaseFile& file) {
  const char* how =
      file.wal ? "PRAGMA wal_autocheckpoint = 0; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL"
               : "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = NORMAL";
  return file.db.exec(how);
}

Result<void> prepare(DatabaseFile& file) {
  sqlite3_busy_timeout(file.db.get(), 2000);
  // Appending needs few pages at a time; a large cache would only be memory.
  if (auto done = file.db.exec("PRAGMA cache_size = -8192; PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF");
      !done)
    return done;
  const auto objects = file.db.integer("SELECT count(*) FROM sqlite_master");
  if (!objects) return tl::unexpected(objects.error());
  if (*objects == 0)
    if (auto done = create_schema(file.db); !done) return done;
  if (auto done = register_histogram_functions(file.db); !done) return done;
  return set_journal(file);
}

}  // namespace

bool is_network_file_system(long magic) {
  constexpr unsigned long kNetwork[] = {
      0x6969,                          // NFS
      0x01021997,                      // 9p
      0x0BD00BD0,                      // Lustre
      0x65735546,                      // FUSE: sshfs and the like; virtiofs
      0xFF534D42, 0xFE534D42, 0x517B,  // SMB
      0x00C36400,                      // Ceph
      0x47504653,                      // GPFS
      0x19830326,                      // BeeGFS
      0x5346414F,                      // AFS
      0x73757245,                      // Coda
      0x7461636F,                      // OCFS2
      0x01161970,                      // GFS2
      0xAAD7AAEA,                      // PanFS
  };
  const auto low = static_cast<unsigned long>(magic) & 0xFFFFFFFFu;
  return std::find(std::begin(kNetwork), std::end(kNetwork), low) != std::end(kNetwork);
}

Result<DatabaseFile> open_database(const std::string& path, OpenMode mode) {
  const bool is_new = mode != OpenMode::Append || !exists(path);
  if (auto allowed = check_output_file(path); !allowed) return tl::unexpected(std::move(allowed.error()));
  if (auto allowed = check_companions(path); !allowed) return tl::unexpected(std::move(allowed.error()));
  Result<Fd> fd = open_fd(path, mode);
  if (!fd) return tl::unexpected(std::move(fd.error()));
  DatabaseFile file;
  file.path = path;
  file.lock = std::move(*fd);
  file.wal = !on_network(file.lock.get());
  if (file.wal)  // over NFS, flock is one of the locks that SQLite itself takes
    if (auto free = lock(path, file.lock.get()); !free) return tl::unexpected(std::move(free.error()));
  file.is_new = is_new;
  Result<void> ready = connect(file);
  if (ready) ready = same_file(path, file.lock.get());
  if (ready)
    if (auto done = prepare(file); !done)
      ready = tl::unexpected(with_context("cannot set up " + path, std::move(done.error())));
  if (ready) ready = check_companions(path);  // SQLite has opened them by now
  if (ready) return file;
  abandon(file);
  return tl::unexpected(std::move(ready.error()));
}

void abandon(DatabaseFile& file) {
  file.db.close();
  if (!file.is_new || !same_file(file.path, file.lock.get())) return;
  for (const char* suffix : kFiles) ::unlink((file.path + suffix).c_str());
}

Result<void> make_single_file(DatabaseFile& file) {
  return file.db.exec(file.wal ? "PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE"
                               : "PRAGMA journal_mode = DELETE");
}

}  // namespace fade::store
