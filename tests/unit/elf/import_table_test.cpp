#include "elf/import_table.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <link.h>

#include <map>
#include <random>

#include "elf/support.hpp"

namespace fade::elf {
namespace {

using test::BytesMemory;
using test::laid_out;
using test::OwnMemory;
using test::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr const char* kProvider =
    "int hipOne(void) { return 1; } int hipTwo(void) { return 2; } int plain(void) { return 3; }";
// hipTwo also stands in a table of pointers; hipNobody is nowhere.
constexpr const char* kUser = R"(
int hipOne(void); int hipTwo(void); int plain(void); int hipNobody(void) __attribute__((weak));
int (*volatile table[])(void) = {hipTwo};
int hipOwn(void) { return 4; }
int use(int which) {
  if (which == 1) return hipOne();
  if (which == 2) return hipTwo();
  if (which == 3) return plain();
  return hipNobody ? hipNobody() : hipOwn();
}
)";

bool is_hip(std::string_view name) { return name.starts_with("hip"); }

class Imports : public ::testing::Test {
 protected:
  // "" where there is no compiler.
  std::string user(const std::string& flags) {
    if (!test::compile(folder_, "provider.c", kProvider, "libprovider.so", "-shared -fPIC")) return {};
    const std::string link = fmt::format("-shared -fPIC -O0 {} -Wl,--no-as-needed {} -Wl,-rpath,{}", flags,
                                         folder_ / "libprovider.so", folder_ / "");
    return test::compile(folder_, "user.c", kUser, "libuser.so", link) ? folder_ / "libuser.so" : "";
  }
  static std::vector<std::string> names(const ImportTable& table) {
    std::vector<std::string> out;
    for (const Import& import : table.all()) out.push_back(import.name);
    return out;
  }
  TemporaryFolder folder_;
};

struct OpenedLazily {
  explicit OpenedLazily(const std::string& path) : handle(::dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL)) {}
  ~OpenedLazily() {
    if (handle) ::dlclose(handle);
  }
  std::uint64_t bias() const { return static_cast<link_map*>(handle)->l_addr; }
  template <class T>
  T symbol(const char* name) const {
    return reinterpret_cast<T>(::dlsym(handle, name));
  }
  void* handle;
};

// name -> words, of the slots that have it.
std::multimap<std::string, std::uint64_t> words_by_name(const ImportTable& table, const Memory& memory,
                                                        std::uint64_t bias) {
  const auto words = table.words(memory, bias);
  EXPECT_TRUE(words);
  std::multimap<std::string, std::uint64_t> out;
  for (std::size_t i = 0; words && i < words->size(); ++i) out.emplace(table.all()[i].name, (*words)[i]);
  return out;
}

TEST_F(Imports, AreBoundToTheProviderWhenBoundAtOnce) {
  const auto path = user("-Wl,-z,now");
  if (path.empty()) GTEST_SKIP() << "no compiler";
  const OpenedLazily lib(path);
  ASSERT_TRUE(lib.handle) << ::dlerror();
  const OwnMemory memory;
  const auto image = DynamicImage::open(memory, {lib.bias()});
  ASSERT_TRUE(image);
  const auto table = ImportTable::read(memory, *image, is_hip);
  EXPECT_THAT(names(table), UnorderedElementsAre("hipOne", "hipTwo", "hipTwo", "hipNobody"))
      << "not what is defined, nor what nobody asked for";
  for (const auto& [name, word] : words_by_name(table, memory, lib.bias()))
    EXPECT_EQ(word, name == "hipNobody" ? 0 : lib.symbol<std::uint64_t>(name.c_str())) << name;
}

TEST_F(Imports, PointIntoTheirOwnModuleUntilTheFirstCall) {
  const auto path = user("-Wl,-z,lazy -fcf-protection=none");
  if (path.empty()) GTEST_SKIP() << "no compiler";
  if (std::getenv("LD_BIND_NOW")) GTEST_SKIP() << "LD_BIND_NOW is set";
  const OpenedLazily lib(path);
  ASSERT_TRUE(lib.handle) << ::dlerror();
  const OwnMemory memory;
  const auto image = DynamicImage::open(memory, {lib.bias()});
  ASSERT_TRUE(image);
  const auto table = ImportTable::read(memory, *image, [](std::string_view name) { return name == "hipOne"; });
  ASSERT_THAT(names(table), ElementsAre("hipOne"));
  EXPECT_TRUE(image->span().contains({table.words(memory, lib.bias())->front()}));
  EXPECT_EQ(lib.symbol<int (*)(int)>("use")(1), 1);
  EXPECT_EQ(table.words(memory, lib.bias())->front(), lib.symbol<std::uint64_t>("hipOne"));
}

TEST_F(Imports, AreReadInAFewReads) {
  const auto path = user("-Wl,-z,now");
  if (path.empty()) GTEST_SKIP() << "no compiler";
  const OpenedLazily lib(path);
  ASSERT_TRUE(lib.handle) << ::dlerror();
  const OwnMemory memory;
  const auto image = DynamicImage::open(memory, {lib.bias()});
  ASSERT_TRUE(image);
  memory.reads = 0;
  const auto table = ImportTable::read(memory, *image, is_hip);
  EXPECT_LE(memory.reads, 5u);
  memory.reads = 0;
  (void)table.words(memory, lib.bias());
  EXPECT_LE(memory.reads, 2u);
}

TEST_F(Imports, OfEveryObjectOfThisProcessEnd) {
  const OwnMemory memory;
  std::size_t all = 0;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* to) {
        const OwnMemory own;
        const auto image = DynamicImage::open(own, {info->dlpi_addr});
        const auto table = image
                               ? ImportTable::read(own, *image, [](std::string_view name) { return name == "malloc"; })
                               : ImportTable();
        for (const std::uint64_t word : table.words(own, info->dlpi_addr).value_or(std::vector<std::uint64_t>{}))
          if (Dl_info at; word != 0 && ::dladdr(reinterpret_cast<void*>(word), &at)) ++*static_cast<std::size_t*>(to);
        return 0;
      },
      &all);
  EXPECT_GT(all, 1u) << "libc, libstdc++ and others call malloc";
}

// More names than are read at once, in a string table with others in between.
TEST_F(Imports, NamesAreReadWholeWhereverTheyStand) {
  std::string source = "int sum(void) { return 0";
  std::string declared;
  const std::string padding(120, 'x');
  for (int i = 0; i < 1500; ++i) {
    for (const char* prefix : {"hipF", "other"}) {
      declared += fmt::format("int {}{:04}_{}(void);\n", prefix, i, padding);
      source += fmt::format(" + {}{:04}_{}()", prefix, i, padding);
    }
  }
  if (!test::compile(folder_, "many.c", declared + source + "; }", "libmany.so", "-shared -fPIC -nostdlib"))
    GTEST_SKIP() << "no compiler";
  const BytesMemory memory = laid_out(folder_ / "libmany.so", 0x7f0000000000);
  const auto image = DynamicImage::open(memory, {memory.base()});
  ASSERT_TRUE(image);
  auto found = names(ImportTable::read(memory, *image, is_hip));
  std::ranges::sort(found);
  ASSERT_EQ(found.size(), 1500u);
  for (int i = 0; i < 1500; ++i) EXPECT_EQ(found[static_cast<std::size_t>(i)], fmt::format("hipF{:04}_{}", i, padding));
}

TEST_F(Imports, OfAModuleThatIsGoneAreUnreadable) {
  const auto path = user("");
  if (path.empty()) GTEST_SKIP() << "no compiler";
  const BytesMemory memory = laid_out(path, 0x7f0000000000);
  const auto image = DynamicImage::open(memory, {memory.base()});
  ASSERT_TRUE(image);
  const auto table = ImportTable::read(memory, *image, is_hip);
  ASSERT_FALSE(table.all().empty());
  EXPECT_TRUE(table.words(memory, memory.base()));
  EXPECT_FALSE(table.words(memory, memory.base() + (1u << 30)));
  EXPECT_THAT(ImportTable::read(memory, *image, [](std::string_view) { return false; }).all(), IsEmpty());
}

// Whatever stands in the image, reading it ends and stays within its memory.
TEST_F(Imports, OfDamagedImagesEnd) {
  const auto path = user("");
  if (path.empty()) GTEST_SKIP() << "no compiler";
  const BytesMemory whole = laid_out(path, 0x7f0000000000);
  const auto sound = DynamicImage::open(whole, {whole.base()});
  ASSERT_TRUE(sound);
  const std::uint64_t dynamic = sound->dynamic() - RemoteAddr{whole.base()},
                      tables = sound->tables().jump_slots.begin.value - whole.base();
  std::mt19937 random(11);
  for (int round = 0; round < 3000; ++round) {
    BytesMemory memory = whole;
    auto& bytes = memory.bytes();
    const std::uint64_t begin = round % 3 == 0   ? 0
                                : round % 3 == 1 ? dynamic
                                                 : tables - std::min<std::uint64_t>(tables, 0x300);
    const std::uint64_t room = std::min<std::uint64_t>(bytes.size() - begin, round % 3 == 0 ? bytes.size() : 0x400);
    for (int i = 0; i < 8; ++i) bytes[begin + random() % room] = std::byte(round % 2 ? random() % 256 : 0xff);
    const auto image = DynamicImage::open(memory, {memory.base()});
    if (!image) continue;
    const auto table = ImportTable::read(memory, *image, [](std::string_view) { return true; });
    EXPECT_LE(table.all().size(), 16u << 10);
    if (const auto words = table.words(memory, image->bias())) {
      EXPECT_EQ(words->size(), table.all().size());
    }
  }
}

}  // namespace
}  // namespace fade::elf
