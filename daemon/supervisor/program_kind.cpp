#include "supervisor/program_kind.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "base/fd.hpp"

namespace fade {
namespace {

constexpr unsigned kMostSegments = 4096, kMostDynamic = 1024;

template <class T>
bool read_at(const Fd& fd, std::uint64_t offset, T& into) {
  return offset <= INT64_MAX && ::pread(fd.get(), &into, sizeof into, static_cast<off_t>(offset)) == sizeof into;
}

bool is_named_library(const Fd& fd, const Elf64_Phdr& dynamic) {
  for (unsigned i = 0; i < kMostDynamic; ++i) {
    Elf64_Dyn entry;
    if (dynamic.p_offset > INT64_MAX || !read_at(fd, dynamic.p_offset + i * sizeof entry, entry)) return false;
    if (entry.d_tag == DT_NULL) return false;
    if (entry.d_tag == DT_SONAME) return true;
  }
  return false;
}

// It names a loader, or it is one: the only library that is run, as in "ld.so PROGRAM". A static PIE has no name of its
// own.
bool is_dynamic(const Fd& fd, const Elf64_Ehdr& header) {
  for (unsigned i = 0; i < header.e_phnum && i < kMostSegments; ++i) {
    Elf64_Phdr segment;
    if (header.e_phoff > INT64_MAX || !read_at(fd, header.e_phoff + i * sizeof segment, segment)) return false;
    if (segment.p_type == PT_INTERP || (segment.p_type == PT_DYNAMIC && is_named_library(fd, segment))) return true;
  }
  return false;
}

}  // namespace

ProgramKind program_kind(const std::string& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat facts {};
  if (!fd || ::fstat(fd.get(), &facts) != 0) return ProgramKind::Unreadable;
  Elf64_Ehdr header{};
  if (!S_ISREG(facts.st_mode) ||
      ::pread(fd.get(), &header, sizeof header, 0) < static_cast<ssize_t>(sizeof(Elf32_Ehdr)))
    return ProgramKind::Other;
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return ProgramKind::Other;
  // e_machine stands at the same place in both; x32 is 32 bits of the 64-bit machine.
  const bool x86 = header.e_machine == EM_386 || header.e_machine == EM_X86_64;
  if (x86 && header.e_ident[EI_CLASS] == ELFCLASS32) return ProgramKind::Bits32;
  if (header.e_machine != EM_X86_64 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_phentsize != sizeof(Elf64_Phdr))
    return ProgramKind::Other;
  return is_dynamic(fd, header) ? ProgramKind::Dynamic : ProgramKind::Static;
}

}  // namespace fade
