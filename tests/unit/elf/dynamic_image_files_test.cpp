// Images of libraries that the tests compile: loaded, only in memory, before relocation, and damaged.
#include "elf/dynamic_image.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <gmock/gmock.h>
#include <link.h>
#include <sys/mman.h>

#include <algorithm>
#include <random>

#include "elf/support.hpp"

namespace fade::elf {
namespace {

using test::BytesMemory;
using test::laid_out;
using test::OwnMemory;
using test::TemporaryFolder;
using ::testing::HasSubstr;

constexpr const char* kSmallLibrary = R"(
int answer(int x) { return x + 42; }
int other(int x) { return x * 2; }
int data = 7;
static int hidden(int x) { return x; }
int uses_hidden(int x) { return hidden(x); }
)";

class Compiled : public ::testing::Test {
 protected:
  std::string library(const std::string& flags) {
    const std::string name = fmt::format("lib{}.so", ++count_);
    if (!test::compile(folder_, "small.c", kSmallLibrary, name, "-shared -fPIC -nostdlib " + flags)) return {};
    return folder_ / name;
  }
  TemporaryFolder folder_;
  int count_ = 0;
};

struct Opened {
  explicit Opened(const std::string& path) : handle(::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {}
  ~Opened() {
    if (handle) ::dlclose(handle);
  }
  std::uint64_t bias() const { return static_cast<link_map*>(handle)->l_addr; }
  std::uint64_t symbol(const char* name) const { return reinterpret_cast<std::uint64_t>(::dlsym(handle, name)); }
  void* handle;
};

TEST_F(Compiled, FindsSymbolsByTheOldHashTable) {
  const auto path = library("-Wl,--hash-style=sysv");
  if (path.empty()) GTEST_SKIP() << "no compiler";
  const Opened lib(path);
  ASSERT_TRUE(lib.handle) << ::dlerror();
  const OwnMemory memory;
  const auto image = DynamicImage::open(memory, {lib.bias()});
  ASSERT_TRUE(image);
  ASSERT_TRUE(image->lookup("answer"));
  EXPECT_EQ(image->address(*image->lookup("answer")).value, lib.symbol("answer"));
  EXPECT_FALSE(image->lookup("answe"));
  EXPECT_FALSE(image->lookup("hidden"));
  EXPECT_EQ(image->all_functions().size(), 3u);
}

TEST_F(Compiled, ReadsStrippedLibraries) {
  const auto path = library("-s -Wl,--build-id=0xfadefade00112233");
  if (path.empty()) GTEST_SKIP() << "no compiler";
  const Opened lib(path);
  ASSERT_TRUE(lib.handle) << ::dlerror();
  const OwnMemory memory;
  const auto image = DynamicImage::open(memory, {lib.bias()});
  ASSERT_TRUE(image);
  EXPECT_EQ(image->build_id(), "fadefade00112233");
  EXPECT_EQ(image->all_functions().size(), 3u);
  EXPECT_EQ(image->soname(), "");
}

TEST_F(Compiled, ReadsALibraryWhoseAddressesDoNotStartAtZero) {
  const auto path = library("-Wl,-Ttext-segment=0x10000000");
  if (path.empty()) GTEST_SKIP() << "no compiler";
  const Opened lib(path);
  ASSERT_TRUE(lib.handle) << ::dlerror();
  const OwnMemory memory;
  const auto image = DynamicImage::open(memory, {lib.bias() + 0x10000000});
  ASSERT_TRUE(image) << image.error().text();
  EXPECT_EQ(image->bias(), lib.bias());
  ASSERT_TRUE(image->lookup("answer"));
  EXPECT_EQ(image->address(*image->lookup("answer")).value, lib.symbol("answer"));
}

TEST_F(Compiled, ReadsALibraryThatExistsOnlyInMemory) {
  const auto path = library("");
  if (path.empty()) GTEST_SKIP() << "no compiler";
  const Fd memfd(::memfd_create("odd name.so", MFD_CLOEXEC));
  std::ifstream in(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), {});
  ASSERT_EQ(::write(memfd.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  const Opened lib(fmt::format("/proc/self/fd/{}", memfd.get()));
  ASSERT_TRUE(lib.handle) << ::dlerror();
  const OwnMemory memory;
  const auto image = DynamicImage::open(memory, {lib.bias()});
  ASSERT_TRUE(image);
  ASSERT_TRUE(image->lookup("other"));
  EXPECT_EQ(image->address(*image->lookup("other")).value, lib.symbol("other"));
}

TEST_F(Compiled, ReadsAnObjectBeforeItIsRelocated) {
  const auto path = library("-Wl,--build-id=0xab");
  if (path.empty()) GTEST_SKIP() << "no compiler";
  const BytesMemory memory = laid_out(path, 0x7f0000000000);
  const auto image = DynamicImage::open(memory, {0x7f0000000000});
  ASSERT_TRUE(image);
  EXPECT_TRUE(image->lookup("answer"));
  EXPECT_EQ(image->all_functions().size(), 3u);
  EXPECT_EQ(image->build_id(), "ab");
}

TEST_F(Compiled, TellsWhetherAnObjectIsRelocated) {
  const char* kInitialised =
      "static void begin(void) {}\n__attribute__((section(\".init_array\"), used)) static void (*const first)(void) = "
      "begin;\n";
  if (!test::compile(folder_, "begin.c", kInitialised, "begin.so", "-shared -fPIC -nostdlib"))
    GTEST_SKIP() << "no compiler";
  const std::string path = folder_ / "begin.so";
  const BytesMemory unrelocated = laid_out(path, 0x7f0000000000), at_its_own_address = laid_out(path, 0);
  EXPECT_EQ(DynamicImage::open(unrelocated, {0x7f0000000000})->is_unrelocated(), true);
  EXPECT_EQ(DynamicImage::open(at_its_own_address, {0})->is_unrelocated(), std::nullopt);
  const Opened lib(path);
  ASSERT_TRUE(lib.handle) << ::dlerror();
  const OwnMemory memory;
  EXPECT_EQ(DynamicImage::open(memory, {lib.bias()})->is_unrelocated(), false);
  const auto without = library("");
  const BytesMemory bare = laid_out(without, 0x7f0000000000);
  EXPECT_EQ(DynamicImage::open(bare, {0x7f0000000000})->is_unrelocated(), std::nullopt);
}

// Whatever stands in the image, reading it ends and stays within its memory.
TEST_F(Compiled, SurvivesDamagedImages) {
  const auto path = library("");
  if (path.empty()) GTEST_SKIP() << "no compiler";
  const BytesMemory whole = laid_out(path, 0x7f0000000000);
  std::mt19937 random(7);
  for (int round = 0; round < 3000; ++round) {
    BytesMemory memory = whole;
    auto& bytes = memory.bytes();
    for (int i = 0; i < 8; ++i) {
      const std::size_t area = round % 2 ? bytes.size() : std::min<std::size_t>(bytes.size(), 0x400);
      bytes[random() % area] = std::byte(round % 3 ? random() % 256 : 0xff);
    }
    const auto image = DynamicImage::open(memory, {memory.base()});
    if (!image) continue;
    (void)image->lookup("answer");
    (void)image->soname();
    (void)image->needed();
    (void)image->build_id();
    EXPECT_LE(image->all_functions().size(), kMaxSymbols);
  }
}

class Refused : public ::testing::Test {
 protected:
  Refused() : memory_(std::vector<std::byte>(4096), 0x10000) {
    std::memcpy(header_.e_ident, ELFMAG, SELFMAG);
    header_.e_ident[EI_CLASS] = ELFCLASS64;
    header_.e_ident[EI_DATA] = ELFDATA2LSB;
    header_.e_machine = EM_X86_64;
    header_.e_type = ET_DYN;
    header_.e_phentsize = sizeof(Elf64_Phdr);
    header_.e_phnum = 1;
    header_.e_phoff = sizeof header_;
  }
  std::string why() {
    memory_.put(0x10000, header_);
    const auto image = DynamicImage::open(memory_, {0x10000});
    return image ? "" : image.error().text();
  }
  Elf64_Ehdr header_{};
  BytesMemory memory_;
};

TEST_F(Refused, SaysWhatIsWrong) {
  EXPECT_THAT(why(), HasSubstr("no PT_LOAD"));
  header_.e_phnum = 0xffff;
  EXPECT_THAT(why(), HasSubstr("program header table is malformed"));
  header_.e_machine = EM_AARCH64;
  EXPECT_THAT(why(), HasSubstr("another processor"));
  header_.e_ident[EI_CLASS] = ELFCLASS32;
  EXPECT_THAT(why(), HasSubstr("32-bit"));
  header_.e_ident[0] = 'x';
  EXPECT_THAT(why(), HasSubstr("no ELF header"));
  EXPECT_THAT(DynamicImage::open(memory_, {0x90000}).error().text(), HasSubstr("not readable"));
}

}  // namespace
}  // namespace fade::elf
