// Each instruction is moved and then really executed: natively at its old place and as a slot, with the same input.
#include "probe/relocate.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <functional>

namespace fade {
namespace {

// A code page with a function at `site`, and a slot page a little further on.
class CodePages : public ::testing::Test {
 protected:
  void SetUp() override {
    page_ = static_cast<std::uint8_t*>(
        ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(page_, MAP_FAILED);
  }
  void TearDown() override { ::munmap(page_, kSize); }

  std::uint8_t* site() { return page_ + 0x1000; }
  std::uint8_t* slot() { return page_ + 0x3000; }
  static RemoteAddr addr(const void* p) { return {reinterpret_cast<std::uint64_t>(p)}; }

  void put(std::uint8_t* at, std::initializer_list<int> bytes) {
    for (const int b : bytes) *at++ = static_cast<std::uint8_t>(b);
  }
  std::uint8_t move() {
    auto moved = relocate(std::span<const std::uint8_t>(site(), 16), addr(site()), addr(slot()));
    EXPECT_TRUE(moved) << moved.error().text();
    if (!moved) return 0;
    std::memcpy(slot(), moved->code.data(), moved->code.size());
    return moved->length;
  }
  using Function = std::uint64_t (*)(std::uint64_t, std::uint64_t);
  // The same arguments into the original and, its first byte overwritten by int3, into the slot.
  void expect_same(std::uint64_t a, std::uint64_t b) {
    const auto native = reinterpret_cast<Function>(site())(a, b);
    ASSERT_GT(move(), 0);
    const std::uint8_t first = *site();
    *site() = 0xCC;
    EXPECT_EQ(reinterpret_cast<Function>(slot())(a, b), native);
    *site() = first;
  }

  static constexpr std::size_t kSize = 0x8000;
  std::uint8_t* page_ = nullptr;
};

TEST_F(CodePages, PlainInstructionThenRest) {
  put(site(), {0x48, 0x89, 0xF8, 0x48, 0x01, 0xF0, 0xC3});  // mov %rdi,%rax; add %rsi,%rax; ret
  expect_same(40, 2);
}

TEST_F(CodePages, OneByteReturn) {
  put(site(), {0xC3});
  ASSERT_EQ(move(), 1);
  *site() = 0xCC;
  reinterpret_cast<Function>(slot())(0, 0);
}

TEST_F(CodePages, Endbr64) {
  put(site(), {0xF3, 0x0F, 0x1E, 0xFA, 0x48, 0x8D, 0x04, 0x37, 0xC3});  // endbr64; lea (%rdi,%rsi),%rax; ret
  expect_same(1, 2);
  EXPECT_EQ(move(), 4);
}

TEST_F(CodePages, RipRelativeLoad) {
  put(site(), {0x48, 0x8B, 0x05, 0xF9, 0x0F, 0x00, 0x00, 0xC3});  // mov 0xff9(%rip),%rax -> site + 0x1000; ret
  const std::uint64_t value = 0x1122334455667788;
  std::memcpy(site() + 0x1000, &value, sizeof value);
  expect_same(0, 0);
}

TEST_F(CodePages, RipRelativeWithImmediate) {
  // cmpl $7, 0xff6(%rip) -> site + 0x1000; sete %al; movzbl %al,%eax; ret
  put(site(), {0x83, 0x3D, 0xF9, 0x0F, 0x00, 0x00, 0x07, 0x0F, 0x94, 0xC0, 0x0F, 0xB6, 0xC0, 0xC3});
  site()[0x1000] = 7;
  expect_same(0, 0);
}

TEST_F(CodePages, JumpThroughSlot) {  // jmp *0xffa(%rip) -> pointer at site + 0x1000, as PLT stubs begin
  put(site(), {0xFF, 0x25, 0xFA, 0x0F, 0x00, 0x00});
  put(site() + 0x100, {0x48, 0x8D, 0x47, 0x05, 0xC3});  // lea 5(%rdi),%rax; ret
  const auto target = reinterpret_cast<std::uint64_t>(site() + 0x100);
  std::memcpy(site() + 0x1000, &target, sizeof target);
  expect_same(10, 0);
}

TEST_F(CodePages, ShortAndLongJump) {
  put(site(), {0xEB, 0x7E});
  put(site() + 0x80, {0x48, 0x89, 0xF8, 0xC3});
  expect_same(11, 0);
  put(site(), {0xE9, 0x7B, 0x00, 0x00, 0x00});
  expect_same(12, 0);
}

TEST_F(CodePages, ConditionalJumpBothWays) {
  // The flags come from the caller: slot entered after a comparison, so build it into a wrapper.
  put(site() - 3, {0x48, 0x85, 0xFF});        // test %rdi,%rdi
  put(site(), {0x74, 0x06});                  // je +6
  put(site() + 2, {0xB8, 1, 0, 0, 0, 0xC3});  // mov $1,%eax; ret
  put(site() + 8, {0xB8, 2, 0, 0, 0, 0xC3});  // mov $2,%eax; ret
  ASSERT_EQ(move(), 2);
  put(slot() - 3, {0x48, 0x85, 0xFF});
  const auto moved = reinterpret_cast<Function>(slot() - 3);
  EXPECT_EQ(moved(0, 0), 2u);
  EXPECT_EQ(moved(5, 0), 1u);
  put(site(), {0x0F, 0x84, 0x02, 0x00, 0x00, 0x00});  // je rel32 to site + 8
  put(site() + 6, {0xC3, 0x90});
  ASSERT_EQ(move(), 6);
  EXPECT_EQ(moved(0, 0), 2u);
}

TEST_F(CodePages, LoopAndJrcxz) {
  for (const int opcode : {0xE0, 0xE1, 0xE2, 0xE3}) {
    put(site() - 6, {0x48, 0x89, 0xF9, 0x48, 0x85, 0xF6});  // mov %rdi,%rcx; test %rsi,%rsi
    put(site(), {opcode, 0x06});
    put(site() + 2, {0xB8, 1, 0, 0, 0, 0xC3});
    put(site() + 8, {0xB8, 2, 0, 0, 0, 0xC3});
    for (const std::uint64_t rcx : {0, 1, 2}) {
      for (const std::uint64_t zero : {0, 1}) {
        const auto native = reinterpret_cast<Function>(site() - 6)(rcx, zero);
        ASSERT_EQ(move(), 2);
        put(slot() - 6, {0x48, 0x89, 0xF9, 0x48, 0x85, 0xF6});
        EXPECT_EQ(reinterpret_cast<Function>(slot() - 6)(rcx, zero), native) << std::hex << opcode << ' ' << rcx;
      }
    }
  }
}

// The callee returns what it finds as its return address: it must be in the original function, not in the slot.
TEST_F(CodePages, RelativeCallPushesOriginalReturnAddress) {
  put(site(), {0xE8, 0xFB, 0x00, 0x00, 0x00, 0xC3});    // call site + 0x100; ret
  put(site() + 0x100, {0x48, 0x8B, 0x04, 0x24, 0xC3});  // mov (%rsp),%rax; ret
  expect_same(0, 0);
  EXPECT_EQ(reinterpret_cast<Function>(slot())(0, 0), addr(site()).value + 5);
}

TEST_F(CodePages, IndirectCallsThroughRegisterMemoryAndStack) {
  put(site() + 0x100, {0x48, 0x8B, 0x04, 0x24, 0xC3});  // mov (%rsp),%rax; ret
  const auto target = reinterpret_cast<std::uint64_t>(site() + 0x100);
  std::memcpy(site() + 0x1000, &target, sizeof target);
  put(site(), {0xFF, 0x15, 0xFA, 0x0F, 0x00, 0x00, 0xC3});  // call *0xffa(%rip)
  expect_same(0, 0);
  put(site(), {0xFF, 0xD7, 0xC3});  // call *%rdi
  expect_same(target, 0);
  put(site(), {0xFF, 0x57, 0x10, 0xC3});  // call *0x10(%rdi)
  expect_same(addr(site()).value + 0x1000 - 0x10, 0);
  // push %rdi; then (moved) call *(%rsp); pop %rcx; ret
  put(site() - 1, {0x57, 0xFF, 0x14, 0x24, 0x59, 0xC3});
  const auto native = reinterpret_cast<Function>(site() - 1)(target, 0);
  ASSERT_EQ(move(), 3);
  put(slot() - 1, {0x57});
  EXPECT_EQ(reinterpret_cast<Function>(slot() - 1)(target, 0), native);
}

TEST_F(CodePages, ReturnAddressAbove4GiBIsWhole) {
  put(site(), {0xE8, 0xFB, 0x00, 0x00, 0x00, 0xC3});
  put(site() + 0x100, {0x48, 0x8B, 0x04, 0x24, 0xC3});
  ASSERT_GT(addr(site()).value >> 32, 0u);
  expect_same(0, 0);
}

TEST_F(CodePages, RefusesWhatCannotBeMoved) {
  put(site(), {0xCC});
  EXPECT_FALSE(relocate(std::span<const std::uint8_t>(site(), 16), addr(site()), addr(slot())));
  put(site(), {0xC7, 0xF8, 0, 0, 0, 0});  // xbegin
  EXPECT_FALSE(relocate(std::span<const std::uint8_t>(site(), 16), addr(site()), addr(slot())));
  put(site(), {0x06});  // push %es: no instruction in 64-bit mode
  EXPECT_FALSE(relocate(std::span<const std::uint8_t>(site(), 16), addr(site()), addr(slot())));
  put(site(), {0x48, 0x8B});  // cut short by the end of the mapping
  EXPECT_FALSE(relocate(std::span<const std::uint8_t>(site(), 2), addr(site()), addr(slot())));
  put(site(), {0xC3});  // slot out of reach of the jump back
  EXPECT_FALSE(
      relocate(std::span<const std::uint8_t>(site(), 16), addr(site()), addr(site()) + (std::uint64_t{3} << 30)));
}

}  // namespace
}  // namespace fade
