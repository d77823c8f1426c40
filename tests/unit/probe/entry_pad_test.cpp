// Functions that are reached by a jump at their entry: that nothing they do or are called with changes.
#include "probe/entry_jump.hpp"

#include <csignal>
#include <ranges>
#include <set>

#include "probe/abandoned.hpp"

// Shapes of AMD's libraries (5, 7) and of the stand-in (6); one that adds the carry flag to %r11; and two with words on
// the stack, which add these, %rax, %r10 and the carry flag.
asm(R"(
        .text
        .balign 64
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
        .balign 16
fade_many:
        .rept 600
        endbr64
        push %rbx
        mov %rdi, %rbx
        push %rdx
        pop %rdx
        pop %rbx
        ret
        .balign 16
        .endr
)");
extern "C" const unsigned char fade_many[];
extern "C" long fade_entry_5(long), fade_entry_6(long), fade_entry_7(long), fade_entry_8(long), fade_entry_r11(),
    fade_call_r11(long);
extern "C" long fade_entry_words(), fade_entry_pushed_words(), fade_call_words(long, long (*)());

namespace fade {
namespace {

using test::address_of;
using test::Waiting;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const RemoteAddr kEntries[] = {address_of(fade_entry_5),
                               address_of(fade_entry_6),
                               address_of(fade_entry_7),
                               address_of(fade_entry_8),
                               address_of(reinterpret_cast<const void*>(fade_entry_r11)),
                               address_of(reinterpret_cast<const void*>(fade_entry_words)),
                               address_of(reinterpret_cast<const void*>(fade_entry_pushed_words))};
constexpr std::uint64_t kLeadOf[] = {1, 4, 4, 2, 4, 4, 1};
constexpr std::size_t kWordsOf[] = {0, 1, 0, 3, 0, 2, 2};
constexpr int kEntryCount = 7;

const Site* jump_at(AddressSpace& space, int i) { return space.find(kEntries[i] + kLeadOf[i]); }

bool call_entries(long n) {
  return fade_entry_5(n) == n + 5 && fade_entry_6(n) == n + 6 && fade_entry_7(n) == n + 7 && fade_entry_8(n) == n + 8 &&
         fade_call_r11(n + 9) == n + 10 && fade_call_words(n, fade_entry_words) == 10 * n + 1 &&
         fade_call_words(n + 1, fade_entry_pushed_words) == 10 * n + 11;
}

Result<Site*> arm_entry(AddressSpace& space, RemoteAddr function, Tid stopped, std::uint64_t untouched) {
  const auto entry = FunctionEntry::read(space.memory(), function, untouched);
  return space.entries().arm(std::span(&entry, 1), stopped).front();
}

bool arm_entries(AddressSpace& space, Tid stopped) {
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
  // What stood under the jumps stands there again.
  bool write_originals() {
    return std::ranges::all_of(std::views::iota(0, kEntryCount), [&](int i) {
      const RemoteAddr at = kEntries[i] + kLeadOf[i];
      return space.memory().write(at, std::span(reinterpret_cast<const std::byte*>(at.value), 5), tid());
    });
  }
  // At its next stop. False: it has none.
  bool next_hit() { return tracer.next_of(tid()).kind == Stop::Kind::Signal; }

  Waiting program;
  const Tracer tracer = test::make_tracer();
  AddressSpace space;
};

TEST(EntryJump, EveryCallIsOneStopAndRegistersAndFlagsAreKept) {
  ArmedEntry armed(10);
  EXPECT_EQ(armed.space.sites().armed(), kEntryCount);
  EXPECT_THAT(test::changed_text(armed.space.memory()), SizeIs(5 * kEntryCount));
  EXPECT_EQ(armed.hits_to_end(), 10 * kEntryCount);
}

TEST(EntryJump, TheReturnAddressAndTwoWordsStandInRegisters) {
  ArmedEntry armed(1);
  armed.program.go();
  Tracee(armed.tid()).resume();
  for (int i = 0; i < kEntryCount; ++i) {
    ASSERT_TRUE(armed.next_hit());
    const auto registers = *Tracee(armed.tid()).registers();
    const Site* site = armed.space.find(registers.ip() - 1);
    ASSERT_NE(site, nullptr);
    EXPECT_EQ(site, jump_at(armed.space, i));
    EXPECT_TRUE(site->is_entry_pad(registers.ip() - 1));
    EXPECT_EQ(site->beyond(registers.ip() - 1), registers.ip());
    std::array<std::uint64_t, 3> into{};
    const auto shown = site->entry_pad().shown(registers, into);
    EXPECT_THAT(shown, SizeIs(kWordsOf[i] == 2 ? 3 : 1));
    for (std::size_t n = 0; n < shown.size(); ++n)
      EXPECT_EQ(armed.space.memory().value<std::uint64_t>(registers.sp() + site->lead.depth + 8 * n), shown[n]) << n;
    Tracee(armed.tid()).resume();
  }
  test::expect_exit(armed.program.finish(), 33);
}

TEST(EntryJump, PutBackLeavesTheTextAsItWas) {
  ArmedEntry armed(10);
  armed.space.put_back(armed.tid());
  EXPECT_THAT(test::changed_text(armed.space.memory()), IsEmpty());
  EXPECT_EQ(armed.hits_to_end(), 0);
}

TEST(EntryJump, IsPutBackUnderThreadsThatCome) {
  test::Shared<std::atomic<bool>> enough;
  Waiting program([] {},
                  [&] {
                    std::atomic<bool> right{true};
                    std::vector<std::thread> threads;
                    for (int i = 0; i < 4; ++i)
                      threads.emplace_back([&] {
                        for (long n = 0; !*enough; ++n)
                          if (!call_entries(n)) right = false;
                      });
                    for (auto& thread : threads) thread.join();
                    return right && call_entries(1) ? 33 : 1;
                  });
  {
    const Tracer tracer = test::make_tracer();
    AddressSpace space(tracer, program.pid());
    ASSERT_TRUE(test::seize_all(tracer, program.pid()));
    ASSERT_TRUE(arm_entries(space, program.tid()));
    program.go();
    Tracee(program.tid()).resume();
    int hits = 0;
    for (bool is_over = false; !is_over;) {
      const Stop stop = test::next_stop(tracer);
      ASSERT_NE(stop.kind, Stop::Kind::Gone);
      is_over = stop.kind == Stop::Kind::Exited && stop.tid == program.tid();
      if (hits == 1500 && !enough->exchange(true)) {
        space.put_back(stop.tid);
        EXPECT_THAT(test::changed_text(space.memory()), IsEmpty());
      }
      if (stop.kind != Stop::Kind::Exited) hits += test::handle_stop(space, stop);
      EXPECT_TRUE(!is_over || stop.status == 33) << stop.status;
    }
    program.was_reaped();
  }
}

TEST(EntryJump, ACopyOfAForkHasThemToo) {
  ArmedEntry armed(3);
  const auto copy = armed.space.fork_copy(armed.pid());
  EXPECT_EQ(copy->sites().armed(), kEntryCount);
  copy->put_back(armed.tid());
  EXPECT_THAT(test::changed_text(copy->memory()), IsEmpty());
  EXPECT_EQ(armed.hits_to_end(), 0);
}

// Its sites are at the functions' beginnings: what a session reads at a site it reads as it is there.
TEST(EntryJump, ACopyOfAnEarlierForkGetsOrdinarySites) {
  ArmedEntry armed(2);
  ASSERT_TRUE(armed.write_originals());
  const auto copy = armed.space.fork_copy(armed.pid());
  copy->mend_copy(armed.tid());
  EXPECT_EQ(copy->sites().armed(), kEntryCount);
  EXPECT_THAT(test::changed_text(copy->memory()), SizeIs(kEntryCount));
  for (int i = 0; i < kEntryCount; ++i) {
    const Site* site = copy->find(kEntries[i]);
    ASSERT_NE(site, nullptr) << i;
    EXPECT_EQ(site->lead.depth, 0) << i;
    EXPECT_EQ(jump_at(*copy, i), nullptr) << i;
  }
  EXPECT_EQ(armed.hits_to_end(*copy), 2 * kEntryCount);
}

// More than go into the table at once, some of them known before, twice among them, or not to be touched.
TEST(EntryJump, ManyAreArmedAtOnceAsOneByOne) {
  constexpr std::uint64_t kMany = 600, kSize = 16;
  const RemoteAddr first{reinterpret_cast<std::uint64_t>(fade_many)};
  Waiting program([] {},
                  [&] {
                    for (std::uint64_t i = 0; i < kMany; ++i) reinterpret_cast<void (*)()>((first + i * kSize).value)();
                    return 33;
                  });
  const Tracer tracer = test::make_tracer();
  AddressSpace space(tracer, program.pid());
  const Pid pid = program.pid();
  ASSERT_TRUE(test::seize_all(tracer, pid));
  ASSERT_TRUE(space.install_net(leader_of(pid), test::gadgets(), {first, first + kMany * kSize}));
  const auto known = space.arm(first + 5 * kSize, leader_of(pid));
  ASSERT_TRUE(known);
  std::vector<FunctionEntry> entries;
  for (std::uint64_t i = 0; i < kMany; ++i)
    entries.push_back(FunctionEntry::read(space.memory(), first + i * kSize, i % 7 == 0 ? 0 : kSize));
  entries.push_back(entries[1]);
  const auto sites = space.entries().arm(entries, leader_of(pid));
  ASSERT_EQ(sites.size(), kMany + 1);
  std::set<RemoteAddr> slots;
  for (std::uint64_t i = 0; i < kMany; ++i) {
    ASSERT_TRUE(sites[i]) << sites[i].error().text();
    EXPECT_EQ((*sites[i])->is_entry_jump(), i % 7 != 0 && i != 5) << i;
    EXPECT_EQ((*sites[i])->address, first + i * kSize + (i % 7 != 0 && i != 5 ? 4 : 0)) << i;
    slots.insert((*sites[i])->slot);
  }
  EXPECT_EQ(*sites[5], *known);
  EXPECT_EQ(*sites[kMany], *sites[1]);
  EXPECT_EQ(slots.size(), kMany);
  const auto net = SafetyNet::find(space.memory(), *elf::read_maps(pid));
  ASSERT_TRUE(net && *net);
  const auto table = (*net)->table().entries(space.memory());
  ASSERT_TRUE(table);
  EXPECT_THAT(*table, SizeIs(kMany));
  program.go();
  Tracee(leader_of(pid)).resume();
  std::uint64_t hits = 0;
  for (Stop stop = tracer.next_of(leader_of(pid)); stop.kind == Stop::Kind::Signal;
       stop = tracer.next_of(leader_of(pid)))
    hits += test::handle_stop(space, stop);
  test::expect_exit(program.finish(), 33);
  EXPECT_EQ(hits, kMany);
}

TEST(EntryJump, NothingIsArmedInItsMiddleAndItIsNotLaidOverAnother) {
  Waiting program([] {}, [] { return call_entries(1) ? 33 : 1; });
  const Tracer tracer = test::make_tracer();
  AddressSpace space(tracer, program.pid());
  const Pid pid = program.pid();
  ASSERT_TRUE(test::seize_all(tracer, pid));
  ASSERT_TRUE(space.install_net(leader_of(pid), test::gadgets(), {kEntries[0], kEntries[0] + 64}));
  const auto jump = arm_entry(space, kEntries[2], leader_of(pid), 16);
  ASSERT_TRUE(jump);
  EXPECT_EQ(*space.arm(kEntries[2], leader_of(pid)), *jump) << "one site for one function";
  EXPECT_FALSE(space.arm(kEntries[2] + 8, leader_of(pid)));
  ASSERT_TRUE(space.arm(kEntries[2] + 13, leader_of(pid))) << "that is behind it";
  ASSERT_TRUE(space.arm(kEntries[1] + 5, leader_of(pid)));
  const auto over = arm_entry(space, kEntries[1], leader_of(pid), 16);
  ASSERT_TRUE(over);
  EXPECT_EQ((*over)->way, Way::Trap);
  const auto next_is_near = arm_entry(space, kEntries[0], leader_of(pid), 5);
  ASSERT_TRUE(next_is_near);
  EXPECT_EQ((*next_is_near)->way, Way::Trap);
  space.put_back(leader_of(pid));
  Tracee(leader_of(pid)).detach();
  test::expect_exit(program.finish(), 33);
}

// A uprobe has the kernel write an int3 over the first byte of the function, and execute what the file has there.
TEST(EntryJump, LeavesTheFirstInstructionToOthers) {
  ArmedEntry armed(1);
  for (int i = 0; i < kEntryCount; ++i) {
    std::vector<std::byte> first(kLeadOf[i]);
    ASSERT_TRUE(armed.space.memory().read_exactly(kEntries[i], first));
    EXPECT_EQ(std::memcmp(first.data(), reinterpret_cast<const void*>(kEntries[i].value), first.size()), 0);
  }
  EXPECT_EQ(armed.hits_to_end(), kEntryCount);
}

// Who writes over a jump may have kept it, to come to its pad by a way of his own.
TEST(EntryJump, PagesStayWhereSomebodyWroteOverIt) {
  ArmedEntry armed(0);
  const std::array<std::uint8_t, 5> other{0xE9, 0, 0, 0, 0};
  ASSERT_TRUE(armed.space.memory().write(kEntries[1] + 4, std::as_bytes(std::span(other)), armed.tid()));
  armed.space.put_back(armed.tid());
  EXPECT_EQ((armed.space.memory().value<std::array<std::uint8_t, 5>>(kEntries[1] + 4)), other);
  EXPECT_FALSE(armed.space.remove(armed.tid(), test::gadgets()));
  EXPECT_TRUE(armed.space.has_net());
  EXPECT_EQ(armed.hits_to_end(), 0);
}

// A library that was closed and opened again at its place, while its threads are about to be left.
TEST(EntryJump, PagesGoWhereTheTextIsAsItWasByItself) {
  ArmedEntry armed(1);
  ASSERT_TRUE(armed.write_originals());
  armed.space.put_back(armed.tid());
  EXPECT_TRUE(armed.space.remove(armed.tid(), test::gadgets()));
  EXPECT_FALSE(armed.space.has_net());
  EXPECT_EQ(armed.hits_to_end(), 0);
}

TEST(EntryJump, ForgottenAndArmedAgain) {
  ArmedEntry armed(2);
  std::set<RemoteAddr> slots, again;
  for (int i = 0; i < kEntryCount; ++i) slots.insert(jump_at(armed.space, i)->slot);
  EXPECT_EQ(armed.space.forget({kEntries[0], kEntries[6] + 16}, armed.tid()), kEntryCount);
  for (int i = 0; i < kEntryCount; ++i) EXPECT_EQ(jump_at(armed.space, i), nullptr);
  ASSERT_TRUE(armed.write_originals());
  ASSERT_TRUE(arm_entries(armed.space, armed.tid()));
  for (int i = 0; i < kEntryCount; ++i) again.insert(jump_at(armed.space, i)->slot);
  EXPECT_EQ(again, slots) << "a library that is loaded again and again takes no more room";
  EXPECT_EQ(armed.hits_to_end(), 2 * kEntryCount);
}

// ---------------------------------------------------------------- without the tracer

TEST(EntryJump, ProgramGoesOnWhenTheTracerIsKilled) {
  Waiting program([] {}, [] { return call_entries(1) && call_entries(2) ? 33 : 1; });
  test::trace_and_die(program.pid(), [&](AddressSpace& space) { EXPECT_TRUE(arm_entries(space, program.tid())); });
  test::expect_exit(program.finish(), 33);
}

TEST(EntryJump, TracerKilledAnywhere) {
  bool killed = true;
  for (int at = 1; killed && !::testing::Test::HasFatalFailure(); ++at) {
    Waiting program([] {}, [] { return call_entries(1) && call_entries(2) ? 33 : 1; });
    killed = test::kill_tracer_at(at, [&] {
      const Tracer tracer = test::make_tracer(std::chrono::hours(1));
      AddressSpace space(tracer, program.pid());
      if (!test::seize_all(tracer, program.pid()) || !arm_entries(space, program.tid())) return;
      program.go();
      Tracee(program.tid()).resume();
      for (int hits = 0; hits < 2;) hits += test::handle_stop(space, tracer.next_of(program.tid()));
      tracer.next_of(program.tid());
      space.put_back(program.tid());
      for (int left = 2 * kEntryCount - 2; left > 0; --left) test::handle_stop(space, tracer.next_of(program.tid()));
    });
    const int status = program.finish();
    ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status) << ", killed at " << at;
    ASSERT_EQ(WEXITSTATUS(status), 33) << at;
    if (at > 2000) break;
  }
}

TEST(EntryJump, ALaterTracerFindsThemAndSetsOrdinaryOnes) {
  Waiting program([] {}, [] { return call_entries(1) ? 33 : 1; });
  test::trace_and_die(program.pid(), [&](AddressSpace& space) { EXPECT_TRUE(arm_entries(space, program.tid())); });
  {
    const Tracer tracer = test::make_tracer();
    AddressSpace space(tracer, program.pid());
    ASSERT_TRUE(test::seize_all(tracer, program.pid()));
    const auto taken = space.take_over(program.tid());
    ASSERT_TRUE(taken) << taken.error().text();
    ASSERT_TRUE(*taken);
    EXPECT_EQ((*taken)->sites, kEntryCount);
    EXPECT_EQ((*taken)->put_back, kEntryCount);
    EXPECT_EQ((*taken)->foreign, 0u);
    EXPECT_THAT(test::changed_text(space.memory()), IsEmpty());
    for (const RemoteAddr entry : kEntries) {
      const auto site = space.arm(entry, program.tid());
      ASSERT_TRUE(site);
      EXPECT_EQ((*site)->way, Way::Trap) << "a thread may stand there by now";
    }
    EXPECT_THAT(test::changed_text(space.memory()), SizeIs(kEntryCount));
    space.put_back(program.tid());
    Tracee(program.tid()).detach();
  }
  test::expect_exit(program.finish(), 33);
}

// ---------------------------------------------------------------- where threads stand

// Stepped from the entry to what follows the jump: where there is an address of its own, the registers are those of the
// entry.
class OwnRegisters : public ::testing::TestWithParam<int> {};

TEST_P(OwnRegisters, AreThoseOfTheEntry) {
  ArmedEntry armed(1);
  const Tracee tracee(armed.tid());
  const auto was = *tracee.registers();
  const Site* site = jump_at(armed.space, GetParam());
  auto at_entry = was;
  at_entry.rip = site->address.value;
  at_entry.r11 = 0x1122334455667788;
  at_entry.rax = 0x2233445566778811;
  at_entry.r10 = 0x3344556677881122;
  at_entry.rsp -= 256;
  tracee.set_registers(at_entry);
  int own = 0, hit_again = 0;
  std::size_t none = 0;
  while (tracee.registers()->ip() != site->address + site->length) {
    const auto now = *tracee.registers();
    if (armed.space.our_code().contains(now.ip())) {
      const auto registers = armed.space.our_code().own_registers(now);
      own += registers.has_value();
      none += !registers;
      const bool was_hit = now.ip() > site->pad_trap() || now.ip() < site->pad();  // the pad is behind the slot
      const bool is_moved_back = registers && registers->ip() == site->address;
      const auto hit = armed.space.our_code().hit_again(now);
      EXPECT_EQ(hit && hit->site == site->address, was_hit && is_moved_back) << std::hex << now.rip;
      hit_again += hit && hit->site == site->address && hit->sp == now.sp();
      if (is_moved_back) {
        EXPECT_EQ(registers->r11, at_entry.r11) << std::hex << now.rip;
        EXPECT_EQ(registers->rax, at_entry.rax) << std::hex << now.rip;
        EXPECT_EQ(registers->r10, at_entry.r10) << std::hex << now.rip;
        EXPECT_EQ(registers->rsp, at_entry.rsp);
      }
    }
    tracee.step();
    ASSERT_EQ(armed.tracer.next_of(armed.tid()).signal, SIGTRAP);
  }
  const int moves = 3 * (kWordsOf[GetParam()] == 2 ? 3 : 1);  // of the pad: each register is kept, loaded, taken back
  EXPECT_EQ(own, moves + 4);  // its int3 and its jump, the beginning of the slot, and its jump
  const auto moved = starts_under_jump(std::span(reinterpret_cast<const std::uint8_t*>(site->address.value), 16));
  EXPECT_EQ(none, moved.size());  // between the moved instructions
  EXPECT_EQ(hit_again, moves / 3 + 2);
  EXPECT_EQ(tracee.registers()->r11, at_entry.r11);
  EXPECT_EQ(tracee.registers()->rax, at_entry.rax);
  EXPECT_EQ(tracee.registers()->r10, at_entry.r10);
  tracee.set_registers(was);
  EXPECT_EQ(armed.hits_to_end(), kEntryCount);
}

INSTANTIATE_TEST_SUITE_P(WithoutAndWithWords, OwnRegisters, ::testing::Values(4, 5, 6));

}  // namespace
}  // namespace fade
