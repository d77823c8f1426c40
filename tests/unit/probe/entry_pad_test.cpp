// Functions that are reached by a jump at their entry: the jump changes no register, flag or result of a call.
#include "probe/entry_jump.hpp"

#include <csignal>
#include <set>

#include "probe/entry_pads.hpp"

// Many functions with the same first instructions.
asm(R"(
        .text
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

namespace fade::entry_pads {
namespace {

using ::testing::AllOf;
using ::testing::Ge;
using ::testing::Le;
using ::testing::SizeIs;

TEST(EntryJump, EveryCallIsOneStopAndRegistersAndFlagsAreKept) {
  ArmedEntry armed(10);
  EXPECT_EQ(armed.space.sites().armed(), kEntryCount);
  // A byte of a jump's distance may be the byte that stood there.
  EXPECT_THAT(test::changed_text(armed.space.memory()), SizeIs(AllOf(Le(5 * kEntryCount), Ge(4 * kEntryCount))));
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

// ---------------------------------------------------------------- where threads stand

// Stepped from the entry to what follows the jump: the thread's own registers are those in front of the jump, or behind
// the moved instructions.
class OwnRegisters : public ::testing::TestWithParam<int> {};

TEST_P(OwnRegisters, AreThoseOfTheEntry) {
  ArmedEntry armed(1);
  const Tracee tracee(armed.tid());
  const auto was = *tracee.registers();
  const Site* site = jump_at(armed.space, GetParam());
  auto at_entry = was;
  at_entry.rip = kEntries[GetParam()].value;
  at_entry.r11 = 0x1122334455667788;
  at_entry.rax = 0x2233445566778811;
  at_entry.r10 = 0x3344556677881122;
  at_entry.rsp -= 256;
  tracee.set_registers(at_entry);
  tracee.step();
  ASSERT_EQ(armed.tracer.next_of(armed.tid()).signal, SIGTRAP);
  at_entry = *tracee.registers();
  ASSERT_EQ(at_entry.ip(), site->address);
  std::size_t own = 0, none = 0, hit_again = 0;
  const auto is_behind = [&](RemoteAddr ip) { return ip != site->address && !armed.space.our_code().contains(ip); };
  while (!is_behind(tracee.registers()->ip())) {
    const auto now = *tracee.registers();
    if (armed.space.our_code().contains(now.ip())) {
      const auto registers = armed.space.our_code().own_registers(now);
      own += registers.has_value();
      none += !registers;
      const bool was_hit = now.ip() > site->pad_trap() || now.ip() < site->pad();  // the pad is behind the slot
      const bool is_moved_back = registers && registers->ip() == site->address;
      const auto hit = armed.space.our_code().hit_again(now);
      EXPECT_EQ(hit && hit->site == site->address, was_hit && is_moved_back) << std::hex << now.rip;
      hit_again += hit && hit->site == site->address && hit->sp == at_entry.sp();
      if (is_moved_back) {
        auto expected = at_entry;
        expected.orig_rax = registers->orig_rax;
        expected.eflags = registers->eflags;  // dead at the entry of a function
        EXPECT_EQ(std::memcmp(&*registers, &expected, sizeof expected), 0) << std::hex << now.rip;
      }
    }
    tracee.step();
    ASSERT_EQ(armed.tracer.next_of(armed.tid()).signal, SIGTRAP);
  }
  const std::size_t moves = 3 * (kWordsOf[GetParam()] == 2 ? 3 : 1);  // each register is kept, loaded, taken back
  const std::span text(reinterpret_cast<const std::uint8_t*>(site->address.value), 16);
  const bool jumps_away = site->lead.loads_table();
  const std::size_t moved = jumps_away ? 0 : starts_under_jump(text).size();
  EXPECT_EQ(none, 0);
  // The pad's int3 and jump, the beginning of the slot, and its jump.
  EXPECT_EQ(own, moves + (jumps_away ? 3 : 4) + moved);
  EXPECT_EQ(hit_again, moves / 3 + 2 + moved);
  EXPECT_EQ(tracee.registers()->r11, at_entry.r11);
  EXPECT_TRUE(is_table_load(text) || tracee.registers()->rax == at_entry.rax);
  EXPECT_EQ(tracee.registers()->r10, at_entry.r10);
  tracee.set_registers(was);
  EXPECT_EQ(armed.hits_to_end(), kEntryCount);
}

INSTANTIATE_TEST_SUITE_P(AllEntries, OwnRegisters, ::testing::Range(0, kEntryCount));

}  // namespace
}  // namespace fade::entry_pads
