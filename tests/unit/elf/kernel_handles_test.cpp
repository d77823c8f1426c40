#include "elf/kernel_handles.hpp"

#include <gmock/gmock.h>

#include "elf/support.hpp"

namespace fade::elf {
namespace {

// What hipcc makes of kernels: a handle object each, and a constructor that tells the runtime their names.
constexpr const char* kKernelSource = R"(
#include <stddef.h>
void __hipRegisterFunction(void**, const void*, char*, const char*, unsigned, void*, void*, void*, void*, int*);
void __hipRegisterVar(void**, void*, char*, char*, int, size_t, int, int);
static void stub(void) {}
static void* handle_a = stub;
static void* handle_b = stub;
static void* handle_c = stub;
static int variable;
void* volatile modules;
__attribute__((constructor)) static void register_kernels(void) {
  static const char a[] = "_Z4vaddPfS_id", b[] = "_Z5scalePff", c[] = "plain_kernel", v[] = "variable";
  __hipRegisterFunction((void**)&modules, &handle_a, (char*)a, a, -1, 0, 0, 0, 0, 0);
  __hipRegisterFunction((void**)&modules, &handle_b, (char*)b, b, -1, 0, 0, 0, 0, 0);
  __hipRegisterVar((void**)&modules, &variable, (char*)v, (char*)v, 0, 4, 0, 0);
  __hipRegisterFunction((void**)&modules, &handle_c, (char*)c, c, -1, 0, 0, 0, 0, 0);
}
int use(void) { return handle_a == handle_b && handle_c && variable; }
)";

constexpr const char* kRuntime = "void __hipRegisterFunction(void) {} void __hipRegisterVar(void) {}";

struct Case {
  const char* name;
  const char* flags;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class KernelHandles : public ::testing::TestWithParam<Case> {};

TEST_P(KernelHandles, AreReadFromTheConstructor) {
  const test::TemporaryFolder folder;
  if (!test::compile(folder, "rt.c", kRuntime, "librt-stand-in.so", "-shared -fPIC")) GTEST_SKIP() << "no compiler";
  const auto flags = fmt::format("{} -L{} -Wl,--no-as-needed -l:librt-stand-in.so", GetParam().flags, folder / "");
  ASSERT_TRUE(test::compile(folder, "k.c", kKernelSource, "k.so", flags));
  const auto file = ElfFile::open(folder / "k.so");
  ASSERT_TRUE(file);
  std::vector<std::string> names;
  for (const auto& [handle, name] : registered_kernels(*file)) {
    names.push_back(name);
    const auto symbol = file->symbols().at(handle);
    if (!symbol) continue;  // stripped
    EXPECT_EQ(symbol->offset, 0u);
    EXPECT_THAT(std::string(symbol->name), ::testing::StartsWith("handle_"));
  }
  EXPECT_THAT(names, ::testing::UnorderedElementsAre("_Z4vaddPfS_id", "_Z5scalePff", "plain_kernel"));
}

INSTANTIATE_TEST_SUITE_P(HoweverItIsCompiled, KernelHandles,
                         ::testing::Values(Case{"plt", "-shared -fPIC -O2"}, Case{"stripped", "-shared -fPIC -O2 -s"},
                                           Case{"ibt", "-shared -fPIC -O2 -fcf-protection=full"},
                                           Case{"now", "-shared -fPIC -O2 -Wl,-z,now"},
                                           Case{"noplt", "-shared -fPIC -O2 -fno-plt"},
                                           Case{"fixed", "-no-pie -fno-pie -O2 -nostartfiles -Wl,-e,use"}),
                         [](const auto& param) { return std::string(param.param.name); });

TEST(KernelHandles, AreNothingInOtherLibraries) {
  const auto file = ElfFile::open("/proc/self/exe");
  ASSERT_TRUE(file);
  EXPECT_TRUE(registered_kernels(*file).empty());
}

}  // namespace
}  // namespace fade::elf
