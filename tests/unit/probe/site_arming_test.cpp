#include "probe/site_arming.hpp"

#include <gtest/gtest.h>

#include "elf/support.hpp"

namespace fade {
namespace {
namespace places_to_arm {

constexpr RemoteAddr kFunction{0x7f0000001000};

elf::test::BytesMemory code(const std::vector<std::uint8_t>& bytes, std::size_t size) {
  std::vector<std::byte> out(size, std::byte{0x90});
  std::ranges::transform(bytes, out.begin(), [](std::uint8_t byte) { return std::byte{byte}; });
  return {std::move(out), kFunction.value};
}

TEST(SiteArming, AGuardStandsBehindAnEndbr64) {
  EXPECT_EQ(guarded_address(code({0xF3, 0x0F, 0x1E, 0xFA, 0x55}, 48), kFunction), kFunction + 4);
  EXPECT_EQ(guarded_address(code({0x55}, 48), kFunction), kFunction);
  EXPECT_EQ(guarded_address(code({0xF3, 0x0F, 0x1E}, 3), kFunction), kFunction);  // the end of the memory
}

TEST(SiteArming, TheCheckOfASystemCallsResultIsFound) {
  const std::vector<std::uint8_t> kSyscall{0x48, 0x89, 0xF8,                     // mov rdi, rax
                                           0x0F, 0x05,                           // syscall
                                           0x48, 0x3D, 0x01, 0xF0, 0xFF, 0xFF};  // cmp $-4095, rax
  EXPECT_EQ(behind_system_call(code(kSyscall, 48), kFunction), kFunction + 5);
  EXPECT_EQ(behind_system_call(code(kSyscall, 47), kFunction), std::nullopt);  // the end of the memory
  EXPECT_EQ(behind_system_call(code({0x0F, 0x05, 0xC3}, 48), kFunction), std::nullopt);
  EXPECT_EQ(behind_system_call(code({0x48, 0x89, 0xF8, 0x0F, 0x05, 0xE9, 1, 0, 0, 0}, 48), kFunction), std::nullopt);
}

}  // namespace places_to_arm
}  // namespace
}  // namespace fade
