// A child of the test that calls functions of the test, and the little that a tracer must do to watch them.
#pragma once
#include <sys/uio.h>

#include <algorithm>
#include <cstring>
#include <thread>
#include <vector>

#include "elf/maps.hpp"
#include "probe/address_space.hpp"
#include "ptrace/tracees.hpp"

// Functions whose first instructions are known: one byte, several, a jump, %rip-relative.
asm(R"(
        .text
        .weak fade_test_push, fade_test_add, fade_test_jump, fade_test_relative
        .balign 64
fade_test_push:
        push %rbp
        mov %rsp, %rbp
        lea 1(%rdi), %rax
        pop %rbp
        ret
fade_test_add:
        lea 2(%rdi,%rdi), %rax
        ret
fade_test_jump:
        jmp fade_test_add
fade_test_relative:
        mov fade_test_seven(%rip), %rax
        add %rdi, %rax
        ret
        .balign 8
fade_test_seven:
        .quad 7
)");
extern "C" long fade_test_push(long), fade_test_add(long), fade_test_jump(long), fade_test_relative(long);

namespace fade::test {

using Function = long (*)(long);
constexpr Function kFunctions[] = {fade_test_push, fade_test_add, fade_test_jump, fade_test_relative};

inline RemoteAddr address_of(Function f) { return {reinterpret_cast<std::uint64_t>(f)}; }

// Whether all of them still return what they should.
inline bool call_all(long n) {
  volatile Function at[] = {kFunctions[0], kFunctions[1], kFunctions[2], kFunctions[3]};
  return at[0](n) == n + 1 && at[1](n) == 2 * n + 2 && at[2](n) == 2 * n + 2 && at[3](n) == n + 7;
}

struct Progress {
  std::atomic<bool> enough{false}, all_there{false};
  std::atomic<long> rounds{0};
};

// Calls until it is enough, from `threads` threads; 0 if everything was right, however it was watched.
inline int call_until_enough(Progress& progress, int threads, long rounds_after) {
  std::atomic<int> wrong{0};
  const auto work = [&] {
    long n = 0;
    for (long left = rounds_after; left > 0; ++n, ++progress.rounds) {
      if (!call_all(n)) ++wrong;
      left -= progress.enough;
    }
  };
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i) others.emplace_back(work);
  progress.all_there = true;
  work();
  for (auto& thread : others) thread.join();
  return wrong == 0 ? 0 : 1;
}

inline RemoteRange own_code() {
  const RemoteAddr base{address_of(kFunctions[0]).value & ~std::uint64_t{0xfff}};
  return {base, base + 0x1000};
}

// Arms all functions in a stopped process.
inline bool arm_all(AddressSpace& space, Tid stopped) {
  if (!space.has_net() && !space.install_net(stopped, gadgets(), own_code())) return false;
  for (const Function f : kFunctions)
    if (!space.arm(address_of(f), stopped)) return false;
  return true;
}

// What Session does at a stop, without bookkeeping. True: it was a hit.
inline bool handle_stop(AddressSpace& space, const Stop& stop) {
  const Tracee tracee(stop.tid);
  const auto registers = tracee.registers();
  const Site* site = registers && stop.signal == SIGTRAP ? space.find(registers->ip() - 1) : nullptr;
  if (site) tracee.set_ip(site->beyond(registers->ip() - 1));
  tracee.resume(stop.kind == Stop::Kind::Signal && !site ? stop.signal : 0);
  return site != nullptr;
}

// Where the text of the process differs from that of this one, of which it is a fork: nowhere, if nothing is armed.
inline std::vector<std::uint64_t> changed_text(const Memory& memory) {
  std::vector<std::uint64_t> out;
  const auto maps = elf::read_maps(own_pid());
  const elf::Mapping* text = maps ? maps->find(address_of(kFunctions[0])) : nullptr;
  if (!text) return {0};
  std::vector<std::byte> theirs(text->range.size());
  if (!memory.read_exactly(text->range.begin, theirs)) return {0};
  const auto* ours = reinterpret_cast<const std::byte*>(text->range.begin.value);
  // By blocks: byte by byte takes ten times as long without optimization.
  constexpr std::size_t kBlock = 4096;
  for (std::size_t block = 0; block < theirs.size(); block += kBlock) {
    const std::size_t end = std::min(block + kBlock, theirs.size());
    if (std::memcmp(&theirs[block], ours + block, end - block) == 0) continue;
    for (std::size_t i = block; i < end; ++i)
      if (theirs[i] != ours[i]) out.push_back(text->range.begin.value + i);
  }
  return out;
}

}  // namespace fade::test
