// Stacks: frames are named from the files that were mapped, calls know theirs, and sums are kept by stack and by
// calling library.
#include <fcntl.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "elf/elf_file.hpp"
#include "store_fixture.hpp"

namespace fade::store {

// Code to be named: this program's own.
__attribute__((noinline)) int named_by_its_symbol(int x) {
  __asm__ volatile("" ::: "memory");
  return x + 1;
}

namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kThisProgram = "/proc/self/exe";

std::shared_ptr<const Fd> open_file(const char* path) {
  return std::make_shared<const Fd>(::open(path, O_RDONLY | O_CLOEXEC));
}

// Of a function of this program, from its load address.
std::uint64_t offset_of(const std::string& symbol) {
  auto file = elf::ElfFile::open(kThisProgram);
  const elf::FileSymbol* found = file ? file->symbols().find(symbol) : nullptr;
  EXPECT_NE(found, nullptr) << symbol;
  return found ? found->address : 0;
}

class Stacks : public Recording {
 protected:
  void module(ModuleId id, const std::string& name, std::shared_ptr<const Fd> file) {
    tracee->notice(ModuleLoaded{
        .module = id, .process = 1, .path = name, .base = 0x7f0000000000, .size = 1 << 24, .file = std::move(file)});
  }
  void native(FrameId id, ModuleId module, std::uint64_t offset) {
    tracee->notice(
        FrameSeen{.frame = id, .process = 1, .module = module, .address = 0x7f0000000000 + offset, .offset = offset});
  }
  void python(FrameId id, const std::string& function, const std::string& file, int line) {
    tracee->notice(FrameSeen{.frame = id,
                             .process = 1,
                             .kind = FrameSeen::Kind::Python,
                             .address = 0x1000 + id.value(),
                             .function = function,
                             .file = file,
                             .line = line});
  }
  CallId call_at(StackId stack, const std::string& function, std::uint64_t result = 0) {
    CallRecord record = tracee->begin(function);
    record.stack = stack;
    record.result = result;
    if (result != 0) record.flags |= kFailed;
    return tracee->put(record);
  }
};

TEST_F(Stacks, FramesAreNamedFromTheFileThatWasMapped) {
  const std::uint64_t offset = offset_of("_ZN4fade5store19named_by_its_symbolEi");
  open();
  module(1, "/opt/prog", open_file(kThisProgram));
  native(1, 1, offset + 1);
  native(2, 1, 1);
  EXPECT_EQ(named_by_its_symbol(1), 2);
  finish();
  EXPECT_THAT(rows("SELECT id, kind, library, function, label FROM frames"),
              ElementsAre("1|native|/opt/prog|fade::store::named_by_its_symbol|fade::store::named_by_its_symbol",
                          "2|native|/opt/prog||prog+0x1"));
  EXPECT_THAT(value("SELECT file FROM frames WHERE id = 1"), HasSubstr("stacks_test.cpp"));
  EXPECT_EQ(value("SELECT line > 0 FROM frames WHERE id = 1"), "1");
}

TEST_F(Stacks, FilesThatCannotBeReadLeaveModuleAndOffset) {
  std::ofstream(directory.file("text")) << "not an ELF file";
  open();
  module(1, "/lib/text.so", open_file(directory.file("text").c_str()));
  module(2, "/lib/gone.so", nullptr);
  native(1, 1, 0x10);
  native(2, 2, 0x20);
  native(3, 0, 0);
  native(4, 99, 0x30);  // never announced
  finish();
  EXPECT_THAT(rows("SELECT label FROM frames ORDER BY id"),
              ElementsAre("text.so+0x10", "gone.so+0x20", "0x7f0000000000", testing::_));
}

// The same file in another process, or loaded again: read once, named everywhere.
TEST_F(Stacks, AFileThatIsLoadedTwiceNamesTheFramesOfBoth) {
  const std::uint64_t offset = offset_of("_ZN4fade5store19named_by_its_symbolEi");
  open();
  module(1, "/opt/prog", open_file(kThisProgram));
  tracee->process(2, 200);
  tracee->notice(ModuleLoaded{
      .module = 2, .process = 2, .path = "/proc/root/prog", .base = 0x550000000000, .file = open_file(kThisProgram)});
  native(1, 1, offset);
  tracee->notice(
      FrameSeen{.frame = 2, .process = 2, .module = 2, .address = 0x550000000000 + offset, .offset = offset});
  finish();
  EXPECT_THAT(rows("SELECT pid, function FROM frames"),
              ElementsAre("100|fade::store::named_by_its_symbol", "200|fade::store::named_by_its_symbol"));
}

TEST_F(Stacks, AreFramesFromTheInnermostOutwards) {
  open();
  python(1, "<module>", "/home/ada/train.py", 80);
  python(2, "Trainer.step", "/home/ada/train.py", 42);
  module(1, "/lib/libtorch.so", nullptr);
  native(3, 1, 0x99);
  tracee->notice(StackSeen{1, 0, 1});
  tracee->notice(StackSeen{2, 1, 2});
  tracee->notice(StackSeen{3, 2, 3});
  call_at(3, "hipDeviceSynchronize");
  tracee->call("hipDeviceSynchronize");
  finish();
  EXPECT_THAT(rows("SELECT stack FROM calls"), ElementsAre("3", ""));
  EXPECT_THAT(rows("SELECT depth, kind, label, line FROM stack_frames WHERE stack = 3 ORDER BY depth"),
              ElementsAre("0|native|libtorch.so+0x99|", "1|python|Trainer.step|42", "2|python|<module>|80"));
  EXPECT_EQ(value("SELECT frames, python FROM stack_tops WHERE stack = 3"),
            "libtorch.so+0x99 < Trainer.step < <module>|ada/train.py:42 Trainer.step");
  EXPECT_THAT(rows("SELECT stack_id FROM regions"), ElementsAre("3", ""));
}

// In PyTorch nearly every innermost line is in torch/: the line that the user can change is further out.
TEST_F(Stacks, TheUsersLineIsTheInnermostOutsideOfPackages) {
  open();
  python(1, "<module>", "/home/ada/train.py", 80);
  python(2, "Trainer.step", "/home/ada/train.py", 42);
  python(3, "Module.__call__", "/venv/lib/python3.11/site-packages/torch/nn/modules/module.py", 1501);
  python(4, "lazy", "<frozen importlib._bootstrap>", 7);
  python(5, "empty", "/usr/lib/python3/dist-packages/fakelib/__init__.py", 5);
  python(6, "run", "/usr/lib/python3.11/threading.py", 975);
  python(7, "main", "/usr/local/bin/torchrun", 8);
  for (const std::uint32_t n : {1u, 2u, 3u, 4u, 5u})
    tracee->notice(StackSeen{StackId::of(n), StackId::of(n - 1), FrameId::of(n)});
  tracee->notice(StackSeen{6, 0, 7});
  tracee->notice(StackSeen{7, 6, 6});
  tracee->notice(StackSeen{8, 7, 5});
  finish();
  EXPECT_THAT(rows("SELECT stack, user_line FROM user_lines WHERE stack IN (1, 5, 7, 8) ORDER BY 1"),
              ElementsAre("1|ada/train.py:80 <module>", "5|ada/train.py:42 Trainer.step",
                          "7|python3.11/threading.py:975 run", "8|fakelib/__init__.py:5 empty"));
  EXPECT_EQ(value("SELECT file_line FROM user_lines WHERE stack = 5"), "/home/ada/train.py:42");
  EXPECT_EQ(value("SELECT python FROM stack_tops WHERE stack = 5"), "fakelib/__init__.py:5 empty");
  EXPECT_THAT(rows("SELECT frame FROM frame_places WHERE wrapper ORDER BY 1"), ElementsAre("3", "4", "5", "6", "7"));
}

TEST_F(Stacks, CallsThatPythonMakesThroughCtypesComeFromPython) {
  open();
  for (const auto& [site, library] : {std::pair{1u, "/lib/x86_64-linux-gnu/libffi.so.8"},
                                      {2u, "/usr/lib/libffi-a1b2.so.7.1.0"},
                                      {3u, "/usr/lib/python3.11/lib-dynload/_ctypes.cpython-311-x86_64-linux-gnu.so"},
                                      {4u, "/usr/bin/python3.11"},
                                      {5u, "/lib/libpython3.11.so.1.0"},
                                      {6u, "/opt/libtorch_python.so"}})
    tracee->notice(CallSiteSeen{.site = CallSiteId::of(site),
                                .process = 1,
                                .address = 0x100,
                                .library = library,
                                .offset = 16,
                                .symbol = "ffi_call+0x10"});
  finish();
  EXPECT_THAT(rows("SELECT library, symbol FROM callers"),
              ElementsAre("Python (ctypes)|Python (ctypes)", "Python (ctypes)|Python (ctypes)",
                          "Python (ctypes)|Python (ctypes)", "Python (ctypes)|Python (ctypes)",
                          "Python (ctypes)|Python (ctypes)", "/opt/libtorch_python.so|ffi_call+0x10"));
}

TEST_F(Stacks, InlinedFunctionsAreFramesOfTheirOwn) {
  open();
  python(1, "f", "a.py", 1);
  python(2, "g", "a.py", 2);
  tracee->notice(StackSeen{1, 0, 1});
  tracee->notice(StackSeen{2, 1, 2});
  finish();
  auto db = sqlite::Db::open(path, SQLITE_OPEN_READWRITE);
  ASSERT_TRUE(db && db->exec("INSERT INTO inline_ VALUES (2, 0, 'inner', 'a.h', 7), (2, 1, 'middle', 'a.h', 8)"));
  EXPECT_THAT(rows("SELECT depth, label, line, inlined FROM stack_frames WHERE stack = 2 ORDER BY depth"),
              ElementsAre("0|inner|7|1", "1|middle|8|1", "2|g|2|0", "3|f|1|0"));
}

TEST_F(Stacks, KeepSumsOfTheirCalls) {
  open();
  python(1, "f", "a.py", 1);
  tracee->notice(StackSeen{1, 0, 1});
  for (int i = 0; i < 2; ++i) {
    CallRecord record = tracee->begin("hipMalloc", {0x7ffd1000, 4096});
    record.stack = 1;
    tracee->piece(PieceKind::Out, 0, std::uint64_t{0x10000} * (i + 1u));
    tracee->put(record);
  }
  call_at(1, "hipSetDevice", 101);
  finish();
  EXPECT_THAT(
      rows("SELECT name, calls, errors, total_ns, self_ns, bytes, first_call_id FROM stack_stats ORDER BY name"),
      ElementsAre("hipMalloc|2|0|2000|2000|8192|1", "hipSetDevice|1|1|1000|1000|0|3"));
  EXPECT_THAT(rows("SELECT stack, pid, calls, errors, total_ns, bytes FROM stacks"),
              ElementsAre("1|100|3|1|3000|8192"));
  EXPECT_THAT(rows("SELECT stack FROM allocations"), ElementsAre("1", "1"));
  EXPECT_THAT(rows("SELECT stack FROM errors"), ElementsAre("1"));
}

TEST_F(Stacks, OfFailuresAreKeptWhereCallsHaveNoRows) {
  open({.detail = Detail::Stats});
  python(1, "f", "a.py", 1);
  tracee->notice(StackSeen{1, 0, 1});
  call_at(1, "hipSetDevice", 101);
  call_at(1, "hipDeviceSynchronize");
  finish();
  EXPECT_THAT(rows("SELECT name, stack FROM errors"), ElementsAre("hipSetDevice|1"));
  EXPECT_EQ(value("SELECT sum(calls) FROM stacks"), "2");
}

TEST_F(Stacks, OfAnAppendedSessionFollowThoseBefore) {
  for (int session = 0; session < 2; ++session) {
    open({.open_mode = session == 0 ? OpenMode::Create : OpenMode::Append});
    python(1, session == 0 ? "first" : "second", "a.py", 1);
    tracee->notice(StackSeen{1, 0, 1});
    call_at(1, "hipDeviceSynchronize");
    finish();
  }
  EXPECT_THAT(rows("SELECT s.session, t.frames FROM stacks s JOIN stack_tops t USING (stack) ORDER BY 1"),
              ElementsAre("1|first", "2|second"));
}

TEST_F(Stacks, CallsAreCountedByTheLibraryThatMadeThem) {
  open();
  tracee->notice(CallSiteSeen{1, 1, 0x7f0000001234, "/lib/libtorch.so", 0x1234, ""});
  tracee->notice(CallSiteSeen{2, 1, 0x7f0000005678, "/lib/libtorch.so", 0x5678, ""});
  tracee->notice(CallSiteSeen{3, 1, 0x1000, "", 0, ""});
  for (const std::uint32_t site : {1u, 2u, 2u, 3u, 0u}) {
    CallRecord record = tracee->begin("hipDeviceSynchronize");
    record.caller = CallSiteId::of(site);
    tracee->put(record);
  }
  CallRecord outer = tracee->begin("hipMemcpy"), inner = tracee->begin("hipDeviceSynchronize");
  outer.caller = 1;
  inner.caller = 3;
  inner.parent = outer.id;
  tracee->put(inner);
  outer.exit_ns = outer.entry_ns + 50'000;
  tracee->put(outer);
  finish();
  EXPECT_THAT(rows("SELECT library, name, calls, total_ns, self_ns FROM caller_stats ORDER BY 1, 2"),
              ElementsAre("|hipDeviceSynchronize|3|3000|3000", "/lib/libtorch.so|hipDeviceSynchronize|3|3000|3000",
                          "/lib/libtorch.so|hipMemcpy|1|50000|49000"));
}

// Names are not waited for until the end where there is time before.
TEST_F(Stacks, FramesAreNamedWhenTheWriterHasNothingElseToDo) {
  open();
  module(1, "/opt/prog", open_file(kThisProgram));
  native(1, 1, offset_of("_ZN4fade5store19named_by_its_symbolEi"));
  std::string named;
  for (int i = 0; i < 6000 && named.empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const auto found = rows("SELECT function FROM frames WHERE function IS NOT NULL");
    if (!found.empty()) named = found[0];
  }
  EXPECT_EQ(named, "fade::store::named_by_its_symbol");
  finish();
}

}  // namespace
}  // namespace fade::store
