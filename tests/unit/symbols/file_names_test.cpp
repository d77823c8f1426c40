// What addresses of a file are called: libraries compiled on the spot, asked at the addresses that dlsym or the symbol
// table say.
#include "symbols/file_names.hpp"

#include <gmock/gmock.h>

#include "elf/elf_file.hpp"
#include "elf/support.hpp"

namespace fade::symbols {
namespace {

using elf::test::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Lines matter.
constexpr const char* kSource = R"(// line 1
extern "C" int sink(int);
static inline __attribute__((always_inline)) int innermost(int x) {
  return sink(x) + 1;
}
namespace deep {
inline __attribute__((always_inline)) int middle(int x) {
  int y = innermost(x * 2);
  return y + 3;
}
}
extern "C" __attribute__((noinline)) int outer(int x) {
  return deep::middle(x) * 2;
}
extern "C" __attribute__((noinline)) int sink(int x) { __asm__ volatile("" ::: "memory"); return x; }
static __attribute__((noinline, noclone, used)) int hidden(int x) { __asm__ volatile("" ::: "memory"); return x * 5; }
namespace deep { int visible(int x) { return hidden(x) + sink(x); } }
__asm__(".text\n.globl sizeless\nsizeless:\nnop\nnop\nnop\nnop\nret\n"
        ".globl behind\n.type behind,@function\nbehind:\nret\n.size behind,1\n");
)";

bool run(const std::string& command) { return std::system((command + " >/dev/null 2>&1").c_str()) == 0; }

class FileNamesTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(
        compile(folder, "lib.cpp", kSource, "lib.so", "-shared -fPIC -O2 -g -fno-reorder-functions -Wl,--build-id"));
  }

  std::string path(const std::string& name = "lib.so") { return folder / name; }
  FileNames open(const std::string& name = "lib.so") {
    auto names = FileNames::open(elf::test::open_file(path(name)), path(name), folder / "debug");
    EXPECT_TRUE(names) << (names ? "" : names.error().text());
    return std::move(*names);
  }
  // Of the unstripped library: addresses stay the same.
  std::uint64_t address(const std::string& symbol) {
    auto file = elf::ElfFile::open(path());
    const elf::FileSymbol* found = file ? file->symbols().find(symbol) : nullptr;
    EXPECT_NE(found, nullptr) << symbol;
    return found ? found->address : 0;
  }
  std::vector<std::string> functions(FileNames& names, std::uint64_t at) {
    std::vector<std::string> out;
    for (const Place& place : names.at(at)) out.push_back(place.function);
    return out;
  }
  void strip(const std::string& to, const std::string& how = "--strip-all") {
    ASSERT_TRUE(run("strip " + how + " -o " + path(to) + " " + path()));
  }

  TemporaryFolder folder;
};

TEST_F(FileNamesTest, SymbolsAndLines) {
  FileNames names = open();
  const auto places = names.at(address("_ZL6hiddeni"));
  ASSERT_THAT(places, SizeIs(1));
  EXPECT_EQ(places[0].function, "_ZL6hiddeni");
  EXPECT_THAT(places[0].file, EndsWith("/lib.cpp"));
  EXPECT_EQ(places[0].line, 16);
}

TEST_F(FileNamesTest, WhereLinesAreUnwantedFunctionsKeepTheirNames) {
  auto names = FileNames::open(elf::test::open_file(path()), path(), folder / "debug", Lines::Unwanted);
  ASSERT_TRUE(names);
  const auto places = names->at(address("_ZL6hiddeni"));
  ASSERT_THAT(places, SizeIs(1));
  EXPECT_EQ(places[0].function, "_ZL6hiddeni");
  EXPECT_TRUE(places[0].file.empty());
  EXPECT_EQ(places[0].line, 0);
}

TEST_F(FileNamesTest, InlinedFunctionsStandWithTheLinesOfTheirCalls) {
  FileNames names = open();
  const std::uint64_t begin = address("outer");
  bool seen = false;
  for (std::uint64_t at = begin; at < begin + 64 && !seen; ++at) {
    const auto places = names.at(at);
    if (places.size() != 3) continue;
    seen = true;
    EXPECT_THAT(functions(names, at), ElementsAre("innermost", "_ZN4deep6middleEi", "outer"));
    EXPECT_EQ(places[0].line, 4);
    EXPECT_EQ(places[1].line, 8);
    EXPECT_EQ(places[2].line, 13);
    for (const Place& place : places) EXPECT_THAT(place.file, EndsWith("/lib.cpp"));
  }
  EXPECT_TRUE(seen);
}

TEST_F(FileNamesTest, WithoutASizeASymbolReachesToTheNext) {
  FileNames names = open();
  const std::uint64_t at = address("behind") - 5;
  EXPECT_THAT(functions(names, at), ElementsAre("sizeless"));
  EXPECT_THAT(functions(names, at + 4), ElementsAre("sizeless"));
  EXPECT_THAT(functions(names, at + 5), ElementsAre("behind"));
}

TEST_F(FileNamesTest, StrippedFilesNameOnlyWhatTheyExport) {
  strip("stripped.so");
  FileNames names = open("stripped.so");
  EXPECT_THAT(functions(names, address("outer") + 1), ElementsAre("outer"));
  EXPECT_THAT(functions(names, address("_ZN4deep7visibleEi")), ElementsAre("_ZN4deep7visibleEi"));
  EXPECT_THAT(names.at(address("_ZL6hiddeni")), IsEmpty()) << "what a symbol before it is called would be a lie";
  EXPECT_EQ(names.at(address("outer"))[0].line, 0);
}

TEST_F(FileNamesTest, PackedSymbolsNameWhatWasStripped) {
  if (!run("command -v xz && command -v objcopy")) GTEST_SKIP() << "xz or objcopy is not installed";
  ASSERT_TRUE(run("objcopy --strip-debug " + path() + " " + path("mini") + " && xz -f -k " + path("mini")));
  strip("stripped.so");
  ASSERT_TRUE(run("objcopy --add-section .gnu_debugdata=" + path("mini.xz") + " " + path("stripped.so") + " " +
                  path("packed.so")));
  FileNames names = open("packed.so");
  EXPECT_THAT(functions(names, address("_ZL6hiddeni")), ElementsAre("_ZL6hiddeni"));
}

TEST_F(FileNamesTest, DamagedPackedSymbolsDoNoHarm) {
  if (!run("command -v objcopy")) GTEST_SKIP() << "objcopy is not installed";
  std::ofstream(path("mini.xz")) << std::string(
                                        "\xfd"
                                        "7zXZ\0\0\4",
                                        8)
                                 << std::string(4000, 'x');
  strip("stripped.so");
  ASSERT_TRUE(run("objcopy --add-section .gnu_debugdata=" + path("mini.xz") + " " + path("stripped.so") + " " +
                  path("packed.so")));
  FileNames names = open("packed.so");
  EXPECT_THAT(functions(names, address("outer")), ElementsAre("outer"));
}

TEST_F(FileNamesTest, ASeparateDebugFileIsFoundByBuildId) {
  const std::string id = elf::ElfFile::open(path())->build_id();
  const std::string place = folder / "debug/.build-id/" + id.substr(0, 2);
  std::filesystem::create_directories(place);
  ASSERT_TRUE(run("objcopy --only-keep-debug " + path() + " " + place + "/" + id.substr(2) + ".debug"));
  strip("stripped.so");
  FileNames names = open("stripped.so");
  const auto places = names.at(address("_ZL6hiddeni"));
  ASSERT_THAT(places, SizeIs(1));
  EXPECT_EQ(places[0].function, "_ZL6hiddeni");
  EXPECT_EQ(places[0].line, 16);
}

TEST_F(FileNamesTest, CompressedDebugInformationIsRead) {
  if (!run("objcopy --compress-debug-sections=zlib " + path() + " " + path("zlib.so")))
    GTEST_SKIP() << "objcopy cannot compress";
  FileNames names = open("zlib.so");
  EXPECT_EQ(names.at(address("_ZL6hiddeni")).at(0).line, 16);
}

TEST_F(FileNamesTest, OffsetsCountFromWhereTheFileIsMapped) {
  ASSERT_TRUE(compile(folder, "main.c",
                      "int far_away(int x) { return x + 1; }\nint main(void) { return far_away(-1); }\n", "fixed",
                      "-no-pie -O0 -g"));
  auto file = elf::ElfFile::open(path("fixed"));
  ASSERT_TRUE(file);
  FileNames names = open("fixed");
  EXPECT_THAT(functions(names, file->symbols().find("far_away")->address - 0x400000), ElementsAre("far_away"));
}

TEST_F(FileNamesTest, AddressesOutsideHaveNoName) {
  FileNames names = open();
  EXPECT_THAT(names.at(0), IsEmpty());
  EXPECT_THAT(names.at(1ull << 40), IsEmpty());
  EXPECT_THAT(names.at(~0ull), IsEmpty());
}

TEST_F(FileNamesTest, WhatIsNoFileOfOursIsAnError) {
  std::ofstream(path("text")) << "not an ELF file";
  EXPECT_FALSE(FileNames::open(elf::test::open_file(path("text")), "text", folder / "debug"));
  EXPECT_FALSE(FileNames::open(Fd(), "nothing", folder / "debug"));
}

// Each byte of the headers and tables in turn is made nonsense; names may be missing then, and nothing else.
TEST_F(FileNamesTest, DamagedFilesNameLess) {
  std::ifstream in(path(), std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(in)), {});
  const std::uint64_t outer = address("outer");
  for (std::size_t at = 16; at < whole.size(); at += 1 + whole.size() / 300) {
    std::string broken = whole;
    for (std::size_t i = at; i < std::min(at + 8, broken.size()); ++i) broken[i] = static_cast<char>(0xff - (i % 3));
    std::ofstream(path("broken.so"), std::ios::binary | std::ios::trunc) << broken;
    auto names = FileNames::open(elf::test::open_file(path("broken.so")), path("broken.so"), folder / "debug");
    if (!names) continue;
    for (std::uint64_t offset = outer; offset < outer + 32; offset += 4) EXPECT_LE(names->at(offset).size(), 65u);
  }
  for (std::size_t size = 64; size < whole.size(); size += whole.size() / 50) {
    std::ofstream(path("short.so"), std::ios::binary | std::ios::trunc) << whole.substr(0, size);
    auto names = FileNames::open(elf::test::open_file(path("short.so")), path("short.so"), folder / "debug");
    if (!names) continue;
    EXPECT_LE(names->at(outer).size(), 65u);
  }
}

}  // namespace
}  // namespace fade::symbols
