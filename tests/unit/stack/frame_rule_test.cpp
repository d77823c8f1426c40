// Rules from call frame information that is written by hand, and steps by them over memory that is written by hand.
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <span>

#include "elf/elf_file.hpp"
#include "elf/support.hpp"
#include "stack/code_file.hpp"

namespace fade {
namespace {

using elf::test::BytesMemory;
using Kind = FrameRule::Kind;
constexpr std::uint64_t kStack = 0x7000'0000;

// Each function has one instruction per label; nothing is ever executed.
constexpr const char* kSource = R"(
        .text
        .macro function name
        .globl \name
        .type \name, @function
        .endm
        .irp name, plain, plain_deeper, based, saved, other_base, bottom, stub, realigned
        function \name
        .endr
        .irp name, signal, moved, nothing, endless, divides, without
        function \name
        .endr
plain:  .cfi_startproc
        nop
        .cfi_adjust_cfa_offset 24
plain_deeper:
        nop
        .cfi_endproc
based:  .cfi_startproc
        .cfi_def_cfa rbp, 16
        .cfi_offset rbp, -16
        nop
        .cfi_endproc
saved:  .cfi_startproc
        .cfi_def_cfa_offset 64
        .cfi_offset rbx, -56
        .cfi_offset rbp, -48
        .cfi_offset r12, -40
        .cfi_offset r13, -32
        .cfi_offset r14, -24
        .cfi_offset r15, -16
        nop
        .cfi_endproc
other_base: .cfi_startproc
        .cfi_def_cfa r10, 0
        nop
        .cfi_endproc
bottom: .cfi_startproc
        .cfi_undefined rip
        nop
        .cfi_endproc
# As in a PLT: 8 more where 11 bytes of the stub have been executed.
stub:   .cfi_startproc
        .cfi_escape 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22
        nop
        .cfi_endproc
# DW_CFA_def_cfa_expression(breg6 -8, deref)
realigned: .cfi_startproc
        .cfi_escape 0x0f, 3, 0x76, 0x78, 0x06
        .cfi_escape 0x10, 6, 2, 0x76, 0
        nop
        .cfi_endproc
# The frame that the kernel makes: rip, rsp and r12 at fixed places from rsp.
signal: .cfi_startproc
        .cfi_signal_frame
        .cfi_escape 0x0f, 3, 0x77, 16, 0x06
        .cfi_escape 0x10, 16, 2, 0x77, 8
        .cfi_escape 0x10, 12, 2, 0x77, 24
        .cfi_escape 0x10, 7, 2, 0x77, 16
        nop
        .cfi_endproc
moved:  .cfi_startproc
        .cfi_register rbx, r12
        nop
        .cfi_endproc
# Jumps back for ever; takes from an empty stack; divides by zero.
endless: .cfi_startproc
        .cfi_escape 0x0f, 4, 0x30, 0x2f, 0xfc, 0xff
        nop
        .cfi_endproc
nothing: .cfi_startproc
        .cfi_escape 0x0f, 1, 0x22
        nop
        .cfi_endproc
divides: .cfi_startproc
        .cfi_escape 0x0f, 3, 0x31, 0x30, 0x1b
        nop
        .cfi_endproc
without: nop
        .section .note.GNU-stack,"",@progbits
)";

class Rules : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder = new elf::test::TemporaryFolder;
    ASSERT_TRUE(elf::test::compile(*folder, "rules.S", kSource, "rules.so", "-shared -nostdlib"));
    auto opened = CodeFile::open(elf::test::open_file(*folder / "rules.so"), "rules.so");
    ASSERT_TRUE(opened) << opened.error().text();
    file = *opened;
    auto symbols = elf::ElfFile::open(*folder / "rules.so");
    ASSERT_TRUE(symbols);
    for (const char* name : {"plain", "plain_deeper", "based", "saved", "other_base", "bottom", "stub", "realigned",
                             "signal", "moved", "nothing", "endless", "divides", "without"}) {
      const auto* symbol = symbols->symbols().find(name);
      ASSERT_TRUE(symbol) << name;
      at[name] = symbol->address;
    }
  }
  static void TearDownTestSuite() {
    file.reset();
    delete folder;
  }

  static FrameRegisters registers() {
    Registers r{};
    r.rsp = kStack;
    r.rbp = kStack + 32;
    r.rbx = 11, r.r12 = 12, r.r13 = 13, r.r14 = 14, r.r15 = 15;
    r.r10 = kStack + 0x40;
    return FrameRegisters(r);
  }
  // Word i of the stack is 1000 + i.
  static BytesMemory stack() {
    BytesMemory memory(std::vector<std::byte>(512), kStack);
    for (std::uint64_t i = 0; i < 64; ++i) memory.put<std::uint64_t>(kStack + 8 * i, 1000 + i);
    return memory;
  }
  static std::optional<FrameRegisters> stepped(const char* name) {
    const BytesMemory memory = stack();
    FrameRegisters frame = registers();
    const FrameRule rule = file->rule(at[name]);
    EXPECT_EQ(rule.kind, Kind::Offsets) << name;
    if (!step(rule, frame, [&](RemoteAddr a) { return memory.value<std::uint64_t>(a); })) return std::nullopt;
    return frame;
  }
  static std::optional<FrameRegisters> evaluated(const char* name, const Memory& memory, std::uint64_t pc = 0) {
    FrameRegisters frame = registers();
    frame.set(FrameRegisters::kReturnAddress, pc);
    EXPECT_EQ(file->rule(at[name]).kind, Kind::Expressions) << name;
    return file->step(at[name], frame, memory) ? std::optional(frame) : std::nullopt;
  }

  static inline elf::test::TemporaryFolder* folder = nullptr;
  static inline std::shared_ptr<CodeFile> file;
  static inline std::map<std::string, std::uint64_t> at;
};

TEST_F(Rules, FunctionEntryReturnsToTheTopOfTheStack) {
  const auto caller = stepped("plain");
  ASSERT_TRUE(caller);
  EXPECT_EQ(caller->pc().value, 1000U);
  EXPECT_EQ(caller->sp().value, kStack + 8);
  EXPECT_EQ(stepped("plain_deeper")->pc().value, 1003U);
}

TEST_F(Rules, FramePointerAndSavedRegisters) {
  const auto based = stepped("based");
  ASSERT_TRUE(based);
  EXPECT_EQ(based->pc().value, 1005U);
  EXPECT_EQ(based->get(FrameRegisters::kRbp), 1004U);
  EXPECT_EQ(based->get(FrameRegisters::kRbx), 11U) << "as it was";
  const auto saved = stepped("saved");
  ASSERT_TRUE(saved);
  const std::array<std::uint64_t, 6> expected{1001, 1002, 1003, 1004, 1005, 1006};
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(saved->get(FrameRegisters::kSaved[i]), expected[i]) << i;
  EXPECT_EQ(saved->pc().value, 1007U);
}

TEST_F(Rules, WhatACallMayLoseIsNotKnownInTheCaller) {
  const auto caller = stepped("other_base");
  ASSERT_TRUE(caller);
  EXPECT_EQ(caller->pc().value, 1007U);
  EXPECT_FALSE(caller->has(10));
  FrameRegisters again = *caller;
  EXPECT_FALSE(step(file->rule(at["other_base"]), again, [](RemoteAddr) { return std::optional<std::uint64_t>(1); }))
      << "its base is not known any more";
}

TEST_F(Rules, OutermostAndUnknown) {
  EXPECT_EQ(file->rule(at["bottom"]).kind, Kind::Bottom);
  EXPECT_EQ(file->rule(at["without"]).kind, Kind::Missing);
  EXPECT_EQ(file->rule(0xFFFF'FFFF'FFFF'0000U).kind, Kind::Missing);
}

TEST_F(Rules, ExpressionsAreEvaluated) {
  const BytesMemory memory = stack();
  EXPECT_EQ(evaluated("stub", memory, 0x1005)->pc().value, 1000U);
  EXPECT_EQ(evaluated("stub", memory, 0x100B)->pc().value, 1001U) << "one word has been pushed";
  BytesMemory other = stack();
  other.put<std::uint64_t>(kStack + 24, kStack + 80);
  const auto realigned = evaluated("realigned", other);
  ASSERT_TRUE(realigned);
  EXPECT_EQ(realigned->sp().value, kStack + 80);
  EXPECT_EQ(realigned->pc().value, 1009U);
  EXPECT_EQ(realigned->get(FrameRegisters::kRbp), 1004U);
  EXPECT_EQ(evaluated("moved", memory)->get(FrameRegisters::kRbx), 12U);
}

TEST_F(Rules, ASignalFrameGivesBackWhatWasInterrupted) {
  const BytesMemory memory = stack();
  EXPECT_TRUE(file->rule(at["signal"]).is_signal);
  const auto interrupted = evaluated("signal", memory);
  ASSERT_TRUE(interrupted);
  EXPECT_EQ(interrupted->pc().value, 1001U);
  EXPECT_EQ(interrupted->sp().value, 1002U);
  EXPECT_EQ(interrupted->get(12), 1003U);
}

TEST_F(Rules, BadExpressionsFailAndChangeNothing) {
  const BytesMemory memory = stack();
  for (const char* name : {"endless", "nothing", "divides"}) EXPECT_FALSE(evaluated(name, memory)) << name;
  const BytesMemory empty({}, 0);
  EXPECT_FALSE(evaluated("stub", empty));
  FrameRegisters frame = registers();
  EXPECT_FALSE(step(file->rule(at["plain"]), frame, [](RemoteAddr) { return std::optional<std::uint64_t>(); }));
}

TEST(CodeFile, WhatIsNoProgramIsRefused) {
  const elf::test::TemporaryFolder folder;
  std::ofstream(folder / "text") << "no program";
  EXPECT_FALSE(CodeFile::open(elf::test::open_file(folder / "text"), "text"));
  EXPECT_FALSE(CodeFile::of_image({}, "[vdso]"));
  EXPECT_FALSE(CodeFile::of_image(std::vector<std::byte>(64), "[vdso]"));
}

// Cut short or overwritten at any place, a file gives rules or none, and nothing worse.
TEST(CodeFile, DamagedFilesDoNoHarm) {
  const elf::test::TemporaryFolder folder;
  ASSERT_TRUE(elf::test::compile(folder, "rules.S", kSource, "rules.so", "-shared -nostdlib"));
  std::ifstream in(folder / "rules.so", std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(in)), {});
  int readable = 0;
  for (std::size_t step = 0; step < 300; ++step) {
    std::string bytes = whole;
    const std::size_t where = step * whole.size() / 300;
    if (step % 2 == 0) bytes.resize(where);
    else
      for (std::size_t i = where; i < std::min(where + 9, bytes.size()); ++i)
        bytes[i] = static_cast<char>(0xFF - (i & 0x3F));
    std::vector<std::byte> image(bytes.size());
    std::ranges::copy(std::as_bytes(std::span(bytes)), image.begin());
    const auto file = CodeFile::of_image(std::move(image), "damaged");
    if (!file) continue;
    for (std::uint64_t address = 0; address < 0x3000; address += 7)
      readable += (*file)->rule(address).kind != Kind::Missing;
  }
  EXPECT_GT(readable, 0);
}

}  // namespace
}  // namespace fade
