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
#include "stack/support.hpp"

namespace fade::test {
namespace {

constexpr int kStops = 60;

// Without frame pointers, with registers saved, stacks realigned, frames larger than the window, callbacks from libc.
constexpr const char* kLibrary = R"(
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <math.h>
#include <stdio.h>
static volatile unsigned long sink;
__attribute__((noinline)) static unsigned long leaf(unsigned long n) {
  unsigned long x = n;
  for (unsigned long i = 0; i < 300; ++i) x = x * 2862933555777941757UL + i;
  sink = x;
  return x;
}
__attribute__((noinline)) unsigned long deep(unsigned long n, unsigned long a, unsigned long b, unsigned long c) {
  if (n == 0) return leaf(a + b + c);
  const unsigned long left = deep(n - 1, a ^ n, b + n, c * n);
  return left * a + b * c + leaf(left);
}
__attribute__((noinline)) unsigned long wide(unsigned long n) {
  volatile char big[5000];
  memset((char *)big, (int)n, sizeof big);
  return n == 0 ? leaf(1) : wide(n - 1) + big[n];
}
__attribute__((noinline)) unsigned long aligned(unsigned long n) {
  volatile double lane[8] __attribute__((aligned(64)));
  for (int i = 0; i < 8; ++i) lane[i] = (double)(n + i);
  volatile char variable[1 + n % 7];
  variable[0] = 1;
  return (n == 0 ? leaf(2) : aligned(n - 1)) + (unsigned long)lane[n & 7] + variable[0];
}
static int compare(const void *a, const void *b) {
  const int x = *(const int *)a, y = *(const int *)b;
  sink += leaf((unsigned long)x) & 1;
  return (x > y) - (x < y);
}
__attribute__((noinline)) void sorts(void) {
  int values[64];
  for (int i = 0; i < 64; ++i) values[i] = (i * 7919) % 64;
  qsort(values, 64, sizeof values[0], compare);
}
static void on_signal(int signal) { sink += deep(3, (unsigned long)signal, 2, 3); }
__attribute__((noinline)) void signals(void) {
  signal(SIGUSR1, on_signal);
  raise(SIGUSR1);
  sink += deep(2, 1, 2, 3);
}
__attribute__((noinline)) void clocks(void) {
  struct timespec now;
  for (int i = 0; i < 200; ++i) clock_gettime(CLOCK_MONOTONIC, &now);
  sink += (unsigned long)now.tv_nsec;
}
__attribute__((noinline)) void stubs(void) {
  char text[64];
  for (int i = 0; i < 50; ++i) sink += strlen(text + snprintf(text, sizeof text, "%d", i)) + (unsigned long)sin(i);
}
__attribute__((noinline)) int through(int (*code)(void (*)(void), unsigned long), void (*last)(void), unsigned long n) {
  volatile char room[40];
  room[0] = (char)n;
  return code(last, n) + room[0];
}
void only_signals(unsigned long turn) { for (unsigned long i = 0; i < turn; ++i) signals(); }
void only_clocks(unsigned long turn) { for (unsigned long i = 0; i < turn; ++i) clocks(); }
void everything(unsigned long turn) {
  sink += deep(turn % 40, 1, 2, 3) + wide(turn % 8) + aligned(turn % 9);
  sorts();
  signals();
  clocks();
  stubs();
}
)";

class Walk : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder = new elf::test::TemporaryFolder;
    ASSERT_TRUE(elf::test::compile(*folder, "work.c", kLibrary, "libwork.so",
                                   "-shared -fPIC -O2 -fomit-frame-pointer -fno-plt -fno-optimize-sibling-calls -lm"));
    ASSERT_TRUE(elf::test::compile(*folder, "lazy.c", kLibrary, "liblazy.so",
                                   "-shared -fPIC -O2 -fomit-frame-pointer -fplt -Wl,-z,lazy -lm"));
  }
  static void TearDownTestSuite() { delete folder; }

  int work(const std::string& path, const char* what = "everything") {
    void* library = ::dlopen(path.c_str(), RTLD_LAZY);
    const auto part = library ? reinterpret_cast<void (*)(unsigned long)>(::dlsym(library, what)) : nullptr;
    if (!part) return 1;
    ++*working;
    for (unsigned long turn = 0;; ++turn) part(turn);
  }
  // Stops the thread often; what libunwind sees must be what we see. Now and then (in the vDSO, in a lazy binding) it
  // is libunwind that goes astray: then it had to guess, or does not come to where the thread began.
  static void compare(Stopped& thread, CodeMap& code) {
    const Oracle oracle(thread.tid());
    std::size_t deepest = 0;
    int compared = 0;
    for (int i = 0; i < kStops; ++i) {
      ASSERT_TRUE(thread.stop());
      NativeWalk::End end;
      const auto ours = thread.frames(code, end);
      bool has_guessed = false;
      const auto theirs = oracle.frames(4096, &has_guessed);
      // Behind the `pop %rbp` of aligned() its rules say that rbp is still to be found: whoever believes them may get
      // no further.
      EXPECT_TRUE(end == NativeWalk::End::Bottom || ours == theirs)
          << "ours:  " << shown(ours) << "\ntheirs:" << shown(theirs);
      if (!has_guessed && !ours.empty() && !theirs.empty() && ours.back() == theirs.back()) {
        ++compared;
        EXPECT_EQ(ours, theirs) << "ours:  " << shown(ours) << "\ntheirs:" << shown(theirs);
      }
      deepest = std::max(deepest, ours.size());
      thread.go_on_for(std::chrono::microseconds(i % 7 * 300));
    }
    EXPECT_GT(deepest, 4U);
    EXPECT_GT(compared, kStops / 2);  // not where the vDSO takes long
  }
  // Until it stands in a place of that kind, where the work is going on for ever.
  template <class Is>
  static bool stop_where(Stopped& thread, CodeMap& code, Is&& is) {
    return eventually([&] {
      if (!thread.stop()) return true;
      NativeWalk::End end;
      if (is(thread.frames(code, end))) return true;
      thread.go();
      return false;
    });
  }

  // What is loaded later a CodeMap has to be told.
  void await_work(Stopped& thread) {
    ASSERT_TRUE(eventually([&] {
      EXPECT_TRUE(thread.stop());
      thread.go();
      return *working == 1;
    }));
  }

  static inline elf::test::TemporaryFolder* folder = nullptr;
  const Shared<std::atomic<int>> working;  // processes that have loaded what they work with
};

TEST_F(Walk, WithoutFramePointers) {
  Child child([this] { return work(*folder / "libwork.so"); });
  const Tracer tracer = make_tracer();
  ASSERT_TRUE(tracer.seize(child.pid(), true));
  child.go();
  Stopped thread(tracer, child.pid());
  await_work(thread);
  CodeFiles files;
  CodeMap code(files, thread.memory());
  compare(thread, code);
}

TEST_F(Walk, StubsAndLazyBinding) {
  Child child([this] { return work(*folder / "liblazy.so"); });
  const Tracer tracer = make_tracer();
  ASSERT_TRUE(tracer.seize(child.pid(), true));
  child.go();
  Stopped thread(tracer, child.pid());
  await_work(thread);
  CodeFiles files;
  CodeMap code(files, thread.memory());
  compare(thread, code);
}

TEST_F(Walk, ThroughASignalFrame) {
  Child child([this] { return work(*folder / "libwork.so", "only_signals"); });
  const Tracer tracer = make_tracer();
  ASSERT_TRUE(tracer.seize(child.pid(), true));
  child.go();
  Stopped thread(tracer, child.pid());
  await_work(thread);
  CodeFiles files;
  CodeMap code(files, thread.memory());
  const auto symbols = elf::ElfFile::open(*folder / "libwork.so");
  ASSERT_TRUE(symbols);
  const auto* handler = symbols->symbols().find("on_signal");
  const auto maps = elf::read_maps(child.pid());
  ASSERT_TRUE(handler && maps);
  const auto is_in_handler = [&](RemoteAddr pc) {
    const elf::Mapping* start = maps->file_start(pc);
    return start && pc.value - start->range.begin.value - handler->address < handler->size;
  };
  // The handler is not the outermost frame of what is seen: the walk goes on behind the kernel's frame.
  ASSERT_TRUE(stop_where(thread, code, [&](const auto& frames) { return std::ranges::any_of(frames, is_in_handler); }));
  NativeWalk::End end;
  std::uint32_t evaluated = 0;
  EXPECT_EQ(thread.frames(code, end, &evaluated), Oracle(child.pid()).frames(4096));
  EXPECT_EQ(end, NativeWalk::End::Bottom);
  EXPECT_GE(evaluated, 1U);
}

// libunwind cannot: it looks for a file.
TEST_F(Walk, FromTheVdso) {
  Child child([this] { return work(*folder / "libwork.so", "only_clocks"); });
  const Tracer tracer = make_tracer();
  ASSERT_TRUE(tracer.seize(child.pid(), true));
  child.go();
  Stopped thread(tracer, child.pid());
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
  ASSERT_TRUE(
      stop_where(thread, code, [&](const auto& now) { return frames = now, !now.empty() && in(now[0], "[vdso]"); }));
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
  const Shared<std::atomic<pid_t>> tid;
};
TEST_F(AThreadEndsWhereItBegan, AsLibunwindSays) {
  Child child([&] {
    pthread_t thread;
    ::pthread_create(
        &thread, nullptr,
        [](void* to) -> void* {
          auto& self = *static_cast<AThreadEndsWhereItBegan*>(to);
          self.tid->store(static_cast<pid_t>(::syscall(SYS_gettid)));
          return self.work(*folder / "libwork.so"), nullptr;
        },
        this);
    return ::pthread_join(thread, nullptr);
  });
  child.go();
  ASSERT_TRUE(eventually([&] { return tid->load() != 0; }));
  const Tracer tracer = make_tracer();
  ASSERT_TRUE(tracer.seize(*tid, false));
  Stopped thread(tracer, *tid);
  await_work(thread);
  CodeFiles files;
  CodeMap code(files, thread.memory());
  compare(thread, code);
  ::kill(child.pid(), SIGKILL);
  while (next_stop(tracer).tid != *tid) continue;  // its end is ours to take, or its process would never be gone
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
  ASSERT_TRUE(tracer.seize(child.pid(), true));
  child.go();
  Stopped thread(tracer, child.pid());
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
  for (const pid_t pid : {child.pid(), grandchild->load()}) {
    ASSERT_TRUE(tracer.seize(pid, true));
    Stopped thread(tracer, pid);
    CodeMap code(files, thread.memory());
    compare(thread, code);
  }
}

// ---------------------------------------------------------------- what is not as it should be

[[gnu::noinline]] int run_generated(int (*code)()) { return code(); }

// mov rax, address of a flag; spin while it is 0: code that no file describes.
TEST_F(Walk, GeneratedCodeEndsTheNativePart) {
  const Shared<std::atomic<int>> there;
  Child child([&] {
    auto* page = static_cast<unsigned char*>(
        ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    const unsigned char spin[] = {0xF3, 0x90, 0xEB, 0xFC};  // pause; jmp back
    std::memcpy(page, spin, sizeof spin);
    *there = 1;
    return run_generated(reinterpret_cast<int (*)()>(page));
  });
  const Tracer tracer = make_tracer();
  ASSERT_TRUE(tracer.seize(child.pid(), true));
  child.go();
  ASSERT_TRUE(eventually([&] { return *there == 1; }));
  Stopped thread(tracer, child.pid());
  CodeFiles files;
  CodeMap code(files, thread.memory());
  ASSERT_TRUE(stop_where(thread, code, [](const auto& frames) { return frames.size() == 1; }));
  const Registers registers = thread.registers();
  const StackSnapshot snapshot(thread.memory(), registers.sp());
  NativeWalk walk(code, thread.tid(), FrameRegisters(registers), snapshot, false);
  EXPECT_TRUE(walk.next());
  EXPECT_FALSE(walk.next());
  EXPECT_EQ(walk.end(), NativeWalk::End::Missing);
  EXPECT_EQ(walk.why_ended(), "no unwind information in generated code");
}

// Generated code that calls itself `n` times and then `spin`, called by `through` of libwork.so, which keeps no frame
// pointer.
class Generated {
 public:
  static constexpr unsigned char kWithFramePointer[] = {0x55,                          // push %rbp
                                                        0x48, 0x89, 0xE5,              // mov %rsp, %rbp
                                                        0x48, 0xFF, 0xCE,              // dec %rsi
                                                        0x74, 0x07,                    // jz the last call
                                                        0xE8, 0xF2, 0xFF, 0xFF, 0xFF,  // call itself
                                                        0x5D, 0xC3,                    // pop %rbp; ret
                                                        0xFF, 0xD7,                    // call *%rdi
                                                        0x5D, 0xC3};                   // pop %rbp; ret
  static constexpr unsigned char kWithout[] = {0x48, 0x83, 0xEC, 0x08,                 // sub $8, %rsp
                                               0xFF, 0xD7,                             // call *%rdi
                                               0x48, 0x83, 0xC4, 0x08,                 // add $8, %rsp
                                               0xC3};                                  // ret

  Generated(const std::string& library, std::span<const unsigned char> code, unsigned long n)
      : child_([=, this] { return run(library, code, n); }), tracer_(make_tracer()) {
    EXPECT_TRUE(tracer_.seize(child_.pid(), true));
    child_.go();
    EXPECT_TRUE(eventually([&] { return spins_->load() == 1; }));
    thread_.emplace(tracer_, child_.pid());
    EXPECT_TRUE(thread_->stop());
  }
  Stopped& thread() { return *thread_; }
  FrameRegisters begin() const { return FrameRegisters(thread_->registers()); }
  RemoteAddr page() const { return {page_->load()}; }
  // All frames from `spin` on; `end` is the reason of the last one.
  std::vector<NativeFrame> frames(LibunwindStep* libunwind, NativeWalk::End& end, StackEvidence* evidence = nullptr) {
    CodeMap code(files_, thread_->memory());
    const StackSnapshot snapshot(thread_->memory(), begin().sp());
    NativeWalk walk(code, thread_->tid(), begin(), snapshot, false, evidence, libunwind);
    std::vector<NativeFrame> out;
    while (const auto frame = walk.next()) out.push_back(*frame);
    end = walk.end();
    return out;
  }

 private:
  static inline std::atomic<int>* spinning = nullptr;
  static void spin() {
    *spinning = 1;
    for (;;) asm volatile("pause");
  }
  int run(const std::string& library, std::span<const unsigned char> code, unsigned long n) const {
    spinning = &*spins_;
    void* page = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    std::memcpy(page, code.data(), code.size());
    *page_ = reinterpret_cast<std::uint64_t>(page);
    using Through = int (*)(void*, void (*)(), unsigned long);
    const auto through = reinterpret_cast<Through>(::dlsym(::dlopen(library.c_str(), RTLD_LAZY), "through"));
    return through ? through(page, spin, n) : 1;
  }

  Shared<std::atomic<int>> spins_;
  Shared<std::atomic<std::uint64_t>> page_;
  Child child_;
  Tracer tracer_;
  std::optional<Stopped> thread_;
  CodeFiles files_;
};

bool is_in_page(RemoteAddr pc, RemoteAddr page) { return pc - page < 4096; }

// libunwind alone goes astray behind it: it guesses a stack pointer.
TEST_F(Walk, LibunwindLeadsOutOfGeneratedCodeWithFramePointers) {
  Generated program(*folder / "libwork.so", Generated::kWithFramePointer, 3);
  LibunwindStep libunwind;
  NativeWalk::End end;
  const auto before = program.frames(nullptr, end);
  EXPECT_EQ(end, NativeWalk::End::Missing);
  ASSERT_EQ(before.size(), 2U) << "the walk ends in generated code";
  const auto frames = program.frames(&libunwind, end);
  EXPECT_EQ(end, NativeWalk::End::Bottom);
  ASSERT_GT(frames.size(), 6U);
  std::vector<int> generated, marked;
  for (int i = 0; i < static_cast<int>(frames.size()); ++i) {
    if (is_in_page(frames[static_cast<std::size_t>(i)].pc, program.page())) generated.push_back(i);
    if (frames[static_cast<std::size_t>(i)].by_libunwind) marked.push_back(i);
  }
  EXPECT_THAT(generated, ::testing::ElementsAre(1, 2, 3));
  EXPECT_THAT(marked, ::testing::ElementsAre(2, 3, 4)) << "those that generated code led to";
  const auto maps = elf::read_maps(program.thread().tid());
  ASSERT_TRUE(maps && maps->find(frames[4].pc));
  EXPECT_THAT(maps->find(frames[4].pc)->path, ::testing::HasSubstr("libwork.so"));
}

// The frame pointer is an outer function's: its caller is no frame of this stack's end.
TEST_F(Walk, AFramePointerOfAnotherFunctionIsNotFollowed) {
  Generated program(*folder / "libwork.so", Generated::kWithout, 1);
  LibunwindStep libunwind;
  NativeWalk::End end;
  EXPECT_EQ(program.frames(&libunwind, end).size(), 2U);
  EXPECT_EQ(end, NativeWalk::End::Missing);
}

TEST_F(Walk, LibunwindTakesABoundedNumberOfSteps) {
  Generated program(*folder / "libwork.so", Generated::kWithFramePointer, 300);
  LibunwindStep libunwind;
  NativeWalk::End end;
  EXPECT_EQ(program.frames(&libunwind, end).size(), 2U + FallbackWalk::kMostSteps);
  EXPECT_EQ(end, NativeWalk::End::Missing);
}

// As EvidenceIsAllThatTheFramesRestOn, behind generated code.
TEST_F(Walk, EvidenceContainsTheWordsThatLibunwindReads) {
  Generated program(*folder / "libwork.so", Generated::kWithFramePointer, 3);
  LibunwindStep libunwind;
  NativeWalk::End end;
  StackEvidence evidence;
  const auto pcs = [&](StackEvidence* to) {
    std::vector<RemoteAddr> out;
    for (const NativeFrame& frame : program.frames(&libunwind, end, to)) out.push_back(frame.pc);
    return out;
  };
  const auto whole = pcs(&evidence);
  const RemoteAddr sp = program.begin().sp();
  const ProcessMemory& memory = program.thread().memory();
  const auto holds = [&] {
    const StackSnapshot now(memory, sp);
    return evidence.holds(program.begin(), StackSnapshot::Look(now), 0);
  };
  ASSERT_TRUE(evidence.is_whole() && holds());
  int noticed = 0;
  for (RemoteAddr at = sp; at < sp + 600; at = at + 8) {
    const auto was = memory.value<std::uint64_t>(at);
    ASSERT_TRUE(was);
    for (const std::uint64_t other : {*was + 16, whole[2].value + 1, std::uint64_t{0}}) {
      ASSERT_TRUE(memory.write(at, std::as_bytes(std::span(&other, 1)), program.thread().tid()));
      const bool same = holds();
      if (same) {
        EXPECT_EQ(pcs(nullptr), whole);
      }
      noticed += !same;
    }
    ASSERT_TRUE(memory.write(at, std::as_bytes(std::span(&*was, 1)), program.thread().tid()));
  }
  EXPECT_GT(noticed, 20);
}

// A stack that leads back into itself, and one of rubbish: every walk ends, with what could be told.
TEST_F(Walk, ADamagedStackEndsTheWalk) {
  Child child([this] { return work(*folder / "libwork.so"); });
  const Tracer tracer = make_tracer();
  ASSERT_TRUE(tracer.seize(child.pid(), true));
  child.go();
  Stopped thread(tracer, child.pid());
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
  ASSERT_TRUE(tracer.seize(child.pid(), true));
  child.go();
  Stopped thread(tracer, child.pid());
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
  ASSERT_TRUE(tracer.seize(child.pid(), true));
  child.go();
  Stopped thread(tracer, child.pid());
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
