#include "elf/link_map.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <link.h>
#include <sys/auxv.h>

#include <algorithm>

#include "elf/support.hpp"

namespace fade::elf {
namespace {

using test::BytesMemory;
using test::OwnMemory;

// The loader's own one, as DT_DEBUG says: the name _r_debug may mean a copy in this program.
const r_debug& own_r_debug() {
  for (const ElfW(Dyn)* d = _DYNAMIC; d->d_tag != DT_NULL; ++d)
    if (d->d_tag == DT_DEBUG) return *reinterpret_cast<const r_debug*>(d->d_un.d_ptr);
  std::abort();
}
RemoteAddr own_r_debug_at() { return {reinterpret_cast<std::uint64_t>(&own_r_debug())}; }

std::vector<std::uint64_t> addresses_of(const std::vector<LinkMapEntry>& entries) {
  std::vector<std::uint64_t> out;
  for (const auto& e : entries) out.push_back(e.at.value);
  return out;
}

TEST(Loader, IsFoundByItsOwnSymbols) {
  const OwnMemory memory;
  const auto loader = find_loader(memory, {::getauxval(AT_BASE)});
  ASSERT_TRUE(loader) << loader.error().text();
  EXPECT_EQ(loader->r_debug, own_r_debug_at());
  EXPECT_EQ(loader->debug_state.value, own_r_debug().r_brk);
}

TEST(Loader, IsNotFoundInAnotherLibrary) {
  const OwnMemory memory;
  Dl_info info{};
  ASSERT_NE(::dladdr(reinterpret_cast<void*>(&::qsort), &info), 0);
  const auto loader = find_loader(memory, {reinterpret_cast<std::uint64_t>(info.dli_fbase)});
  ASSERT_FALSE(loader);
  EXPECT_THAT(loader.error().text(), ::testing::HasSubstr("_dl_debug_state"));
}

TEST(LinkMap, AgreesWithTheLoaderAboutThisProcess) {
  const OwnMemory memory;
  LinkMap map(own_r_debug_at());
  const auto change = map.update(memory);
  ASSERT_TRUE(change);
  EXPECT_FALSE(change->damaged);
  std::size_t i = 0;
  for (const link_map* l = own_r_debug().r_map; l; l = l->l_next, ++i) {
    ASSERT_LT(i, change->added.size());
    EXPECT_EQ(change->added[i].at.value, reinterpret_cast<std::uint64_t>(l));
    EXPECT_EQ(change->added[i].l_addr, l->l_addr);
    EXPECT_EQ(change->added[i].l_ld.value, reinterpret_cast<std::uint64_t>(l->l_ld));
    EXPECT_EQ(change->added[i].name, l->l_name);
  }
  EXPECT_EQ(map.entries().size(), i);
  EXPECT_TRUE(map.update(memory)->added.empty());
}

class LoadedLate : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!test::compile(folder_, "late.c", "int late(void) { return 1; }", "liblate.so", "-shared -fPIC -nostdlib"))
      GTEST_SKIP() << "no compiler";
    ASSERT_TRUE(map_.update(memory_));
  }
  test::TemporaryFolder folder_;
  OwnMemory memory_;
  LinkMap map_{own_r_debug_at()};
};

TEST_F(LoadedLate, AppearsAndDisappears) {
  void* lib = ::dlopen((folder_ / "liblate.so").c_str(), RTLD_NOW);
  ASSERT_NE(lib, nullptr) << ::dlerror();
  const auto opened = map_.update(memory_);
  ASSERT_TRUE(opened);
  ASSERT_EQ(opened->added.size(), 1u);
  EXPECT_EQ(opened->added[0].name, folder_ / "liblate.so");
  EXPECT_EQ(opened->added[0].at.value, reinterpret_cast<std::uint64_t>(lib));
  ::dlclose(lib);
  const auto closed = map_.update(memory_);
  ASSERT_TRUE(closed);
  ASSERT_EQ(closed->removed.size(), 1u);
  EXPECT_EQ(closed->removed[0].name, folder_ / "liblate.so");
  EXPECT_TRUE(closed->added.empty());
}

TEST_F(LoadedLate, AppearsInANamespaceOfItsOwn) {
  void* lib = ::dlmopen(LM_ID_NEWLM, (folder_ / "liblate.so").c_str(), RTLD_NOW);
  if (!lib) GTEST_SKIP() << ::dlerror();
  const auto opened = map_.update(memory_);
  ASSERT_TRUE(opened);
  if (own_r_debug().r_version < 2) {
    ::dlclose(lib);
    GTEST_SKIP() << "this C library does not list other namespaces";
  }
  const auto found = std::find_if(opened->added.begin(), opened->added.end(),
                                  [&](const auto& e) { return e.name == folder_ / "liblate.so"; });
  ASSERT_NE(found, opened->added.end());
  EXPECT_EQ(found->space, 1u);
  EXPECT_EQ(found->at.value, reinterpret_cast<std::uint64_t>(lib));
  ::dlclose(lib);
  const auto closed = map_.update(memory_);
  ASSERT_TRUE(closed);
  EXPECT_THAT(addresses_of(closed->removed), ::testing::Contains(reinterpret_cast<std::uint64_t>(lib)));
}

// ---------------------------------------------------------------- lists made by hand
class Crafted : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kBase = 0x100000, kDebug = kBase, kNodes = kBase + 0x1000, kNames = kBase + 0x80000;
  struct Node {
    std::uint64_t addr, name, ld, next, prev;
  };
  Crafted() : memory_(std::vector<std::byte>(0x100000), kBase) {
    debug(kDebug, 1, node_at(0), 0, 0);
    for (int i = 0; i < 3; ++i) node(i, i - 1, i + 1);
    node(3, 2, -1);
  }
  static std::uint64_t node_at(int i) { return i < 0 ? 0 : kNodes + static_cast<std::uint64_t>(i) * 64; }
  void debug(std::uint64_t at, std::uint32_t version, std::uint64_t map, std::uint32_t state, std::uint64_t next) {
    memory_.put(at, std::uint64_t{version});
    memory_.put(at + 8, map);
    memory_.put(at + 24, std::uint64_t{state});
    memory_.put(at + 40, next);
  }
  void node(int i, int prev, int next) {
    const std::uint64_t name = kNames + static_cast<std::uint64_t>(i) * 32;
    memory_.put(node_at(i), Node{std::uint64_t(i) << 32, name, node_at(i) + 8, node_at(next), node_at(prev)});
    char text[32]{};
    fmt::format_to_n(text, 31, "/lib/{}.so", i);
    std::memcpy(memory_.bytes().data() + (name - kBase), text, sizeof text);
  }
  void state(std::uint32_t value) { memory_.put(kDebug + 24, value); }
  std::vector<std::string> names(const std::vector<LinkMapEntry>& entries) {
    std::vector<std::string> out;
    for (const auto& e : entries) out.push_back(e.name);
    return out;
  }
  struct Counting final : Memory {
    explicit Counting(const Memory& m) : under(m) {}
    std::size_t read(RemoteAddr from, std::span<std::byte> into) const override {
      ++reads;
      return under.read(from, into);
    }
    const Memory& under;
    mutable std::size_t reads = 0;
  };
  BytesMemory memory_;
  Counting counted_{memory_};
  LinkMap map_{{kDebug}};
};

TEST_F(Crafted, ReportsNothingWhileTheListIsBeingChanged) {
  state(1);
  auto change = map_.update(memory_);
  ASSERT_TRUE(change);
  EXPECT_EQ(change->state, LoaderState::Adding);
  EXPECT_TRUE(change->added.empty());
  state(0);
  EXPECT_EQ(map_.update(memory_)->added.size(), 4u);
}

TEST_F(Crafted, ReadsOnlyTheNewTailAfterAnAddition) {
  for (int i = 3; i < 200; ++i) node(i, i - 1, i + 1);
  node(200, 199, -1);
  ASSERT_TRUE(map_.update(memory_));
  state(1);
  ASSERT_TRUE(map_.update(memory_));
  node(200, 199, 201);
  node(201, 200, -1);
  state(0);
  counted_.reads = 0;
  const auto change = map_.update(counted_);
  ASSERT_TRUE(change);
  EXPECT_THAT(names(change->added), ::testing::ElementsAre("/lib/201.so"));
  EXPECT_LE(counted_.reads, 4u);
  EXPECT_EQ(map_.entries().size(), 202u);
}

TEST_F(Crafted, ReadsEverythingWhereTheTailIsNotWhatItWas) {
  ASSERT_TRUE(map_.update(memory_));
  state(1);
  ASSERT_TRUE(map_.update(memory_));
  node(2, 1, 5);  // 3 has gone, 5 has come
  node(5, 2, -1);
  memory_.put(node_at(3), Node{});
  state(0);
  const auto change = map_.update(memory_);
  ASSERT_TRUE(change);
  EXPECT_THAT(names(change->added), ::testing::ElementsAre("/lib/5.so"));
  EXPECT_THAT(names(change->removed), ::testing::ElementsAre("/lib/3.so"));
}

TEST_F(Crafted, SeesAnotherLibraryInTheSameNode) {
  ASSERT_TRUE(map_.update(memory_));
  state(2);
  ASSERT_TRUE(map_.update(memory_));
  memory_.put(node_at(3), std::uint64_t{0x7777000});
  state(0);
  const auto change = map_.update(memory_);
  ASSERT_TRUE(change);
  EXPECT_EQ(change->added.size(), 1u);
  EXPECT_EQ(change->removed.size(), 1u);
}

TEST_F(Crafted, ReadsOnlyTheNamespaceThatChanged) {
  constexpr std::uint64_t kOther = kBase + 0x100;
  debug(kDebug, 2, node_at(0), 0, kOther);
  debug(kOther, 2, node_at(10), 0, 0);
  node(10, -1, -1);
  EXPECT_EQ(map_.update(memory_)->added.size(), 5u);
  memory_.put(kOther + 24, 1u);
  EXPECT_EQ(map_.update(memory_)->state, LoaderState::Adding);
  memory_.put(kOther + 24, 0u);
  node(10, -1, 11);
  node(11, 10, -1);
  counted_.reads = 0;
  const auto change = map_.update(counted_);
  ASSERT_TRUE(change);
  ASSERT_EQ(change->added.size(), 1u);
  EXPECT_EQ(change->added[0].space, 1u);
  EXPECT_LE(counted_.reads, 6u);
}

TEST_F(Crafted, EndsOnACycle) {
  node(3, 2, 1);
  const auto change = map_.update(memory_);
  ASSERT_TRUE(change);
  EXPECT_TRUE(change->damaged);
  EXPECT_EQ(change->added.size(), 4u);
}

TEST_F(Crafted, KeepsWhatItReadBeforeUnreadableMemory) {
  memory_.put(node_at(1) + 24, std::uint64_t{0xdead0000000});
  const auto change = map_.update(memory_);
  ASSERT_TRUE(change);
  EXPECT_TRUE(change->damaged);
  EXPECT_EQ(change->added.size(), 2u);
}

TEST_F(Crafted, EndsOnACycleOfNamespaces) {
  debug(kDebug, 2, node_at(0), 0, kDebug);
  const auto change = map_.update(memory_);
  ASSERT_TRUE(change);
  EXPECT_GE(change->added.size(), 4u);
}

TEST_F(Crafted, ReportsAnUnreadableList) {
  LinkMap map({0xdead0000});
  ASSERT_FALSE(map.update(memory_));
}

}  // namespace
}  // namespace fade::elf
