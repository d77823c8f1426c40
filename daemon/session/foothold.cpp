#include "session/foothold.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>

#include "elf/dynamic_image.hpp"
#include "proc/processes.hpp"
#include "session/process_facts.hpp"

namespace fade {
namespace {

constexpr std::size_t kMaxSearched = 8u << 20;
constexpr std::uint8_t kSyscallRet[] = {0x0F, 0x05, 0xC3};
// __restore_rt of glibc and musl: mov $15, %rax; syscall. A signal frame returns through it
// (sysdeps/unix/sysv/linux/x86_64).
constexpr std::uint8_t kSigreturn[] = {0x48, 0xC7, 0xC0, 0x0F, 0x00, 0x00, 0x00, 0x0F, 0x05};

RemoteAddr find_code(const Memory& memory, const elf::DynamicImage& image, std::span<const std::uint8_t> wanted) {
  for (const auto& segment : image.segments()) {
    if (!segment.executable) continue;
    std::vector<std::uint8_t> code(std::min<std::uint64_t>(segment.range.size(), kMaxSearched));
    code.resize(memory.read(segment.range.begin, std::as_writable_bytes(std::span(code))));
    const auto* found =
        static_cast<const std::uint8_t*>(::memmem(code.data(), code.size(), wanted.data(), wanted.size()));
    if (found) return segment.range.begin + static_cast<std::uint64_t>(found - code.data());
  }
  return {};
}

}  // namespace

RemoteAddr loader_run_as_program(const Memory& memory, const AuxiliaryVector& facts) {
  const auto image = elf::DynamicImage::open_program(memory, facts.program_headers, facts.program_header_count);
  if (!image || !elf::find_loader(memory, image->span().begin)) return {};
  return image->span().begin;
}

RemoteAddr find_sigreturn(const Memory& memory, RemoteAddr libc) {
  const auto image = elf::DynamicImage::open(memory, libc);
  return image ? find_code(memory, *image, kSigreturn) : RemoteAddr{};
}

Result<RemoteAddr> find_first_gadget(const Memory& memory, RemoteAddr loader_base) {
  const auto image = elf::DynamicImage::open(memory, loader_base);
  if (!image) return tl::unexpected(image.error());
  const RemoteAddr gadget = find_code(memory, *image, kSyscallRet);
  if (!gadget) return fail("the dynamic loader holds no system call that can be borrowed", {}, {}, ENOTSUP);
  return gadget;
}

Result<Foothold> find_foothold(const Memory& memory, const AuxiliaryVector& facts) {
  const auto loader = elf::find_loader(memory, facts.loader_base);
  if (!loader) return tl::unexpected(loader.error());
  const auto image = elf::DynamicImage::open(memory, facts.loader_base);
  if (!image) return tl::unexpected(image.error());
  const auto gadget = find_first_gadget(memory, facts.loader_base);
  if (!gadget) return tl::unexpected(gadget.error());
  Foothold out{.loader = *loader, .loader_span = image->span(), .libc = {}, .gadgets = {*gadget, {}}, .modules = {}};
  const auto loaded = elf::LinkMap(loader->r_debug).reread(memory);
  if (!loaded) return fail(loaded.error().message, loaded.error().cause, {}, EAGAIN);
  for (const auto& entry : loaded->added) {
    const auto module = elf::DynamicImage::open(memory, {entry.l_addr});
    if (!module) continue;  // a program that is not position independent
    out.modules.push_back(module->span());
    if (out.libc || !module->lookup("__libc_start_main")) continue;
    out.libc = {entry.l_addr};
    out.gadgets.sigreturn = find_sigreturn(memory, out.libc);
  }
  if (!out.libc) return fail("the program has loaded no libc yet", "it is just starting, or needs none", {}, EAGAIN);
  if (!out.gadgets.sigreturn)
    return fail("the program's libc holds no return from a signal that can be borrowed", {}, {}, ENOTSUP);
  return out;
}

Result<Foothold> foothold_of(Pid pid, const Memory& memory) {
  auto facts = read_auxiliary_vector(pid, memory);
  if (!facts) return tl::unexpected(process_gone(pid));
  if (!read_is_64_bit(pid)) return fail("it is a 32-bit program", {}, {}, ENOTSUP);
  if (!facts->loader_base) facts->loader_base = loader_run_as_program(memory, *facts);
  if (!facts->loader_base) return fail("it is a static program: it cannot load HIP", {}, {}, ENOTSUP);
  return find_foothold(memory, *facts);
}

}  // namespace fade
