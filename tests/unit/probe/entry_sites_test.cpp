#include "probe/entry_sites.hpp"

#include <gmock/gmock.h>

#include "elf/support.hpp"

namespace fade {
namespace {
namespace entries {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr RemoteAddr kFunction{0x7f0000001000};

// push rbp; mov rsp, rbp; push r15; push r14; push rbx
const std::vector<std::uint8_t> kPrologue{0x55, 0x48, 0x89, 0xE5, 0x41, 0x57, 0x41, 0x56, 0x53, 0x90, 0x90, 0x90};

FunctionEntry entry_at(RemoteAddr function, std::uint64_t untouched = 16) {
  return {.function = function, .untouched = untouched, .code = kPrologue};
}

TEST(EntrySites, AJumpStandsBehindTheFirstInstruction) {
  const SiteTable none;
  EXPECT_EQ(place_of_jump(entry_at(kFunction), none), kFunction + 1);
  EXPECT_THAT(under_jump(entry_at(kFunction), none), ElementsAre(kFunction + 4));
}

TEST(EntrySites, AJumpStaysInTheBytesThatNoThreadIsIn) {
  EXPECT_EQ(place_of_jump(entry_at(kFunction, 6), {}), kFunction + 1);
  EXPECT_EQ(place_of_jump(entry_at(kFunction, 5), {}), std::nullopt);
  EXPECT_EQ(place_of_jump(entry_at(kFunction, 0), {}), std::nullopt);
}

TEST(EntrySites, AJumpStaysInOneBlockThatProcessorsFetch) {
  EXPECT_EQ(place_of_jump(entry_at(kFunction + 10), {}), kFunction + 11);
  EXPECT_EQ(place_of_jump(entry_at(kFunction + 11), {}), std::nullopt);
}

TEST(EntrySites, AJumpCoversNoOtherSite) {
  SiteTable sites;
  sites.keep({.address = kFunction + 4});
  EXPECT_EQ(place_of_jump(entry_at(kFunction), sites), std::nullopt);
  EXPECT_THAT(under_jump(entry_at(kFunction), sites), IsEmpty());
}

TEST(EntrySites, CodeThatIsCutOffGetsNoJump) {
  for (std::size_t n = 0; n < 6; ++n) {
    const elf::test::BytesMemory memory({reinterpret_cast<const std::byte*>(kPrologue.data()),
                                         reinterpret_cast<const std::byte*>(kPrologue.data()) + n},
                                        kFunction.value);
    const FunctionEntry entry = FunctionEntry::read(memory, kFunction, 16);
    EXPECT_EQ(entry.code.size(), n);
    EXPECT_EQ(place_of_jump(entry, {}), std::nullopt);
  }
}

}  // namespace entries
}  // namespace
}  // namespace fade
