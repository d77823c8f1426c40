#include "elf/elf_file.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <link.h>

#include "elf/support.hpp"

namespace fade::elf {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

FileSymbol function(std::uint64_t address, std::uint64_t size, std::string_view name, bool exported = true) {
  return {address, size, name, true, false, exported, exported};
}

TEST(SymbolTable, NamesWhatCoversAnAddress) {
  const SymbolTable table({function(0x200, 0x10, "second"), function(0x100, 0x20, "first")});
  EXPECT_FALSE(table.at(0xff));
  EXPECT_EQ(table.at(0x100)->name, "first");
  EXPECT_EQ(table.at(0x11f)->offset, 0x1fu);
  EXPECT_FALSE(table.at(0x120));
  EXPECT_EQ(table.at(0x20f)->name, "second");
  EXPECT_FALSE(table.at(0x210));
  EXPECT_FALSE(SymbolTable({}).at(0));
}

TEST(SymbolTable, PrefersTheInnermostThenTheExportedSymbol) {
  const SymbolTable table(
      {function(0x100, 0x100, "outer"), function(0x140, 0x10, "inner"), function(0x140, 0x10, "alias", false)});
  EXPECT_EQ(table.at(0x148)->name, "inner");
  EXPECT_EQ(table.at(0x160)->name, "outer");
}

TEST(SymbolTable, LetsSymbolsWithoutSizeReachTheNextOne) {
  const SymbolTable table({function(0x100, 0, "start"), function(0x200, 0x10, "next")});
  EXPECT_EQ(table.at(0x1ff)->name, "start");
  EXPECT_EQ(table.at(0x1ff)->offset, 0xffu);
}

TEST(SymbolTable, KeepsASymbolThatStandsInBothTablesOnce) {
  const SymbolTable table({function(0x100, 8, "f", false), function(0x100, 8, "a", false), function(0x100, 8, "f")});
  ASSERT_EQ(table.all().size(), 2u);
  EXPECT_TRUE(table.find("f")->exported);
}

TEST(SymbolTable, FindsTheLinkableOneOfSeveral) {
  const SymbolTable table(
      {function(0x100, 8, "init", false), function(0x200, 8, "init"), function(0x300, 8, "init", false)});
  EXPECT_EQ(table.find("init")->address, 0x200u);
  EXPECT_EQ(table.find("ini"), nullptr);
}

TEST(SymbolTable, SuggestsNamesThatLookAlike) {
  const SymbolTable table(
      {function(1, 1, "render_frame"), function(2, 1, "render_frames"), function(3, 1, "teardown")});
  EXPECT_THAT(table.near("render_farme", 3), ElementsAre("render_frame", "render_frames"));
  EXPECT_THAT(table.near("frame", 1), ElementsAre("render_frame"));
  EXPECT_THAT(table.near("xyzzy", 3), IsEmpty());
}

constexpr const char* kSource = R"(
int shown(int x) { return x + 1; }
static __attribute__((noinline)) int hidden(int x) { __asm__(""); return x * 3; }
int calls(int x) { return hidden(x); }
static int k;
int *_Z4vaddPfS_id __attribute__((section(".data.rel.ro"))) = &k;
)";

class ElfFileTest : public ::testing::Test {
 protected:
  void build(const std::string& flags, const std::string& output = "libx.so") {
    if (!test::compile(folder_, "x.c", kSource, output, "-shared -fPIC -O1 " + flags)) GTEST_SKIP() << "no compiler";
  }
  Result<ElfFile> open(const std::string& name = "libx.so") { return ElfFile::open(folder_ / name); }
  bool run(const std::string& command) { return std::system(command.c_str()) == 0; }
  test::TemporaryFolder folder_;
};

TEST_F(ElfFileTest, KnowsLocalAndExportedFunctionsAndObjects) {
  build("-Wl,--build-id=0xfadefade");
  auto file = open();
  ASSERT_TRUE(file) << file.error().text();
  ASSERT_NE(file->symbols().find("hidden"), nullptr);
  EXPECT_FALSE(file->symbols().find("hidden")->exported);
  const auto* shown = file->symbols().find("shown");
  ASSERT_NE(shown, nullptr);
  EXPECT_TRUE(shown->exported && shown->function);
  EXPECT_EQ(file->symbols().at(shown->address + 1)->name, "shown");
  const auto* handle = file->symbols().find("_Z4vaddPfS_id");
  ASSERT_NE(handle, nullptr);
  EXPECT_FALSE(handle->function);
  EXPECT_EQ(handle->size, 8u);
  EXPECT_EQ(file->build_id(), "fadefade");
  ASSERT_NE(file->section(".text"), nullptr);
  EXPECT_TRUE(file->section_at(shown->address)->executable);
  EXPECT_EQ(file->section_at(handle->address)->name, ".data.rel.ro");
}

TEST_F(ElfFileTest, AgreesWithTheDynamicLinker) {
  build("");
  auto file = open();
  void* lib = ::dlopen((folder_ / "libx.so").c_str(), RTLD_NOW);
  ASSERT_TRUE(file && lib);
  const auto bias = static_cast<link_map*>(lib)->l_addr;
  EXPECT_EQ(file->symbols().find("calls")->address + bias, reinterpret_cast<std::uint64_t>(::dlsym(lib, "calls")));
  ::dlclose(lib);
}

TEST_F(ElfFileTest, KnowsOnlyExportsOfStrippedFiles) {
  build("-s");
  auto file = open();
  ASSERT_TRUE(file);
  EXPECT_EQ(file->symbols().find("hidden"), nullptr);
  EXPECT_NE(file->symbols().find("shown"), nullptr);
  EXPECT_FALSE(file->attach_debug_file(folder_ / "nowhere"));
}

TEST_F(ElfFileTest, FindsItsDebugFileByBuildId) {
  build("-g -Wl,--build-id=0xabcdef0123456789");
  const std::string place = folder_ / "debug/.build-id/ab";
  if (!run(fmt::format(
          "mkdir -p {0} && cd {1} && objcopy --only-keep-debug libx.so {0}/cdef0123456789.debug && strip libx.so",
          place, folder_ / "")))
    GTEST_SKIP() << "no objcopy";
  auto file = open();
  ASSERT_TRUE(file);
  EXPECT_EQ(file->symbols().find("hidden"), nullptr);
  ASSERT_TRUE(file->attach_debug_file(folder_ / "debug"));
  EXPECT_NE(file->symbols().find("hidden"), nullptr);
}

TEST_F(ElfFileTest, FindsItsDebugFileByNameAndChecksum) {
  build("-g -Wl,--build-id=none");
  const std::string here = folder_ / "";
  if (!run(fmt::format("cd {0} && mkdir -p debug{0} && objcopy --only-keep-debug libx.so x.debug && strip libx.so && "
                       "objcopy --add-gnu-debuglink=x.debug libx.so && mv x.debug debug{0}",
                       here)))
    GTEST_SKIP() << "no objcopy";
  auto file = open();
  ASSERT_TRUE(file);
  EXPECT_TRUE(file->attach_debug_file(folder_ / "debug"));
  EXPECT_NE(file->symbols().find("hidden"), nullptr);
  std::ofstream(folder_ / "debug" + here + "x.debug", std::ios::app) << "changed";
  auto again = open();
  ASSERT_TRUE(again);
  EXPECT_FALSE(again->attach_debug_file(folder_ / "debug"));
}

TEST_F(ElfFileTest, SaysWhyAFileCannotBeRead) {
  EXPECT_EQ(open("missing").error().code, ENOENT);
  std::ofstream(folder_ / "text") << "this is no library";
  EXPECT_THAT(open("text").error().text(), HasSubstr("not an ELF file"));
  std::ofstream(folder_ / "empty");
  EXPECT_FALSE(open("empty"));
}

TEST_F(ElfFileTest, SurvivesTruncatedAndDamagedFiles) {
  build("");
  std::ifstream in(folder_ / "libx.so", std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(in)), {});
  for (std::size_t i = 0; i < 400; ++i) {
    std::string bytes = whole;
    if (i % 2) bytes.resize(whole.size() * i / 400);
    else bytes[(i * 7919) % std::min<std::size_t>(whole.size(), 64)] = static_cast<char>(i);
    std::ofstream(folder_ / "bad.so", std::ios::binary | std::ios::trunc) << bytes;
    auto file = open("bad.so");
    if (!file) continue;
    (void)file->symbols().at(0x1000);
    (void)file->build_id();
    (void)file->debug_link();
    for (const auto& section : file->sections()) (void)file->bytes(section);
  }
}

}  // namespace
}  // namespace fade::elf
