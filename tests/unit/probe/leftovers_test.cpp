// What a killed tracer left is found, repaired and taken over; nonsense is refused.
#include <csignal>

#include "probe/abandoned.hpp"

namespace fade {
namespace {

using test::address_of;
using test::kFunctions;
using test::Waiting;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

void arm_all(Pid pid) {
  test::trace_and_die(pid, [pid](AddressSpace& space) { EXPECT_TRUE(test::arm_all(space, leader_of(pid))); });
}

// A second tracer, in the test itself.
struct Second {
  explicit Second(Pid p) : pid(p), space(tracer, p) { EXPECT_TRUE(test::seize_all(tracer, p)); }
  ~Second() { Tracee(leader_of(pid)).detach(); }

  const Tracer tracer = test::make_tracer();
  Pid pid;
  AddressSpace space;
};

int call_thrice() { return test::call_all(1) && test::call_all(2) && test::call_all(3) ? 0 : 1; }

TEST(Leftovers, NothingIsFoundWhereNothingWasLeft) {
  Waiting program([] {}, call_thrice);
  {
    Second second(program.pid());
    const auto taken = second.space.take_over(program.tid());
    ASSERT_TRUE(taken);
    EXPECT_FALSE(*taken);
    EXPECT_FALSE(second.space.has_net());
  }
  test::expect_exit(program.finish(), 0);
}

TEST(Leftovers, SitesAreKnownAndTheTextIsAsItWas) {
  Waiting program([] {}, call_thrice);
  arm_all(program.pid());
  {
    Second second(program.pid());
    EXPECT_THAT(test::changed_text(second.space.memory()), SizeIs(4));
    const auto taken = second.space.take_over(program.tid());
    ASSERT_TRUE(taken) << taken.error().text();
    ASSERT_TRUE(*taken);
    EXPECT_EQ((*taken)->sites, 4u);
    EXPECT_EQ((*taken)->put_back, 4u);
    EXPECT_EQ((*taken)->foreign, 0u);
    EXPECT_THAT(test::changed_text(second.space.memory()), IsEmpty());
    EXPECT_EQ(second.space.sites().armed(), 0u);
    for (const auto f : kFunctions) {
      const Site* site = second.space.find(address_of(f));
      ASSERT_NE(site, nullptr);
      EXPECT_TRUE(site->is_lifted);
      EXPECT_EQ(site->original, *reinterpret_cast<const std::uint8_t*>(f));
    }
  }
  test::expect_exit(program.finish(), 0);
}

TEST(Leftovers, AreArmedAgainInTheSameSlots) {
  Waiting program([] {}, call_thrice);
  arm_all(program.pid());
  Second second(program.pid());
  ASSERT_TRUE(second.space.take_over(program.tid()));
  const RemoteAddr slot = second.space.find(address_of(kFunctions[0]))->slot;
  ASSERT_TRUE(test::arm_all(second.space, program.tid()));
  EXPECT_EQ(second.space.find(address_of(kFunctions[0]))->slot, slot);
  EXPECT_EQ(second.space.sites().armed(), 4u);
  EXPECT_EQ(test::executable_anonymous(program.pid()), 1u);
  program.go();
  Tracee(program.tid()).resume();
  int hits = 0;
  for (;;) {
    const Stop stop = second.tracer.next_of(program.tid());
    if (stop.kind != Stop::Kind::Signal) break;
    hits += test::handle_stop(second.space, stop);
  }
  EXPECT_EQ(hits, 15);
  test::expect_exit(program.finish(), 0);
}

TEST(Leftovers, NewSitesGetNewSlots) {
  Waiting program([] {}, call_thrice);
  test::trace_and_die(program.pid(), [&](AddressSpace& space) {
    EXPECT_TRUE(space.install_net(program.tid(), test::gadgets(), test::own_code()));
    EXPECT_TRUE(space.arm(address_of(kFunctions[0]), program.tid()));
  });
  {
    Second second(program.pid());
    ASSERT_TRUE(second.space.take_over(program.tid()));
    ASSERT_TRUE(second.space.arm(address_of(kFunctions[1]), program.tid()));
    EXPECT_GT(second.space.find(address_of(kFunctions[1]))->slot, second.space.find(address_of(kFunctions[0]))->slot);
  }
  test::expect_exit(program.finish(), 0);
}

TEST(Leftovers, AreFoundInAForkToo) {
  Waiting program(
      [] {},
      [] {
        const pid_t forked = ::fork();
        if (forked == 0) {
          ::raise(SIGSTOP);
          ::_exit(call_thrice());
        }
        int status = 0;
        ::waitpid(forked, &status, WUNTRACED);
        if (!WIFSTOPPED(status)) return 2;
        const Tracer tracer = test::make_tracer();
        AddressSpace space(tracer, Pid::of(forked));
        const Tid leader = Tid::of(forked);
        if (!tracer.seize(leader, false)) return 3;
        if (tracer.next_of(leader).kind == Stop::Kind::Gone) return 4;
        const auto taken = space.take_over(leader);
        const bool is_whole = taken && *taken && (*taken)->sites == 4 && test::changed_text(space.memory()).size() == 4;
        ::kill(forked, SIGCONT);
        Tracee(leader).detach();
        while (::waitpid(forked, &status, 0) < 0 && errno == EINTR) continue;  // our tracer ticks
        return is_whole && status == 0 ? 33 : 5;  // changed_text() compares with us, who still have the int3s
      });
  arm_all(program.pid());
  test::expect_exit(program.finish(), 33);
}

void ignore(int) {}

TEST(Leftovers, TheProgramsOwnActionIsKnown) {
  Waiting program([] { ::signal(SIGTRAP, ignore); }, [] { return ::raise(SIGTRAP); });
  arm_all(program.pid());
  {
    Second second(program.pid());
    ASSERT_TRUE(second.space.take_over(program.tid()));
    EXPECT_EQ(second.space.trap_signal().program_action().handler, reinterpret_cast<std::uint64_t>(ignore));
  }
  test::expect_exit(program.finish(), 0);
}

TEST(Leftovers, TakenOverTwice) {
  Waiting program([] {}, call_thrice);
  arm_all(program.pid());
  for (int i = 0; i < 3; ++i)
    test::trace_and_die(program.pid(), [&](AddressSpace& space) {
      const auto taken = space.take_over(program.tid());
      EXPECT_TRUE(taken && *taken && (*taken)->put_back == 4);
      EXPECT_TRUE(test::arm_all(space, program.tid()));
    });
  EXPECT_EQ(test::executable_anonymous(program.pid()), 1u);
  test::expect_exit(program.finish(), 0);
}

// A library that was replaced: the entry is not believed, and nothing is written there.
TEST(Leftovers, TextThatIsAnotherNowIsLeftAlone) {
  Waiting program([] {}, [] { return 0; });
  arm_all(program.pid());
  {
    Second second(program.pid());
    const ProcessMemory& memory = second.space.memory();
    const std::array<std::uint8_t, 4> gone{0x90, 0x90, 0x90, 0x90}, behind{0xCC, 0x31, 0xC0, 0xC3};
    ASSERT_TRUE(memory.write(address_of(kFunctions[1]), std::as_bytes(std::span(gone)), program.tid()));
    ASSERT_TRUE(memory.write(address_of(kFunctions[3]), std::as_bytes(std::span(behind)), program.tid()));
    const auto taken = second.space.take_over(program.tid());
    ASSERT_TRUE(taken && *taken);
    EXPECT_EQ((*taken)->sites, 2u);
    EXPECT_EQ((*taken)->foreign, 1u);
    EXPECT_EQ(memory.value<std::uint8_t>(address_of(kFunctions[1])), 0x90);
    EXPECT_EQ(memory.value<std::uint8_t>(address_of(kFunctions[3])), 0xCC);
    EXPECT_EQ(second.space.find(address_of(kFunctions[3])), nullptr);
    second.space.put_back(program.tid());
    EXPECT_FALSE(second.space.remove(program.tid(), test::gadgets()));  // the net still is needed there
  }
  test::expect_exit(program.finish(), 0);
}

TEST(Leftovers, NonsenseIsRefusedWithTheReason) {
  Waiting program([] {}, call_thrice);
  arm_all(program.pid());
  Second second(program.pid());
  const ProcessMemory& memory = second.space.memory();
  const auto maps = elf::read_maps(program.pid());
  ASSERT_TRUE(maps);
  const auto net = SafetyNet::find(memory, *maps);
  ASSERT_TRUE(net && *net);
  const RemoteAddr base = (*net)->base();
  const std::pair<std::uint64_t, const char*> fields[] = {
      {NetLayout::kGeometryAt, "another layout"}, {NetLayout::kTableNowAt, "its table"},
      {NetLayout::kOurActionAt, "its code"},      {NetLayout::kOurActionAt + 16, "its code"},
      {NetLayout::kSyscallAt, "its code"},        {NetLayout::kGuardsAt, "its code"},
      {NetLayout::kRangesAt, "its lists"},        {NetLayout::kRangesAt + 16, "its lists"},
  };
  const auto write = [&](RemoteAddr at, std::uint64_t word) {
    return memory.write(at, std::as_bytes(std::span(&word, 1)), program.tid());
  };
  for (const auto& [at, reason] : fields) {
    const auto was = memory.value<std::uint64_t>(base + at);
    for (const std::uint64_t word : {std::uint64_t{1}, base.value, ~std::uint64_t{0}}) {
      ASSERT_TRUE(write(base + at, word));
      const auto taken = second.space.take_over(program.tid());
      ASSERT_FALSE(taken) << at << " " << word;
      EXPECT_THAT(taken.error().cause, HasSubstr(reason)) << at << " " << word;
      EXPECT_FALSE(second.space.has_net());
    }
    ASSERT_TRUE(write(base + at, *was));
  }
  EXPECT_THAT(test::changed_text(memory), SizeIs(4));
  ASSERT_TRUE(second.space.take_over(program.tid()));
  EXPECT_THAT(test::changed_text(memory), IsEmpty());
  Tracee(program.tid()).detach();
  test::expect_exit(program.finish(), 0);
}

TEST(Leftovers, SlotsThatAreNoneAreRefused) {
  Waiting program([] {}, call_thrice);
  arm_all(program.pid());
  Second second(program.pid());
  const ProcessMemory& memory = second.space.memory();
  const auto maps = elf::read_maps(program.pid());
  auto net = SafetyNet::find(memory, *maps);
  ASSERT_TRUE(net && *net);
  const auto entries = (*net)->table().entries(memory);
  ASSERT_TRUE(entries);
  for (const RemoteAddr slot : {entries->front().slot + 1, RemoteAddr{0x1000}, (*net)->base()}) {
    auto wrong = entries->front();
    wrong.slot = slot;
    ASSERT_TRUE((*net)->table().set(memory, program.tid(), wrong));
    EXPECT_FALSE(second.space.take_over(program.tid()));
    EXPECT_FALSE(second.space.has_net());
  }
  ASSERT_TRUE((*net)->table().set(memory, program.tid(), entries->front()));
  EXPECT_TRUE(second.space.take_over(program.tid()));
  Tracee(program.tid()).detach();
  test::expect_exit(program.finish(), 0);
}

TEST(Leftovers, AnotherAreaOfSlotsIsTakenOver) {
  Waiting program([] {}, call_thrice);
  test::trace_and_die(program.pid(), [&](AddressSpace& space) {
    const RemoteRange far{{0x200000000000}, {0x200000001000}};
    EXPECT_TRUE(space.install_net(program.tid(), test::gadgets(), far));
    EXPECT_TRUE(test::arm_all(space, program.tid()));
  });
  EXPECT_EQ(test::executable_anonymous(program.pid()), 2u);
  {
    Second second(program.pid());
    const auto taken = second.space.take_over(program.tid());
    ASSERT_TRUE(taken && *taken) << taken.error().text();
    EXPECT_EQ((*taken)->put_back, 4u);
    ASSERT_TRUE(test::arm_all(second.space, program.tid()));
    EXPECT_EQ(test::executable_anonymous(program.pid()), 2u);
    second.space.put_back(program.tid());
    const auto removed = second.space.remove(program.tid(), test::gadgets());
    EXPECT_TRUE(removed) << removed.error().text();
    EXPECT_EQ(test::executable_anonymous(program.pid()), 0u);
  }
  test::expect_exit(program.finish(), 0);
}

TEST(Leftovers, GuardedSitesAreTakenOver) {
  Waiting program([] {}, [] { return ::system("exit 3") == 3 << 8 && test::call_all(1) ? 33 : 1; });
  for (int i = 0; i < 3; ++i)
    test::trace_and_die(program.pid(), [&](AddressSpace& space) {
      const auto taken = space.take_over(program.tid());
      EXPECT_EQ(taken && *taken ? (*taken)->put_back : 0, i == 0 ? 0 : 6);
      EXPECT_TRUE(test::has_own_libc(space.memory()));
      EXPECT_TRUE(test::arm_all(space, program.tid()));
      EXPECT_TRUE(test::arm_guarded(space, program.tid()));
      EXPECT_FALSE(test::has_own_libc(space.memory()));
    });
  {
    Second second(program.pid());
    ASSERT_TRUE(second.space.take_over(program.tid()));
    EXPECT_TRUE(test::has_own_libc(second.space.memory()));
    second.space.put_back(program.tid());
    const auto check = second.space.differing();
    ASSERT_TRUE(check);
    EXPECT_EQ(check->ours, 0u);
    ASSERT_TRUE(second.space.remove(program.tid(), test::gadgets()));
  }
  test::expect_exit(program.finish(), 33);
}

// The fork came between the mapping of an area and its entry in the header.
TEST(Leftovers, AreWholeInACopyThatWasMadeInBetween) {
  Waiting program([] {}, call_thrice);
  test::trace_and_die(program.pid(), [&](AddressSpace& space) {
    const Pid pid = program.pid();
    EXPECT_TRUE(test::arm_all(space, leader_of(pid)));
    for (const std::uint64_t far : {0x200000000000u, 0x300000000000u})
      EXPECT_TRUE(space.reserve({{far}, {far + 0x1000}}, leader_of(pid)));
    const auto maps = elf::read_maps(pid);
    const auto net = SafetyNet::find(space.memory(), *maps);
    const std::array<std::uint64_t, 4> none{};
    EXPECT_TRUE(space.memory().write((*net)->base() + NetLayout::kRangesAt + 16, std::as_bytes(std::span(none)),
                                     leader_of(pid)));
    space.fork_copy(pid)->mend_copy(leader_of(pid));
    EXPECT_EQ((*net)->ranges(space.memory(), *maps)->size(), 2u);
  });
  test::expect_exit(program.finish(), 0);
}

}  // namespace
}  // namespace fade
