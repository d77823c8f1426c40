// Functions of several shapes that are watched by a jump at their entry, and a program that calls them.
#pragma once
#include <algorithm>
#include <array>
#include <ranges>
#include <vector>

#include "probe/abandoned.hpp"

// Shapes of AMD's libraries (5, 7) and of the stand-in (6); one that adds the carry flag to %r11; two with words on
// the stack, which add these, %rax, %r10 and the carry flag; and three thunks of AMD's HSA (9).
asm(R"(
        .text
        .weak fade_entry_5, fade_entry_6, fade_entry_7, fade_entry_8, fade_entry_r11, fade_call_r11
        .weak fade_entry_words, fade_entry_pushed_words, fade_call_words
        .weak fade_entry_thunk, fade_entry_bare_thunk, fade_entry_far_thunk, fade_entry_table
        .balign 512  # all in one page
fade_entry_5:
        push %rbp
        mov %rsp, %rbp
        push %r15
        lea 5(%rdi), %rax
        pop %r15
        pop %rbp
        ret
        .balign 16
fade_entry_6:
        endbr64
        push %rdi
        push %rsi
        push %rdx
        push %r8
        lea 6(%rdi), %rax
        add $32, %rsp
        ret
        .balign 16
fade_entry_7:
        endbr64
        sub $0x28, %rsp
        mov %rdi, 0x18(%rsp)
        lea 7(%rdi), %rax
        add $0x28, %rsp
        ret
        .balign 16
fade_entry_8:
        push %r14
        push %r13
        push %r12
        push %rbx
        lea 8(%rdi), %rax
        pop %rbx
        pop %r12
        pop %r13
        pop %r14
        ret
        .balign 16
fade_entry_thunk:
        endbr64
        mov fade_entry_table(%rip), %rax
        jmp *16(%rax)
        .balign 16
fade_entry_bare_thunk:
        mov fade_entry_table(%rip), %rax
        jmp *16(%rax)
        .balign 16
fade_entry_far_thunk:
        mov fade_entry_table(%rip), %rax
        jmp *256(%rax)
        .balign 16
1:      lea 9(%rdi), %rax
        ret
        .data
        .balign 8
fade_entry_table:
        .quad 2f
2:      .zero 16
        .quad 1b
        .zero 232
        .quad 1b
        .text
        .balign 16
fade_entry_r11:
        endbr64
        push %r11
        mov %rsp, %rdx
        push %rbx
        mov $0, %eax
        adc %r11, %rax
        pop %rbx
        pop %r11
        ret
        .balign 16
fade_call_r11:
        mov %rdi, %r11
        stc
        call fade_entry_r11
        cmp %rdi, %r11
        jne 1f
        ret
1:      xor %eax, %eax
        ret
        .balign 16
fade_entry_words:
        endbr64
        push %rbx
        mov %rsp, %rbx
        push %r12
        jmp fade_add_words
        .balign 16
fade_entry_pushed_words:
        push %rbx
        mov %rsp, %rbx
        push %r12
fade_add_words:
        adc %r10, %rax
        add 16(%rbx), %rax
        add 24(%rbx), %rax
        pop %r12
        pop %rbx
        ret
        .balign 16
fade_call_words:
        mov %rdi, %rax
        lea (%rdi,%rdi), %r10
        lea (%r10,%rdi), %r11
        mov %r11, %r9
        lea (,%rdi,4), %rdx
        push %rdx
        push %r11
        stc
        call *%rsi
        lea 16(%rsp), %rsp
        lea (%rdi,%rdi), %rdx
        cmp %rdx, %r10
        jne 1f
        cmp %r9, %r11
        jne 1f
        ret
1:      xor %eax, %eax
        ret
)");
extern "C" long fade_entry_5(long), fade_entry_6(long), fade_entry_7(long), fade_entry_8(long), fade_entry_r11(),
    fade_call_r11(long);
extern "C" long fade_entry_thunk(long), fade_entry_bare_thunk(long), fade_entry_far_thunk(long);
extern "C" long fade_entry_words(), fade_entry_pushed_words(), fade_call_words(long, long (*)());

namespace fade::entry_pads {

using test::address_of;
using test::Waiting;

inline const RemoteAddr kEntries[] = {address_of(fade_entry_5),
                                      address_of(fade_entry_6),
                                      address_of(fade_entry_7),
                                      address_of(fade_entry_8),
                                      address_of(reinterpret_cast<const void*>(fade_entry_r11)),
                                      address_of(reinterpret_cast<const void*>(fade_entry_words)),
                                      address_of(reinterpret_cast<const void*>(fade_entry_pushed_words)),
                                      address_of(fade_entry_thunk),
                                      address_of(fade_entry_bare_thunk),
                                      address_of(fade_entry_far_thunk)};
constexpr std::uint64_t kLeadOf[] = {1, 4, 4, 2, 4, 4, 1, 4, 7, 7};
constexpr std::size_t kWordsOf[] = {0, 1, 0, 3, 0, 2, 2, 0, 0, 2};
constexpr int kEntryCount = 10;

inline const Site* jump_at(AddressSpace& space, int i) { return space.find(kEntries[i] + kLeadOf[i]); }

inline bool call_entries(long n) {
  return fade_entry_5(n) == n + 5 && fade_entry_6(n) == n + 6 && fade_entry_7(n) == n + 7 && fade_entry_8(n) == n + 8 &&
         fade_call_r11(n + 9) == n + 10 && fade_call_words(n, fade_entry_words) == 10 * n + 1 &&
         fade_call_words(n + 1, fade_entry_pushed_words) == 10 * n + 11 && fade_entry_thunk(n) == n + 9 &&
         fade_entry_bare_thunk(n) == n + 9 && fade_entry_far_thunk(n) == n + 9;
}

inline Result<Site*> arm_entry(AddressSpace& space, RemoteAddr function, Tid stopped, std::uint64_t untouched) {
  const auto entry = FunctionEntry::read(space.memory(), function, untouched);
  return space.entries().arm(std::span(&entry, 1), stopped).front();
}

inline bool arm_entries(AddressSpace& space, Tid stopped) {
  const RemoteAddr page{kEntries[0].value & ~std::uint64_t{0xfff}};
  if (!space.has_net() && !space.install_net(stopped, test::gadgets(), {page, page + 0x1000})) return false;
  std::vector<FunctionEntry> entries;
  for (int i = 0; i < kEntryCount; ++i) {
    entries.push_back(FunctionEntry::read(space.memory(), kEntries[i], 16));
    entries.back().stack_words = kWordsOf[i];
  }
  return std::ranges::all_of(space.entries().arm(entries, stopped),
                             [](const auto& site) { return site && (*site)->is_entry_jump(); });
}

// The program is stopped, its entries are armed; it calls them `rounds` times when it goes on.
struct ArmedEntry {
  explicit ArmedEntry(long rounds)
      : program([] {},
                [rounds] {
                  for (long i = 0; i < rounds; ++i)
                    if (!call_entries(i)) return 1;
                  return 33;
                }),
        space(tracer, program.pid()) {
    EXPECT_TRUE(test::seize_all(tracer, pid()));
    EXPECT_TRUE(arm_entries(space, tid()));
  }
  Pid pid() const { return program.pid(); }
  Tid tid() const { return program.tid(); }
  int hits_to_end() { return hits_to_end(space); }
  int hits_to_end(AddressSpace& of) {
    program.go();
    Tracee(tid()).resume();
    int hits = 0;
    for (;;) {
      const Stop stop = tracer.next_of(tid());
      if (stop.kind != Stop::Kind::Signal) break;
      hits += test::handle_stop(of, stop);
    }
    test::expect_exit(program.finish(), 33);
    return hits;
  }
  // Puts the original instructions back under the jumps.
  bool write_originals() {
    bool all = true;
    for (int i = 0; i < kEntryCount; ++i) {
      const RemoteAddr at = kEntries[i] + kLeadOf[i];
      all &= space.memory().write(at, std::span(reinterpret_cast<const std::byte*>(at.value), 5), tid());
    }
    return all;
  }
  // Waits for the next stop. False: the program has ended.
  bool next_hit() { return tracer.next_of(tid()).kind == Stop::Kind::Signal; }

  Waiting program;
  const Tracer tracer = test::make_tracer();
  AddressSpace space;
};

}  // namespace fade::entry_pads
