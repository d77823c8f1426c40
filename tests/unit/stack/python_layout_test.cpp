#include "stack/python_layout.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "elf/support.hpp"
#include "stack/python_stacks.hpp"

namespace fade {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kBase = 0x10000000;

// A library that looks like an interpreter of some version, as its symbols and the start of _PyRuntime go.
class Interpreters : public ::testing::Test {
 protected:
  // `exports`: further symbols; `runtime`: 8-byte words at the start of _PyRuntime.
  void make(const std::string& exports, const std::string& runtime, const std::string& soname = "libpython.so") {
    const std::string source = exports + "\nunsigned long _PyRuntime[128] = {" + runtime + "};\n";
    if (!elf::test::compile(folder_, "fake.c", source, "libfake.so",
                            "-shared -fPIC -nostdlib -w -Wl,-soname," + soname))
      GTEST_SKIP() << "no compiler";
    memory_.emplace(elf::test::laid_out(folder_ / "libfake.so", kBase));
    image_.emplace(elf::DynamicImage::open(*memory_, {kBase}).value());
  }
  Result<std::optional<PythonInterpreter>> find() { return find_python(*image_, *memory_); }
  std::string error() {
    const auto found = find();
    return found ? "" : found.error().text();
  }

  elf::test::TemporaryFolder folder_;
  std::optional<elf::test::BytesMemory> memory_;
  std::optional<elf::DynamicImage> image_;
};

constexpr const char* kCookie = "0x7970677562656478";  // "xdebugpy"

std::string debug_offsets(unsigned version, unsigned free_threaded = 0) {
  std::string out = fmt::format("{}, {}, {}", kCookie, version, free_threaded);
  for (unsigned at = 24; at < 1000; at += 8) out += fmt::format(", {}", at);  // each says where it stands itself
  return out;
}

TEST_F(Interpreters, OthersHaveNone) {
  if (!elf::test::compile(folder_, "fake.c", "int f(void) { return 1; }", "libfake.so", "-shared -fPIC -nostdlib -w"))
    GTEST_SKIP() << "no compiler";
  memory_.emplace(elf::test::laid_out(folder_ / "libfake.so", kBase));
  image_.emplace(elf::DynamicImage::open(*memory_, {kBase}).value());
  const auto found = find();
  ASSERT_TRUE(found);
  EXPECT_FALSE(*found);
}

TEST_F(Interpreters, TablesUpTo312) {
  make("const unsigned long Py_Version = 0x030b02f0;", "0");
  auto found = find();
  ASSERT_TRUE(found && *found) << error();
  EXPECT_EQ((*found)->version, "3.11.2");
  EXPECT_EQ((*found)->layout.thread_id, 152u);
  EXPECT_EQ((*found)->layout.entry, PythonLayout::Entry::Flag);
  make("const unsigned long Py_Version = 0x030c01f0;", "0");
  found = find();
  ASSERT_TRUE(found && *found) << error();
  EXPECT_EQ((*found)->layout.bytecode, 192u);
  make("void PyIter_Send(void) {}", "0");
  found = find();
  ASSERT_TRUE(found && *found) << error();
  EXPECT_EQ((*found)->version, "3.10");
  EXPECT_EQ((*found)->layout.frame_instruction, 96u);
}

TEST_F(Interpreters, LaterOnesSayTheirOffsets) {
  make("const unsigned long Py_Version = 0x030d12f0;", debug_offsets(0x030d12f0));
  auto found = find();
  ASSERT_TRUE(found && *found) << error();
  EXPECT_EQ((*found)->version, "3.13.18");
  EXPECT_EQ((*found)->runtime, image_->address(*image_->lookup("_PyRuntime")));
  const PythonLayout l = (*found)->layout;  // as the header of 3.13 has them, each is its own place
  EXPECT_EQ(l.interpreters, 40u);
  EXPECT_EQ(l.generation, PythonLayout::kNone);
  EXPECT_EQ(l.thread_frame, 184u);
  EXPECT_EQ(l.frame_owner, 264u);
  EXPECT_EQ(l.bytecode, 344u);
  EXPECT_EQ(l.compact_text, 560u + 16);
  EXPECT_EQ(l.object_mask, ~0ull);
  make("const unsigned long Py_Version = 0x030f02f0;", debug_offsets(0x030f02f0));
  found = find();
  ASSERT_TRUE(found && *found) << error();
  EXPECT_EQ((*found)->layout.generation, 160u);
  EXPECT_EQ((*found)->layout.thread_id, 240u);
  EXPECT_TRUE((*found)->layout.has_base_frame);
  EXPECT_EQ((*found)->layout.object_mask, ~7ull);
}

TEST_F(Interpreters, WhatCannotBeReadIsNamed) {
  make("const unsigned long Py_Version = 0x030d00f0;", debug_offsets(0x030d00f0, 1));
  EXPECT_THAT(error(), HasSubstr("free-threaded Python 3.13.0 cannot be read"));
  make("const unsigned long Py_Version = 0x030e00a3;", debug_offsets(0x030e00a3));
  EXPECT_THAT(error(), HasSubstr("preview"));
  make("const unsigned long Py_Version = 0x031000f0;", debug_offsets(0x031000f0));
  EXPECT_THAT(error(), HasSubstr("3.16.0 cannot be read\n  cause: it is newer"));
  make("const unsigned long Py_Version = 0x030b02f0; void _Py_NegativeRefcount(void) {}", "0");
  EXPECT_THAT(error(), HasSubstr("debug build"));
  make("", "0");
  EXPECT_THAT(error(), HasSubstr("older than 3.10"));
  make("", "0", "libpypy3.10-c.so");
  EXPECT_THAT(error(), HasSubstr("PyPy"));
  make("const unsigned long Py_Version = 0x030d00f0;",
       fmt::format("{}, {}, 0, 1, 1, 0xffffffffffff", kCookie, 0x030d00f0));
  EXPECT_THAT(error(), HasSubstr("makes no sense"));
}

// Two parts of the loop lie elsewhere: one is jumped into in its middle, one jumps back. What is called in the last
// place is no part.
TEST_F(Interpreters, PartsOfTheLoopAreFoundByTheirJumps) {
  const char* source = R"(
        .globl _PyRuntime, Py_Version, _PyEval_EvalFrameDefault, callee, cold1, cold1_middle, cold1_end, cold2, other
        .data
_PyRuntime: .zero 1024
        .type _PyRuntime, @object
        .size _PyRuntime, 1024
Py_Version: .quad 0x030b02f0
        .type Py_Version, @object
        .size Py_Version, 8
        .section .text.unlikely, "ax", @progbits
        .type cold1, @function
cold1:  .cfi_startproc
        .cfi_def_cfa_offset 64
        nop
cold1_middle:
        call callee
        nop
cold1_end:
        .cfi_endproc
        .type cold2, @function
cold2:  .cfi_startproc
        .cfi_def_cfa_offset 64
        nop
        jmp .Lback
        .cfi_endproc
        .text
        .type callee, @function
callee: .cfi_startproc
        ret
        nop
        .cfi_endproc
        .type _PyEval_EvalFrameDefault, @function
_PyEval_EvalFrameDefault:
        .cfi_startproc
        test %rax, %rax
        je cold1_middle
        jne cold2
.Lback: call callee
        jmp callee
        .cfi_endproc
        .size _PyEval_EvalFrameDefault, . - _PyEval_EvalFrameDefault
        .type other, @function
other:  .cfi_startproc
        jmp callee
        .cfi_endproc
)";
  if (!elf::test::compile(folder_, "fake.S", source, "libfake.so",
                          "-shared -nostdlib -Wl,-Bsymbolic -Wl,--eh-frame-hdr"))
    GTEST_SKIP() << "no compiler";
  memory_.emplace(elf::test::laid_out(folder_ / "libfake.so", kBase));
  image_.emplace(elf::DynamicImage::open(*memory_, {kBase}).value());
  const auto stacks = PythonStacks::in(*image_, *memory_);
  ASSERT_TRUE(stacks && *stacks);
  const auto at = [&](const char* name) { return image_->address(*image_->lookup(name)); };
  for (const char* part : {"_PyEval_EvalFrameDefault", "cold1", "cold1_middle", "cold2"})
    EXPECT_TRUE((*stacks)->is_evaluation(at(part))) << part;
  EXPECT_TRUE((*stacks)->is_evaluation(at("cold1_end") - 1));
  for (const char* none : {"callee", "other"}) EXPECT_FALSE((*stacks)->is_evaluation(at(none))) << none;
}

}  // namespace
}  // namespace fade
