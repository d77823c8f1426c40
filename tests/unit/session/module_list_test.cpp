// Lists of the dynamic loader that are damaged: the program's memory is not trusted.
#include "session/module_watch_fixture.hpp"

namespace fade::module_watch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

struct HostileList : ModuleWatchTest {
  // Three libraries, the second of HIP.
  void SetUp() override {
    begin_with({"hipMalloc"});
    for (int i = 0; i < 3; ++i) {
      const std::uint64_t base = loader.next_base();
      loader.put_library(base, i == 1 ? kHip : FakeLibrary{.functions = {"f"}});
      nodes.push_back(loader.append(base, fmt::format("/lib/{}.so", i)));
    }
  }
  std::vector<std::uint64_t> nodes;
  static constexpr const char* kDamaged = "the dynamic loader's list of modules is damaged: some may be missing";
};

TEST_F(HostileList, ACycleEndsAndTheModulesBeforeItCount) {
  loader.set_next(nodes[2], nodes[1]);
  stop();
  EXPECT_THAT(paths(), ElementsAre("/lib/0.so", "/lib/1.so", "/lib/2.so"));
  EXPECT_THAT(watched(), ElementsAre("hipMalloc"));
  EXPECT_THAT(sink.lifecycle("note"), ElementsAre(kDamaged));
  EXPECT_TRUE(inferior.program->is_list_doubtful);
  EXPECT_EQ(engine.watched[0].code.untouched, 0u) << "a module that is missing may have run";
}

TEST_F(HostileList, AnEntryThatCannotBeReadEndsTheList) {
  loader.set_next(nodes[1], 0x7000'0000'0000);
  stop();
  EXPECT_THAT(paths(), ElementsAre("/lib/0.so", "/lib/1.so"));
  EXPECT_THAT(sink.lifecycle("note"), ElementsAre(kDamaged));
}

TEST_F(HostileList, AListWithoutEndIsCut) {
  constexpr std::uint64_t kMany = 20'000, kFirst = FakeLoader::kList + FakeLoader::kRoom + 0x10'0000;
  std::vector<FakeLoader::Node> endless(kMany);
  for (std::uint64_t i = 0; i < kMany; ++i)
    endless[i] = {.addr = 0x7000'0000'0000, .next = kFirst + (i + 1) * sizeof(FakeLoader::Node)};
  process.put_bytes(kFirst, endless.data(), kMany * sizeof(FakeLoader::Node));
  loader.set_next(nodes[2], kFirst);
  stop();
  EXPECT_THAT(loaded(), SizeIs(3)) << "the other entries lead to no library";
  EXPECT_THAT(sink.lifecycle("note"), ElementsAre(kDamaged));
}

TEST_F(HostileList, ANameThatDoesNotEndIsCutAndAnUnreadableOneIsNone) {
  const std::uint64_t text = FakeLoader::kList + FakeLoader::kRoom / 2;
  process.put_bytes(text, std::string(5000, 'x').data(), 5000);
  process.link("exe", "/usr/bin/trainer");
  loader.set_name(nodes[1], text);
  loader.set_name(nodes[2], 0x7000'0000'0000);
  stop();
  EXPECT_THAT(paths(), ElementsAre("/lib/0.so", std::string(4096, 'x'), "/usr/bin/trainer"));
  EXPECT_THAT(watched(), ElementsAre("hipMalloc")) << "its exports count, not its name";
}

TEST_F(HostileList, AnEntryWithoutALibraryIsLeftOut) {
  process.put(nodes[0], std::uint64_t{0x7000'0000'0000});
  process.put(nodes[2], FakeLoader::kList);  // memory that is no library
  stop();
  EXPECT_THAT(paths(), ElementsAre("/lib/1.so"));
}

TEST_F(HostileList, AListThatCannotBeReadIsSaidAndChangesNothing) {
  stop();
  inferior.program->link_map.emplace(RemoteAddr{0x7000'0000'0000});
  stop();
  EXPECT_THAT(sink.lifecycle("note"), ElementsAre(HasSubstr("cannot read the dynamic linker's list")));
  EXPECT_THAT(inferior.program->modules, SizeIs(3));
  EXPECT_THAT(sink.all<ModuleUnloaded>(), IsEmpty());
}

TEST_F(HostileList, AListThatIsGoodAgainShowsTheMissingModules) {
  loader.set_next(nodes[0], 0x7000'0000'0000);
  stop();
  EXPECT_THAT(loaded(), SizeIs(1));
  change(2, [&] { loader.set_next(nodes[0], nodes[1]); });
  EXPECT_THAT(paths(), ElementsAre("/lib/0.so", "/lib/1.so", "/lib/2.so"));
  EXPECT_TRUE(inferior.program->is_list_doubtful) << "they may have run meanwhile";
}

}  // namespace
}  // namespace fade::module_watch
