// The beginning of a program, the roles of its libraries, dlopen and dlclose.
#include "session/module_watch_fixture.hpp"

namespace fade::module_watch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// ---------------------------------------------------------------- the beginning of a program

TEST_F(ModuleWatchTest, ABeginPutsTheNetAndTheLoadersSiteIn) {
  begin_with({});
  EXPECT_TRUE(inferior.space().has_net());
  EXPECT_NE(kernel.trap_action.handler, 0u) << "the kernel calls the net for SIGTRAP";
  const Site* site = inferior.space().find({FakeLoader::kDebugState});
  ASSERT_NE(site, nullptr);
  EXPECT_EQ(SiteUse::of(*site).entry, functions.loader());
  EXPECT_EQ(byte_at(FakeLoader::kDebugState), 0xE9) << "its guard is a jump";
  EXPECT_THAT(loaded(), IsEmpty());
}

TEST_F(ModuleWatchTest, WithoutTheLoadersFunctionNothingIsChanged) {
  loader.put_library(FakeLoader::kBase, {.soname = "ld-musl.so", .functions = {"dlopen"}});
  wish({});
  const auto begun = begin();
  ASSERT_FALSE(begun);
  EXPECT_THAT(begun.error().text(), HasSubstr("_dl_debug_state"));
  EXPECT_THAT(kernel.calls, IsEmpty());
}

TEST_F(ModuleWatchTest, AStopBeforeAnyBeginIsNothing) {
  wish({});
  loader.append(loader.next_base(), "/lib/libx.so");
  stop();
  EXPECT_THAT(loaded(), IsEmpty());
}

// ---------------------------------------------------------------- roles

struct RoleCase {
  const char* role;
  std::vector<std::string> functions, needed;
};

struct ModuleRoles : ModuleWatchTest, ::testing::WithParamInterface<RoleCase> {};

TEST_P(ModuleRoles, ComeFromExportsAndNotFromNames) {
  begin_with({});
  open({.soname = "libplain.so.1", .needed = GetParam().needed, .functions = GetParam().functions}, "/opt/libplain.so");
  ASSERT_THAT(loaded(), SizeIs(1));
  EXPECT_EQ(loaded()[0].role, GetParam().role);
  const bool is_marker = loaded()[0].role == "roctx" || loaded()[0].role == "nvtx";
  EXPECT_EQ(watch->libraries().size(), loaded()[0].role.empty() || is_marker ? 0u : 1u);
}

INSTANTIATE_TEST_SUITE_P(
    Of, ModuleRoles,
    ::testing::Values(RoleCase{"hip", {"hipGetDeviceCount", "hipMalloc"}, {}},
                      RoleCase{"", {"hipMalloc", "hipFree"}, {}},
                      RoleCase{"hiprtc", {"hiprtcCompileProgram", "hiprtcCreateProgram"}, {}},
                      RoleCase{"cuda", {"cuInit", "cuDeviceGetCount"}, {"libc.so.6"}},
                      RoleCase{"zluda", {"cuInit", "cuDeviceGetCount"}, {"libc.so.6", "libamdhip64.so.7"}},
                      RoleCase{"cudart", {"cudaMalloc", "__cudaRegisterFatBinary"}, {}},
                      RoleCase{"nvml", {"nvmlInit_v2", "nvmlDeviceGetCount_v2"}, {}},
                      RoleCase{"roctx", {"roctxRangePushA", "roctxRangePop"}, {}},
                      RoleCase{"nvtx", {"nvtxRangePushA", "nvtxRangePop"}, {}}, RoleCase{"", {"main"}, {}}));

TEST_F(ModuleWatchTest, AFalseNameMakesNoHip) {
  begin_with({"hipMalloc"});
  open({.soname = "libamdhip64.so.6", .functions = {"hipMalloc"}}, "/opt/rocm/lib/libamdhip64.so.6");
  EXPECT_EQ(loaded().at(0).role, "");
  EXPECT_THAT(watched(), IsEmpty());
}

// ---------------------------------------------------------------- dlopen and dlclose

TEST_F(ModuleWatchTest, AnOpenedLibraryIsAnnouncedWithItsSites) {
  begin_with({"hipMalloc", "hipFree", "hipNotThere"});
  const std::uint64_t base = open(kHip, "/opt/libamdhip64.so", "/opt/libamdhip64.so.6.4.43484");
  ASSERT_THAT(loaded(), SizeIs(1));
  const ModuleLoaded one = loaded()[0];
  EXPECT_EQ(one.process.value(), 3u);
  EXPECT_EQ(one.path, "/opt/libamdhip64.so.6.4.43484") << "the name behind symbolic links";
  EXPECT_EQ(one.version, "6.4.43484");
  EXPECT_EQ(one.soname, "libamdhip64.so.6");
  EXPECT_EQ(one.base, base);
  EXPECT_EQ(one.size, FakeLibrary::kSize);
  EXPECT_EQ(one.sites, 2u);
  EXPECT_THAT(watched(), ElementsAre("hipMalloc", "hipFree"));
  EXPECT_EQ(engine.watched.at(0).code.function.value, base + FakeLibrary::code(1));
  EXPECT_EQ(watch->armed(), 2u);
  EXPECT_THAT(watch->libraries(), ElementsAre("/opt/libamdhip64.so.6.4.43484 (6.4.43484)"));
  EXPECT_EQ(functions[engine.watched[0].entry].library_major, 6);
}

TEST_F(ModuleWatchTest, NothingIsAnnouncedWhileTheListChanges) {
  begin_with({"hipMalloc"});
  const std::uint64_t base = loader.next_base();
  loader.put_library(base, kHip);
  loader.state(1);
  loader.append(base, "/opt/libamdhip64.so");
  stop();
  EXPECT_THAT(loaded(), IsEmpty());
  loader.state(0);
  stop();
  EXPECT_THAT(loaded(), SizeIs(1));
}

TEST_F(ModuleWatchTest, OtherLibrariesAreAnnouncedAndNotWatched) {
  begin_with({"hipMalloc"});
  open({.soname = "libm.so.6", .functions = {"sin", "hipMalloc"}}, "/lib/libm.so.6");
  EXPECT_EQ(loaded().at(0).sites, 0u);
  EXPECT_FALSE(inferior.program->modules.at(0).watched);
  EXPECT_THAT(watched(), IsEmpty());
}

TEST_F(ModuleWatchTest, AClosedLibraryIsForgottenWithAllThatWasKnownOfIt) {
  begin_with({"hipMalloc"});
  const std::uint64_t first = open(kHip, "/opt/a.so"), second = open(kHip, "/opt/b.so");
  for (const std::uint64_t base : {first, second}) {
    inferior.program->call_sites[{base + 8}] = {};
    inferior.program->named_kernels[base + 16] = {};
  }
  close(first);
  ASSERT_THAT(sink.all<ModuleUnloaded>(), SizeIs(1));
  EXPECT_EQ(sink.all<ModuleUnloaded>()[0].module, loaded().at(0).module);
  ASSERT_THAT(engine.forgotten, SizeIs(1));
  EXPECT_EQ(engine.forgotten[0].begin.value, first);
  ASSERT_THAT(inferior.program->modules, SizeIs(1));
  EXPECT_EQ(inferior.program->modules[0].path, "/opt/b.so");
  EXPECT_THAT(inferior.program->call_sites, SizeIs(1));
  EXPECT_THAT(inferior.program->named_kernels, SizeIs(1));
}

TEST_F(ModuleWatchTest, ALibraryThatComesBackIsANewModule) {
  begin_with({"hipMalloc"});
  const std::uint64_t base = open(kHip, "/opt/a.so");
  close(base);
  change(1, [&] { loader.append(base, "/opt/a.so"); });
  ASSERT_THAT(loaded(), SizeIs(2));
  EXPECT_NE(loaded()[0].module, loaded()[1].module);
  EXPECT_EQ(loaded()[1].sites, 1u) << "its memory is new";
  EXPECT_THAT(sink.all<FunctionDefined>(), SizeIs(1)) << "the function is the same";
}

TEST_F(ModuleWatchTest, AnotherLibraryInThePlaceOfAClosedOneIsSeen) {
  begin_with({"hipMalloc"});
  const std::uint64_t base = open(kHip, "/opt/a.so");
  loader.put_library(base + 0x8'0000, kHip);
  change(2, [&] {
    loader.remove(base);
    loader.append(base + 0x8'0000, "/opt/b.so");
  });
  EXPECT_THAT(sink.all<ModuleUnloaded>(), SizeIs(1));
  EXPECT_THAT(paths(), ElementsAre("/opt/a.so", "/opt/b.so"));
}

TEST_F(ModuleWatchTest, TheSameFileTwiceIsTwoModulesOfOneLibrary) {
  begin_with({"hipMalloc"});
  open(kHip, "/opt/libamdhip64.so");
  open(kHip, "/opt/libamdhip64.so");
  ASSERT_THAT(loaded(), SizeIs(2));
  EXPECT_NE(loaded()[0].module, loaded()[1].module);
  EXPECT_EQ(loaded()[1].sites, 1u);
  EXPECT_THAT(engine.watched, SizeIs(2)) << "calls of both are seen";
  EXPECT_THAT(sink.all<FunctionDefined>(), SizeIs(1));
  EXPECT_THAT(watch->libraries(), SizeIs(1));
}

// As the loader itself, in each namespace of dlmopen(3).
TEST_F(ModuleWatchTest, TheSameMappingTwiceIsWatchedOnce) {
  begin_with({"hipMalloc"});
  const std::uint64_t base = open(kHip, "/opt/libamdhip64.so");
  change(1, [&] { loader.append(base, "/opt/libamdhip64.so"); });
  ASSERT_THAT(loaded(), SizeIs(2));
  EXPECT_EQ(loaded()[1].sites, 0u);
  EXPECT_EQ(watch->armed(), 1u);
}

TEST_F(ModuleWatchTest, AModuleWithoutNameIsTheProgram) {
  process.link("exe", "/usr/bin/trainer");
  begin_with({});
  open({.functions = {"main"}}, "");
  open({.functions = {"main"}}, "", "/usr/bin/python3.11");
  EXPECT_THAT(paths(), ElementsAre("/usr/bin/trainer", "/usr/bin/python3.11"));
}

}  // namespace
}  // namespace fade::module_watch
