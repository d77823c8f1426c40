// Launches: their kernels, streams and devices; and failures that are answers.
#include <gmock/gmock.h>

#include "store/directory.hpp"
#include "store_fixture.hpp"

namespace fade::store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class CurrentDevice : public Recording {};

TEST_F(CurrentDevice, OfAThreadIsARowWhenItBecomesKnownOrAnotherOne) {
  open();
  for (const std::uint64_t device : {0, 0, 1, 1, 0}) tracee->call("hipSetDevice", {device});
  tracee->fail("hipSetDevice", 101);
  const CallRecord asked = tracee->begin("hipGetDevice", {0x7ffd0000});
  tracee->piece(PieceKind::Out, 0, std::int32_t{2});
  tracee->put(asked);
  finish();
  EXPECT_THAT(rows("SELECT thread_id, call_id, device FROM thread_devices ORDER BY call_id"),
              ElementsAre("1|1|0", "1|3|1", "1|5|0", "1|7|2"));
}

TEST_F(CurrentDevice, IsNotWrittenWhereNoCallsAre) {
  open({.detail = Detail::Stats});
  tracee->call("hipSetDevice", {1});
  finish();
  EXPECT_EQ(value("SELECT count(*) FROM thread_devices"), "0");
}

class Launches : public Recording {};

TEST_F(Launches, HaveNameGeometryAndStream) {
  open();
  tracee->notice(KernelNamed{1, 0x500, "_Z6squarePfi", "/bin/prog"});
  tracee->launch(0x500, 4, 64);
  tracee->launch(0x500, 4, 64);
  tracee->launch(0x500, 8, 32);
  finish();
  EXPECT_THAT(rows("SELECT name, mangled, library, grid_x, grid_y, block_x, shared_bytes, stream_hex, function FROM "
                   "launches WHERE id = 1"),
              ElementsAre("square(float*, int)|_Z6squarePfi|/bin/prog|4|1|64|512|0xabc0|hipLaunchKernel"));
  EXPECT_THAT(rows("SELECT name, grid_x, launches, launch_total_ns FROM kernel_stats ORDER BY grid_x"),
              ElementsAre("square(float*, int)|4|2|2000", "square(float*, int)|8|1|1000"));
  EXPECT_EQ(value("SELECT count(*) FROM launch_"), "2") << "equal launches share a row";
  EXPECT_EQ(value("SELECT launches, copies, syncs FROM streams"), "3|0|0");
}

TEST_F(Launches, OfAHandleWithoutNameShowTheHandle) {
  open();
  tracee->launch(0x7f0012345678);
  finish();
  EXPECT_EQ(value("SELECT name FROM launches"), "0x7f0012345678");
}

TEST_F(Launches, FindNamesThatModuleFunctionsWereGotBy) {
  open();
  const CallRecord got = tracee->begin("hipModuleGetFunction", {0x7ffd0000, 0x99, 0x7ffd1000});
  tracee->text(PieceKind::String, 2, "saxpy");
  tracee->piece(PieceKind::Out, 0, std::uint64_t{0x7700});
  tracee->put(got);
  const CallRecord launch = tracee->begin("hipModuleLaunchKernel", {0x7700, 10, 1, 1, 128, 1});
  tracee->piece(PieceKind::Stack, 0, std::array<std::uint64_t, 5>{1, 64, 0, 0, 0});
  tracee->put(launch);
  finish();
  EXPECT_THAT(rows("SELECT name, grid_x, block_x, shared_bytes, stream FROM launches"),
              ElementsAre("saxpy|10|128|64|0"));
}

// The same words again mean the same launch, but for what they do not tell.
class RepeatedLaunches : public Recording {
 protected:
  void launch(const std::string& function, std::uint64_t stream, ThreadId thread = 1) {
    const CallRecord record =
        tracee->begin(function, {0x500, 1ull << 32 | 4, 1, 1ull << 32 | 64, 1, ++arguments_}, thread);
    tracee->piece(PieceKind::Stack, 0, std::array<std::uint64_t, 2>{512, stream});
    tracee->put(record);
  }

 private:
  std::uint64_t arguments_ = 0x7ffd00001000;
};

TEST_F(RepeatedLaunches, GoToTheDefaultStreamOfTheThreadsDevice) {
  open();
  for (const std::uint64_t device : {0, 1, 0}) {
    tracee->call("hipSetDevice", {device});
    launch("hipLaunchKernel", 0);
    launch("hipLaunchKernel", 0);
  }
  finish();
  EXPECT_THAT(rows("SELECT device, launches FROM streams ORDER BY device"), ElementsAre("0|4", "1|2"));
}

TEST_F(RepeatedLaunches, GoToEachThreadsOwnStream) {
  open();
  tracee->thread(2, 1, 101);
  for (int i = 0; i < 2; ++i)
    for (const ThreadId thread : {ThreadId(1), ThreadId(2)}) {
      launch("hipLaunchKernel_spt", 0, thread);
      launch("hipLaunchKernel", 2, thread);
      launch("hipLaunchKernel", 0, thread);
    }
  finish();
  EXPECT_THAT(rows("SELECT kind, tid, launches FROM streams ORDER BY tid"),
              ElementsAre("default||4", "per-thread default|100|4", "per-thread default|101|4"));
}

TEST_F(RepeatedLaunches, AreNotRunWhileTheirStreamIsCaptured) {
  open();
  for (int i = 0; i < 2; ++i) launch("hipLaunchKernel", 0xa0);
  tracee->call("hipStreamBeginCapture", {0xa0, 0});
  for (int i = 0; i < 2; ++i) launch("hipLaunchKernel", 0xa0);
  tracee->call("hipStreamEndCapture", {0xa0, 0x7ffd0000});
  launch("hipLaunchKernel", 0xa0);
  finish();
  EXPECT_THAT(rows("SELECT captured, count(*) FROM launches GROUP BY 1"), ElementsAre("0|3", "1|2"));
  EXPECT_EQ(value("SELECT launches FROM kernel_stats"), "3");
}

TEST_F(RepeatedLaunches, CountForTheirThread) {
  open();
  tracee->thread(2, 1, 101);
  for (int i = 0; i < 6; ++i) launch("hipLaunchKernel", 0xa0, i % 2 == 0 ? ThreadId(1) : ThreadId(2));
  tracee->fail("hipLaunchKernel", 1);
  finish();
  EXPECT_THAT(rows("SELECT tid, sum(calls), sum(errors) FROM call_stats GROUP BY 1"),
              ElementsAre("100|4|1", "101|3|0"));
}

TEST_F(Launches, InAnotherProcessDoNotTakeItsNames) {
  open();
  tracee->process(2, 200, 1);
  tracee->thread(2, 2, 200);
  tracee->notice(KernelNamed{1, 0x500, "one", ""});
  tracee->notice(KernelNamed{2, 0x500, "two", ""});
  tracee->launch(0x500, 1, 1, 1);
  tracee->launch(0x500, 1, 1, 2);
  finish();
  EXPECT_THAT(rows("SELECT pid, name FROM launches"), ElementsAre("100|one", "200|two"));
}

TEST_F(Launches, OfUnwantedKernelsAreOnlyCounted) {
  open({.kernel_include = {"^wanted"}, .kernel_exclude = {"not$"}});
  tracee->notice(KernelNamed{1, 1, "wanted", ""});
  tracee->notice(KernelNamed{1, 2, "wanted_not", ""});
  tracee->notice(KernelNamed{1, 3, "other", ""});
  for (std::uint64_t kernel : {1, 2, 3, 1}) tracee->launch(kernel);
  finish();
  EXPECT_THAT(rows("SELECT name FROM launches"), ElementsAre("wanted", "wanted"));
  EXPECT_EQ(value("SELECT sum(launches) FROM kernel_stats"), "4");
  EXPECT_THAT(rows("SELECT * FROM drops"), IsEmpty());
}

TEST(KernelFilters, ThatAreNoRegularExpressionsAreRefused) {
  const TemporaryDirectory directory;
  EventQueue queue;
  const auto opened = Writer::open({.path = directory.file("x.db"), .kernel_include = {"("}}, {}, queue);
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr("'('"));
  EXPECT_FALSE(std::filesystem::exists(directory.file("x.db"))) << "nothing is left behind";
}

class Failures : public Recording {};

// hipErrorNotReady (600) is an answer of every function; 801 is one of hipDeviceGetAttribute alone.
TEST_F(Failures, ThatAreAnswersAreInNoCount) {
  open();
  tracee->fail("hipDeviceGetAttribute", 801);
  tracee->fail("hipMalloc", 801);
  tracee->fail("hipEventSynchronize", 600);
  const Totals totals = finish();
  EXPECT_EQ(totals.errors, 1U);
  EXPECT_EQ(value("SELECT sum(errors) FROM top"), "1");
  EXPECT_EQ(value("SELECT sum(errors) FROM process_use"), "1");
  EXPECT_EQ(value("SELECT sum(errors) FROM caller_stats"), "1");
  EXPECT_EQ(value("SELECT sum(failed) FROM calls"), "1");
  EXPECT_EQ(value("SELECT failures FROM verdicts"), "1");
  EXPECT_EQ(value("SELECT n FROM checks WHERE condition = 'errors'"), "1");
  EXPECT_THAT(rows("SELECT name, normal FROM failures ORDER BY id"),
              ElementsAre("hipDeviceGetAttribute|1", "hipMalloc|0", "hipEventSynchronize|1"));
}

TEST_F(Launches, OfTheExportForCppAreOfTheSameFunction) {
  EXPECT_EQ(plain_name("_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_t"), "hipExtModuleLaunchKernel");
  for (const char* other : {"hipMalloc", "_ZN8hip_impl22hipLaunchKernelGGLImplEm", "_Z99short", "_Z", "_Z3"})
    EXPECT_EQ(plain_name(other), other);
  open();
  const std::string mangled =
      "_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j";
  for (const std::string& symbol : {mangled, std::string("hipExtModuleLaunchKernel"), mangled}) {
    const CallRecord launch = tracee->begin(symbol, {0x7700, 64, 1, 1, 64, 1});
    tracee->piece(PieceKind::Stack, 0, std::array<std::uint64_t, 8>{1, 0, 0, 0, 0, 0, 0, 0});
    tracee->put(launch);
  }
  finish();
  EXPECT_THAT(rows("SELECT name, calls FROM top"), ElementsAre("hipExtModuleLaunchKernel|3"));
  EXPECT_THAT(rows("SELECT name FROM calls"),
              ElementsAre("hipExtModuleLaunchKernel", "hipExtModuleLaunchKernel", "hipExtModuleLaunchKernel"));
}

}  // namespace
}  // namespace fade::store
