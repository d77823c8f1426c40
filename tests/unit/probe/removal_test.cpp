// Everything of ours goes again: text, pages, signal action. And where threads would stand without us.
#include <csignal>

#include "probe/abandoned.hpp"

asm(R"(
        .text
        .weak fade_test_call
        .balign 64
fade_test_call:
        call fade_test_add
        ret
)");
extern "C" long fade_test_call(long);

namespace fade {
namespace {

using test::address_of;
using test::kFunctions;
using test::Waiting;
using ::testing::IsEmpty;

int call_once() { return test::call_all(1) ? 0 : 1; }

// The program is stopped, everything is armed.
struct Armed {
  explicit Armed(
      const std::function<int()>& after, const std::function<void()>& before = [] {})
      : program(before, after), space(tracer, program.pid()) {
    EXPECT_TRUE(test::seize_all(tracer, pid()));
    EXPECT_TRUE(test::arm_all(space, tid()));
  }
  Pid pid() const { return program.pid(); }
  Tid tid() const { return program.tid(); }
  void expect_end(int status) {
    Tracee(tid()).detach();
    test::expect_exit(program.finish(), status);
  }

  Waiting program;
  const Tracer tracer = test::make_tracer();
  AddressSpace space;
};

std::string map_text(Pid pid) {
  std::string out;
  const auto maps = elf::read_maps(pid);
  for (const auto& m : maps->all())
    if (m.path != "[stack]" && m.path != "[heap]")
      out += std::to_string(m.range.begin.value) + "-" + std::to_string(m.range.end.value) + m.path + "\n";
  return out;
}

TEST(Removal, LeavesMapsAndTextAsTheyWere) {
  Waiting program([] {}, call_once);
  const std::string before = map_text(program.pid());
  {
    const Tracer tracer = test::make_tracer();
    AddressSpace space(tracer, program.pid());
    ASSERT_TRUE(test::seize_all(tracer, program.pid()));
    ASSERT_TRUE(test::arm_all(space, program.tid()));
    ASSERT_TRUE(space.reserve({{0x200000000000}, {0x200000001000}}, program.tid()));
    EXPECT_EQ(test::executable_anonymous(program.pid()), 2u);
    space.put_back(program.tid());
    const auto removed = space.remove(program.tid(), test::gadgets());
    ASSERT_TRUE(removed) << removed.error().text();
    EXPECT_FALSE(space.has_net());
    EXPECT_THAT(test::changed_text(space.memory()), IsEmpty());
    EXPECT_EQ(map_text(program.pid()), before);
    Tracee(program.tid()).detach();
  }
  test::expect_exit(program.finish(), 0);
}

int trap_is_default() {
  struct sigaction now {};
  ::sigaction(SIGTRAP, nullptr, &now);
  return now.sa_handler == SIG_DFL && call_once() == 0 ? 33 : 1;
}

TEST(Removal, TheDefaultActionIsTheKernelsAgain) {
  Armed armed(trap_is_default);
  armed.space.put_back(armed.tid());
  ASSERT_TRUE(armed.space.remove(armed.tid(), test::gadgets()));
  armed.expect_end(33);
}

volatile std::sig_atomic_t traps_counted;
void count(int) { traps_counted = traps_counted + 1; }

int own_handler_works() {
  struct sigaction now {};
  ::sigaction(SIGTRAP, nullptr, &now);
  ::raise(SIGTRAP);
  ::raise(SIGTRAP);
  return now.sa_handler == count && traps_counted == 2 ? 33 : 1;
}

TEST(Removal, TheProgramsHandlerIsTheKernelsAgain) {
  Armed armed(own_handler_works, [] { ::signal(SIGTRAP, count); });
  armed.space.put_back(armed.tid());
  ASSERT_TRUE(armed.space.remove(armed.tid(), test::gadgets()));
  armed.expect_end(33);
}

// One that libc never told the kernel of: it has no restorer.
TEST(Removal, AHandlerThatWasSetWhileWatchedToo) {
  Armed armed(own_handler_works);
  armed.space.trap_signal().set_program_action({.handler = reinterpret_cast<std::uint64_t>(count), .restorer = 1},
                                               armed.tid());
  armed.space.put_back(armed.tid());
  ASSERT_TRUE(armed.space.remove(armed.tid(), test::gadgets()));
  armed.expect_end(33);
}

TEST(Removal, AnActionThatIsNotOursIsLeftAlone) {
  Armed armed([] { return own_handler_works(); }, [] {});
  // By a system call of its own, as fade does not see it.
  const KernelSigaction own{.handler = reinterpret_cast<std::uint64_t>(count),
                            .flags = 0x04000000,
                            .restorer = address_of(fade_test_sigreturn).value};
  const auto registers = Tracee(armed.tid()).registers();
  ASSERT_TRUE(registers);
  const RemoteAddr at = RemoteCall::scratch(*registers);
  ASSERT_TRUE(armed.space.memory().write(at, std::as_bytes(std::span(&own, 1)), armed.tid()));
  const RemoteCall call(armed.tracer, armed.space.memory(), armed.tid(), test::gadgets());
  ASSERT_EQ(call.syscall(13 /* rt_sigaction */, {SIGTRAP, at.value, 0, 8, 0, 0}), 0);
  armed.space.put_back(armed.tid());
  ASSERT_TRUE(armed.space.remove(armed.tid(), test::gadgets()));
  armed.expect_end(33);
}

TEST(Removal, IsRefusedWhileBreakpointsStand) {
  Armed armed(call_once);
  EXPECT_FALSE(armed.space.remove(armed.tid(), test::gadgets()));
  EXPECT_TRUE(armed.space.has_net());
  armed.expect_end(0);
}

TEST(Removal, AndBackAHundredTimes) {
  Armed armed(call_once);
  const std::string with = map_text(armed.pid());
  for (int i = 0; i < 100; ++i) {
    armed.space.put_back(armed.tid());
    ASSERT_TRUE(armed.space.remove(armed.tid(), test::gadgets()));
    ASSERT_TRUE(test::arm_all(armed.space, armed.tid()));
  }
  EXPECT_EQ(map_text(armed.pid()), with);
  armed.expect_end(0);
}

// A fork that was earlier than all that we did to the parent.
TEST(Removal, HasHappenedInACopyThatNeverHadANet) {
  Armed armed(call_once);
  Waiting bare([] {}, call_once);
  ASSERT_TRUE(test::seize_all(armed.tracer, bare.pid()));
  const auto copy = armed.space.fork_copy(bare.pid());
  copy->mend_copy(bare.tid());
  EXPECT_FALSE(copy->has_net());
  EXPECT_EQ(copy->sites().armed(), 0u);
  ASSERT_TRUE(test::arm_all(*copy, bare.tid())) << "it can have one of its own";
  copy->put_back(bare.tid());
  ASSERT_TRUE(copy->remove(bare.tid(), test::gadgets()));
  Tracee(bare.tid()).detach();
  test::expect_exit(bare.finish(), 0);
  armed.space.put_back(armed.tid());
  armed.expect_end(0);
}

// ---------------------------------------------------------------- where threads stand

TEST(OwnAddress, IsTheSiteBeforeAndWhatFollowsBehind) {
  Armed armed(call_once);
  for (const auto f : kFunctions) {
    const Site* site = armed.space.find(address_of(f));
    ASSERT_NE(site, nullptr);
    EXPECT_TRUE(armed.space.our_code().contains(site->slot));
    EXPECT_EQ(armed.space.our_code().own_address(site->slot), site->address);
    if (f == fade_test_jump) continue;  // its slot is the jump
    EXPECT_EQ(armed.space.our_code().own_address(site->slot + site->length), site->address + site->length);
    EXPECT_EQ(armed.space.our_code().own_address(site->slot + site->length + 1), std::nullopt);
    EXPECT_EQ(armed.space.our_code().own_address(site->slot + site->length + 5), std::nullopt);
  }
  EXPECT_FALSE(armed.space.our_code().contains(address_of(kFunctions[0])));
  EXPECT_EQ(armed.space.our_code().own_address(address_of(kFunctions[0])), std::nullopt);
  EXPECT_TRUE(armed.space.our_code().contains(armed.space.ret()));
  EXPECT_EQ(armed.space.our_code().own_address(armed.space.ret()), std::nullopt);
  armed.expect_end(0);
}

// Wherever in a slot a thread is moved back, the function does what it does.
TEST(OwnAddress, LeadsOnAsIfNothingHadBeen) {
  for (int steps = 0; steps < 3; ++steps) {
    Armed armed([] { return test::call_all(7) ? 33 : 1; });
    Tracee tracee(armed.tid());
    armed.program.go();
    tracee.resume();
    int moved = 0;
    for (;;) {
      const Stop stop = armed.tracer.next_of(armed.tid());
      if (stop.kind != Stop::Kind::Signal) break;
      const Site* site = armed.space.find(tracee.registers()->ip() - 1);
      ASSERT_NE(site, nullptr);
      tracee.set_ip(site->slot);
      for (int i = 0; i < steps; ++i) {
        tracee.step();
        ASSERT_EQ(armed.tracer.next_of(armed.tid()).signal, SIGTRAP);
      }
      const RemoteAddr at = tracee.registers()->ip();
      armed.space.put_back(armed.tid());
      if (const auto own = armed.space.our_code().own_address(at)) {
        ++moved;
        tracee.set_ip(*own);
      }
      tracee.resume();
    }
    EXPECT_EQ(moved, steps < 2 ? 1 : 0);  // the first site stands for all: they were put back
    armed.expect_end(33);
  }
}

TEST(OwnAddress, AGuardChangesNothing) {
  Waiting program([] {}, [] { return fade_test_add(SIG_UNBLOCK) == 4 ? 33 : 1; });
  const Tracer tracer = test::make_tracer();
  AddressSpace space(tracer, program.pid());
  ASSERT_TRUE(test::seize_all(tracer, program.pid()));
  ASSERT_TRUE(space.install_net(program.tid(), test::gadgets(), test::own_code()));
  const auto site = space.arm(address_of(fade_test_add), program.tid(), Guard::Sigaction);
  ASSERT_TRUE(site);
  ASSERT_EQ((*site)->way, Way::Trap);
  for (const std::uint64_t at : {0u, 7u, 17u, 19u})
    EXPECT_EQ(space.our_code().own_address((*site)->slot + at), (*site)->address) << at;
  EXPECT_EQ(space.our_code().own_address((*site)->slot + 19 + (*site)->length), (*site)->address + (*site)->length);
  Tracee(program.tid()).detach();
  test::expect_exit(program.finish(), 33);
}

// Stepped through the pad of a jump: where there is an address of its own, the registers are those of the entry.
TEST(OwnAddress, OfAPadIsTheEntryOrNone) {
  Waiting program([] {}, [] { return fade_test_add(SIG_UNBLOCK) == 4 ? 33 : 1; });
  const Tracer tracer = test::make_tracer();
  AddressSpace space(tracer, program.pid());
  const Tracee tracee(program.tid());
  ASSERT_TRUE(test::seize_all(tracer, program.pid()));
  ASSERT_TRUE(space.install_net(program.tid(), test::gadgets(), test::own_code()));
  const auto site = space.arm(address_of(fade_test_add), program.tid(), Guard::Sigmask);
  ASSERT_TRUE(site);
  ASSERT_EQ((*site)->way, Way::Jump);
  const auto was = *tracee.registers();
  tracee.set_ip((*site)->pad());
  int own = 0, none = 0;
  while (tracee.registers()->ip() != (*site)->pad_trap()) {
    const auto now = *tracee.registers();
    const auto address = space.our_code().own_address(now.ip());
    ++(address ? own : none);
    if (address) {
      EXPECT_EQ(*address, (*site)->address);
      EXPECT_EQ(now.argument_words()[0], was.argument_words()[0]);
      EXPECT_EQ(now.argument_words()[1], was.argument_words()[1]);
      EXPECT_EQ(now.argument_words()[2], was.argument_words()[2]);
      EXPECT_EQ(now.rsp, was.rsp);
    }
    tracee.step();
    ASSERT_EQ(tracer.next_of(program.tid()).signal, SIGTRAP);
  }
  EXPECT_EQ(own, 5);
  EXPECT_EQ(none, 6);
  EXPECT_EQ(space.our_code().own_address((*site)->pad_trap()), (*site)->address);
  EXPECT_EQ(space.our_code().own_address((*site)->pad_trap() + 1), (*site)->address);
  EXPECT_EQ(space.our_code().site_of_slot((*site)->pad()), *site);
  tracee.set_registers(was);
  tracee.detach();
  test::expect_exit(program.finish(), 33);
}

// A signal meets the thread in a slot; its handler still runs when somebody asks.
TEST(Stacks, AFrameThatGoesOnInASlotIsFound) {
  Waiting program([] {},
                  [] {
                    ::signal(SIGUSR1, [](int) { ::raise(SIGUSR2); });
                    return test::call_all(1) ? 33 : 1;
                  });
  const Tracer tracer = test::make_tracer();
  AddressSpace space(tracer, program.pid());
  const Tracee tracee(program.tid());
  ASSERT_TRUE(test::seize_all(tracer, program.pid()));
  ASSERT_TRUE(test::arm_all(space, program.tid()));
  EXPECT_FALSE(space.our_code().is_referred_to(tracee.registers()->sp()));
  program.go();
  tracee.resume();
  ASSERT_EQ(tracer.next_of(program.tid()).signal, SIGTRAP);
  const Site* site = space.find(tracee.registers()->ip() - 1);
  ASSERT_NE(site, nullptr);
  tracee.set_ip(site->slot);
  ::kill(program.pid().value(), SIGUSR1);
  tracee.resume();
  ASSERT_EQ(tracer.next_of(program.tid()).signal, SIGUSR1);
  EXPECT_EQ(tracee.registers()->ip(), site->slot);
  tracee.resume(SIGUSR1);
  ASSERT_EQ(tracer.next_of(program.tid()).signal, SIGUSR2);
  EXPECT_TRUE(space.our_code().is_referred_to(tracee.registers()->sp()));
  tracee.detach();
  test::expect_exit(program.finish(), 33);
}

TEST(Stacks, AWordThatPointsToUsIsNoFrame) {
  test::Shared<std::array<std::uint64_t, 1 << 18>> stack;  // 2 MiB of nothing
  Armed armed(call_once);
  (*stack)[20'000] = armed.space.find(address_of(kFunctions[0]))->slot.value;
  EXPECT_FALSE(armed.space.our_code().is_referred_to(address_of(&*stack)));
  armed.expect_end(0);
}

// ---------------------------------------------------------------- comparison with the files

TEST(TextComparison, CountsOursAndOthers) {
  Armed armed([] { return 0; });
  auto check = armed.space.differing();
  ASSERT_TRUE(check) << check.error().text();
  EXPECT_EQ(check->bytes, 4u);
  EXPECT_EQ(check->ours, 4u);
  EXPECT_EQ(check->others, 0u);
  EXPECT_EQ(check->unchecked, 0u);
  armed.space.put_back(armed.tid());
  const std::uint8_t patch = 0x90;
  ASSERT_TRUE(
      armed.space.memory().write(address_of(kFunctions[1]) + 1, std::as_bytes(std::span(&patch, 1)), armed.tid()));
  check = armed.space.differing();
  ASSERT_TRUE(check);
  EXPECT_EQ(check->ours, 0u);
  EXPECT_EQ(check->others, 1u);
  armed.expect_end(0);
}

// A moved call pushes the return address in two instructions.
TEST(OwnAddress, OfAHalfPushedReturnAddressIsTheCall) {
  Armed armed(call_once);
  ASSERT_TRUE(armed.space.arm(address_of(fade_test_call), armed.tid()));
  const Site* site = armed.space.find(address_of(fade_test_call));
  auto there = Tracee(armed.tid()).registers();
  ASSERT_TRUE(site && there);
  const std::uint64_t before = there->rsp;
  there->rip = site->slot.value + 5;
  there->rsp = before - 8;
  const auto own = armed.space.our_code().own_registers(*there);
  ASSERT_TRUE(own);
  EXPECT_EQ(own->ip(), site->address);
  EXPECT_EQ(own->rsp, before);
  armed.expect_end(0);
}

}  // namespace
}  // namespace fade
