// Walks out of generated code, which no file describes.
#include "stack/native_walk.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <sys/mman.h>

#include "elf/support.hpp"
#include "stack/walk_fixture.hpp"

namespace fade::test {
namespace {

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
  ASSERT_TRUE(tracer.seize(child.tid(), true));
  child.go();
  ASSERT_TRUE(eventually([&] { return *there == 1; }));
  Stopped thread(tracer, child.tid());
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
    EXPECT_TRUE(tracer_.seize(child_.tid(), true));
    child_.go();
    EXPECT_TRUE(eventually([&] { return spins_->load() == 1; }));
    thread_.emplace(tracer_, child_.tid());
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

}  // namespace
}  // namespace fade::test
