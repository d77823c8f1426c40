#include "ptrace/tracee.hpp"

#include <elf.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstring>

namespace fade {
namespace {

template <class Address, class Data>
bool request(__ptrace_request what, Tid tid, Address address, Data data) {
  return ::ptrace(what, tid.value(), address, data) == 0;
}

}  // namespace

std::optional<Registers> Tracee::registers() const {
  Registers out;
  if (!request(PTRACE_GETREGS, tid_, nullptr, static_cast<user_regs_struct*>(&out))) return std::nullopt;
  return out;
}

bool Tracee::set_registers(const Registers& registers) const {
  return request(PTRACE_SETREGS, tid_, nullptr, static_cast<const user_regs_struct*>(&registers));
}

bool Tracee::set_ip(RemoteAddr ip) const { return request(PTRACE_POKEUSER, tid_, offsetof(user, regs.rip), ip.value); }

bool Tracee::set_result(std::uint64_t rax) const {
  return request(PTRACE_POKEUSER, tid_, offsetof(user, regs.rax), rax);
}

bool Tracee::change_registers(const Registers& from, const Registers& to) const {
  Registers moved = from;
  moved.rip = to.rip;
  const bool is_ip_all = std::memcmp(static_cast<const user_regs_struct*>(&moved),
                                     static_cast<const user_regs_struct*>(&to), sizeof(user_regs_struct)) == 0;
  return is_ip_all ? set_ip(to.ip()) : set_registers(to);
}

std::optional<std::array<std::uint64_t, 8>> Tracee::sse_words() const {
  user_fpregs_struct fp;
  if (!request(PTRACE_GETFPREGS, tid_, nullptr, &fp)) return std::nullopt;
  std::array<std::uint64_t, 8> out;
  for (std::size_t i = 0; i < out.size(); ++i) std::memcpy(&out[i], reinterpret_cast<char*>(fp.xmm_space) + 16 * i, 8);
  return out;
}

bool Tracee::set_sse_word(std::size_t number, std::uint64_t value, std::size_t size) const {
  user_fpregs_struct fp;
  if (!request(PTRACE_GETFPREGS, tid_, nullptr, &fp)) return false;
  std::memcpy(reinterpret_cast<char*>(fp.xmm_space) + 16 * number, &value, std::min(size, sizeof value));
  return request(PTRACE_SETFPREGS, tid_, nullptr, &fp);
}

std::vector<std::byte> Tracee::extended_state() const {
  std::vector<std::byte> out(16 * 1024);  // AMX makes it about 11 KiB
  iovec io{out.data(), out.size()};
  if (!request(PTRACE_GETREGSET, tid_, static_cast<long>(NT_X86_XSTATE), &io)) return {};
  out.resize(io.iov_len);
  return out;
}

std::optional<siginfo_t> Tracee::siginfo() const {
  siginfo_t out;
  if (!request(PTRACE_GETSIGINFO, tid_, nullptr, &out)) return std::nullopt;
  return out;
}

std::optional<std::uint64_t> Tracee::signal_mask() const {
  std::uint64_t mask = 0;
  if (!request(PTRACE_GETSIGMASK, tid_, sizeof mask, &mask)) return std::nullopt;
  return mask;
}

bool Tracee::set_signal_mask(std::uint64_t mask) const { return request(PTRACE_SETSIGMASK, tid_, sizeof mask, &mask); }

std::optional<unsigned long> Tracee::event_message() const {
  unsigned long message = 0;
  if (!request(PTRACE_GETEVENTMSG, tid_, nullptr, &message)) return std::nullopt;
  return message;
}

bool Tracee::resume(int signal) const { return request(PTRACE_CONT, tid_, nullptr, static_cast<long>(signal)); }
bool Tracee::resume_to_syscall(int signal) const {
  return request(PTRACE_SYSCALL, tid_, nullptr, static_cast<long>(signal));
}
bool Tracee::step() const { return request(PTRACE_SINGLESTEP, tid_, nullptr, 0L); }
bool Tracee::listen() const { return request(PTRACE_LISTEN, tid_, nullptr, nullptr); }
bool Tracee::interrupt() const { return request(PTRACE_INTERRUPT, tid_, nullptr, nullptr); }
bool Tracee::detach(int signal) const { return request(PTRACE_DETACH, tid_, nullptr, static_cast<long>(signal)); }
bool Tracee::poke(RemoteAddr at, std::uint64_t word) const { return request(PTRACE_POKETEXT, tid_, at.value, word); }

}  // namespace fade
