#include "probe/tap_rings.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <atomic>

#include "base/fd.hpp"

namespace fade {
namespace {

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;  // a shorter file would kill fade with SIGBUS

constexpr int kShared = MAP_SHARED | MAP_NORESERVE;
constexpr int kReadWrite = PROT_READ | PROT_WRITE;

tl::unexpected<Error> no_rings(std::string_view what, std::string_view why) {
  return fail("no memory for records can be shared with the process", fmt::format("{}: {}", what, why));
}

tl::unexpected<Error> no_rings(std::string_view what, std::optional<long> result) {
  return no_rings(what, result ? ::strerror(static_cast<int>(-*result)) : "the thread is gone");
}

Result<Fd> opened(const std::string& path) {
  Fd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!fd) return no_rings("open", ::strerror(errno));
  return fd;
}

// The whole memory behind the descriptor, mapped here. The process may have put another file there meanwhile: only an
// empty memory file becomes the rings.
Result<std::byte*> map_here(int fd) {
  struct stat facts {};
  if (::fstat(fd, &facts) != 0 || facts.st_size != 0 || ::fcntl(fd, F_GET_SEALS) != 0)
    return no_rings("memfd_create", "the program has put another file there");
  if (::ftruncate(fd, static_cast<off_t>(TapRings::kWhole)) != 0) return no_rings("ftruncate", ::strerror(errno));
  if (::fcntl(fd, F_ADD_SEALS, kSeals) != 0) return no_rings("fcntl", ::strerror(errno));
  void* const at = ::mmap(nullptr, TapRings::kWhole, kReadWrite, kShared, fd, 0);
  if (at == MAP_FAILED) return no_rings("fade's own mmap", ::strerror(errno));
  return static_cast<std::byte*>(at);
}

// A process that locks its memory (mlockall) would get all of the rings at once, so it maps them without access first.
Result<RemoteAddr> map_there(const RemoteCall& call, std::uint64_t fd, bool locks) {
  const auto at = call.syscall(
      SYS_mmap, {0, TapRings::kWhole, static_cast<std::uint64_t>(locks ? PROT_NONE : kReadWrite), kShared, fd, 0});
  if (!at || *at < 0) return no_rings("mmap", at);
  const RemoteAddr out{static_cast<std::uint64_t>(*at)};
  if (!locks) return out;
  const auto unlocked = call.syscall(SYS_munlock, {out.value, TapRings::kWhole, 0, 0, 0, 0});
  const auto allowed = call.syscall(SYS_mprotect, {out.value, TapRings::kWhole, kReadWrite, 0, 0, 0});
  if (unlocked == 0 && allowed == 0) return out;
  call.syscall(SYS_munmap, {out.value, TapRings::kWhole, 0, 0, 0, 0});
  return no_rings(unlocked == 0 ? "mprotect" : "munlock", unlocked == 0 ? allowed : unlocked);
}

// VmLck is the size of the locked memory, such as "4 kB".
bool locks_memory(const StatusFile& status) {
  return status.value("VmLck").find_first_of("123456789") != std::string_view::npos;
}

bool is_of_rings(const elf::Mapping& mapping) {
  return mapping.path == fmt::format("/memfd:{}", TapRings::kName) && mapping.deleted &&
         mapping.range.size() == TapRings::kWhole;
}

}  // namespace

Result<std::shared_ptr<TapRings>> TapRings::make(const RemoteCall& call, const ProcFiles& proc, Tid stopped,
                                                 RemoteAddr name) {
  const auto fd = call.syscall(SYS_memfd_create, {name.value, MFD_CLOEXEC | MFD_ALLOW_SEALING, 0, 0, 0, 0});
  if (!fd || *fd < 0) return no_rings("memfd_create", fd);
  const auto number = static_cast<std::uint64_t>(*fd);
  const auto own = opened(proc.path(stopped, fmt::format("fd/{}", number)));
  const auto here = own ? map_here(own->get()) : Result<std::byte*>(tl::unexpected(own.error()));
  const bool locks = locks_memory(proc.status(stopped));
  const auto there = here ? map_there(call, number, locks) : Result<RemoteAddr>(tl::unexpected(here.error()));
  call.syscall(SYS_close, {number, 0, 0, 0, 0, 0});
  if (there) return std::shared_ptr<TapRings>(new TapRings(*there, *here));
  if (here) ::munmap(*here, kWhole);
  return tl::unexpected(there.error());
}

void TapRings::release(const RemoteCall& call, const elf::Maps& maps) {
  for (const elf::Mapping& mapping : maps.all())
    if (is_of_rings(mapping)) call.syscall(SYS_madvise, {mapping.range.begin.value, kWhole, MADV_REMOVE, 0, 0, 0});
}

void TapRings::unmap(const RemoteCall& call, const elf::Maps& maps) {
  for (const elf::Mapping& mapping : maps.all())
    if (is_of_rings(mapping)) call.syscall(SYS_munmap, {mapping.range.begin.value, kWhole, 0, 0, 0, 0});
}

// The program may keep its mapping; without memory it costs the program nothing. No process reads these records later.
TapRings::~TapRings() {
  ::madvise(here_, kWhole, MADV_REMOVE);
  ::munmap(here_, kWhole);
}

std::optional<std::size_t> TapRings::take() {
  if (free_.empty()) return used_ < kMost ? std::optional(used_++) : std::nullopt;
  const std::size_t ring = free_.back();
  free_.pop_back();
  return ring;
}

std::uint64_t TapRings::taken() const {
  std::uint64_t out = 0;
  for (std::size_t ring = 0; ring < used_; ++ring) {
    auto* const head = reinterpret_cast<std::uint64_t*>(memory(ring).data() + tap::RingLayout::kHeadAt);
    out += std::atomic_ref(*head).load(std::memory_order_acquire);
  }
  return out;
}

std::uint64_t TapRings::counted(std::size_t ring, std::uint16_t gate) const {
  std::byte* const at = here_ + ring * kStride + kLayout.counters_at(gate) + tap::RingLayout::kCountedAt;
  return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(at)).load(std::memory_order_acquire);
}

void TapRings::allow(std::size_t ring, std::uint64_t limit) const {
  auto* const word = reinterpret_cast<std::uint64_t*>(memory(ring).data() + tap::RingLayout::kLimitAt);
  std::atomic_ref(*word).store(limit, std::memory_order_release);
}

}  // namespace fade
