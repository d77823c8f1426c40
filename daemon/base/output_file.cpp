#include "base/output_file.hpp"

#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <deque>
#include <optional>
#include <string_view>
#include <utility>

namespace fade {
namespace {

constexpr int kMostLinks = 40;  // the kernel's limit
constexpr const char* kOwnFolder = "name a file in a folder of yours";

using Names = std::deque<std::string>;

// The target of a path: a folder, a name in it, and the thing with that name.
struct Place {
  Fd folder;
  std::string name;
  Fd thing;            // O_PATH; none: the name does not exist
  bool given = false;  // it is an open descriptor of fade (/dev/stdout)
};

bool is_trusted(uid_t owner) { return owner == ::geteuid() || owner == 0; }

void prepend(Names& names, std::string_view path) {
  for (std::size_t end = path.size(); end != path.npos;) {
    const std::size_t slash = end == 0 ? path.npos : path.rfind('/', end - 1);
    const std::string_view name = path.substr(slash + 1, end - slash - 1);  // npos + 1 is 0
    if (!name.empty()) names.emplace_front(name);
    end = slash;
  }
}

// The links of /proc/self/fd lead to files and not to the names that they show.
bool is_magic(const Fd& link) {
  struct statfs system {};
  return ::fstatfs(link.get(), &system) == 0 && system.f_type == PROC_SUPER_MAGIC;
}

class Way {
 public:
  explicit Way(const std::string& path) : path_(path), at_(start(path)) { prepend(left_, path); }

  Result<Place> walk() {
    if (path_.empty()) return refuse(ENOENT);
    if (left_.empty() || path_.back() == '/') return refuse(EISDIR);
    for (;;) {
      const std::string name = std::move(left_.front());
      left_.pop_front();
      Result<std::optional<Place>> place = step(name);
      if (!place) return tl::unexpected(std::move(place.error()));
      if (*place) return std::move(**place);
    }
  }

 private:
  static Fd start(std::string_view path) {
    return Fd(::open(path.starts_with('/') ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  }
  tl::unexpected<Error> refuse(int code) const { return fail_errno("cannot write " + path_, code); }
  tl::unexpected<Error> refuse(std::string cause) const {
    return fail("cannot write " + path_, std::move(cause), kOwnFolder, EPERM);
  }

  Result<std::optional<Place>> step(const std::string& name) {
    Fd next(::openat(at_.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    if (!next && errno == ENOENT && left_.empty()) return Place{std::move(at_), name, Fd()};
    struct stat about {};
    if (!next || ::fstat(next.get(), &about) != 0) return refuse(errno);
    if (S_ISLNK(about.st_mode)) return follow(name, next, about.st_uid);
    if (left_.empty()) return Place{std::move(at_), name, std::move(next)};
    if (!S_ISDIR(about.st_mode)) return refuse(ENOTDIR);
    at_ = std::move(next);
    return std::nullopt;
  }

  Result<std::optional<Place>> follow(const std::string& name, const Fd& link, uid_t owner) {
    if (++links_ > kMostLinks) return refuse(ELOOP);
    if (!is_trusted(owner)) return refuse("'" + name + "' is a symbolic link of another user");
    if (is_magic(link)) return follow_magic(name);
    std::array<char, PATH_MAX> text;
    const ssize_t size = ::readlinkat(link.get(), "", text.data(), text.size());
    if (size <= 0) return refuse(size == 0 ? ENOENT : errno);
    const std::string_view target(text.data(), static_cast<std::size_t>(size));
    if (target.starts_with('/')) at_ = start(target);
    prepend(left_, target);
    if (left_.empty()) return refuse(EISDIR);
    return std::nullopt;
  }

  Result<std::optional<Place>> follow_magic(const std::string& name) {
    Fd target(::openat(at_.get(), name.c_str(), O_PATH | O_CLOEXEC));
    if (!target) return refuse(errno);
    if (left_.empty()) return Place{std::move(at_), name, std::move(target), true};
    at_ = std::move(target);
    return std::nullopt;
  }

  const std::string& path_;
  Fd at_;
  Names left_;
  int links_ = 0;
};

// As fs.protected_regular: in a folder where many users make files, a file of another user may be a trap for fade's
// data.
bool is_planted(const Fd& folder, const struct stat& file) {
  struct stat about {};
  if (file.st_uid == ::geteuid() || ::fstat(folder.get(), &about) != 0) return false;
  return (about.st_mode & S_ISVTX) && (about.st_mode & (S_IWGRP | S_IWOTH)) && file.st_uid != about.st_uid;
}

// The cause if fade must not write there, else nullptr.
const char* why_not(const Place& place, const struct stat& about) {
  if (S_ISDIR(about.st_mode)) return "it is a directory";
  if (S_ISBLK(about.st_mode)) return "it is a disk";
  if (place.given) return nullptr;
  if (S_ISREG(about.st_mode))
    return is_planted(place.folder, about) ? "it is a file of another user in a folder that all may write to" : nullptr;
  if (is_trusted(about.st_uid)) return nullptr;
  return S_ISFIFO(about.st_mode) ? "it is a FIFO of another user" : "it is a device or socket of another user";
}

Result<Fd> open_thing(const std::string& path, const Place& place, OutputMode mode) {
  struct stat about {};
  if (::fstat(place.thing.get(), &about) != 0) return fail_errno("cannot write " + path);
  if (const char* cause = why_not(place, about)) return fail("cannot write " + path, cause, kOwnFolder, EPERM);
  if (mode == OutputMode::New && S_ISREG(about.st_mode)) return fail_errno("cannot write " + path, EEXIST);
  // Opens exactly the checked file, even if the name now means another file.
  const int how = mode == OutputMode::Append ? O_APPEND : S_ISREG(about.st_mode) ? O_TRUNC : 0;
  Fd fd(::open(("/proc/self/fd/" + std::to_string(place.thing.get())).c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | how));
  if (!fd) return fail_errno("cannot write " + path);
  return fd;
}

}  // namespace

Result<Fd> open_output_file(const std::string& path, OutputMode mode, mode_t permissions) {
  const Result<Place> place = Way(path).walk();
  if (!place) return tl::unexpected(place.error());
  if (place->thing) return open_thing(path, *place, mode);
  const int how = mode == OutputMode::Append ? O_APPEND : 0;
  Fd fd(::openat(place->folder.get(), place->name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | how,
                 permissions));
  if (!fd) return fail_errno("cannot write " + path);
  return fd;
}

Result<void> check_output_file(const std::string& path) {
  const Result<Place> place = Way(path).walk();
  if (!place && place.error().code == EPERM) return tl::unexpected(place.error());
  struct stat about {};
  // the later open reports the problem
  if (!place || !place->thing || ::fstat(place->thing.get(), &about) != 0) return {};
  if (const char* cause = why_not(*place, about)) return fail("cannot write " + path, cause, kOwnFolder, EPERM);
  return {};
}

}  // namespace fade
