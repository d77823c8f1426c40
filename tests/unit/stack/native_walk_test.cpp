// Stacks of real threads, stopped anywhere, against libunwind-ptrace: the frames must be the same, up to the outermost
// one.
#include "stack/native_walk.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>

#include <algorithm>

#include "elf/elf_file.hpp"
#include "elf/support.hpp"
#include "stack/walk_fixture.hpp"

namespace fade::test {
namespace {

TEST_F(Walk, WithoutFramePointers) {
  Child child([this] { return work(*folder / "libwork.so"); });
  const Tracer tracer = make_tracer();
  ASSERT_TRUE(tracer.seize(child.tid(), true));
  child.go();
  Stopped thread(tracer, child.tid());
  await_work(thread);
  CodeFiles files;
  CodeMap code(files, thread.memory());
  compare(thread, code);
}

TEST_F(Walk, StubsAndLazyBinding) {
  Child child([this] { return work(*folder / "liblazy.so"); });
  const Tracer tracer = make_tracer();
  ASSERT_TRUE(tracer.seize(child.tid(), true));
  child.go();
  Stopped thread(tracer, child.tid());
  await_work(thread);
  CodeFiles files;
  CodeMap code(files, thread.memory());
  compare(thread, code);
}

TEST_F(Walk, ThroughASignalFrame) {
  Child child([this] { return work(*folder / "libwork.so", "only_signals"); });
  const Tracer tracer = make_tracer();
  ASSERT_TRUE(tracer.seize(child.tid(), true));
  child.go();
  Stopped thread(tracer, child.tid());
  await_work(thread);
  CodeFiles files;
  CodeMap code(files, thread.memory());
  const auto symbols = elf::ElfFile::open(*folder / "libwork.so");
  ASSERT_TRUE(symbols);
  const auto* handler = symbols->symbols().find("on_signal");
  const auto maps = elf::read_maps(child.pid());
  ASSERT_TRUE(handler && maps);
  const auto library = std::ranges::find_if(
      maps->all(), [](const elf::Mapping& m) { return m.path.ends_with("/libwork.so") && m.offset == 0; });
  ASSERT_NE(library, maps->all().end());
  const auto is_in_handler = [&](RemoteAddr pc) {
    return pc.value - library->range.begin.value - handler->address < handler->size;
  };
  // The handler is not the outermost frame of what is seen: the walk goes on behind the kernel's frame.
  ASSERT_TRUE(stop_where(thread, code, [&](const auto& frames) { return std::ranges::any_of(frames, is_in_handler); }));
  NativeWalk::End end;
  std::uint32_t evaluated = 0;
  EXPECT_EQ(thread.frames(code, end, &evaluated), Oracle(child.tid()).frames(4096));
  EXPECT_EQ(end, NativeWalk::End::Bottom);
  EXPECT_GE(evaluated, 1U);
}

// libunwind cannot: it looks for a file.
TEST_F(Walk, FromTheVdso) {
  Child child([this] { return work(*folder / "libwork.so", "only_clocks"); });
  const Tracer tracer = make_tracer();
  ASSERT_TRUE(tracer.seize(child.tid(), true));
  child.go();
  Stopped thread(tracer, child.tid());
  await_work(thread);
  CodeFiles files;
  CodeMap code(files, thread.memory());
  const auto maps = elf::read_maps(child.pid());
  ASSERT_TRUE(maps);
  const auto in = [&](RemoteAddr pc, std::string_view name) {
    const elf::Mapping* mapping = maps->find(pc);
    return mapping && mapping->path.find(name) != std::string::npos;
  };
  std::vector<RemoteAddr> frames;
  ASSERT_TRUE(stop_where(thread, code, [&](const auto& now) {
    frames = now;
    return !now.empty() && in(now[0], "[vdso]");
  }));
  NativeWalk::End end;
  EXPECT_EQ(thread.frames(code, end), frames);
  EXPECT_EQ(end, NativeWalk::End::Bottom);
  ASSERT_GE(frames.size(), 4U);
  // Some clocks are read by a function of the vDSO's own.
  const auto caller = std::ranges::find_if_not(frames, [&](RemoteAddr pc) { return in(pc, "[vdso]"); });
  ASSERT_NE(caller, frames.end());
  EXPECT_TRUE(in(*caller, "libc")) << shown(frames);
  // A sanitizer's own frame may lie between.
  const auto work = std::ranges::find_if(frames, [&](RemoteAddr pc) { return in(pc, "libwork.so"); });
  ASSERT_GE(frames.end() - work, 2) << shown(frames);
  EXPECT_TRUE(in(work[1], "libwork.so")) << shown(frames);
}

struct AThreadEndsWhereItBegan : Walk {
  using Walk::work;
  const Shared<std::atomic<Tid>> tid;
};
TEST_F(AThreadEndsWhereItBegan, AsLibunwindSays) {
  Child child([&] {
    pthread_t thread;
    ::pthread_create(
        &thread, nullptr,
        [](void* to) -> void* {
          auto& self = *static_cast<AThreadEndsWhereItBegan*>(to);
          self.tid->store(Tid::of(::gettid()));
          self.work(*folder / "libwork.so");
          return nullptr;
        },
        this);
    return ::pthread_join(thread, nullptr);
  });
  child.go();
  ASSERT_TRUE(eventually([&] { return tid->load() != 0; }));
  const Tracer tracer = make_tracer();
  ASSERT_TRUE(tracer.seize(tid->load(), false));
  Stopped thread(tracer, tid->load());
  await_work(thread);
  CodeFiles files;
  CodeMap code(files, thread.memory());
  compare(thread, code);
  ::kill(child.pid().value(), SIGKILL);
  while (next_stop(tracer).tid != tid->load()) continue;  // its end is ours to take, or its process would never be gone
}

// Library out, another one in, at the same addresses as often as not: nothing old may count.
TEST_F(Walk, WhatWasMappedAnewIsLookedAtAnew) {
  const Shared<std::atomic<int>> loaded, turn;
  Child child([&]() -> int {
    for (int i = 0;; ++i) {
      void* library = ::dlopen((*folder / (i % 2 ? "libwork.so" : "liblazy.so")).c_str(), RTLD_LAZY);
      const auto everything = reinterpret_cast<void (*)(unsigned long)>(::dlsym(library, "everything"));
      *loaded = i + 1;
      while (*turn <= i) everything(static_cast<unsigned long>(i));
      ::dlclose(library);
    }
  });
  const Tracer tracer = make_tracer();
  ASSERT_TRUE(tracer.seize(child.tid(), true));
  child.go();
  Stopped thread(tracer, child.tid());
  CodeFiles files;
  CodeMap code(files, thread.memory());
  const std::uint64_t first = code.generation();
  for (int i = 0; i < 6; ++i) {
    ASSERT_TRUE(stop_where(thread, code, [&](const auto&) { return *loaded == i + 1; }));
    thread.go();
    code.changed();
    compare(thread, code);
    *turn = i + 1;
  }
  EXPECT_EQ(code.generation(), first + 6);
}

TEST_F(Walk, ChildrenShareTheFiles) {
  const Shared<std::atomic<pid_t>> grandchild;
  Child child([&] {
    if (const pid_t forked = ::fork(); forked != 0) *grandchild = forked;
    else ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    return work(*folder / "libwork.so");
  });
  child.go();
  ASSERT_TRUE(eventually([&] { return *working == 2; }));
  const Tracer tracer = make_tracer();
  CodeFiles files;
  for (const Pid pid : {child.pid(), Pid::of(grandchild->load())}) {
    ASSERT_TRUE(tracer.seize(leader_of(pid), true));
    Stopped thread(tracer, leader_of(pid));
    CodeMap code(files, thread.memory());
    compare(thread, code);
  }
}

// ---------------------------------------------------------------- what is not as it should be

// A stack that leads back into itself, and one of rubbish: every walk ends, with what could be told.
TEST_F(Walk, ADamagedStackEndsTheWalk) {
  Child child([this] { return work(*folder / "libwork.so"); });
  const Tracer tracer = make_tracer();
  ASSERT_TRUE(tracer.seize(child.tid(), true));
  child.go();
  Stopped thread(tracer, child.tid());
  await_work(thread);
  CodeFiles files;
  CodeMap code(files, thread.memory());
  ASSERT_TRUE(stop_where(thread, code, [](const auto& frames) { return frames.size() > 8; }));
  Registers registers = thread.registers();
  std::vector<std::uint64_t> words(512);
  ASSERT_EQ(thread.memory().read(registers.sp(), std::as_writable_bytes(std::span(words))), words.size() * 8);
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = i % 3 == 0 ? registers.rip : registers.rsp + (i % 64) * 8;
  ASSERT_TRUE(thread.memory().write(registers.sp(), std::as_bytes(std::span(words)), thread.tid()));
  for (const auto rbp : {registers.rsp, registers.rsp - 4096, 0ULL, ~0ULL}) {
    registers.rbp = rbp;
    const StackSnapshot snapshot(thread.memory(), registers.sp());
    EXPECT_LE(native_frames(code, thread.tid(), registers, snapshot, 1 << 20).size(), 20'000U);
    LibunwindStep libunwind;
    NativeWalk walk(code, thread.tid(), FrameRegisters(registers), snapshot, false, nullptr, &libunwind);
    for (std::size_t n = 0; walk.next(); ++n) ASSERT_LE(n, 20'000U);
  }
}

// Whichever word of the stack is another one: the evidence says no, or the frames are the same.
TEST_F(Walk, EvidenceIsAllThatTheFramesRestOn) {
  Child child([this] { return work(*folder / "libwork.so"); });
  const Tracer tracer = make_tracer();
  ASSERT_TRUE(tracer.seize(child.tid(), true));
  child.go();
  Stopped thread(tracer, child.tid());
  await_work(thread);
  CodeFiles files;
  CodeMap code(files, thread.memory());
  constexpr std::size_t kLimit = 256, kWholeStack = 64 * 1024;  // wide() alone has 40 KiB
  std::size_t noticed = 0, harmless = 0;
  for (int stops = 0; stops < 12; ++stops) {
    ASSERT_TRUE(stop_where(thread, code, [](const auto& frames) { return frames.size() > 6; }));
    const Registers registers = thread.registers();
    const FrameRegisters begin(registers);
    const auto look = [&](const StackSnapshot& snapshot, StackEvidence* evidence) {
      NativeWalk walk(code, thread.tid(), begin, snapshot, false, evidence);
      std::vector<RemoteAddr> out;
      for (auto frame = walk.next(); frame && out.size() < kLimit; frame = walk.next()) out.push_back(frame->pc);
      return out;
    };
    const auto taken = [&] { return StackSnapshot(thread.memory(), registers.sp(), kWholeStack); };
    StackEvidence evidence;
    const auto whole = look(taken(), &evidence);
    const auto holds = [&](const StackSnapshot& now) { return evidence.holds(begin, StackSnapshot::Look(now), 0); };
    ASSERT_TRUE(evidence.is_whole() && holds(taken()));
    for (RemoteAddr at = registers.sp(); at < registers.sp() + 3000; at = at + 8) {
      const auto was = thread.memory().value<std::uint64_t>(at);
      if (!was) break;
      const std::uint64_t other = *was + 16;
      ASSERT_TRUE(thread.memory().write(at, std::as_bytes(std::span(&other, 1)), thread.tid()));
      const StackSnapshot now = taken();
      const bool same = holds(now);
      if (same) {
        EXPECT_EQ(look(now, nullptr), whole);
      }
      ++(same ? harmless : noticed);
      ASSERT_TRUE(thread.memory().write(at, std::as_bytes(std::span(&*was, 1)), thread.tid()));
    }
    EXPECT_GE(evidence.words(), whole.size() - 1) << "a return address for each";
    thread.go_on_for(std::chrono::microseconds(stops * 300));  // elsewhere the next time
  }
  EXPECT_GT(noticed, 0U);
  EXPECT_GT(harmless, noticed) << "what no frame was found by does not count";
}

// fade's own code is shown as what it stands for.
TEST_F(Walk, ASlotIsShownAsItsSite) {
  Child child([this] { return work(*folder / "libwork.so"); });
  const Tracer tracer = make_tracer();
  ASSERT_TRUE(tracer.seize(child.tid(), true));
  child.go();
  Stopped thread(tracer, child.tid());
  await_work(thread);
  CodeFiles files;
  CodeMap plain(files, thread.memory());
  ASSERT_TRUE(stop_where(thread, plain, [](const auto& frames) { return frames.size() > 4; }));
  const Registers registers = thread.registers();
  const StackSnapshot snapshot(thread.memory(), registers.sp());
  const auto expected = native_frames(plain, thread.tid(), registers, snapshot, 64);
  constexpr std::uint64_t kSlot = 0x1234'5678;
  CodeMap with_slots(files, thread.memory(),
                     [&](RemoteAddr pc) { return pc.value == kSlot ? std::optional(registers.ip()) : std::nullopt; });
  Registers in_slot = registers;
  in_slot.rip = kSlot;
  EXPECT_EQ(native_frames(with_slots, thread.tid(), in_slot, snapshot, 64), expected);
  // To a map without them it is a stray address. Where a function just begins or ends, the walk goes on with who called
  // it.
  EXPECT_EQ(native_frames(plain, thread.tid(), in_slot, snapshot, 64).at(0), RemoteAddr{kSlot});
}

}  // namespace
}  // namespace fade::test
