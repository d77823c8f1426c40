#include "cli/query/part_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
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
  return out;
}

PartFile::PartFile(PartFile&& other) noexcept
    : direct_(other.direct_),
      part_(std::move(other.part_)),
      name_(std::move(other.name_)),
      part_name_(std::exchange(other.part_name_, {})) {}

PartFile::~PartFile() {
  if (!part_name_.empty()) ::unlink(part_name_.c_str());
}

Result<void> PartFile::finish() {
  if (part_name_.empty()) return {};
  if (::rename(part_name_.c_str(), name_.c_str()) != 0) return fail_errno("cannot write " + name_);
  part_name_.clear();
  return {};
}

}  // namespace fade::query
