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

tl::unexpected<Error> no_rings(std::string what, std::optional<long> result) {
  return fail("no memory for records can be shared with the process",
              fmt::format("{}: {}", what, result ? ::strerror(static_cast<int>(-*result)) : "the thread is gone"));
}

// The whole memory behind the descriptor, mapped here. The process may have put another file there meanwhile: only an
// empty memory file becomes the rings.
std::byte* map_here(int fd) {
  struct stat facts {};
  if (::fstat(fd, &facts) != 0 || facts.st_size != 0 || ::fcntl(fd, F_GET_SEALS) != 0) return nullptr;
  if (::ftruncate(fd, static_cast<off_t>(TapRings::kWhole)) != 0 || ::fcntl(fd, F_ADD_SEALS, kSeals) != 0)
    return nullptr;
  void* const at = ::mmap(nullptr, TapRings::kWhole, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  return at == MAP_FAILED ? nullptr : static_cast<std::byte*>(at);
}

}  // namespace

Result<std::shared_ptr<TapRings>> TapRings::make(const RemoteCall& call, const ProcFiles& proc, Tid stopped,
                                                 RemoteAddr name) {
  const auto fd = call.syscall(SYS_memfd_create, {name.value, MFD_CLOEXEC | MFD_ALLOW_SEALING, 0, 0, 0, 0});
  if (!fd || *fd < 0) return no_rings("memfd_create", fd);
  const auto number = static_cast<std::uint64_t>(*fd);
  const Fd own(::open(proc.path(stopped, fmt::format("fd/{}", number)).c_str(), O_RDWR | O_CLOEXEC));
  std::byte* const here = own ? map_here(own.get()) : nullptr;
  const auto there =
      here ? call.syscall(SYS_mmap, {0, kWhole, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, number, 0})
           : std::optional<long>(-EACCES);
  call.syscall(SYS_close, {number, 0, 0, 0, 0, 0});
  if (!there || *there < 0) {
    if (here) ::munmap(here, kWhole);
    return no_rings("mmap", there);
  }
  const auto at = static_cast<std::uint64_t>(*there);
  call.syscall(SYS_madvise, {at, kWhole, MADV_DONTFORK, 0, 0, 0});
  return std::shared_ptr<TapRings>(new TapRings({at}, here));
}

void TapRings::release(const RemoteCall& call, const elf::Maps& maps) {
  for (const elf::Mapping& mapping : maps.all())
    if (mapping.path == fmt::format("/memfd:{}", kName) && mapping.deleted && mapping.range.size() == kWhole)
      call.syscall(SYS_madvise, {mapping.range.begin.value, kWhole, MADV_REMOVE, 0, 0, 0});
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

void TapRings::allow(std::size_t ring, std::uint64_t limit) const {
  auto* const word = reinterpret_cast<std::uint64_t*>(memory(ring).data() + tap::RingLayout::kLimitAt);
  std::atomic_ref(*word).store(limit, std::memory_order_release);
}

}  // namespace fade
