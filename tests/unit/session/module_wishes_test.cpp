// Which functions of a library are watched, refused or jumped from; guards of libc; IFUNCs.
#include "session/module_watch_fixture.hpp"

namespace fade::module_watch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// ---------------------------------------------------------------- libc

TEST_F(ModuleWatchTest, TheGuardsOfLibcStandBeforeAnyOtherSite) {
  begin_with({"hipMalloc"});
  const std::uint64_t hip = loader.next_base(), libc = loader.next_base();
  loader.put_library(hip, kHip);
  loader.put_library(libc, kLibc);
  engine.refusal = "the guards are looked at first";
  change(1, [&] {
    loader.append(hip, "/opt/libamdhip64.so");
    loader.append(libc, "/lib/libc.so.6");
  });
  const Site* action = inferior.space().find({libc + FakeLibrary::code(1)});
  const Site* mask = inferior.space().find({libc + FakeLibrary::code(2)});
  ASSERT_TRUE(action && mask);
  EXPECT_EQ(SiteUse::of(*action).entry, functions.set_action());
  EXPECT_EQ(SiteUse::of(*mask).entry, functions.set_mask());
  EXPECT_EQ(inferior.program->libc.value, libc);
  const auto& all = sink.notices;
  const auto refused = std::ranges::find_if(all, [](const Notice& one) { return std::get_if<Lifecycle>(&one); });
  EXPECT_NE(refused, all.end()) << "the functions come after";
}

TEST_F(ModuleWatchTest, WithoutANetTheGuardsAreRefusedAndSaid) {
  begin_with({});
  inferior.program->space = std::make_shared<AddressSpace>(kernel, kTarget, process.proc());
  open(kLibc, "/lib/libc.so.6");
  EXPECT_THAT(sink.lifecycle("refused"), ElementsAre(HasSubstr("sigaction: "), HasSubstr("pthread_sigmask: ")));
  EXPECT_THAT(watch->notes(), ElementsAre(HasSubstr("2 functions could not be watched, first sigaction")));
}

// ---------------------------------------------------------------- wishes

TEST_F(ModuleWatchTest, AProbeOfALibraryIsForThatLibraryAlone) {
  wish({"start"}, "libmine*");
  ASSERT_TRUE(begin());
  open({.soname = "libmine.so.1", .functions = {"start"}}, "/opt/x.so");
  open({.functions = {"start"}}, "/opt/libmine.so");
  open({.soname = "libyours.so", .functions = {"start"}}, "/opt/libyours.so");
  ASSERT_THAT(loaded(), SizeIs(3));
  EXPECT_EQ(loaded()[0].sites, 1u) << "by soname";
  EXPECT_EQ(loaded()[1].sites, 1u) << "by file name";
  EXPECT_EQ(loaded()[2].sites, 0u);
}

TEST_F(ModuleWatchTest, AWishThatNoLibraryFulfilsIsSaid) {
  wish({}, {}, {{"libmine.so", "start"}});
  ASSERT_TRUE(begin());
  open({.soname = "libyours.so", .functions = {"start"}}, "/opt/libyours.so");
  EXPECT_THAT(watch->notes(), ElementsAre("--probe libmine.so:start: no library with that function was loaded"));
}

TEST_F(ModuleWatchTest, AWishWithoutAFileIsRefused) {
  wish({}, {}, {{"libmine.so", "start"}});
  ASSERT_TRUE(begin());
  open({.soname = "libmine.so", .functions = {"start"}}, "/opt/libmine.so");
  EXPECT_THAT(sink.lifecycle("refused"), SizeIs(1));
  EXPECT_THAT(watch->notes(), SizeIs(1));
}

TEST_F(ModuleWatchTest, RefusalsOfTheEngineAreCountedAndTheFirstIsSaid) {
  begin_with({"hipMalloc", "hipFree"});
  engine.refusal = "no room";
  open(kHip, "/opt/libamdhip64.so");
  EXPECT_EQ(loaded().at(0).sites, 0u);
  EXPECT_EQ(watch->armed(), 0u);
  EXPECT_THAT(sink.lifecycle("refused"), ElementsAre("hipMalloc: no room", "hipFree: no room"));
  EXPECT_THAT(watch->notes(), ElementsAre("2 functions could not be watched, first hipMalloc: no room"));
}

// ---------------------------------------------------------------- code that no thread can be in

TEST_F(ModuleWatchTest, OnlyUntouchedCodeMayHaveAJump) {
  const std::tuple<int, bool, bool, std::uint64_t> cases[] = {
      // threads, doubtful list, shared memory, untouched bytes
      {1, false, false, FakeLibrary::kFunctionSize},
      {2, false, false, 0},
      {1, true, false, 0},
      {1, false, true, 0},
  };
  begin_with({"hipMalloc"});
  for (const auto& [threads, is_doubtful, is_shared, untouched] : cases) {
    count_threads(threads);
    inferior.program->is_list_doubtful = is_doubtful;
    const auto other = is_shared ? inferior.program : nullptr;
    open(kHip, "/opt/libamdhip64.so");
    EXPECT_EQ(engine.watched.back().code.untouched, untouched) << threads << is_doubtful << is_shared;
  }
}

TEST_F(ModuleWatchTest, ABranchIntoTheFunctionLeavesNoRoomForAJump) {
  begin_with({"hipMalloc"});
  const std::uint64_t base = loader.next_base(), function = base + FakeLibrary::code(1);
  loader.put_library(base, kHip);
  constexpr std::uint8_t kBranch[] = {0xEB, 0xE2};  // jmp -30: from the next function to its third instruction
  process.put_bytes(function + FakeLibrary::kFunctionSize, kBranch, sizeof kBranch);
  change(1, [&] { loader.append(base, "/opt/libamdhip64.so"); });
  EXPECT_EQ(engine.watched.at(0).code.untouched, 0u);
}

// ---------------------------------------------------------------- IFUNCs

TEST_F(ModuleWatchTest, AnIndirectFunctionIsWatchedWhereItsResolverSays) {
  begin_with({"hipMalloc", "hipMemset"});
  FakeLibrary library = kHip;
  library.indirect = {"hipMemset"};
  const std::uint64_t base = open(library, "/opt/libamdhip64.so");
  ASSERT_THAT(engine.watched, SizeIs(2));
  const Entry& resolver = functions[engine.watched[1].entry];
  EXPECT_EQ(resolver.what, Entry::What::Resolver);
  watch->arming().resolved(inferior, thread, resolver, {base + FakeLibrary::code(2)});
  EXPECT_EQ(functions[engine.watched.back().entry].what, Entry::What::Function);
  EXPECT_EQ(functions[engine.watched.back().entry].probe->symbol, "hipMemset");
  EXPECT_EQ(watch->armed(), 3u);
}

// ---------------------------------------------------------------- a program that ran before

TEST_F(ModuleWatchTest, LoadedModulesOfARunningProgramHaveNoUntouchedCode) {
  FakeLibrary library = kHip;
  library.indirect = {"hipMemset"};
  begin_with({"hipMalloc", "hipMemset"});
  const std::uint64_t base = loader.next_base();
  loader.put_library(base, library);
  loader.append(base, "/opt/libamdhip64.so");
  watch->arm_loaded(inferior, leader_of(kTarget));
  ASSERT_THAT(engine.watched, SizeIs(2));
  EXPECT_EQ(engine.watched[0].code.untouched, 0u);
  EXPECT_THAT(sink.lifecycle("refused"), ElementsAre(HasSubstr("1 functions of /opt/libamdhip64.so: they are IFUNCs")));
  stop();
  EXPECT_THAT(loaded(), SizeIs(1)) << "known by now";
}

}  // namespace
}  // namespace fade::module_watch
