#include "cli/query/part_file.hpp"

#include <limits.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/output_file.hpp"

namespace fade::query {
namespace {

// True if `name` is this file itself, not a link to it, and can be replaced.
bool is_plain(int fd, const std::string& name) {
  struct stat about {
  }, named{};
  return ::fstat(fd, &about) == 0 && ::lstat(name.c_str(), &named) == 0 && S_ISREG(named.st_mode) &&
         about.st_ino == named.st_ino && about.st_dev == named.st_dev && about.st_nlink == 1;
}

// What a signal removes. A handler can reach nothing but this.
struct Remains {
  std::array<char, PATH_MAX> part{}, name{};
  std::atomic<bool> are_there{false};
};
Remains g_remains;
static_assert(std::atomic<bool>::is_always_lock_free);

// lstat(), unlink() and raise() may be called in a handler (signal-safety(7)).
void remove_and_end(int signal) {
  struct stat about {};
  if (g_remains.are_there.exchange(false)) {
    ::unlink(g_remains.part.data());
    if (::lstat(g_remains.name.data(), &about) == 0 && S_ISREG(about.st_mode) && about.st_size == 0)
      ::unlink(g_remains.name.data());
  }
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

// A signal that is ignored (nohup) stays so.
void remove_at(int signal) {
  struct sigaction now {
  }, wanted{};
  if (::sigaction(signal, nullptr, &now) != 0 || now.sa_handler != SIG_DFL) return;
  wanted.sa_handler = remove_and_end;
  ::sigaction(signal, &wanted, nullptr);
}

void guard(const std::string& part, const std::string& name) {
  g_remains.are_there = false;
  if (part.size() >= PATH_MAX || name.size() >= PATH_MAX) return;
  std::memcpy(g_remains.part.data(), part.c_str(), part.size() + 1);
  std::memcpy(g_remains.name.data(), name.c_str(), name.size() + 1);
  g_remains.are_there = true;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXFSZ, SIGXCPU}) remove_at(signal);
}

}  // namespace

Result<PartFile> PartFile::beside(const Fd& file, const std::string& name) {
  PartFile out(file.get(), name);
  if (!is_plain(file.get(), name)) return out;
  struct stat about {};
  ::fstat(file.get(), &about);
  auto part = open_output_file(name + ".part", OutputMode::Overwrite, about.st_mode & 07777);
  if (!part) return tl::unexpected(part.error());
  out.part_ = std::move(*part);
  out.part_name_ = name + ".part";
  guard(out.part_name_, name);
  return out;
}

PartFile::PartFile(PartFile&& other) noexcept
    : direct_(other.direct_),
      part_(std::move(other.part_)),
      name_(std::move(other.name_)),
      part_name_(std::exchange(other.part_name_, {})) {}

PartFile::~PartFile() {
  if (part_name_.empty()) return;
  g_remains.are_there = false;
  ::unlink(part_name_.c_str());
}

Result<void> PartFile::finish() {
  if (part_name_.empty()) return {};
  g_remains.are_there = false;
  if (::rename(part_name_.c_str(), name_.c_str()) != 0) return fail_errno("cannot write " + name_);
  part_name_.clear();
  return {};
}

}  // namespace fade::query
