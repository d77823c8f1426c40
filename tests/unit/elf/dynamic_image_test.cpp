#include "elf/dynamic_image.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <gmock/gmock.h>
#include <link.h>
#include <sys/auxv.h>

#include <algorithm>

#include "elf/support.hpp"

namespace fade::elf {
namespace {

using test::OwnMemory;
using ::testing::Contains;

struct Loaded {
  std::uint64_t bias;
  std::uint64_t header;
  std::string name;
  std::uint64_t end;
};

std::vector<Loaded> loaded_objects() {
  std::vector<Loaded> out;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* to) {
        Loaded l{info->dlpi_addr, 0, info->dlpi_name, 0};
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& h = info->dlpi_phdr[i];
          if (h.p_type == PT_LOAD && h.p_offset == 0) l.header = info->dlpi_addr + h.p_vaddr;
          if (h.p_type == PT_LOAD) l.end = std::max(l.end, info->dlpi_addr + h.p_vaddr + h.p_memsz);
        }
        static_cast<std::vector<Loaded>*>(to)->push_back(l);
        return 0;
      },
      &out);
  return out;
}

Loaded loaded_object(const std::string& part) {
  for (const auto& l : loaded_objects())
    if (l.name.find(part) != std::string::npos) return l;
  ADD_FAILURE() << part << " is not loaded";
  return {};
}

Result<DynamicImage> image_of(const OwnMemory& memory, const std::string& part) {
  return DynamicImage::open(memory, {loaded_object(part).header});
}

std::uint64_t as_number(const void* p) { return reinterpret_cast<std::uint64_t>(p); }

TEST(DynamicImage, ReadsEveryObjectOfThisProcess) {
  const OwnMemory memory;
  for (const auto& l : loaded_objects()) {
    const auto image = DynamicImage::open(memory, {l.header});
    ASSERT_TRUE(image) << l.name << image.error().text();
    EXPECT_EQ(image->bias(), l.bias) << l.name;
    EXPECT_EQ(image->span().end.value, l.end) << l.name;
    EXPECT_TRUE(image->is_dynamic()) << l.name;
  }
}

TEST(DynamicImage, FindsSymbolsWhereTheLinkerFindsThem) {
  const OwnMemory memory;
  const auto libc = image_of(memory, "libc.so");
  ASSERT_TRUE(libc);
  for (const char* name : {"open", "qsort", "environ", "fopen", "malloc_usable_size"}) {
    const auto symbol = libc->lookup(name);
    ASSERT_TRUE(symbol) << name;
    EXPECT_EQ(symbol->name, name);
  }
  void* opened = ::dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);  // by handle: a sanitizer may have its own qsort
  EXPECT_EQ(libc->address(*libc->lookup("qsort")).value, as_number(::dlsym(opened, "qsort")));
  ::dlclose(opened);
  EXPECT_TRUE(libc->lookup("qsort")->function);
  EXPECT_FALSE(libc->lookup("environ")->function);
  EXPECT_TRUE(libc->in_code(libc->address(*libc->lookup("qsort"))));
  EXPECT_FALSE(libc->in_code(libc->address(*libc->lookup("environ"))));
}

TEST(DynamicImage, FindsNothingThatIsOnlyUsedOrOnlyInOtherModules) {
  const OwnMemory memory;
  const auto libc = image_of(memory, "libc.so");
  const auto cxx = image_of(memory, "libstdc++");
  ASSERT_TRUE(libc && cxx);
  EXPECT_FALSE(libc->lookup("hipInit"));
  EXPECT_FALSE(libc->lookup(""));
  EXPECT_FALSE(libc->lookup("_dl_debug_state"));  // defined by the loader, used here
  EXPECT_FALSE(cxx->lookup("qsort"));
  EXPECT_TRUE(cxx->lookup("_ZSt9terminatev"));
}

TEST(DynamicImage, MarksIndirectFunctions) {
  const OwnMemory memory;
  const auto libc = image_of(memory, "libc.so");
  ASSERT_TRUE(libc);
  const auto copy = libc->lookup("memcpy");
  ASSERT_TRUE(copy);
  EXPECT_TRUE(copy->ifunc);
  EXPECT_TRUE(copy->function);
}

TEST(DynamicImage, AsksManyModulesForANameWithFewReads) {
  const OwnMemory memory;
  for (const auto& l : loaded_objects()) {
    memory.reads = 0;
    const auto image = DynamicImage::open(memory, {l.header});
    ASSERT_TRUE(image);
    EXPECT_LE(memory.reads, 4u);
    memory.reads = 0;
    EXPECT_FALSE(image->lookup("hipInit"));
    EXPECT_LE(memory.reads, 4u);
  }
}

TEST(DynamicImage, ListsEveryFunctionOnceInAFewReads) {
  const OwnMemory memory;
  const auto libc = image_of(memory, "libc.so");
  ASSERT_TRUE(libc);
  memory.reads = 0;
  const auto all = libc->all_functions();
  EXPECT_LE(memory.reads, 5u);
  EXPECT_GT(all.size(), 2000u);
  std::vector<std::pair<std::uint64_t, std::string>> keys;
  for (const auto& f : all) {
    keys.emplace_back(f.offset, f.name);
    EXPECT_TRUE(libc->in_code(libc->address(f))) << f.name;
  }
  EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end()));
  EXPECT_EQ(std::adjacent_find(keys.begin(), keys.end()), keys.end());
  const auto with_name = [&](const char* name) {
    return std::count_if(all.begin(), all.end(), [&](const auto& f) { return f.name == name; });
  };
  EXPECT_EQ(with_name("qsort"), 1);
  EXPECT_EQ(with_name("pthread_cond_wait"), 2);  // two versions at two addresses
  EXPECT_EQ(with_name("environ"), 0);
}

TEST(DynamicImage, KnowsNamesAndBuildIds) {
  const OwnMemory memory;
  const auto cxx = image_of(memory, "libstdc++");
  ASSERT_TRUE(cxx);
  EXPECT_EQ(cxx->soname(), "libstdc++.so.6");
  EXPECT_THAT(cxx->needed(), Contains("libc.so.6"));
  EXPECT_THAT(cxx->build_id(), ::testing::MatchesRegex("[0-9a-f]{16,128}"));
}

TEST(DynamicImage, OpensTheProgramFromItsAuxiliaryVector) {
  const OwnMemory memory;
  const auto program = DynamicImage::open_program(memory, {::getauxval(AT_PHDR)}, ::getauxval(AT_PHNUM));
  ASSERT_TRUE(program) << program.error().text();
  EXPECT_EQ(program->bias(), loaded_objects().front().bias);
  EXPECT_EQ(program->entry().value, ::getauxval(AT_ENTRY));
  EXPECT_TRUE(program->debug());
}

// The vDSO's dynamic section is read-only, so nobody has added the bias to its addresses.
TEST(DynamicImage, ReadsTheUnrelocatedVdso) {
  const OwnMemory memory;
  const auto base = ::getauxval(AT_SYSINFO_EHDR);
  if (base == 0) GTEST_SKIP() << "no vDSO here";
  const auto vdso = DynamicImage::open(memory, {base});
  ASSERT_TRUE(vdso);
  EXPECT_EQ(vdso->soname(), "linux-vdso.so.1");
  EXPECT_TRUE(vdso->lookup("__vdso_clock_gettime"));
}

}  // namespace
}  // namespace fade::elf
