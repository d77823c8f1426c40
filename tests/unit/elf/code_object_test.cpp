// Code objects written byte by byte: what is in them, and that nothing that is damaged does harm.
#include "elf/code_image.hpp"

#include <gmock/gmock.h>

#include "elf/code_bytes.hpp"
#include "elf/msgpack.hpp"
#include "elf/support.hpp"

namespace fade::elf {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::uint64_t kBase = 0x10000;

std::vector<CodeObject> read(const std::string& image, const CodeLimits& limits = {}) {
  return read_code_objects(BytesMemory(bytes_of(image), kBase), {kBase}, limits);
}

TEST(Metadata, TellsWhatTheCompilerWrote) {
  const CodeMetadata found =
      decode_metadata(bytes_of(metadata({kernel("_Z4vaddPf", 24, true), kernel("plain", 300, false)})));
  EXPECT_EQ(found.arch, "gfx1100");
  ASSERT_THAT(found.kernels, SizeIs(2));
  EXPECT_EQ(found.kernels[0].name, "_Z4vaddPf");
  EXPECT_EQ(found.kernels[0].vgprs, 24);
  EXPECT_EQ(found.kernels[0].wgp_mode, 1);
  EXPECT_EQ(found.kernels[0].lds, 2048);
  EXPECT_EQ(found.kernels[0].sgprs, std::nullopt) << "what it did not write is not there";
  EXPECT_EQ(found.kernels[1].vgprs, 300);
  EXPECT_EQ(found.kernels[1].wgp_mode, 0);
}

TEST(Metadata, OfAnyLengthThatIsCutEndsQuietly) {
  const std::string whole = metadata({kernel("_Z4vaddPf", 24, true), kernel("plain", 300, false)});
  for (std::size_t size = 0; size < whole.size(); ++size)
    for (const KernelCode& k : decode_metadata(bytes_of(whole.substr(0, size))).kernels) EXPECT_FALSE(k.name.empty());
}

TEST(Metadata, WithAnyByteChangedDoesNoHarm) {
  const std::string whole = metadata({kernel("_Z4vaddPf", 24, true)});
  for (std::size_t at = 0; at < whole.size(); ++at)
    for (const int value : {0x00, 0x7f, 0x8f, 0x9f, 0xbf, 0xc1, 0xc6, 0xc9, 0xdb, 0xdd, 0xdf, 0xff}) {
      std::string changed = whole;
      changed[at] = static_cast<char>(value);
      EXPECT_LE(decode_metadata(bytes_of(changed)).kernels.size(), 15u);
    }
}

TEST(MessagePack, NestedAsDeepAsItIsLongIsSkippedWithoutRecursion) {
  std::string deep(1'000'000, '\x91');
  deep += '\0';
  const auto bytes = bytes_of(deep + "\x2a");
  MsgReader reader(bytes);
  ASSERT_TRUE(reader.skip());
  EXPECT_EQ(reader.next()->number, 42u);
}

TEST(MessagePack, CountsThatCannotBeTrueEndTheReading) {
  for (const std::string& claim : {std::string("\xdd\xff\xff\xff\xff"), std::string("\xdf\xff\xff\xff\xff"),
                                   std::string("\xdb\xff\xff\xff\xff"), std::string("\xc6\xff\xff\xff\xff")}) {
    const auto bytes = bytes_of(claim + "abc");
    EXPECT_FALSE(MsgReader(bytes).next()) << claim;
    EXPECT_FALSE(MsgReader(bytes).skip()) << claim;
  }
}

TEST(MessagePack, NumbersOfEverySizeAndSign) {
  const std::string numbers(
      "\xcc\xff"
      "\xcd\x01\x02"
      "\xd0\xff"
      "\xd1\xff\xfe"
      "\xe0"
      "\xcf\0\0\0\x01\0\0\0\0"
      "\xc3",
      21);
  const auto bytes = bytes_of(numbers);
  MsgReader reader(bytes);
  std::vector<std::int64_t> found;
  while (const auto item = reader.next()) found.push_back(static_cast<std::int64_t>(item->number));
  EXPECT_THAT(found, ElementsAre(255, 258, -1, -2, -32, 1ll << 32, 1));
}

TEST(Image, IsAnElfFileOfOneGpu) {
  const auto found = read(elf_with(metadata({kernel("one", 8, true)})));
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].problem, "");
  EXPECT_EQ(decode_metadata(found[0].metadata).kernels[0].name, "one");
}

TEST(Image, IsABundleOfSeveral) {
  const auto found =
      read(bundle({{"host-x86_64-unknown-linux--", ""},
                   {"hipv4-amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-", elf_with(metadata({kernel("one", 8, true)}))},
                   {"hipv4-amdgcn-amd-amdhsa--gfx1100", elf_with(metadata({kernel("one", 16, false)}))}}));
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found[0].arch, "gfx90a");
  EXPECT_EQ(found[1].arch, "gfx1100");
  EXPECT_EQ(decode_metadata(found[1].metadata).kernels[0].vgprs, 16);
}

TEST(Image, ThatCannotBeReadSaysWhy) {
  EXPECT_EQ(read("CCOB" + std::string(60, '\2')).at(0).problem, "compressed in a way that is not known");
  EXPECT_EQ(read(elf_with("", 62)).at(0).problem, "not a code object of AMD's");
  EXPECT_EQ(read(elf_with(metadata({})), {.objects = 8, .bytes = 16}).at(0).problem,
            "its description is too large to be read");
  std::string other = elf_with(metadata({}));
  other[other.find("AMDGPU")] = 'B';
  EXPECT_EQ(read(other).at(0).problem, "it does not describe its kernels");
  EXPECT_THAT(read("image"), IsEmpty());
  EXPECT_THAT(read(""), IsEmpty());
}

TEST(Image, CutAnywhereDoesNoHarm) {
  const std::string whole =
      bundle({{"hipv4-amdgcn-amd-amdhsa--gfx1100", elf_with(metadata({kernel("one", 8, true)}))}});
  for (std::size_t size = 0; size < whole.size(); ++size)
    for (const CodeObject& object : read(whole.substr(0, size))) EXPECT_LE(object.metadata.size(), whole.size());
}

TEST(Image, WithWildNumbersDoesNoHarm) {
  const std::string whole =
      bundle({{"hipv4-amdgcn-amd-amdhsa--gfx1100", elf_with(metadata({kernel("one", 8, true)}))}});
  for (std::size_t at = 24; at + 8 <= whole.size(); at += 4) {
    std::string changed = whole;
    std::memset(changed.data() + at, 0xff, 8);
    for (const CodeObject& object : read(changed)) EXPECT_LE(object.metadata.size(), whole.size());
  }
}

TEST(Descriptor, TellsTheModeWhereTheMetadataDoesNot) {
  for (const bool wgp : {true, false}) {
    const auto found = read(
        elf_with_descriptor(metadata({bare_kernel("one"), bare_kernel("other")}), "one", wgp ? 1u << 29 : ~(1u << 29)));
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_THAT(found[0].modes, ElementsAre(KernelMode{"one", wgp}));
    const auto kernels = describe(found[0]).kernels;
    EXPECT_EQ(kernels.at(0).wgp_mode, wgp ? 1 : 0);
    EXPECT_EQ(kernels.at(1).wgp_mode, std::nullopt);
  }
}

TEST(Descriptor, MeansNothingBeforeRdnaAndDoesNotContradictTheMetadata) {
  const auto cdna =
      read(elf_with_descriptor(metadata({bare_kernel("one")}, "amdgcn-amd-amdhsa--gfx90a"), "one", 1u << 29));
  EXPECT_EQ(describe(cdna.at(0)).kernels.at(0).wgp_mode, std::nullopt);
  const auto told = read(elf_with_descriptor(metadata({kernel("one", 8, true)}), "one", 0));
  EXPECT_EQ(describe(told.at(0)).kernels.at(0).wgp_mode, 1);
}

TEST(Descriptor, WithWildNumbersOrCutDoesNoHarm) {
  const std::string whole = elf_with_descriptor(metadata({bare_kernel("one")}), "one", 1u << 29);
  for (std::size_t at = 16; at + 8 <= whole.size(); at += 4) {
    std::string changed = whole;
    std::memset(changed.data() + at, 0xff, 8);
    for (const CodeObject& object : read(changed)) EXPECT_LE(object.modes.size(), 1u);
    for (const CodeObject& object : read(whole.substr(0, at))) EXPECT_LE(object.modes.size(), 1u);
  }
}

TEST(Section, HoldsImageBehindImage) {
  std::string section = bundle({{"hipv4-amdgcn-amd-amdhsa--gfx1100", elf_with(metadata({kernel("one", 8, true)}))}});
  section.resize(4096);
  section += bundle(
      {{"hipv4-amdgcn-amd-amdhsa--gfx1100", elf_with(metadata({kernel("two", 8, true)})) + std::string(5000, 'x')}});
  section.resize(3 * 4096);
  section += with_header(2, Method::Zstd, 100, std::string(4096 + 100 - 24, 'x'));
  section.resize(5 * 4096);
  section += elf_with(metadata({kernel("three", 8, true)}));
  std::vector<std::string> found;
  const BytesMemory memory(bytes_of(section), kBase);
  const auto note = [&](const CodeObject& object) {
    found.push_back(object.problem.empty() ? decode_metadata(object.metadata).kernels.at(0).name : object.problem);
  };
  each_code_object(memory, {{kBase}, {kBase + section.size()}}, {.unpacked = 4096}, note, [] { return false; });
  EXPECT_THAT(found, ElementsAre("one", "two", "compressed, and damaged or cut", "three"));
}

TEST(Packed, ObjectsComeOutAsTheyWentIn) {
  const std::vector<CodeObject> objects = {{"gfx1100", bytes_of("metadata"), "", {{"one", true}, {"two", false}}},
                                           {"", {}, "compressed", {}}};
  const auto bytes = pack(objects);
  const auto found = unpack(bytes);
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found[0].arch, "gfx1100");
  EXPECT_EQ(found[0].metadata, bytes_of("metadata"));
  EXPECT_THAT(found[0].modes, ElementsAre(KernelMode{"one", true}, KernelMode{"two", false}));
  EXPECT_EQ(found[1].problem, "compressed");
  for (std::size_t size = 0; size < bytes.size(); ++size) EXPECT_LE(unpack(std::span(bytes).first(size)).size(), 1u);
}

}  // namespace
}  // namespace fade::elf
