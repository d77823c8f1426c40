// Kernels by every route: names of handles that come and go, launches inside of launches, lists of launches, graphs,
// code objects.
#include "elf/code_object.hpp"
#include "store_fixture.hpp"

namespace fade::store {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Kernels : public Recording {
 protected:
  void SetUp() override { open(); }

  void load(std::uint64_t module, const std::vector<elf::CodeObject>& objects = {}) {
    const CallRecord loaded = tracee->begin("hipModuleLoadData", {0x7ffd0000, 0x9000});
    if (!objects.empty()) {
      const auto bytes = elf::pack(objects);
      tracee->text(PieceKind::In, 1, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    }
    tracee->piece(PieceKind::Out, 0, module);
    tracee->put(loaded);
  }
  void get(std::uint64_t module, std::uint64_t function, std::string_view name, bool is_cut = false) {
    const CallRecord got = tracee->begin("hipModuleGetFunction", {0x7ffd0000, module, 0x7ffd1000});
    tracee->text(PieceKind::String, 2, name, is_cut);
    tracee->piece(PieceKind::Out, 0, function);
    tracee->put(got);
  }
  CallRecord begin_launch(std::uint64_t function, std::uint32_t blocks = 10) {
    const CallRecord launch = tracee->begin("hipModuleLaunchKernel", {function, blocks, 1, 1, 128, 1});
    tracee->piece(PieceKind::Stack, 0, std::array<std::uint64_t, 5>{1, 64, stream_, 0, 0});
    return launch;
  }
  void launch_function(std::uint64_t function, std::uint32_t blocks = 10) {
    tracee->put(begin_launch(function, blocks));
  }
  void made(const std::string& symbol, std::array<std::uint64_t, 6> words, std::uint8_t parameter,
            std::uint64_t handle) {
    const CallRecord record = tracee->begin(symbol, words);
    tracee->piece(PieceKind::Out, parameter, handle);
    tracee->put(record);
  }
  void instantiate(std::uint64_t graph, std::uint64_t exec) {
    made("hipGraphInstantiateWithFlags", {0x7ffd0000, graph, 0}, 0, exec);
  }

  std::uint64_t stream_ = 0;
};

TEST_F(Kernels, OfAHandleThatIsUsedAgainHaveTheNewName) {
  load(0x99);
  get(0x99, 0x7700, "first");
  launch_function(0x7700);
  tracee->call("hipModuleUnload", {0x99});
  launch_function(0x7700);  // nobody knows what that is
  load(0x99);
  get(0x99, 0x7700, "second");
  launch_function(0x7700);
  finish();
  EXPECT_THAT(rows("SELECT name FROM launches ORDER BY id"), ElementsAre("first", "0x7700", "second"));
}

TEST_F(Kernels, NameThatWasCutSaysSo) {
  load(0x99);
  get(0x99, 0x7700, "whole");
  get(0x99, 0x7800, "whole", true);
  launch_function(0x7700);
  launch_function(0x7800);
  finish();
  EXPECT_THAT(rows("SELECT name FROM launches ORDER BY id"), ElementsAre("whole", "whole..."));
}

// A program may ask for any number of names of any length.
TEST_F(Kernels, NamesTakeSoMuchMemoryAndNoMore) {
  const std::string stem(4000, 'x');
  constexpr std::uint64_t kMany = 20'000;
  load(0x99);
  for (std::uint64_t i = 1; i <= kMany; ++i) get(0x99, i << 8, stem + std::to_string(i));
  launch_function(1 << 8);
  launch_function(kMany << 8);
  finish();
  EXPECT_THAT(rows("SELECT name FROM launches ORDER BY id"), ElementsAre("0x100", stem + "20000"));
}

TEST_F(Kernels, OfALibraryThatTookTheAddressesOfAnotherOneAreNotItsKernels) {
  tracee->notice(KernelNamed{1, 0x500, "old", "/lib/old.so"});
  tracee->launch(0x500);
  tracee->notice(KernelNamed{1, 0x500, "", "/lib/stripped.so"});
  tracee->launch(0x500);
  tracee->notice(KernelNamed{1, 0x500, "new", "/lib/new.so"});
  tracee->launch(0x500);
  finish();
  EXPECT_THAT(rows("SELECT name FROM launches ORDER BY id"), ElementsAre("old", "0x500", "new"));
}

TEST_F(Kernels, GotBySymbolHaveItsName) {
  tracee->notice(KernelNamed{1, 0x500, "_Z6squarePfi", "/bin/prog"});
  made("hipGetFuncBySymbol", {0x7ffd0000, 0x500}, 0, 0x7700);
  launch_function(0x7700);
  finish();
  EXPECT_THAT(rows("SELECT mangled, library FROM launches"), ElementsAre("_Z6squarePfi|/bin/prog"));
}

TEST_F(Kernels, LaunchedInsideOfALaunchCountOnce) {
  tracee->notice(KernelNamed{1, 0x500, "square", ""});
  tracee->notice(KernelNamed{1, 0x7700, "square", ""});
  const CallRecord outer = tracee->begin("hipLaunchByPtr", {0x500});
  CallRecord inner = begin_launch(0x7700);
  inner.parent = outer.id;
  tracee->put(inner);
  tracee->put(outer);
  finish();
  EXPECT_THAT(rows("SELECT name, grid_x, function FROM launches"), ElementsAre("square|10|hipModuleLaunchKernel"));
  EXPECT_EQ(value("SELECT sum(launches) FROM kernel_stats"), "1");
  EXPECT_EQ(value("SELECT sum(launches) FROM process_use"), "1");
}

TEST_F(Kernels, ByALaunchThatFailedBeforeTheOneInsideCountAsFailed) {
  tracee->fail("hipLaunchByPtr", 98);
  finish();
  EXPECT_THAT(rows("SELECT launches, errors FROM kernel_stats"), ElementsAre("0|1"));
}

TEST_F(Kernels, OfAListHaveARowEach) {
  struct Params {
    std::uint64_t function;
    std::array<std::uint32_t, 8> shape;
    std::uint64_t stream, params;
  };
  static_assert(sizeof(Params) == 56);
  load(0x99);
  get(0x99, 0x7700, "a");
  get(0x99, 0x7800, "b");
  const CallRecord launch = tracee->begin("hipModuleLaunchCooperativeKernelMultiDevice", {0x7ffd0000, 2, 0});
  const std::array<Params, 2> list{Params{0x7700, {4, 1, 1, 64, 1, 1, 0, 0}, 0xa0, 0},
                                   Params{0x7800, {5, 1, 1, 32, 1, 1, 0, 0}, 0xb0, 0}};
  tracee->piece(PieceKind::In, 0, list);
  tracee->put(launch);
  finish();
  EXPECT_THAT(rows("SELECT nth, name, grid_x, block_x, stream_hex FROM launches ORDER BY nth"),
              ElementsAre("0|a|4|64|0xa0", "1|b|5|32|0xb0"));
  EXPECT_EQ(value("SELECT sum(launches) FROM kernel_stats"), "2");
  EXPECT_EQ(value("SELECT sum(launches) FROM process_use"), "2");
}

TEST_F(Kernels, OfACapturedStreamRunWhenTheGraphIsLaunched) {
  load(0x99);
  get(0x99, 0x7700, "a");
  stream_ = 0xa0;
  tracee->call("hipStreamBeginCapture", {0xa0, 0});
  launch_function(0x7700, 3);
  launch_function(0x7700, 3);
  launch_function(0x7700, 4);
  stream_ = 0xb0;
  launch_function(0x7700, 7);  // another stream: runs
  made("hipStreamEndCapture", {0xa0, 0x7ffd0000}, 1, 0x6000);
  instantiate(0x6000, 0xe000);
  for (int i = 0; i < 5; ++i) tracee->call("hipGraphLaunch", {0xe000, 0xa0});
  tracee->fail("hipGraphLaunch", 1);
  finish();
  EXPECT_THAT(rows("SELECT grid_x, captured FROM launches ORDER BY id"), ElementsAre("3|1", "3|1", "4|1", "7|0"));
  EXPECT_THAT(rows("SELECT grid_x, launches, in_graphs FROM kernel_runs ORDER BY 1"),
              ElementsAre("3|10|10", "4|5|5", "7|1|0"));
  EXPECT_THAT(rows("SELECT grid_x, n, runs FROM graph_kernels ORDER BY 1"), ElementsAre("3|2|10", "4|1|5"));
  EXPECT_EQ(value("SELECT kernels || ' ' || launches || ' ' || complete FROM graphs WHERE id = 1"), "3 5 1");
  EXPECT_EQ(value("SELECT sum(launches), sum(failed_launches) FROM process_use"), "16|1");
  EXPECT_THAT(rows("SELECT handle_hex, launches FROM streams ORDER BY handle"),
              ElementsAre("0x0|0", "0xa0|15", "0xb0|1"))
      << "graphs and what ran, not what was captured";
}

TEST_F(Kernels, OfGraphsFromBeforeTheRecordingAreNotGuessed) {
  tracee->call("hipGraphLaunch", {0xe000, 0});
  tracee->call("hipGraphExecDestroy", {0xe000});
  finish();
  EXPECT_THAT(rows("SELECT kernels, launches, complete FROM graphs"), ElementsAre("0|1|0"));
  EXPECT_THAT(rows("SELECT name, launches FROM kernel_runs"),
              ElementsAre("(kernels of a graph whose creation was not recorded)|1"));
  EXPECT_EQ(value("SELECT sum(launches) FROM process_use"), "1");
}

TEST_F(Kernels, ThatFailedToLaunchAreNoLaunches) {
  load(0x99);
  get(0x99, 0x7700, "a");
  launch_function(0x7700);
  for (int i = 0; i < 2; ++i) {
    CallRecord failed = begin_launch(0x7700);
    failed.result = 719;
    failed.flags |= kFailed;
    tracee->put(failed);
  }
  finish();
  EXPECT_EQ(value("SELECT launches, errors FROM kernel_stats"), "1|2");
  EXPECT_EQ(value("SELECT launches, errors FROM kernel_runs"), "1|2");
  EXPECT_EQ(value("SELECT launches, failed_launches FROM verdicts"), "1|2");
  EXPECT_EQ(value("SELECT sum(launches) FROM streams"), "1");
}

TEST_F(Kernels, CopiesOfAGraphCountByItsLaunches) {
  tracee->call("hipStreamBeginCapture", {0xa0, 0});
  tracee->call("hipMemsetAsync", {0xd00, 0, 64, 0xa0});
  tracee->call("hipMemcpyAsync", {0xd00, 0x500, 100, 1, 0xa0});
  made("hipStreamEndCapture", {0xa0, 0x7ffd0000}, 1, 0x6000);
  const CallRecord node = tracee->begin("hipGraphAddMemcpyNode1D", {0x7ffd0000, 0x6000, 0, 0, 0x500, 0xd00});
  tracee->piece(PieceKind::Out, 0, std::uint64_t{0x70});
  tracee->piece(PieceKind::Stack, 0, std::array<std::uint64_t, 2>{10, 2});
  tracee->put(node);
  const CallRecord fill = tracee->begin("hipGraphAddMemsetNode", {0x7ffd0000, 0x6000, 0, 0, 0x7ffd2000});
  tracee->piece(PieceKind::Out, 0, std::uint64_t{0x71});
  tracee->piece(PieceKind::In, 4, std::array<std::uint64_t, 6>{0xd00, 4, 2, 64, 0, 8});
  tracee->put(fill);
  instantiate(0x6000, 0xe000);
  for (int i = 0; i < 3; ++i) tracee->call("hipGraphLaunch", {0xe000, 0xa0});
  tracee->fail("hipGraphLaunch", 1);
  finish();
  EXPECT_THAT(rows("SELECT name, direction, n, bytes FROM copy_sizes ORDER BY name"),
              ElementsAre("hipGraphAddMemcpyNode1D|d2h|3|30", "hipGraphAddMemsetNode|set|3|192",
                          "hipMemcpyAsync|h2d|3|300", "hipMemsetAsync|set|3|192"));
  EXPECT_EQ(value("SELECT count(*) FROM copies"), "0");
  EXPECT_EQ(value("SELECT copies FROM streams WHERE handle = 160"), "12");
  EXPECT_EQ(value("SELECT coalesce(sum(launches), 0) FROM process_use"), "0") << "no kernel is in it";
}

TEST_F(Kernels, OfAProcessThatEndedAreForgottenWithItsGraphs) {
  tracee->call("hipStreamBeginCapture", {0xa0, 0});
  tracee->notice(ProcessExec{1, tracee->now(), "/bin/other", {"other"}, {}});
  stream_ = 0xa0;
  launch_function(0x7700);
  finish();
  EXPECT_THAT(rows("SELECT name, captured FROM launches"), ElementsAre("0x7700|0"));
}

// As MessagePack: {"amdhsa.kernels": [{".name": NAME, ".vgpr_count": VGPRS, ".workgroup_processor_mode": 1}],
// "amdhsa.target": "amdgcn--gfx1100"}
elf::CodeObject code(const std::string& name, int vgprs) {
  const auto text = [](const std::string& t) { return static_cast<char>(0xa0 | t.size()) + t; };
  const std::string bytes = std::string("\x82") + text("amdhsa.kernels") + "\x91\x83" + text(".name") + text(name) +
                            text(".vgpr_count") + static_cast<char>(vgprs) + text(".workgroup_processor_mode") +
                            "\xc3" + text("amdhsa.target") + text("amdgcn--gfx1100");
  const auto span = std::as_bytes(std::span(bytes));
  return {"", {span.begin(), span.end()}, "", {}};
}

TEST_F(Kernels, HaveTheFiguresOfTheirCode) {
  load(0x99, {code("a", 24)});
  get(0x99, 0x7700, "a");
  get(0x99, 0x7800, "elsewhere");
  launch_function(0x7700);
  launch_function(0x7700);
  launch_function(0x7800);
  load(0x88, {code("a", 40)});  // compiled again, with another result
  get(0x88, 0x7900, "a");
  launch_function(0x7900);
  load(0x87, {code("a", 40)});
  get(0x87, 0x7a00, "a");
  launch_function(0x7a00);
  finish();
  EXPECT_THAT(
      rows("SELECT name, arch, mode, vgprs, used, problem FROM kernel_codes ORDER BY name, vgprs"),
      ElementsAre("a|gfx1100|WGP|24||", "a|gfx1100|WGP|40||", "elsewhere|||||its code object does not name it"));
}

TEST_F(Kernels, OfCodeThatCannotBeReadSayWhy) {
  load(0x99, {{"", {}, "compressed", {}}});
  get(0x99, 0x7700, "a");
  launch_function(0x7700);
  get(0x55, 0x7800, "b");  // its module was loaded before the recording
  launch_function(0x7800);
  finish();
  EXPECT_THAT(rows("SELECT name, problem FROM kernel_codes"), ElementsAre("a|compressed"));
}

class StreamKinds : public Kernels {};

TEST_F(StreamKinds, OfDefaultAreOneForEachDeviceAndPerThreadOneForEachThread) {
  tracee->thread(2, 1, 101);
  const auto per_thread = [&](ThreadId thread) {
    const CallRecord launch =
        tracee->begin("hipLaunchKernel_spt", {0x500, 1ull << 32 | 4, 1, 1ull << 32 | 64, 1, 0}, thread);
    tracee->piece(PieceKind::Stack, 0, std::array<std::uint64_t, 2>{0, 0});
    tracee->put(launch);
  };
  launch_function(0x7700);
  stream_ = 1;  // hipStreamLegacy
  launch_function(0x7700);
  tracee->call("hipSetDevice", {1});
  stream_ = 0;
  launch_function(0x7700);
  per_thread(1);
  per_thread(1);
  per_thread(2);
  finish();
  EXPECT_THAT(rows("SELECT kind, device, tid, launches FROM streams ORDER BY id"),
              ElementsAre("default|0||2", "default|1||1", "per-thread default|1|100|2", "per-thread default|0|101|1"));
}

TEST_F(StreamKinds, SayHowTheyWereCreated) {
  made("hipStreamCreateWithPriority", {0x7ffd0000, 1, static_cast<std::uint32_t>(-2)}, 0, 0xa0);
  const CallRecord masked = tracee->begin("hipExtStreamCreateWithCUMask", {0x7ffd0000, 2, 0x7ffd1000});
  tracee->piece(PieceKind::In, 2, std::array<std::uint32_t, 2>{0xffff00ff, 0x1});
  tracee->piece(PieceKind::Out, 0, std::uint64_t{0xb0});
  tracee->put(masked);
  stream_ = 0xc0;
  launch_function(0x7700);
  finish();
  EXPECT_THAT(rows("SELECT handle_hex, kind, flags, priority, cu_mask FROM streams ORDER BY id"),
              ElementsAre("0xa0|created|1|-2|", "0xb0|created|||0x1ffff00ff", "0xc0|found|||"));
}

}  // namespace
}  // namespace fade::store
