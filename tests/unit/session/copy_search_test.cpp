// The search for copies of device properties, and for the variable that keeps them, in memory that a test lays out.
#include "session/copy_search.hpp"

#include <gmock/gmock.h>

#include <cstring>
#include <map>
#include <string>

#include "probes/device_properties.hpp"
#include "session/copy_owners.hpp"

namespace fade {
namespace {

using probes::layout_r0000;
using probes::layout_r0600;
using testing::ElementsAre;
using testing::IsEmpty;
using Bytes = std::vector<std::byte>;

constexpr std::uint64_t kBase = 0x7f00'0000'0000, kBlock = CopySearch::kBlock;

// Ranges of memory, zeros at first. A read ends where a range ends.
class Ranges final : public Memory {
 public:
  RemoteRange add(std::uint64_t begin, std::uint64_t size) {
    parts_[begin].resize(size);
    return {{begin}, {begin + size}};
  }
  void put(std::uint64_t at, const Bytes& bytes) {
    auto& [begin, part] = *std::prev(parts_.upper_bound(at));
    std::memcpy(part.data() + (at - begin), bytes.data(), bytes.size());
  }
  void put_words(std::uint64_t at, const std::vector<std::uint64_t>& words) {
    Bytes bytes(words.size() * 8);
    std::memcpy(bytes.data(), words.data(), bytes.size());
    put(at, bytes);
  }
  std::size_t read(RemoteAddr from, std::span<std::byte> into) const override {
    const auto next = parts_.upper_bound(from.value);
    if (next == parts_.begin()) return 0;
    const auto& [begin, part] = *std::prev(next);
    if (from.value - begin >= part.size()) return 0;
    const std::size_t n = std::min<std::size_t>(into.size(), part.size() - (from.value - begin));
    std::memcpy(into.data(), part.data() + (from.value - begin), n);
    return n;
  }

 private:
  std::map<std::uint64_t, Bytes> parts_;
};

Bytes properties(const probes::Layout& layout, std::int32_t bus = 3) {
  Bytes out(layout.size);
  const auto text = [&](std::string_view field, const char* value) {
    std::memcpy(out.data() + layout.find(field)->offset, value, std::strlen(value));
  };
  const auto number = [&](std::string_view field, std::int32_t value) {
    std::memcpy(out.data() + layout.find(field)->offset, &value, sizeof value);
  };
  text("name", "AMD Radeon RX 6800 XT");
  text("gcnArchName", "gfx1030");
  number("warpSize", 32);
  number("maxThreadsPerBlock", 1024);
  number("multiProcessorCount", 36);
  number("pciBusID", bus);
  return out;
}

std::vector<RemoteRange> all(RemoteRange range) { return {range}; }

std::vector<std::uint64_t> places(const CopySearch& search) {
  std::vector<std::uint64_t> out;
  for (const FoundCopy& copy : search.found()) out.push_back(copy.at.value);
  return out;
}

std::vector<std::uint64_t> found_in(const Memory& memory, std::vector<RemoteRange> ranges) {
  CopySearch search(memory, std::move(ranges), all);
  while (search.step()) continue;
  EXPECT_EQ(search.limit(), "");
  EXPECT_EQ(search.bytes_left(), 0u);
  return places(search);
}

TEST(CopySearch, FindsBothFormsAndTheirBytes) {
  Ranges memory;
  const RemoteRange range = memory.add(kBase, kBlock);
  memory.put(kBase, properties(layout_r0600()));
  memory.put(kBase + 1472, properties(layout_r0600(), 4));
  memory.put(kBase + 0x8004, properties(layout_r0000()));
  CopySearch search(memory, {range}, all);
  while (search.step()) continue;
  ASSERT_THAT(places(search), ElementsAre(kBase, kBase + 1472, kBase + 0x8004));
  EXPECT_EQ(search.found()[1].told.slot->bus, 4);
  EXPECT_EQ(search.found()[1].bytes, properties(layout_r0600(), 4));
  EXPECT_EQ(search.found()[2].form->name, "hipDeviceProp_tR0000");
  EXPECT_EQ(search.bytes(), kBlock);
}

TEST(CopySearch, FindsCopiesAcrossBlocks) {
  for (const std::uint64_t back : {4u, 8u, 200u, 396u, 400u, 788u, 1160u, 1164u, 1468u}) {
    Ranges memory;
    const RemoteRange range = memory.add(kBase, 2 * kBlock);
    memory.put(kBase + kBlock - back, properties(layout_r0600()));
    EXPECT_THAT(found_in(memory, {range}), ElementsAre(kBase + kBlock - back)) << back;
  }
}

TEST(CopySearch, FindsNothingThatIsCutOffOrUnaligned) {
  Ranges memory;
  const RemoteRange range = memory.add(kBase, 0x1000), other = memory.add(kBase + 0x10000, 0x1000);
  Bytes cut = properties(layout_r0600());
  cut.resize(1300);
  memory.put(kBase + 0x1000 - 1300, cut);
  memory.put(kBase + 0x10000 + 0x101, properties(layout_r0000()));
  EXPECT_THAT(found_in(memory, {range, other}), IsEmpty());
}

TEST(CopySearch, AnAnchorAtTheLowestAddressesIsNoCopy) {
  Ranges memory;
  const RemoteRange range = memory.add(0, 0x1000);
  Bytes gfx(8);
  std::memcpy(gfx.data(), "gfx1030", 7);
  memory.put(64, gfx);
  EXPECT_THAT(found_in(memory, {range}), IsEmpty());
}

TEST(CopySearch, ReadsOnlyWhatIsPresent) {
  Ranges memory;
  const RemoteRange range = memory.add(kBase, 2 * kBlock);
  memory.put(kBase + 0x1000, properties(layout_r0600()));
  memory.put(kBase + kBlock, properties(layout_r0600()));
  CopySearch search(memory, {range}, [](RemoteRange block) {
    return block.begin.value == kBase ? std::vector<RemoteRange>{}
                                      : std::vector<RemoteRange>{{block.begin, block.begin + 0x2000}};
  });
  while (search.step()) continue;
  EXPECT_THAT(places(search), ElementsAre(kBase + kBlock));
  EXPECT_EQ(search.bytes(), 0x2000u);
}

TEST(CopySearch, SmallRangesComeFirst) {
  Ranges memory;
  const RemoteRange large = memory.add(kBase, 4 * kBlock), small = memory.add(kBase + 8 * kBlock, 0x1000);
  memory.put(kBase + 8 * kBlock, properties(layout_r0000()));
  CopySearch search(memory, {large, small}, all);
  EXPECT_TRUE(search.step());
  EXPECT_THAT(places(search), ElementsAre(kBase + 8 * kBlock));
  EXPECT_EQ(search.bytes_left(), 4 * kBlock);
}

TEST(CopySearch, EndsAtItsLimits) {
  Ranges memory;
  const RemoteRange range = memory.add(kBase, 4 * kBlock);
  for (std::uint64_t i = 0; i < 10; ++i) memory.put(kBase + i * 0x1000, properties(layout_r0000()));
  CopySearch few(memory, {range}, all, {.copies = 3});
  EXPECT_FALSE(few.step());
  EXPECT_EQ(few.found().size(), 3u);
  EXPECT_EQ(few.limit(), "copies");
  CopySearch bytes(memory, {range}, all, {.bytes = 2 * kBlock});
  while (bytes.step()) continue;
  EXPECT_EQ(bytes.bytes(), 2 * kBlock);
  EXPECT_EQ(bytes.bytes_left(), 2 * kBlock);
  EXPECT_EQ(bytes.limit(), "bytes");
}

TEST(CopySearch, FindsCopiesOfAnAnswerThatLooksLikeNone) {
  Ranges memory;
  const RemoteRange range = memory.add(kBase, kBlock);
  Bytes strange = properties(layout_r0600());
  strange[layout_r0600().find("warpSize")->offset] = std::byte{16};
  memory.put(kBase + 0x100, strange);
  EXPECT_THAT(found_in(memory, {range}), IsEmpty());
  CopySearch search(memory, {range}, all);
  search.also_find({{probes::copy_form_of("hipGetDevicePropertiesR0600"), 0, strange}});
  while (search.step()) continue;
  EXPECT_THAT(places(search), ElementsAre(kBase + 0x100));
}

// ---------------------------------------------------------------- owners
std::vector<std::pair<std::string, int>> owners(const Memory& memory, const std::vector<LibraryData>& data,
                                                const std::vector<CopyPlace>& copies) {
  std::vector<std::pair<std::string, int>> out;
  for (const CopyOwner& owner : owners_of(memory, data, copies))
    out.emplace_back(owner.library, owner.index.value_or(-1));
  return out;
}

TEST(CopyOwners, AVectorTellsTheIndex) {
  Ranges memory;
  const RemoteRange data = memory.add(kBase, 2 * kBlock);
  const std::uint64_t heap = 0x5555'0000'1000;
  const std::vector<CopyPlace> copies{{{heap}, 1472}, {{heap + 1472}, 1472}, {{heap + 3 * 1472}, 1472}};
  const std::uint64_t border = kBase + kBlock - 8;  // its words lie across two blocks
  memory.put_words(border, {heap, heap + 2 * 1472, heap + 4 * 1472});
  EXPECT_THAT(
      owners(memory, {{data, "/lib/libtorch_hip.so"}}, copies),
      ElementsAre(std::pair("/lib/libtorch_hip.so", 0), std::pair("/lib/libtorch_hip.so", 1), std::pair("", -1)));
}

TEST(CopyOwners, APointerAndTheLibrarysOwnDataTellTheLibrary) {
  Ranges memory;
  const RemoteRange first = memory.add(kBase, 0x1000), second = memory.add(kBase + 0x10000, 0x1000);
  const std::uint64_t heap = 0x5555'0000'1000;
  memory.put_words(kBase + 0x800, {heap, 0, 0});
  memory.put_words(kBase + 0x10000, {heap, heap + 792 * 2, heap + 792 * 2});
  const std::vector<CopyPlace> copies{{{heap}, 792}, {{kBase + 0x100}, 792}, {{heap + 16}, 792}};
  EXPECT_THAT(owners(memory, {{first, "first"}, {second, "second"}}, copies),
              ElementsAre(std::pair("second", 0), std::pair("first", -1), std::pair("", -1)));
}

TEST(CopyOwners, WordsThatNoVectorHasAreNone) {
  Ranges memory;
  const RemoteRange data = memory.add(kBase, 0x1000);
  const std::uint64_t heap = 0x5555'0000'1000;
  memory.put_words(kBase + 0x100, {heap - 1472, heap + 1472 + 8, heap + 2 * 1472});  // its end is within an element
  memory.put_words(kBase + 0x200, {heap - 1472, heap + 1472, heap});                 // its room ends before its end
  memory.put_words(kBase + 0x300, {heap - 1472, heap, heap});                        // it ends before the copy
  memory.put_words(kBase + 0xff8, {heap - 1472});
  EXPECT_THAT(owners(memory, {{data, "x"}}, {{{heap}, 1472}}), ElementsAre(std::pair("x", -1)));  // by a pointer
  EXPECT_THAT(owners(memory, {}, {{{heap}, 1472}}), ElementsAre(std::pair("", -1)));
}

}  // namespace
}  // namespace fade
