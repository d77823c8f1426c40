// Compressed bundles of every version and method: what is in them, and that those that are damaged, lie or explode do
// no harm.
#include "elf/packed_image.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "elf/code_bytes.hpp"
#include "elf/code_image.hpp"
#include "elf/support.hpp"

namespace fade::elf {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::SizeIs;

constexpr std::uint64_t kPackedBase = 0x10000, kMega = 1u << 20;
constexpr CodeLimits kLimits{.objects = 64, .bytes = 2u << 20, .unpacked = 256 * kMega};
constexpr std::string_view kDamaged = "compressed, and damaged or cut",
                           kTooLarge = "left out because it is compressed and too large to be unpacked";

BytesMemory memory_of(const std::string& image) { return BytesMemory(bytes_of(image), kPackedBase); }
std::vector<CodeObject> read_packed(const std::string& image, const CodeLimits& limits = kLimits) {
  return read_code_objects(memory_of(image), {kPackedBase}, limits);
}
std::string one_kernel(std::string_view name, unsigned vgprs = 8) {
  return elf_with(metadata({kernel(name, vgprs, true)}));
}
std::string bundle_of(std::string_view name) {
  return bundle({{"host-x86_64-unknown-linux--", ""}, {"hipv4-amdgcn-amd-amdhsa--gfx1100", one_kernel(name)}});
}

// Bytes that no method makes much smaller.
std::string noise(std::size_t size, std::uint64_t seed = 1) {
  std::string out(size, '\0');
  for (char& c : out) c = static_cast<char>((seed = seed * 6364136223846793005u + 1442695040888963407u) >> 56);
  return out;
}

// Kernels of a section, or why there are none.
std::vector<std::string> found_in(const std::string& section, const CodeLimits& limits = kLimits,
                                  std::size_t enough = 1000) {
  std::vector<std::string> out;
  const BytesMemory memory = memory_of(section);
  const auto visit = [&](const CodeObject& object) {
    out.push_back(object.problem.empty() ? decode_metadata(object.metadata).kernels.at(0).name : object.problem);
  };
  each_code_object(memory, {{kPackedBase}, {kPackedBase + section.size()}}, limits, visit,
                   [&] { return out.size() >= enough; });
  return out;
}
std::string aligned(std::string section) { return section.append((4096 - section.size() % 4096) % 4096, '\0'); }

class Packed : public testing::TestWithParam<std::tuple<int, Method>> {
 protected:
  std::string pack_as(const std::string& content) const {
    return packed(static_cast<std::uint16_t>(std::get<0>(GetParam())), std::get<1>(GetParam()), content);
  }
};
INSTANTIATE_TEST_SUITE_P(Each, Packed,
                         testing::Combine(testing::Values(1, 2, 3), testing::Values(Method::Zlib, Method::Zstd)),
                         [](const auto& one) {
                           return "Version" + std::to_string(std::get<0>(one.param)) +
                                  (std::get<1>(one.param) == Method::Zlib ? "Zlib" : "Zstd");
                         });

TEST_P(Packed, HoldsWhatThePlainBundleHolds) {
  const std::string plain =
      bundle({{"host-x86_64-unknown-linux--", ""},
              {"hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-", one_kernel("_Z3onePf", 24) + noise(3 * kMega)},
              {"hipv4-amdgcn-amd-amdhsa--gfx1100",
               elf_with_descriptor(metadata({bare_kernel("two")}), "two", 1u << 29) + noise(kMega, 2)},
              {"hipv4-amdgcn-amd-amdhsa--gfx1201", one_kernel("_Z3onePf", 48)}});
  const auto expected = read_packed(plain), found = read_packed(pack_as(plain));
  ASSERT_THAT(found, SizeIs(3));
  EXPECT_EQ(pack(found), pack(expected));
  EXPECT_EQ(found[0].arch, "gfx90a");
  EXPECT_EQ(describe(found[0]).kernels.at(0).vgprs, 24);
  EXPECT_EQ(describe(found[1]).kernels.at(0).wgp_mode, 1) << "from the descriptor";
  EXPECT_EQ(describe(found[2]).kernels.at(0).wave_size, 32);
}

TEST_P(Packed, MayHoldOneCodeObjectAlone) {
  EXPECT_EQ(decode_metadata(read_packed(pack_as(one_kernel("one"))).at(0).metadata).kernels.at(0).name, "one");
}

TEST_P(Packed, CutAnywhereDoesNoHarmAndSaysSo) {
  const std::string whole = pack_as(bundle_of("one") + noise(300));
  ASSERT_THAT(read_packed(whole), SizeIs(1));
  for (std::size_t size = 8; size < whole.size() - 400; ++size)
    EXPECT_FALSE(read_packed(whole.substr(0, size)).at(0).problem.empty()) << size;
  for (std::size_t size = 0; size < whole.size(); ++size) EXPECT_LE(read_packed(whole.substr(0, size)).size(), 2u);
}

TEST_P(Packed, WithAnyByteChangedDoesNoHarm) {
  const std::string whole = pack_as(bundle_of("one"));
  for (std::size_t at = 4; at < whole.size(); ++at)
    for (const int value : {0x00, 0x7f, 0x80, 0xff}) {
      std::string changed = whole;
      changed[at] = static_cast<char>(value);
      for (const CodeObject& object : read_packed(changed)) EXPECT_LE(object.metadata.size(), whole.size() * 40);
    }
}

TEST_P(Packed, StandsBehindAndBeforeOthers) {
  const std::string three = pack_as(bundle_of("three"));
  EXPECT_THAT(found_in(aligned(bundle_of("one")) + aligned(pack_as(bundle_of("two") + noise(9000))) + three),
              ElementsAre("one", "two", "three"));
  EXPECT_THAT(found_in(pack_as(bundle_of("one")) + pack_as(bundle_of("two")) + three),
              ElementsAre("one", "two", "three"))
      << "without a gap, as cat joins files";
}

TEST_P(Packed, ThatPromisesMoreThanItHoldsIsDamaged) {
  const auto [version, method] = GetParam();
  const std::string content = bundle({{"hipv4-amdgcn-amd-amdhsa--gfx1100", one_kernel("one")},
                                      {"hipv4-amdgcn-amd-amdhsa--gfx1201", one_kernel("two")}});
  const std::string cut = content.substr(0, content.size() / 2 + 100);
  const auto found =
      read_packed(with_header(static_cast<std::uint16_t>(version), method, content.size(), compressed(method, cut)));
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(decode_metadata(found[0].metadata).kernels.at(0).name, "one") << "what came before the damage is told";
  EXPECT_EQ(found[1].problem, kDamaged);
}

TEST_P(Packed, ThatHoldsMoreThanItSaysIsReadNoFurther) {
  const auto [version, method] = GetParam();
  const std::string image =
      with_header(static_cast<std::uint16_t>(version), method, 1000, compressed(method, noise(5000)));
  const BytesMemory memory = memory_of(image);
  const UnpackedImage inside(memory, {kPackedBase}, *read_packed_header(memory, {kPackedBase}));
  std::vector<std::byte> bytes(5000);
  EXPECT_EQ(inside.read({0}, bytes), 1000u);
  EXPECT_EQ(inside.read({1000}, bytes), 0u);
}

TEST_P(Packed, BombsAreLeftOut) {
  const std::string bomb = pack_as(bundle_of("one") + std::string(80 * kMega, '\0') + noise(100));
  ASSERT_LT(bomb.size(), kMega);
  EXPECT_EQ(read_packed(bomb, {.unpacked = 50 * kMega}).at(0).problem, kTooLarge);
  std::string entries = bundle({{"hipv4-amdgcn-amd-amdhsa--gfx1100", std::string(80 * kMega, '\0')},
                                {"hipv4-amdgcn-amd-amdhsa--gfx1201", one_kernel("one")}});
  for (const CodeObject& object : read_packed(pack_as(entries))) EXPECT_FALSE(object.problem.empty());
}

TEST_P(Packed, TravelsAsItIs) {
  const std::string image = pack_as(bundle_of("one") + noise(20'000)), behind = image + "something else";
  std::vector<std::byte> sent = carry(memory_of(behind), {kPackedBase});
  ASSERT_GE(sent.size(), image.size());
  sent.resize(image.size());
  EXPECT_EQ(sent, bytes_of(image));
  EXPECT_EQ(decode_metadata(carried(sent).at(0).metadata).kernels.at(0).name, "one");
}

std::string file(const std::string& name) {
  std::ifstream in(std::filesystem::path(FADE_TEST_FOLDER) / "data" / name, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// What clang itself wrote (data/two_kernels.hip), and the figures of its assembly (-S).
TEST(PackedByClang, OfAllThreeVersionsIsRead) {
  for (const char* name : {"clang18.ccob", "clang19.ccob", "clang21.ccob"}) {
    const auto found = read_packed(file(name));
    ASSERT_THAT(found, SizeIs(3)) << name;
    std::map<std::string, CodeMetadata> codes;
    for (const CodeObject& object : found) codes[object.arch] = describe(object);
    for (const auto& [arch, wave] : {std::pair("gfx1030", 32), std::pair("gfx90a", 64), std::pair("gfx1100", 32)}) {
      const auto& kernels = codes[arch].kernels;
      ASSERT_THAT(kernels, SizeIs(2)) << name << ' ' << arch;
      EXPECT_EQ(kernels[0].name, "_Z5scalePff");
      EXPECT_EQ(kernels[1].name, "_Z4tilePfi");
      EXPECT_EQ(kernels[1].vgprs, wave == 32 ? 14 : 20);
      EXPECT_EQ(kernels[1].lds, 4096);
      EXPECT_EQ(kernels[1].wave_size, wave);
      EXPECT_EQ(kernels[1].wgp_mode, wave == 32 ? std::optional<std::int64_t>(1) : std::nullopt);
    }
  }
}

TEST(PackedHeaders, SayWhereTheImageEnds) {
  for (const int version : {1, 2, 3}) {
    const std::string image = packed(static_cast<std::uint16_t>(version), Method::Zstd, bundle_of("one"));
    const auto header = read_packed_header(memory_of(image), {kPackedBase});
    ASSERT_TRUE(header);
    EXPECT_EQ(header->packed, version == 1 ? 0 : image.size());
    EXPECT_EQ(header->unpacked, bundle_of("one").size());
    EXPECT_GE(most_packed(*header), image.size());
  }
  EXPECT_FALSE(read_packed_header(memory_of("__CLANG_OFFLOAD_BUNDLE__"), {kPackedBase}));
  EXPECT_FALSE(read_packed_header(memory_of("CCOB"), {kPackedBase}));
}

TEST(PackedHeaders, ThatNobodyKnowsAreNotGuessed) {
  const std::string content = compressed(Method::Zstd, bundle_of("one"));
  for (const std::string& image :
       {with_header(4, Method::Zstd, 100, content), with_header(0, Method::Zstd, 100, content),
        with_header(2, Method{2}, 100, content), with_header(3, Method{0xffff}, 100, content)})
    EXPECT_EQ(read_packed(image).at(0).problem, "compressed in a way that is not known");
}

TEST(PackedHeaders, WithWildSizesDoNoHarm) {
  const std::string whole = packed(3, Method::Zstd, bundle_of("one")) + packed(3, Method::Zlib, bundle_of("two"));
  for (const std::size_t at : {8u, 16u})
    for (const std::uint64_t value :
         {0ull, 1ull, 31ull, 33ull, 0xffffffffull, 1ull << 62, ~0ull, ~0ull - kPackedBase, ~0ull - 4095}) {
      std::string changed = whole;
      std::memcpy(changed.data() + at, &value, sizeof value);
      EXPECT_LE(found_in(changed).size(), 4u);
      EXPECT_LE(carry(memory_of(changed), {kPackedBase}).size(), whole.size());
    }
}

TEST(PackedContent, MayFollowAFrameToBeSkipped) {
  std::string skipped;
  put(skipped, std::uint32_t{0x184D2A50});
  put(skipped, std::uint32_t{9000});
  skipped += "CCOB" + std::string(4092, 'x') + "CCOB" + std::string(9000 - 4100, 'x');
  const std::string content = bundle_of("one");
  EXPECT_THAT(
      found_in(aligned(with_header(2, Method::Zstd, content.size(), skipped + compressed(Method::Zstd, content))) +
               bundle_of("two")),
      ElementsAre("one", "two"));
}

TEST(PackedContent, ThatIsNoCodeSaysSo) {
  const std::string_view problem = "compressed, and no code is inside";
  EXPECT_EQ(read_packed(packed(2, Method::Zstd, "text")).at(0).problem, problem);
  EXPECT_EQ(read_packed(packed(2, Method::Zstd, "")).at(0).problem, problem);
  EXPECT_EQ(read_packed(packed(2, Method::Zstd, packed(2, Method::Zstd, bundle_of("one")))).at(0).problem, problem)
      << "packed twice";
}

TEST(PackedContent, InWhateverOrderItsEntriesAreNamed) {
  std::string plain = bundle({{"hipv4-amdgcn-amd-amdhsa--gfx1100", one_kernel("one")},
                              {"hipv4-amdgcn-amd-amdhsa--gfx1201", one_kernel("two")}});
  std::array<std::uint64_t, 2> first, second;
  const std::size_t next = 32 + 24 + std::string_view("hipv4-amdgcn-amd-amdhsa--gfx1100").size();
  std::memcpy(first.data(), plain.data() + 32, 16);
  std::memcpy(second.data(), plain.data() + next, 16);
  std::memcpy(plain.data() + 32, second.data(), 16);
  std::memcpy(plain.data() + next, first.data(), 16);
  EXPECT_EQ(pack(read_packed(packed(2, Method::Zstd, plain))), pack(read_packed(plain)));
}

TEST(PackedContent, IsKeptInParts) {
  const std::string content = noise(3 * kMega) + std::string(70 * kMega, 'y') + noise(kMega, 2),
                    image = packed(3, Method::Zstd, content);
  const BytesMemory memory = memory_of(image);
  UnpackedImage inside(memory, {kPackedBase}, *read_packed_header(memory, {kPackedBase}));
  std::vector<std::byte> bytes(kMega);
  EXPECT_EQ(inside.read({72 * kMega}, bytes), 0u) << "too far ahead";
  EXPECT_EQ(inside.unpacked(), 0u);
  EXPECT_EQ(inside.read({2 * kMega}, bytes), kMega);
  EXPECT_EQ(bytes, bytes_of(content.substr(2 * kMega, kMega)));
  inside.forget_before(73 * kMega);
  EXPECT_EQ(inside.read({2 * kMega}, bytes), 0u) << "forgotten";
  EXPECT_EQ(inside.read({73 * kMega}, bytes), kMega);
  EXPECT_EQ(bytes, bytes_of(content.substr(73 * kMega)));
  inside.forget_before(100 * kMega);
  EXPECT_EQ(inside.unpacked(), content.size());
  EXPECT_EQ(inside.used(), image.size());
  EXPECT_EQ(inside.problem(), "");
}

TEST(PackedSection, ThatUnpacksToTooMuchIsReadInPart) {
  const std::string image = aligned(packed(2, Method::Zstd, bundle_of("one") + noise(kMega)));
  EXPECT_THAT(found_in(image + image + image, {.unpacked = 5 * kMega / 2}), ElementsAre("one", "one", "one"))
      << "what lies behind the last entry is not unpacked";
  const std::string far = aligned(packed(2, Method::Zstd,
                                         bundle({{"hipv4-amdgcn-amd-amdhsa--gfx90a", noise(kMega)},
                                                 {"hipv4-amdgcn-amd-amdhsa--gfx1100", one_kernel("two")}})));
  EXPECT_THAT(found_in(far + far + far, {.unpacked = 5 * kMega / 2}),
              ElementsAre("not a code object", "two", "not a code object", "two", kTooLarge));
}

TEST(PackedSection, IsReadUntilAllIsFound) {
  const std::string one = aligned(packed(2, Method::Zstd, bundle_of("one")));
  EXPECT_THAT(found_in(one + one + one, kLimits, 2), SizeIs(2));
  EXPECT_THAT(found_in(one + aligned(bundle_of("plain")) + one, kLimits, 1), ElementsAre("one", "plain"))
      << "what is not compressed is always read";
}

TEST(PackedSection, IsReadOnBehindADamagedImage) {
  for (const int version : {1, 2, 3}) {
    std::string damaged = packed(static_cast<std::uint16_t>(version), Method::Zlib, bundle_of("one") + noise(20'000));
    damaged[36] = static_cast<char>(~damaged[36]);
    EXPECT_THAT(found_in(aligned(damaged) + aligned(packed(2, Method::Zstd, bundle_of("two")))),
                ElementsAre(kDamaged, "two"))
        << version;
  }
}

TEST(PackedLoad, ThatIsTooLargeToBeCopiedSaysSo) {
  const std::string image = with_header(3, Method::Zstd, 1000, std::string(16 * kMega, 'x'));
  EXPECT_EQ(carried(carry(memory_of(image), {kPackedBase})).at(0).problem,
            "left out because it is compressed and too large to be copied while it is loaded");
}

TEST(PackedLoad, ThatUnpacksToTooMuchSaysSo) {
  const std::string image = with_header(3, Method::Zstd, 513 * kMega, compressed(Method::Zstd, bundle_of("one")));
  EXPECT_EQ(carried(carry(memory_of(image), {kPackedBase})).at(0).problem, kTooLarge);
}

}  // namespace
}  // namespace fade::elf
