// Functions that are reached by a jump at their entry: which ones can be, and that nothing they do or are called with changes.
#include "probe/entry_jump.hpp"

#include <csignal>
#include <set>

#include "probe/abandoned.hpp"

// Shapes of AMD's libraries (5, 7) and of the stand-in (6), and one that adds the carry flag to %r11.
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
extern "C" long fade_entry_5(long), fade_entry_6(long), fade_entry_7(long), fade_entry_8(long), fade_entry_r11(), fade_call_r11(long);

namespace fade {
namespace {

using test::address_of;
using test::Waiting;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const RemoteAddr kEntries[] = {address_of(fade_entry_5), address_of(fade_entry_6), address_of(fade_entry_7), address_of(fade_entry_8),
                               address_of(reinterpret_cast<const void*>(fade_entry_r11))};
constexpr std::uint64_t kLeadOf[] = {1, 4, 4, 2, 4};
constexpr int kEntryCount = 5;

const Site* jump_at(AddressSpace& space, int i) { return space.find(kEntries[i] + kLeadOf[i]); }

bool call_entries(long n) {
  return fade_entry_5(n) == n + 5 && fade_entry_6(n) == n + 6 && fade_entry_7(n) == n + 7 && fade_entry_8(n) == n + 8 && fade_call_r11(n + 9) == n + 10;
}

Result<Site*> arm_entry(AddressSpace& space, RemoteAddr function, pid_t stopped, std::uint64_t untouched) {
  const auto entry = AddressSpace::FunctionEntry::read(space.memory(), function, untouched);
  return space.arm_entries(std::span(&entry, 1), stopped).front();
}

bool arm_entries(AddressSpace& space, pid_t stopped) {
  const RemoteAddr page{kEntries[0].value & ~std::uint64_t{0xfff}};
  if (!space.has_net() && !space.install_net(stopped, test::gadgets(), {page, page + 0x1000})) return false;
  std::vector<AddressSpace::FunctionEntry> entries;
  for (const RemoteAddr entry : kEntries) entries.push_back(AddressSpace::FunctionEntry::read(space.memory(), entry, 16));
  return std::ranges::all_of(space.arm_entries(entries, stopped), [](const auto& site) { return site && (*site)->is_entry_jump(); });
}

// ---------------------------------------------------------------- which can

std::optional<int> length_of(std::initializer_list<int> bytes) {
  std::vector<std::uint8_t> code(bytes.begin(), bytes.end());
  code.resize(16, 0x90);
  const auto length = entry_jump_length(code, {.length = 4, .depth = 0});
  return length ? std::optional<int>(*length) : std::nullopt;
}

TEST(EntryJump, HasRoomInAPrologue) {
  EXPECT_EQ(length_of({0x55, 0x48, 0x89, 0xE5, 0x41, 0x57}), 6);                          // push rbp; mov rsp, rbp; push r15
  EXPECT_EQ(length_of({0x48, 0x83, 0xEC, 0x28, 0x48, 0x89, 0x7C, 0x24, 0x18}), 9);        // sub $0x28, rsp; mov rdi, 0x18(rsp)
  EXPECT_EQ(length_of({0x48, 0x81, 0xEC, 0, 1, 0, 0}), 7);                                // sub $0x100, rsp
  EXPECT_EQ(length_of({0x57, 0x56, 0x52, 0x51, 0x41, 0x50}), 6);                          // push rdi, rsi, rdx, rcx, r8
  EXPECT_EQ(length_of({0x55, 0x48, 0x89, 0xFD, 0x53}), 5);                                // push rbp; mov rdi, rbp; push rbx
}

TEST(EntryJump, HasNoneForWhatIsNoPrologueMayFaultBranchOrMeansItsPlace) {
  EXPECT_EQ(length_of({0x31, 0xC0, 0x89, 0xF8, 0x31, 0xD2}), std::nullopt);        // xor; mov; xor
  EXPECT_EQ(length_of({0x48, 0xB8, 1, 2, 3, 4, 5, 6, 7, 8}), std::nullopt);        // movabs
  EXPECT_EQ(length_of({0x55, 0x48, 0x89, 0x07, 0x55}), std::nullopt);              // push; mov rax, (rdi)
  EXPECT_EQ(length_of({0x55, 0x48, 0x89, 0x44, 0x25, 8}), std::nullopt);           // push; mov rax, 8(rbp)
  EXPECT_EQ(length_of({0x55, 0x48, 0x8B, 0x44, 0x24, 8}), std::nullopt);           // push; mov 8(rsp), rax
  EXPECT_EQ(length_of({0x55, 0x48, 0x8D, 0x05, 1, 0, 0, 0}), std::nullopt);        // push; lea 1(rip), rax
  EXPECT_EQ(length_of({0x55, 0xE8, 1, 0, 0, 0}), std::nullopt);                    // push; call
  EXPECT_EQ(length_of({0xE9, 1, 0, 0, 0}), std::nullopt);                          // jmp
  EXPECT_EQ(length_of({0x55, 0x85, 0xFF, 0x74, 0x01, 0x55}), std::nullopt);        // push; test; jz
  EXPECT_EQ(length_of({0x55, 0x2E, 0x89, 0xF8, 0x55}), std::nullopt);              // push; mov with a prefix of no use; push
  EXPECT_EQ(length_of({0x55, 0xF0, 0x48, 0x89, 0xE5}), std::nullopt);              // push; lock mov, which is none
  EXPECT_EQ(length_of({0xC3}), std::nullopt);                                      // ret
  EXPECT_EQ(length_of({0x66, 0x55, 0x55, 0x55, 0x55}), std::nullopt);              // push bp
  EXPECT_EQ(length_of({0x83, 0xEC, 0x28, 0x55, 0x55}), std::nullopt);              // sub $0x28, esp
  EXPECT_EQ(length_of({0xCC, 0x55, 0x55, 0x55, 0x55}), std::nullopt);              // somebody's breakpoint
  EXPECT_EQ(entry_jump_length(std::array<std::uint8_t, 2>{0x55, 0x55}, {}), std::nullopt);  // the end of the memory
}

TEST(EntryJump, TheFirstInstructionIsAnEndbr64OrAPush) {
  const auto lead_of = [](std::initializer_list<std::uint8_t> bytes) { return entry_lead(std::vector(bytes)); };
  EXPECT_EQ(lead_of({0xF3, 0x0F, 0x1E, 0xFA})->length, 4);
  EXPECT_EQ(lead_of({0xF3, 0x0F, 0x1E, 0xFA})->depth, 0);
  EXPECT_EQ(lead_of({0x55})->length, 1);
  EXPECT_EQ(lead_of({0x55})->depth, 8);
  EXPECT_EQ(lead_of({0x41, 0x57})->length, 2);
  EXPECT_EQ(lead_of({0x41, 0x57})->depth, 8);
  EXPECT_FALSE(lead_of({0x66, 0x55}));              // push bp
  EXPECT_FALSE(lead_of({0x6A, 0x01}));              // push $1
  EXPECT_FALSE(lead_of({0xFF, 0x35, 1, 0, 0, 0}));  // push 1(rip)
  EXPECT_FALSE(lead_of({0x48, 0x83, 0xEC, 0x28}));  // sub $0x28, rsp
  EXPECT_FALSE(lead_of({0xCC}));
  EXPECT_FALSE(lead_of({}));
  // Behind a push we are in a prologue.
  const std::array<std::uint8_t, 16> frame{0x48, 0x89, 0xE5, 0x41, 0x57};  // mov rsp, rbp; push r15
  EXPECT_EQ(entry_jump_length(frame, {.length = 1, .depth = 8}), 5);
  EXPECT_EQ(entry_jump_length(frame, {.length = 4, .depth = 0}), std::nullopt);
}

TEST(EntryJump, IsWrittenOverTheBeginningsOfInstructions) {
  using Bytes = std::vector<std::uint8_t>;
  const auto starts = [](Bytes bytes) { return bytes.resize(16, 0x90), starts_under_jump(bytes); };
  EXPECT_EQ(starts({0x55, 0x48, 0x89, 0xE5, 0x41, 0x57}), (Bytes{1, 4}));                    // push rbp; mov rsp, rbp; push r15
  EXPECT_EQ(starts({0x48, 0x83, 0xEC, 0x28, 0x48, 0x89, 0x7C, 0x24, 0x18}), (Bytes{4}));     // sub $0x28, rsp; mov rdi, 0x18(rsp)
  EXPECT_EQ(starts({0x57, 0x56, 0x52, 0x51, 0x41, 0x50}), (Bytes{1, 2, 3, 4}));              // push rdi, rsi, rdx, rcx, r8
  EXPECT_EQ(starts({0x48, 0x81, 0xEC, 0, 1, 0, 0}), (Bytes{}));                              // sub $0x100, rsp
  EXPECT_EQ(starts_under_jump(Bytes{0x55, 0x48}), (Bytes{1}));                               // the end of the memory
}

// What gcc makes of a loop that passes arguments on the stack: its head is a push right behind the prologue.
TEST(EntryJump, BranchesThatLeadBetweenAreFound) {
  const std::vector<std::uint8_t> code{0x53, 0x48, 0x89, 0xFB,        // 0: push rbx; mov rdi, rbx
                                       0x53, 0x90, 0x85, 0xC0,        // 4: push rbx; nop; test eax, eax
                                       0x75, 0xFA,                    // 8: jne 4
                                       0x0F, 0x84, 0xF2, 0xFF, 0xFF, 0xFF,  // 10: je 2
                                       0xE9, 0xEC, 0xFF, 0xFF, 0xFF,  // 16: jmp 1
                                       0xE2, 0xEC,                    // 21: loop 3
                                       0xE8, 0xE4, 0xFF, 0xFF, 0xFF};  // 23: call 0
  const RemoteAddr at{0x7f0000001000};
  const std::unordered_set<RemoteAddr> covered{at + 1, at + 2, at + 3, at + 4, at + 5};
  EXPECT_EQ(branched_to(code, at, covered), (std::unordered_set<RemoteAddr>{at + 1, at + 2, at + 3, at + 4}));
  EXPECT_EQ(branched_to(code, at, {at}), std::unordered_set<RemoteAddr>{at});
  EXPECT_TRUE(branched_to(code, at, {}).empty());
  for (std::size_t n = 0; n < code.size(); ++n)  // cut off anywhere
    EXPECT_LE(branched_to(std::span(code).first(n), at, covered).size(), 4u);
}

// ---------------------------------------------------------------- in a program

// The program is stopped, its entries are armed; it calls them `rounds` times when it goes on.
struct ArmedEntry {
  explicit ArmedEntry(long rounds)
      : program([] {}, [rounds] {
          for (long i = 0; i < rounds; ++i)
            if (!call_entries(i)) return 1;
          return 33;
        }),
        space(tracer, program.pid()) {
    EXPECT_TRUE(test::seize_all(tracer, pid()));
    EXPECT_TRUE(arm_entries(space, pid()));
  }
  pid_t pid() const { return program.pid(); }
  int hits_to_end() {
    program.go();
    Tracee(pid()).resume();
    int hits = 0;
    for (;;) {
      const Stop stop = tracer.next_of(pid());
      if (stop.kind != Stop::Kind::Signal) break;
      hits += test::handle_stop(space, stop);
    }
    test::expect_exit(program.finish(), 33);
    return hits;
  }
  // At its next stop. False: it has none.
  bool next_hit() { return tracer.next_of(pid()).kind == Stop::Kind::Signal; }

  Waiting program;
  const Tracer tracer = test::make_tracer();
  AddressSpace space;
};

TEST(EntryJump, EveryCallIsOneStopAndRegistersAndFlagsAreKept) {
  ArmedEntry armed(10);
  EXPECT_EQ(armed.space.armed(), 5u);
  EXPECT_THAT(test::changed_text(armed.space.memory()), SizeIs(25));
  EXPECT_EQ(armed.hits_to_end(), 50);
}

TEST(EntryJump, TheReturnAddressStandsInARegister) {
  ArmedEntry armed(1);
  armed.program.go();
  Tracee(armed.pid()).resume();
  for (int i = 0; i < kEntryCount; ++i) {
    ASSERT_TRUE(armed.next_hit());
    const auto registers = *Tracee(armed.pid()).registers();
    const Site* site = armed.space.find(registers.ip() - 1);
    ASSERT_NE(site, nullptr);
    EXPECT_EQ(site, jump_at(armed.space, i));
    EXPECT_TRUE(site->is_entry_pad(registers.ip() - 1));
    EXPECT_EQ(site->beyond(registers.ip() - 1), registers.ip());
    EXPECT_EQ(armed.space.memory().value<std::uint64_t>(registers.sp() + site->lead.depth), registers.r11);
    Tracee(armed.pid()).resume();
  }
  test::expect_exit(armed.program.finish(), 33);
}

TEST(EntryJump, PutBackLeavesTheTextAsItWas) {
  ArmedEntry armed(10);
  armed.space.put_back(armed.pid());
  EXPECT_THAT(test::changed_text(armed.space.memory()), IsEmpty());
  EXPECT_EQ(armed.hits_to_end(), 0);
}

TEST(EntryJump, IsPutBackUnderThreadsThatCome) {
  test::Shared<std::atomic<bool>> enough;
  Waiting program([] {}, [&] {
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
    ASSERT_TRUE(arm_entries(space, program.pid()));
    program.go();
    Tracee(program.pid()).resume();
    int hits = 0;
    for (bool is_over = false; !is_over;) {
      const Stop stop = test::next_stop(tracer);
      ASSERT_NE(stop.kind, Stop::Kind::Gone);
      is_over = stop.kind == Stop::Kind::Exited && stop.tid == program.pid();
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
  EXPECT_EQ(copy->armed(), 5u);
  copy->put_back(armed.pid());
  EXPECT_THAT(test::changed_text(copy->memory()), IsEmpty());
  EXPECT_EQ(armed.hits_to_end(), 0);
}

// More than go into the table at once, some of them known before, twice among them, or not to be touched.
TEST(EntryJump, ManyAreArmedAtOnceAsOneByOne) {
  constexpr std::uint64_t kMany = 600, kSize = 16;
  const RemoteAddr first{reinterpret_cast<std::uint64_t>(fade_many)};
  Waiting program([] {}, [&] {
    for (std::uint64_t i = 0; i < kMany; ++i) reinterpret_cast<void (*)()>((first + i * kSize).value)();
    return 33;
  });
  const Tracer tracer = test::make_tracer();
  AddressSpace space(tracer, program.pid());
  const pid_t pid = program.pid();
  ASSERT_TRUE(test::seize_all(tracer, pid));
  ASSERT_TRUE(space.install_net(pid, test::gadgets(), {first, first + kMany * kSize}));
  const auto known = space.arm(first + 5 * kSize, pid);
  ASSERT_TRUE(known);
  std::vector<AddressSpace::FunctionEntry> entries;
  for (std::uint64_t i = 0; i < kMany; ++i) entries.push_back(AddressSpace::FunctionEntry::read(space.memory(), first + i * kSize, i % 7 == 0 ? 0 : kSize));
  entries.push_back(entries[1]);
  const auto sites = space.arm_entries(entries, pid);
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
  const auto table = (*net)->entries(space.memory());
  ASSERT_TRUE(table);
  EXPECT_THAT(*table, SizeIs(kMany));
  program.go();
  Tracee(pid).resume();
  std::uint64_t hits = 0;
  for (Stop stop = tracer.next_of(pid); stop.kind == Stop::Kind::Signal; stop = tracer.next_of(pid)) hits += test::handle_stop(space, stop);
  test::expect_exit(program.finish(), 33);
  EXPECT_EQ(hits, kMany);
}

TEST(EntryJump, NothingIsArmedInItsMiddleAndItIsNotLaidOverAnother) {
  Waiting program([] {}, [] { return call_entries(1) ? 33 : 1; });
  const Tracer tracer = test::make_tracer();
  AddressSpace space(tracer, program.pid());
  const pid_t pid = program.pid();
  ASSERT_TRUE(test::seize_all(tracer, pid));
  ASSERT_TRUE(space.install_net(pid, test::gadgets(), {kEntries[0], kEntries[0] + 64}));
  const auto jump = arm_entry(space, kEntries[2], pid, 16);
  ASSERT_TRUE(jump);
  EXPECT_EQ(*space.arm(kEntries[2], pid), *jump) << "one site for one function";
  EXPECT_FALSE(space.arm(kEntries[2] + 8, pid));
  ASSERT_TRUE(space.arm(kEntries[2] + 13, pid)) << "that is behind it";
  ASSERT_TRUE(space.arm(kEntries[1] + 5, pid));
  const auto over = arm_entry(space, kEntries[1], pid, 16);
  ASSERT_TRUE(over);
  EXPECT_EQ((*over)->way, Way::Trap);
  const auto next_is_near = arm_entry(space, kEntries[0], pid, 5);
  ASSERT_TRUE(next_is_near);
  EXPECT_EQ((*next_is_near)->way, Way::Trap);
  space.put_back(pid);
  Tracee(pid).detach();
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
  EXPECT_EQ(armed.hits_to_end(), 5);
}

// Who writes over a jump may have kept it, to come to its pad by a way of his own.
TEST(EntryJump, PagesStayWhereSomebodyWroteOverIt) {
  ArmedEntry armed(0);
  const std::array<std::uint8_t, 5> other{0xE9, 0, 0, 0, 0};
  ASSERT_TRUE(armed.space.memory().write(kEntries[1] + 4, std::as_bytes(std::span(other)), armed.pid()));
  armed.space.put_back(armed.pid());
  EXPECT_EQ((armed.space.memory().value<std::array<std::uint8_t, 5>>(kEntries[1] + 4)), other);
  EXPECT_FALSE(armed.space.remove(armed.pid(), test::gadgets()));
  EXPECT_TRUE(armed.space.has_net());
  EXPECT_EQ(armed.hits_to_end(), 0);
}

TEST(EntryJump, ForgottenAndArmedAgain) {
  ArmedEntry armed(2);
  std::set<RemoteAddr> slots, again;
  for (int i = 0; i < kEntryCount; ++i) slots.insert(jump_at(armed.space, i)->slot);
  EXPECT_EQ(armed.space.forget({kEntries[0], kEntries[4] + 16}, armed.pid()), 5u);
  for (int i = 0; i < kEntryCount; ++i) {
    EXPECT_EQ(jump_at(armed.space, i), nullptr);
    const RemoteAddr at = kEntries[i] + kLeadOf[i];
    ASSERT_TRUE(armed.space.memory().write(at, std::span(reinterpret_cast<const std::byte*>(at.value), 5), armed.pid()));
  }
  ASSERT_TRUE(arm_entries(armed.space, armed.pid()));
  for (int i = 0; i < kEntryCount; ++i) again.insert(jump_at(armed.space, i)->slot);
  EXPECT_EQ(again, slots) << "a library that is loaded again and again takes no more room";
  EXPECT_EQ(armed.hits_to_end(), 10);
}

// ---------------------------------------------------------------- without the tracer

TEST(EntryJump, ProgramGoesOnWhenTheTracerIsKilled) {
  Waiting program([] {}, [] { return call_entries(1) && call_entries(2) ? 33 : 1; });
  test::trace_and_die(program.pid(), [&](AddressSpace& space) { EXPECT_TRUE(arm_entries(space, program.pid())); });
  test::expect_exit(program.finish(), 33);
}

TEST(EntryJump, TracerKilledAnywhere) {
  bool killed = true;
  for (int at = 1; killed && !::testing::Test::HasFatalFailure(); ++at) {
    Waiting program([] {}, [] { return call_entries(1) && call_entries(2) ? 33 : 1; });
    killed = test::kill_tracer_at(at, [&] {
      const Tracer tracer = test::make_tracer(std::chrono::hours(1));
      AddressSpace space(tracer, program.pid());
      if (!test::seize_all(tracer, program.pid()) || !arm_entries(space, program.pid())) return;
      program.go();
      Tracee(program.pid()).resume();
      for (int hits = 0; hits < 2;) hits += test::handle_stop(space, tracer.next_of(program.pid()));
      tracer.next_of(program.pid());
      space.put_back(program.pid());
      for (int left = 10; left > 0; --left) test::handle_stop(space, tracer.next_of(program.pid()));
    });
    const int status = program.finish();
    ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status) << ", killed at " << at;
    ASSERT_EQ(WEXITSTATUS(status), 33) << at;
    if (at > 2000) break;
  }
}

TEST(EntryJump, ALaterTracerFindsThemAndSetsOrdinaryOnes) {
  Waiting program([] {}, [] { return call_entries(1) ? 33 : 1; });
  test::trace_and_die(program.pid(), [&](AddressSpace& space) { EXPECT_TRUE(arm_entries(space, program.pid())); });
  {
    const Tracer tracer = test::make_tracer();
    AddressSpace space(tracer, program.pid());
    ASSERT_TRUE(test::seize_all(tracer, program.pid()));
    const auto taken = space.take_over(program.pid());
    ASSERT_TRUE(taken) << taken.error().text();
    ASSERT_TRUE(*taken);
    EXPECT_EQ((*taken)->sites, 5u);
    EXPECT_EQ((*taken)->put_back, 5u);
    EXPECT_EQ((*taken)->foreign, 0u);
    EXPECT_THAT(test::changed_text(space.memory()), IsEmpty());
    for (const RemoteAddr entry : kEntries) {
      const auto site = space.arm(entry, program.pid());
      ASSERT_TRUE(site);
      EXPECT_EQ((*site)->way, Way::Trap) << "a thread may stand there by now";
    }
    EXPECT_THAT(test::changed_text(space.memory()), SizeIs(5));
    space.put_back(program.pid());
    Tracee(program.pid()).detach();
  }
  test::expect_exit(program.finish(), 33);
}

// ---------------------------------------------------------------- where threads stand

// Stepped from the entry to what follows the jump: where there is an address of its own, the registers are those of the entry.
TEST(EntryJump, OwnRegistersAreThoseOfTheEntry) {
  ArmedEntry armed(1);
  const Tracee tracee(armed.pid());
  const auto was = *tracee.registers();
  const Site* site = jump_at(armed.space, 4);
  auto at_entry = was;
  at_entry.rip = site->address.value;
  at_entry.r11 = 0x1122334455667788;
  at_entry.rsp -= 256;
  tracee.set_registers(at_entry);
  int own = 0, none = 0, hit_again = 0;
  while (tracee.registers()->ip() != site->address + site->length) {
    const auto now = *tracee.registers();
    if (armed.space.in_slots(now.ip())) {
      const auto registers = armed.space.own_registers(now);
      ++(registers ? own : none);
      const bool was_hit = now.ip() > site->pad_trap() || now.ip() < site->pad();  // the pad is behind the slot
      const bool is_moved_back = registers && registers->ip() == site->address;
      EXPECT_EQ(armed.space.hit_again(now.ip()) == site->address, was_hit && is_moved_back) << std::hex << now.rip;
      hit_again += armed.space.hit_again(now.ip()) == site->address;
      if (registers && registers->ip() == site->address) {
        EXPECT_EQ(registers->r11, at_entry.r11) << std::hex << now.rip;
        EXPECT_EQ(registers->rsp, at_entry.rsp);
      }
    }
    tracee.step();
    ASSERT_EQ(armed.tracer.next_of(armed.pid()).signal, SIGTRAP);
  }
  EXPECT_EQ(own, 7);   // five of the pad, the beginning of the slot, and its jump
  EXPECT_EQ(none, 1);  // between the two instructions
  EXPECT_EQ(hit_again, 3);
  EXPECT_EQ(tracee.registers()->r11, at_entry.r11);
  tracee.set_registers(was);
  EXPECT_EQ(armed.hits_to_end(), 5);
}

}  // namespace
}  // namespace fade
