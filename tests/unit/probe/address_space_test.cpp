#include "probe/address_space.hpp"

#include <sys/mman.h>

#include "probe/armed.hpp"

namespace fade {
namespace {

using test::Child;
using test::kFunctions;
using ::testing::IsEmpty;
using ::testing::SizeIs;

struct AddressSpaceTest : ::testing::Test {
  const Tracer tracer = test::make_tracer();
  std::unique_ptr<Child> child;
  std::unique_ptr<AddressSpace> space;

  // The child stops by SIGUSR1 before it does what is asked.
  void start(const std::function<int()>& body) {
    child = std::make_unique<Child>([&] {
      ::raise(SIGUSR1);
      return body();
    });
    ASSERT_TRUE(tracer.seize(child->tid(), true));
    child->go();
    ASSERT_EQ(tracer.next_of(child->tid()).signal, SIGUSR1);
    space = std::make_unique<AddressSpace>(tracer, child->pid());
  }
  Pid pid() const { return child->pid(); }
  Tid tid() const { return child->tid(); }
  // Runs it to its end; returns how often it hit.
  int hits_to_end(int expected_status) {
    int hits = 0;
    Tracee(tid()).resume();
    for (;;) {
      const Stop stop = tracer.next_of(tid());
      if (stop.kind == Stop::Kind::Exited || stop.kind == Stop::Kind::Killed || stop.kind == Stop::Kind::Gone) break;
      hits += test::handle_stop(*space, stop);
    }
    const int status = child->wait();
    EXPECT_TRUE(WIFEXITED(status)) << WTERMSIG(status);
    EXPECT_EQ(WEXITSTATUS(status), expected_status);
    return hits;
  }
};

int ten_rounds() {
  for (long i = 0; i < 10; ++i)
    if (!test::call_all(i)) return 1;
  return 0;
}

TEST_F(AddressSpaceTest, EveryCallIsOneStopAndDoesWhatItDid) {
  start(ten_rounds);
  ASSERT_TRUE(test::arm_all(*space, tid()));
  EXPECT_EQ(space->sites().armed(), 4u);
  EXPECT_EQ(hits_to_end(0), 50);  // fade_test_jump goes on into fade_test_add
}

TEST_F(AddressSpaceTest, ArmedTwiceIsTheSameSite) {
  start(ten_rounds);
  ASSERT_TRUE(test::arm_all(*space, tid()));
  const auto again = space->arm(test::address_of(kFunctions[0]), tid());
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, space->find(test::address_of(kFunctions[0])));
  EXPECT_EQ(space->sites().armed(), 4u);
}

TEST_F(AddressSpaceTest, NothingIsArmedWithoutANet) {
  start(ten_rounds);
  EXPECT_FALSE(space->arm(test::address_of(kFunctions[0]), tid()));
  EXPECT_THAT(test::changed_text(space->memory()), IsEmpty());
}

TEST_F(AddressSpaceTest, PutBackLeavesTheTextAsItWas) {
  start(ten_rounds);
  ASSERT_TRUE(test::arm_all(*space, tid()));
  EXPECT_THAT(test::changed_text(space->memory()), SizeIs(4));
  space->put_back(tid());
  EXPECT_THAT(test::changed_text(space->memory()), IsEmpty());
  EXPECT_EQ(hits_to_end(0), 0);
}

TEST_F(AddressSpaceTest, PutBackKeepsWhatTheProgramWroteMeanwhile) {
  start([] { return 0; });
  ASSERT_TRUE(test::arm_all(*space, tid()));
  const std::byte nop{0x90};
  ASSERT_TRUE(space->memory().write(test::address_of(kFunctions[1]), std::span(&nop, 1), tid()));
  space->put_back(tid());
  EXPECT_EQ(space->memory().value<std::byte>(test::address_of(kFunctions[1])), nop);
}

TEST_F(AddressSpaceTest, ForgottenSitesAreNotTouchedAndCanBeArmedAgain) {
  start(ten_rounds);
  ASSERT_TRUE(test::arm_all(*space, tid()));
  const RemoteAddr address = test::address_of(kFunctions[1]);
  EXPECT_EQ(space->forget({address, address + 1}, tid()), 1u);
  EXPECT_EQ(space->find(address), nullptr);
  EXPECT_EQ(space->memory().value<std::uint8_t>(address), 0xCC);  // the memory counts as gone
  const auto refused = space->arm(address, tid());
  EXPECT_FALSE(refused);  // somebody's breakpoint
  const auto original = *reinterpret_cast<const std::byte*>(address.value);
  ASSERT_TRUE(space->memory().write(address, std::span(&original, 1), tid()));
  EXPECT_TRUE(space->arm(address, tid()));
  EXPECT_EQ(hits_to_end(0), 50);
}

constexpr RemoteRange kFarAway{{0x200000000000}, {0x200000001000}};

// Where the child stands is a stop that nobody has handled: a system call in it would take its signal away.
TEST_F(AddressSpaceTest, NobodyMakesRoom) {
  start(ten_rounds);
  ASSERT_TRUE(space->install_net(tid(), test::gadgets(), kFarAway));
  const RemoteAddr address = test::address_of(kFunctions[0]);
  const auto refused = space->arm(address, kNobody);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().text().find("no room for more breakpoints"), std::string::npos);
  EXPECT_THAT(test::changed_text(space->memory()), IsEmpty());
  ASSERT_TRUE(space->reserve({address, address + 1}, tid()));
  EXPECT_TRUE(space->arm(address, kNobody));
  EXPECT_EQ(hits_to_end(0), 10);
}

TEST_F(AddressSpaceTest, LittleRoomIsNotEnoughToGoOnWithNobody) {
  constexpr std::size_t kMany = 5000;
  const auto code = static_cast<std::uint8_t*>(
      ::mmap(nullptr, kMany, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  std::fill_n(code, kMany, std::uint8_t{0x90});  // nop
  const RemoteAddr begin{reinterpret_cast<std::uint64_t>(code)};
  start([] { return 0; });
  ASSERT_TRUE(space->install_net(tid(), test::gadgets(), kFarAway));
  for (std::size_t i = 0; i < kMany; ++i) {
    if (i % (kMany / 2) == 0) {
      ASSERT_TRUE(space->reserve({begin, begin + kMany}, tid()));
    }
    ASSERT_TRUE(space->arm(begin + i, kNobody)) << i;
  }
  ::munmap(code, kMany);
}

TEST_F(AddressSpaceTest, ProgramsActionIsKeptAndAnswered) {
  start([] {
    struct sigaction now {};
    ::sigaction(SIGTRAP, nullptr, &now);
    return now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN ? 1 : 0;
  });
  ASSERT_TRUE(test::arm_all(*space, tid()));
  EXPECT_EQ(space->trap_signal().program_action().handler, 0u);
  EXPECT_TRUE(space->trap_signal().set_program_action({.handler = 1}, tid()));
  EXPECT_EQ(space->trap_signal().program_action().handler, 1u);
  hits_to_end(0);  // the kernel's is the net's
}

TEST_F(AddressSpaceTest, CopyOfAForkIsAnAddressSpaceOfItsOwn) {
  start([] {
    const pid_t forked = ::fork();
    if (forked == 0) return ten_rounds();
    int status = 0;
    while (::waitpid(forked, &status, 0) < 0 && errno == EINTR) continue;
    return ten_rounds() == 0 && status == 0 ? 0 : 1;
  });
  ASSERT_TRUE(test::arm_all(*space, tid()));
  Tracee(tid()).resume();
  Stop fork = tracer.next_of(tid());
  ASSERT_EQ(fork.kind, Stop::Kind::Fork);
  const auto forked = process_of_leader(fork.child());
  ASSERT_EQ(tracer.next_of(leader_of(forked)).kind, Stop::Kind::Trap);
  const auto copy = space->fork_copy(forked);
  copy->mend_copy(leader_of(forked));
  EXPECT_EQ(copy->sites().armed(), 4u);
  copy->put_back(leader_of(forked));
  EXPECT_THAT(test::changed_text(copy->memory()), IsEmpty());
  EXPECT_THAT(test::changed_text(space->memory()), SizeIs(4));
  Tracee(leader_of(forked)).detach();
  EXPECT_EQ(hits_to_end(0), 50);
}

// The event of a fork comes later than the fork: what is armed in between is not in the copy.
TEST_F(AddressSpaceTest, CopyIsMendedWhereTheForkWasEarlier) {
  start([] {
    const pid_t forked = ::fork();
    if (forked == 0) return ten_rounds();
    int status = 0;
    while (::waitpid(forked, &status, 0) < 0 && errno == EINTR) continue;
    return WEXITSTATUS(status);
  });
  Tracee(tid()).resume();
  const Stop fork = tracer.next_of(tid());
  ASSERT_EQ(fork.kind, Stop::Kind::Fork);
  const auto forked = process_of_leader(fork.child());
  ASSERT_EQ(tracer.next_of(leader_of(forked)).kind, Stop::Kind::Trap);
  // The child's memory stands for one that has the net and lacks the sites that `copy` knows of.
  AddressSpace in_child(tracer, forked);
  ASSERT_TRUE(in_child.install_net(leader_of(forked), test::gadgets(), test::own_code()));
  const auto copy = in_child.fork_copy(forked);
  ASSERT_TRUE(test::arm_all(*copy, leader_of(forked)));
  for (const test::Function f : test::kFunctions) {
    const std::uint8_t original = copy->find(test::address_of(f))->original;
    ASSERT_TRUE(copy->memory().write(test::address_of(f), std::as_bytes(std::span(&original, 1)), leader_of(forked)));
  }
  const auto mended = copy->fork_copy(forked);
  ASSERT_THAT(test::changed_text(mended->memory()), IsEmpty());
  mended->mend_copy(leader_of(forked));
  EXPECT_THAT(test::changed_text(mended->memory()), SizeIs(4));
  mended->put_back(leader_of(forked));
  EXPECT_THAT(test::changed_text(mended->memory()), IsEmpty());
  Tracee(leader_of(forked)).detach();
  hits_to_end(0);
}

// What was put back meanwhile still stands in the copy.
TEST_F(AddressSpaceTest, CopyIsCleanedWhereTheForkWasEarlier) {
  start([] {
    const pid_t forked = ::fork();
    if (forked == 0) return ten_rounds();
    int status = 0;
    while (::waitpid(forked, &status, 0) < 0 && errno == EINTR) continue;
    return WEXITSTATUS(status);
  });
  ASSERT_TRUE(test::arm_all(*space, tid()));
  Tracee(tid()).resume();
  const Stop fork = tracer.next_of(tid());
  ASSERT_EQ(fork.kind, Stop::Kind::Fork);
  const auto forked = process_of_leader(fork.child());
  ASSERT_EQ(tracer.next_of(leader_of(forked)).kind, Stop::Kind::Trap);
  space->put_back(tid());
  const auto copy = space->fork_copy(forked);
  ASSERT_THAT(test::changed_text(copy->memory()), SizeIs(4));
  copy->mend_copy(leader_of(forked));
  EXPECT_THAT(test::changed_text(copy->memory()), IsEmpty());
  Tracee(leader_of(forked)).detach();
  EXPECT_EQ(hits_to_end(0), 0);
}

TEST_F(AddressSpaceTest, SlotIsFoundByItsAddress) {
  start(ten_rounds);
  ASSERT_TRUE(test::arm_all(*space, tid()));
  for (const auto f : kFunctions) {
    const Site* site = space->find(test::address_of(f));
    ASSERT_NE(site, nullptr);
    EXPECT_EQ(space->our_code().site_of_slot(site->slot), site);
    EXPECT_EQ(space->our_code().site_of_slot(site->slot + 1), nullptr);
  }
  EXPECT_EQ(space->our_code().site_of_slot(test::address_of(kFunctions[0])), nullptr);
}

TEST_F(AddressSpaceTest, OneByteInstructionsNeedProof) {
  start(ten_rounds);
  ASSERT_TRUE(test::arm_all(*space, tid()));
  EXPECT_TRUE(space->find(test::address_of(kFunctions[0]))->needs_proof());
  EXPECT_FALSE(space->find(test::address_of(kFunctions[1]))->needs_proof());
}

}  // namespace
}  // namespace fade
