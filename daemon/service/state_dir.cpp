#include "service/state_dir.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <memory>

#include "base/glob.hpp"
#include "service/acl.hpp"

namespace fade::service {
namespace {

constexpr mode_t kEveryoneMayPass = 0711, kOwnerOnly = 0700;
constexpr std::size_t kLargestFile = 1 << 20;
constexpr std::string_view kLastWord = ".end";  // beside a recording, by its worker
constexpr std::array kCompanions{std::string_view(), std::string_view("-wal"), std::string_view("-shm"),
                                 std::string_view("-journal"), kLastWord};  // the others are SQLite's

// The folder `name` in `parent`, made if it is missing. Fails for a link and for anything but a folder.
Result<Fd> open_folder(int parent, const std::string& name, mode_t mode) {
  if (::mkdirat(parent, name.c_str(), mode) != 0 && errno != EEXIST)
    return fail_errno("cannot make the folder " + name);
  Fd fd(::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (fd) return fd;
  const bool link = errno == ELOOP || errno == ENOTDIR;
  return fail("cannot use the folder " + name, link ? "it is a link or no folder" : std::strerror(errno),
              "name another one with --state-dir", errno);
}

Result<void> check_owner(const Fd& fd, const std::string& name, uid_t owner) {
  struct stat what {};
  if (::fstat(fd.get(), &what) != 0) return fail_errno("cannot look at " + name);
  if (what.st_uid != owner)
    return fail("cannot use the folder " + name, fmt::format("it belongs to user {}, not to {}", what.st_uid, owner),
                "name another one with --state-dir", EPERM);
  if ((what.st_mode & 0022) != 0 && owner == ::geteuid())
    return fail("cannot use the folder " + name, "others may write it", "chmod go-w " + name, EPERM);
  return {};
}

// At most kLargestFile bytes; empty if there is no such file.
std::string read_small(int folder, const std::string& name) {
  const Fd file(::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  std::string out(kLargestFile, '\0');
  std::size_t size = 0;
  for (ssize_t n; file && size < out.size() && (n = ::read(file.get(), out.data() + size, out.size() - size)) > 0;)
    size += static_cast<std::size_t>(n);
  out.resize(size);
  return out;
}

bool is_plain(std::string_view name) {
  return !name.empty() && name.front() != '.' && name.find('/') == std::string_view::npos;
}

}  // namespace

Result<StateDir> StateDir::open(const std::string& path) {
  auto folder = open_folder(AT_FDCWD, path, kEveryoneMayPass);
  if (!folder) return tl::unexpected(std::move(folder.error()));
  if (auto checked = check_owner(*folder, path, ::geteuid()); !checked)
    return tl::unexpected(std::move(checked.error()));
  if (::flock(folder->get(), LOCK_EX | LOCK_NB) != 0)
    return fail("cannot use the folder " + path, "another daemon does", "fadectl status", EBUSY);
  if (::fchmod(folder->get(), kEveryoneMayPass) != 0)
    return fail_errno("cannot use the folder " + path);  // its users pass to their own
  auto sessions = open_folder(folder->get(), "sessions", kOwnerOnly);
  if (!sessions) return tl::unexpected(std::move(sessions.error()));
  if (auto checked = check_owner(*sessions, path + "/sessions", ::geteuid()); !checked)
    return tl::unexpected(std::move(checked.error()));
  return StateDir(path, std::move(*folder), std::move(*sessions));
}

Result<std::string> StateDir::recordings_of(uid_t uid, gid_t gid) {
  const std::string name = std::to_string(uid), whole = path_ + "/" + name;
  auto folder = open_folder(folder_.get(), name, kOwnerOnly);
  if (!folder) return tl::unexpected(std::move(folder.error()));
  const bool root = ::geteuid() == 0;
  struct stat what {};
  if (root && uid != 0 && ::fstat(folder->get(), &what) == 0 && what.st_uid == 0 &&
      ::fchown(folder->get(), uid, gid) != 0)
    return fail_errno("cannot give " + whole + " to its user");
  if (auto checked = check_owner(*folder, whole, root ? uid : ::geteuid()); !checked)
    return tl::unexpected(std::move(checked.error()));
  if (!root && uid != ::geteuid())
    if (auto done = let_read(folder->get(), uid); !done) return tl::unexpected(std::move(done.error()));
  return whole;
}

Fd StateDir::user_folder(uid_t uid) const {
  return Fd(::openat(folder_.get(), std::to_string(uid).c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

void StateDir::open_recording(uid_t uid, std::string_view name) const {
  if (::geteuid() == 0 || uid == ::geteuid() || !is_plain(name)) return;
  const Fd folder = user_folder(uid);
  for (const std::string_view companion : kCompanions) {
    const Fd file(::openat(folder.get(), fmt::format("{}{}", name, companion).c_str(),
                           O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
    if (file) ::fchmod(file.get(), 0640);
  }
}

std::uint64_t StateDir::recording_bytes(uid_t uid, std::string_view name) const {
  const Fd folder = user_folder(uid);
  struct stat what {};
  if (!is_plain(name) || ::fstatat(folder.get(), std::string(name).c_str(), &what, AT_SYMLINK_NOFOLLOW) != 0) return 0;
  return static_cast<std::uint64_t>(what.st_size);
}

std::string StateDir::take_last_word(uid_t uid, std::string_view name) const {
  if (!is_plain(name)) return {};
  const Fd folder = user_folder(uid);
  const std::string file = fmt::format("{}{}", name, kLastWord);
  std::string text = read_small(folder.get(), file);
  ::unlinkat(folder.get(), file.c_str(), 0);
  return text;
}

bool StateDir::remove_recording(uid_t uid, std::string_view name) const {
  if (!is_plain(name)) return false;
  const Fd folder = user_folder(uid);
  bool was_there = false;
  for (const std::string_view companion : kCompanions)
    was_there |= ::unlinkat(folder.get(), fmt::format("{}{}", name, companion).c_str(), 0) == 0 && companion.empty();
  return was_there;
}

Result<std::uint64_t> StateDir::next_id() {
  const std::string text = load("next_id");
  std::uint64_t id = 1;
  std::from_chars(text.data(), text.data() + text.size(), id);
  for (const std::uint64_t saved : saved_sessions()) id = std::max(id, saved + 1);
  if (auto saved = save("next_id", std::to_string(id + 1)); !saved) return tl::unexpected(std::move(saved.error()));
  return id;
}

Result<void> StateDir::save(const std::string& name, std::string_view text) const {
  const std::string fresh = name + ".new";
  ::unlinkat(folder_.get(), fresh.c_str(), 0);  // of a daemon that died just here
  const Fd file(::openat(folder_.get(), fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) return fail_errno(fmt::format("cannot write {}/{}", path_, fresh));
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t n = ::write(file.get(), text.data() + done, text.size() - done);
    if (n <= 0) return fail_errno(fmt::format("cannot write {}/{}", path_, fresh));
    done += static_cast<std::size_t>(n);
  }
  if (::renameat(folder_.get(), fresh.c_str(), folder_.get(), name.c_str()) != 0)
    return fail_errno(fmt::format("cannot write {}/{}", path_, name));
  return {};
}

std::string StateDir::load(const std::string& name) const { return read_small(folder_.get(), name); }

void StateDir::remove(const std::string& name) const { ::unlinkat(folder_.get(), name.c_str(), 0); }

std::string StateDir::session_name(std::uint64_t id) { return fmt::format("sessions/{}.json", id); }

std::vector<std::uint64_t> StateDir::saved_sessions() const {
  std::vector<std::uint64_t> ids;
  Fd again(::openat(sessions_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::fdopendir(again.get()), &::closedir);
  if (!folder) return ids;
  again.release();
  while (const dirent* entry = ::readdir(folder.get())) {
    const std::string_view name = entry->d_name;
    std::uint64_t id = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), id);
    if (error == std::errc{} && std::string_view(end) == ".json") ids.push_back(id);
  }
  std::ranges::sort(ids);
  return ids;
}

std::string plain_name(std::string_view text) {
  constexpr std::size_t kLongest = 40;
  constexpr std::string_view kGood = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+.";
  std::string out;
  for (const char c : base_name(text).substr(0, kLongest))
    out += kGood.find(c) == std::string_view::npos || (out.empty() && (c == '.' || c == '-')) ? '_' : c;
  return out.empty() ? "_" : out;
}

}  // namespace fade::service
