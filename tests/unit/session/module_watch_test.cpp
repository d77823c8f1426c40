// Modules that come and go in a list of the dynamic loader, over memory and libraries made by hand: no process runs.
// The engine that would capture calls takes notes only.
#include "session/module_watch.hpp"

#include <gmock/gmock.h>

#include "session/fake_library.hpp"
#include "session/harness.hpp"
#include "session/site_use.hpp"

namespace fade {
namespace {

using test::FakeLibrary;
using test::FakeLoader;
using test::FakeProcess;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr Pid kTarget = FakeProcess::kPid;
const FakeLibrary kHip{.soname = "libamdhip64.so.6", .functions = {"hipGetDeviceCount", "hipMalloc", "hipFree"}};
const FakeLibrary kLibc{.soname = "libc.so.6",
                        .functions = {"__libc_start_main", "sigaction", "pthread_sigmask", "syscall"}};

// Notes each function that it is asked to watch, once per address.
struct NotingEngine final : Capture {
  std::vector<WatchedFunction> watched;
  std::vector<RemoteRange> forgotten;
  std::string refusal;

  bool can(const Entry&) const override { return true; }
  std::vector<Result<bool>> watch(Inferior&, std::span<const WatchedFunction> functions, Tid) override {
    std::vector<Result<bool>> out;
    for (const WatchedFunction& one : functions) {
      const bool is_known = std::ranges::any_of(
          watched, [&](const WatchedFunction& other) { return other.code.function == one.code.function; });
      out.push_back(refusal.empty() ? Result<bool>(!is_known) : fail(refusal));
      if (refusal.empty() && !is_known) watched.push_back(one);
    }
    return out;
  }
  std::optional<std::uint32_t> on_trap(Thread&, const Registers&, std::int64_t) override { return std::nullopt; }
  void drain() override {}
  void forget(Inferior&, RemoteRange range, Tid) override {
    forgotten.push_back(range);
    std::erase_if(watched, [&](const WatchedFunction& one) { return range.contains(one.code.function); });
  }
  void leave(Inferior&, Tid) override {}
  void thread_ended(Thread&, bool) override {}
  void set_recording(bool) override {}
};

struct ModuleWatchTest : ::testing::Test {
  ModuleWatchTest() {
    engines.add(engine);
    thread.tid = leader_of(kTarget);
    thread.inferior = &inferior;
    count_threads(1);
  }
  void count_threads(int threads) const {
    std::filesystem::remove_all(process.root() + fmt::format("/proc/{}/task", kTarget));
    for (int i = 0; i < threads; ++i) process.write(fmt::format("task/{}/comm", kTarget.value() + i), "x\n");
  }
  // The session's wishes: probes of the GPU stack, of a library by name, and functions by name.
  void wish(std::vector<std::string> symbols, const std::string& library = {},
            std::vector<SymbolRequest> requests = {}) {
    Wishes wishes{.symbols = std::move(requests)};
    for (const auto& symbol : symbols) {
      probes::Probe probe = *test::simple_probe(symbol, 1);
      probe.library = library;
      wishes.probes.push_back(std::make_shared<const probes::Probe>(std::move(probe)));
    }
    watch.emplace(sink, clock, functions, engines, std::move(wishes));
  }
  Result<void> begin() { return watch->begin(inferior, leader_of(kTarget), {.loader_base = {FakeLoader::kBase}}); }
  // The program has begun, and its loader has listed nothing yet.
  void begin_with(std::vector<std::string> symbols) {
    wish(std::move(symbols));
    const auto begun = begin();
    ASSERT_TRUE(begun) << begun.error().text();
  }
  void stop() { watch->loader_stopped(inferior, thread); }
  // The two stops of a change: before it and after it.
  template <class Change>
  void change(std::uint32_t state, Change&& by) {
    loader.state(state);
    stop();
    by();
    loader.state(0);
    stop();
  }
  std::uint64_t open(const FakeLibrary& library, const std::string& name, const std::string& path = {}) {
    const std::uint64_t base = loader.next_base();
    loader.put_library(base, library, path);
    change(1, [&] { loader.append(base, name); });
    return base;
  }
  void close(std::uint64_t base) {
    change(2, [&] { loader.remove(base); });
  }
  std::vector<std::string> watched() const {
    std::vector<std::string> out;
    for (const WatchedFunction& one : engine.watched) out.push_back(functions[one.entry].probe->symbol);
    return out;
  }
  std::vector<ModuleLoaded> loaded() const { return sink.all<ModuleLoaded>(); }
  std::vector<std::string> paths() const {
    std::vector<std::string> out;
    for (const ModuleLoaded& one : loaded()) out.push_back(one.path);
    return out;
  }
  std::uint8_t byte_at(std::uint64_t at) const { return inferior.memory().value<std::uint8_t>({at}).value_or(0); }

  FakeProcess process;
  FakeLoader loader{process};
  test::FakeKernel kernel{process};
  test::CollectingSink sink;
  const SessionClock clock;
  const probes::Overrides overrides;
  mutable FunctionTable functions{sink, overrides};
  Engines engines{functions};
  NotingEngine engine;
  std::optional<ModuleWatch> watch;
  Inferior inferior{.pid = kTarget, .id = 3, .program = std::make_shared<Program>(kernel, kTarget, process.proc())};
  Thread thread;
};

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

// ---------------------------------------------------------------- hostile lists

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
}  // namespace fade
