// Breakpoints that the program has taken out: what is seen, set again and given up.
#include <sys/mman.h>

#include <ranges>

#include "probe/entry_pads.hpp"

namespace fade {
namespace {
namespace vanishing {

using test::address_of;
using test::kFunctions;
using test::Waiting;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Instead = VanishedSite::Instead;
using Repair = VanishedSites::Repair;

// A stopped program that has a net. It calls everything ten times when it goes on.
struct Vanishing : ::testing::Test {
  const Tracer tracer = test::make_tracer();
  Waiting program{[] {},
                  [] {
                    for (long n = 0; n < 10; ++n) {
                      const bool right = fade_entry_5(n) == n + 5 && fade_entry_6(n) == n + 6 &&
                                         fade_entry_7(n) == n + 7 && fade_entry_8(n) == n + 8;
                      if (!test::call_all(n) || !right) return 1;
                    }
                    return 33;
                  }};
  AddressSpace space{tracer, program.pid()};

  void SetUp() override {
    ASSERT_TRUE(test::seize_all(tracer, pid()));
    ASSERT_TRUE(space.install_net(tid(), test::gadgets(), test::own_code()));
  }
  Pid pid() const { return program.pid(); }
  Tid tid() const { return program.tid(); }
  // As after MADV_DONTNEED.
  bool wipe(RemoteAddr at, std::size_t size = 1) {
    return space.memory().write(at, std::span(reinterpret_cast<const std::byte*>(at.value), size), tid());
  }
  std::vector<Instead> instead() {
    std::vector<Instead> out;
    for (const auto& site : space.vanished().all()) out.push_back(site.instead);
    return out;
  }
  int hits_to_end() {
    program.go();
    Tracee(tid()).resume();
    int hits = 0;
    for (Stop stop = tracer.next_of(tid()); stop.kind == Stop::Kind::Signal; stop = tracer.next_of(tid()))
      hits += test::handle_stop(space, stop);
    test::expect_exit(program.finish(), 33);
    return hits;
  }
  Site* arm_jump(RemoteAddr function) {
    const auto entry = FunctionEntry::read(space.memory(), function, 16);
    const auto site = space.entries().arm(std::span(&entry, 1), tid()).front();
    return site && (*site)->is_entry_jump() ? *site : nullptr;
  }
};

TEST_F(Vanishing, NoneWhereAllStand) {
  ASSERT_TRUE(test::arm_all(space, tid()));
  ASSERT_TRUE(test::arm_guarded(space, tid()));
  ASSERT_NE(arm_jump(address_of(fade_entry_6)), nullptr);
  EXPECT_THAT(space.vanished().all(), IsEmpty());
}

TEST_F(Vanishing, WhatWasWipedIsSetAgainWithNobodyStopped) {
  ASSERT_TRUE(test::arm_all(space, tid()));
  for (const auto f : kFunctions) ASSERT_TRUE(wipe(address_of(f)));
  const auto gone = space.vanished().all();
  EXPECT_THAT(instead(), ElementsAre(Instead::Original, Instead::Original, Instead::Original, Instead::Original));
  for (const auto& site : gone) EXPECT_EQ(space.vanished().repair(site.address, kNobody), Repair::Done);
  EXPECT_THAT(space.vanished().all(), IsEmpty());
  EXPECT_EQ(space.vanished().repair(gone[0].address, kNobody), Repair::NotNeeded);
  EXPECT_EQ(hits_to_end(), 50);
}

TEST_F(Vanishing, AJumpComesBackAsAnInt3WhereTheFunctionBegins) {
  const RemoteAddr functions[] = {address_of(fade_entry_5), address_of(fade_entry_6), address_of(fade_entry_7),
                                  address_of(fade_entry_8)};
  for (const RemoteAddr function : functions) {
    Site* const jump = arm_jump(function);
    ASSERT_NE(jump, nullptr);
    jump->use = 7;
    const RemoteAddr at = jump->address, trap = jump->pad_trap();
    ASSERT_TRUE(wipe(at, 5));
    EXPECT_THAT(instead(), ElementsAre(Instead::Original));
    EXPECT_EQ(space.vanished().repair(at, kNobody), Repair::Done);
    EXPECT_EQ(space.memory().value<std::byte>(at), *reinterpret_cast<const std::byte*>(at.value));
    ASSERT_NE(space.find(function), nullptr);
    EXPECT_EQ(space.find(function)->way, Way::Trap);
    EXPECT_EQ(space.find(function)->use, 7u);
    EXPECT_EQ(space.find(trap), jump);  // a thread may still be on its way to it
    EXPECT_THAT(space.vanished().all(), IsEmpty());
  }
  EXPECT_EQ(space.sites().armed(), 4u);
  EXPECT_EQ(hits_to_end(), 40);
}

TEST_F(Vanishing, NothingOfARepairedJumpIsLeftInTheText) {
  const Site* const jump = arm_jump(address_of(fade_entry_7));
  ASSERT_NE(jump, nullptr);
  ASSERT_TRUE(wipe(jump->address, 5));
  ASSERT_TRUE(space.vanished().repair(jump->address, kNobody));
  EXPECT_THAT(test::changed_text(space.memory()), SizeIs(1));
  space.put_back(tid());
  EXPECT_THAT(test::changed_text(space.memory()), IsEmpty());
  EXPECT_EQ(hits_to_end(), 0);
}

TEST_F(Vanishing, OtherCodeIsLeftAloneAndLateTrapsAreKnown) {
  ASSERT_TRUE(test::arm_all(space, tid()));
  const RemoteAddr address = address_of(kFunctions[1]);
  const std::byte nop{0x90};
  ASSERT_TRUE(space.memory().write(address, std::span(&nop, 1), tid()));
  EXPECT_THAT(instead(), ElementsAre(Instead::Other));
  EXPECT_FALSE(space.vanished().repair(address, kNobody));  // it is asked to all the same
  EXPECT_EQ(space.memory().value<std::byte>(address), nop);
  EXPECT_THAT(space.vanished().all(), IsEmpty());
  EXPECT_EQ(space.sites().armed(), 3u);
  EXPECT_NE(space.find(address), nullptr);
}

TEST_F(Vanishing, TheOriginalByteBeforeOtherBytesIsOtherCode) {
  ASSERT_TRUE(test::arm_all(space, tid()));
  const RemoteAddr address = address_of(kFunctions[1]);
  ASSERT_TRUE(wipe(address));
  const std::byte three{3};
  ASSERT_TRUE(space.memory().write(address + 4, std::span(&three, 1), tid()));  // the instruction's displacement
  EXPECT_THAT(instead(), ElementsAre(Instead::Other));
  space.vanished().drop(address, kNobody);
  EXPECT_EQ(space.sites().armed(), 3u);
  EXPECT_EQ(space.memory().value<std::byte>(address), *reinterpret_cast<const std::byte*>(address.value));
}

TEST_F(Vanishing, HalfAJumpIsOtherCode) {
  const Site* const jump = arm_jump(address_of(fade_entry_6));
  ASSERT_NE(jump, nullptr);
  ASSERT_TRUE(wipe(jump->address, 2));
  EXPECT_THAT(instead(), ElementsAre(Instead::Other));
}

TEST_F(Vanishing, ASiteThatIsTakenOutAgainAndAgainIsGivenUp) {
  ASSERT_TRUE(test::arm_all(space, tid()));
  const RemoteAddr address = address_of(kFunctions[0]);
  int repaired = 0;
  for (; repaired < 100 && wipe(address) && space.vanished().repair(address, kNobody); ++repaired) continue;
  EXPECT_EQ(repaired, 8);
  EXPECT_THAT(space.vanished().all(), IsEmpty());
  EXPECT_EQ(space.sites().armed(), 3u);
  EXPECT_EQ(hits_to_end(), 40);
}

TEST_F(Vanishing, GuardsOfLibcComeFirst) {
  ASSERT_TRUE(test::arm_all(space, tid()));
  ASSERT_TRUE(test::arm_guarded(space, tid()));
  const RemoteAddr guarded = test::libc("sigaction");
  ASSERT_TRUE(wipe(address_of(kFunctions[0])));
  ASSERT_TRUE(wipe(guarded, 16));
  const auto gone = space.vanished().all();
  ASSERT_THAT(gone, SizeIs(2));
  EXPECT_EQ(gone[0].guard, Guard::Sigaction);
  for (const auto& site : gone) EXPECT_EQ(space.vanished().repair(site.address, kNobody), Repair::Done);
  EXPECT_THAT(space.vanished().all(), IsEmpty());
}

TEST_F(Vanishing, NoneOnceTheTextIsPutBack) {
  ASSERT_TRUE(test::arm_all(space, tid()));
  space.put_back(tid());
  EXPECT_THAT(space.vanished().all(), IsEmpty());
}

// More pages than one system call reads, one of which is gone.
TEST(VanishedSites, AreFoundOnManyPages) {
  constexpr std::size_t kPages = 60, kSize = kPages * 4096, kStep = 64, kLost = 30;
  void* const memory = ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  std::memset(memory, 0x90, kSize);
  const RemoteAddr begin = address_of(memory);
  Waiting program([] {},
                  [&] {
                    ::munmap(static_cast<std::byte*>(memory) + kLost * 4096, 4096);
                    return ::raise(SIGUSR1);
                  });
  const Tracer tracer = test::make_tracer();
  AddressSpace space(tracer, program.pid());
  ASSERT_TRUE(test::seize_all(tracer, program.pid()) &&
              space.install_net(program.tid(), test::gadgets(), {begin, begin + kSize}));
  for (std::size_t i = 0; i < kSize; i += kStep) ASSERT_TRUE(space.arm(begin + i, program.tid())) << i;
  std::vector<RemoteAddr> wiped, found;
  const std::byte nop{0x90};
  for (std::size_t i = 0; i < kSize; i += 7 * kStep) {
    ASSERT_TRUE(space.memory().write(begin + i, std::span(&nop, 1), program.tid()));
    wiped.push_back(begin + i);
  }
  for (const auto& site : space.vanished().all()) found.push_back(site.address);
  EXPECT_EQ(found, wiped);
  program.go();
  Tracee(program.tid()).resume();
  ASSERT_EQ(tracer.next_of(program.tid()).signal, SIGUSR1);
  const RemoteRange lost{begin + kLost * 4096, begin + (kLost + 1) * 4096};
  for (const auto& site : space.vanished().all())
    EXPECT_EQ(site.instead, lost.contains(site.address) ? Instead::Nothing : Instead::Original);
  EXPECT_EQ(std::ranges::count(space.vanished().all(), Instead::Nothing, &VanishedSite::instead), 4096 / kStep);
  ::munmap(memory, kSize);
}

// Bytes that were read from the address of a site on, cut off anywhere.
TEST(VanishedSite, IsInPlaceWithAnInt3OrItsWholeJump) {
  const Site trap{.address = {0x1000}, .slot = {0x9000}};
  const Site jump{.address = {0x1001}, .slot = {0x9000}, .length = 7, .way = Way::Jump};
  const auto whole = jump_code(jump.address, jump.pad());
  const std::span<const std::byte> text = std::as_bytes(std::span(whole));
  const std::array other{std::byte{0x90}, std::byte{0xCC}}, int3{std::byte{0xCC}, std::byte{0x90}};
  EXPECT_TRUE(is_in_place(trap, int3));
  EXPECT_FALSE(is_in_place(trap, other));
  EXPECT_FALSE(is_in_place(trap, text));
  EXPECT_TRUE(is_in_place(jump, text));
  EXPECT_TRUE(is_in_place(jump, int3));  // half-written
  EXPECT_FALSE(is_in_place(jump, text.first(4)));
  EXPECT_FALSE(is_in_place(jump, {}));
}

}  // namespace vanishing
}  // namespace
}  // namespace fade
