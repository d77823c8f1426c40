#include "live/trace_lines.hpp"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>

#include "live_fixture.hpp"

namespace fade::live {
namespace {

class TraceTest : public testing::Test {
 protected:
  TraceTest() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    out_ = Fd(ends[0]);
    in_ = Fd(ends[1]);
  }
  // What is written of the calls told so far.
  std::string written(TraceManner manner = {.folder = "/home/me"}) {
    TraceLines lines(std::move(manner), in_.get(), {});
    lines.begins({.boot_ns = 0, .real_ns = 1'700'000'000'000'000'000});
    lines.read(told_.batch());
    std::array<char, 65536> text{};
    ::fcntl(out_.get(), F_SETFL, O_NONBLOCK);
    const ssize_t n = ::read(out_.get(), text.data(), text.size());
    return {text.data(), static_cast<std::size_t>(std::max<ssize_t>(n, 0))};
  }
  void malloc(std::uint64_t bytes, std::uint64_t result = 0) {
    CallRecord record = told_.begin("hipMalloc", {0x7ffd1000, bytes}, told_.stack({{"/home/me/train.py", 42, "step"}}));
    told_.piece(PieceKind::Out, 0, std::uint64_t{0x7f0000000000});
    record.result = result;
    if (result != 0) record.flags |= kFailed;
    told_.put(record);
  }

  Told told_;
  Fd out_, in_;
};

TEST_F(TraceTest, ACallIsALine) {
  malloc(4 << 20);
  EXPECT_EQ(
      written(),
      "[5993/5993] 1.000000 hipMalloc(ptr=0x7f0000000000, size=4.00 MiB) = hipSuccess <12.3 us>  train.py:42 step\n");
}

TEST_F(TraceTest, CallsInsideOthersStandFurtherRight) {
  CallRecord record = told_.begin("hipFree", {1});
  record.parent = 7;
  told_.put(record);
  EXPECT_THAT(written({.indents = true}), testing::HasSubstr("1.000000   hipFree("));
}

TEST_F(TraceTest, CallsInsideOthersStandAlikeInAFile) {
  CallRecord record = told_.begin("hipFree", {1});
  record.parent = 7;
  told_.put(record);
  EXPECT_THAT(written(), testing::HasSubstr("1.000000 hipFree("));
}

TEST_F(TraceTest, FunctionsOfCudaHaveAColour) {
  told_.put(told_.begin("cuInit", {0}));
  told_.put(told_.begin("hipInit", {0}));
  EXPECT_THAT(written({.color = true}), testing::AllOf(testing::HasSubstr("1.000000 \x1b[35mcuInit\x1b[0m("),
                                                       testing::HasSubstr("1.000000 hipInit(")));
}

TEST_F(TraceTest, AResultThatIsATextIsShown) {
  CallRecord record = told_.begin("hipGetErrorName", {2});
  record.result = 0x7f0000000000;
  told_.text(PieceKind::ReturnedString, kResultParam, "hipErrorOutOfMemory");
  told_.put(record);
  EXPECT_THAT(written(), testing::HasSubstr(") = \"hipErrorOutOfMemory\" <12.3 us>"));
}

TEST_F(TraceTest, SizesAreNotRounded) {
  malloc((4 << 20) + 1);
  EXPECT_THAT(written(), testing::HasSubstr("size=4194305)"));
}

TEST_F(TraceTest, SizesHaveTwoDecimals) {
  malloc(3 << 19);
  EXPECT_THAT(written(), testing::HasSubstr("size=1.50 MiB)"));
}

TEST_F(TraceTest, ATerminalHasMicroSignsAndNoNameOfTheOnlyThread) {
  malloc(1);
  EXPECT_EQ(written({.utf8 = true, .alone_unnamed = true}),
            "1.000000 hipMalloc(ptr=0x7f0000000000, size=1) = hipSuccess <12.3 \u00b5s>  train.py:42 step\n");
}

TEST_F(TraceTest, FailuresAreRedWhereColoursAreWanted) {
  malloc(1, 2);
  EXPECT_THAT(written({.color = true}), testing::HasSubstr(" = \x1b[31mhipErrorOutOfMemory\x1b[0m <"));
}

TEST_F(TraceTest, FailuresAloneWithCallsThatAreCutOff) {
  malloc(1);
  malloc(2, 2);
  CallRecord open = told_.begin("hipDeviceSynchronize");
  open.flags = kOpenAtEnd;
  told_.put(open);
  EXPECT_EQ(written({.failures_only = true}),
            "[5993/5993] 1.000000 hipMalloc(ptr=0x7ffd1000, size=2) = hipErrorOutOfMemory <12.3 us>  train.py:42 step\n"
            "[5993/5993] 1.000000 hipDeviceSynchronize( <unfinished ...>\n");
}

TEST_F(TraceTest, CallsWithoutAReturnSaySo) {
  CallRecord left = told_.begin("hipDeviceSynchronize");
  left.flags = kUnwound;
  told_.put(left);
  left.flags = kUnseen;
  told_.put(left);
  EXPECT_EQ(written(),
            "[5993/5993] 1.000000 hipDeviceSynchronize() = ? <left after 12.3 us>\n"
            "[5993/5993] 1.000000 hipDeviceSynchronize() = ?\n");
}

TEST_F(TraceTest, TimesAreWithoutFadesOwn) {
  told_.notice(CostMeasured{.form = "jump", .calls = 100, .call_ns = 4000, .call_spread_ns = 100});
  told_.put(told_.begin("hipDeviceSynchronize"));
  EXPECT_THAT(written(), testing::EndsWith("= hipSuccess <8.30 us>\n"));
}

TEST_F(TraceTest, ATimeBelowFadesOwnSpreadIsAboutNothing) {
  told_.notice(CostMeasured{.form = "jump", .calls = 100, .call_ns = 12'000, .call_spread_ns = 100});
  told_.put(told_.begin("hipDeviceSynchronize"));
  EXPECT_THAT(written(), testing::EndsWith("= hipSuccess <~0>\n"));
}

TEST_F(TraceTest, ATappedCallHasNoStopsInItsTime) {
  told_.notice(CostMeasured{.form = "jump", .calls = 100, .call_ns = 12'000, .call_spread_ns = 100});
  CallRecord tapped = told_.begin("hipDeviceSynchronize");
  tapped.flags |= kTapped;
  told_.put(tapped);
  EXPECT_THAT(written(), testing::EndsWith("= hipSuccess <12.3 us>\n"));
}

TEST_F(TraceTest, AProcessThatMadeCallsEndsWithALine) {
  told_.put(told_.begin("hipDeviceSynchronize"));
  told_.notice(ProcessEnded{.process = 1, .at = 2'000'000'000, .exit_code = 3});
  EXPECT_THAT(written(), testing::EndsWith("\n[5993/5993] 2.000000 +++ exited with 3 +++\n"));
}

TEST_F(TraceTest, ASignalThatEndsAProcessIsNamed) {
  told_.put(told_.begin("hipDeviceSynchronize"));
  told_.notice(ProcessEnded{.process = 1, .at = 2'000'000'000, .exit_signal = SIGKILL});
  EXPECT_THAT(written(), testing::EndsWith("+++ killed by SIGKILL +++\n"));
}

TEST_F(TraceTest, AProcessThatIsLeftAliveDoesNotEnd) {
  told_.put(told_.begin("hipDeviceSynchronize"));
  told_.notice(ProcessEnded{.process = 1, .at = 2'000'000'000});
  EXPECT_THAT(written(), testing::EndsWith("+++ no longer watched +++\n"));
}

TEST_F(TraceTest, AProcessWithoutCallsHasNoLine) {
  told_.notice(ProcessEnded{.process = 1, .at = 2'000'000'000, .exit_code = 0});
  EXPECT_EQ(written(), "");
}

TEST_F(TraceTest, LongArgumentsAreCut) {
  const CallRecord record = told_.begin("roctxRangePushA");
  told_.text(PieceKind::String, 0, "a\nb" + std::string(100, 'x'));
  told_.put(record);
  EXPECT_THAT(written({.longest = 8}), testing::HasSubstr("roctxRangePushA(message=\"a\\nbxxx...)"));
}

TEST_F(TraceTest, ArgumentsOfFullDetailAreWhole) {
  DetailLevels levels;
  levels.by_name["marker"] = Detail::Full;
  const CallRecord record = told_.begin("roctxRangePushA");
  told_.text(PieceKind::String, 0, "begin" + std::string(100, 'x') + "end");
  told_.put(record);
  EXPECT_THAT(written({.longest = 8, .detail = levels}), testing::HasSubstr("xend\")"));
}

TEST_F(TraceTest, FunctionsThatAreOnlyCountedHaveNoLine) {
  DetailLevels levels;
  levels.by_name["mem"] = Detail::Stats;
  malloc(4 << 20);
  told_.put(told_.begin("hipDeviceSynchronize"));
  const std::string text = written({.detail = levels});
  EXPECT_THAT(text, testing::HasSubstr("hipDeviceSynchronize("));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("hipMalloc(")));
}

TEST_F(TraceTest, TimesAreAsStraceHasThem) {
  const std::pair<Stamp, std::string> all[] = {{Stamp::SinceStart, " 1.000000 hip"},
                                               {Stamp::Clock, " 22:13:21 hip"},
                                               {Stamp::ClockMicro, " 22:13:21.000000 hip"},
                                               {Stamp::Epoch, " 1700000001.000000 hip"}};
  ::setenv("TZ", "UTC", 1);
  ::tzset();
  for (const auto& [stamp, text] : all) {
    told_ = Told();
    malloc(1);
    EXPECT_THAT(written({.stamp = stamp}), testing::HasSubstr(text));
  }
}

TEST_F(TraceTest, ASlowReaderGetsEveryLine) {
  constexpr int kCalls = 5'000;
  for (int i = 0; i < kCalls; ++i) malloc(1);
  std::string text;
  std::thread reader([&] {
    std::array<char, 1'000> some{};
    for (ssize_t n; (n = ::read(out_.get(), some.data(), some.size())) > 0;)
      text.append(some.data(), static_cast<std::size_t>(n));
  });
  TraceLines lines({}, in_.get(), {});
  lines.read(told_.batch());
  in_ = Fd();
  reader.join();
  EXPECT_EQ(std::ranges::count(text, '\n'), kCalls);
  EXPECT_FALSE(lines.has_ended());
}

TEST_F(TraceTest, AReaderThatGoesEndsTheLines) {
  ::signal(SIGPIPE, SIG_IGN);
  malloc(1);
  out_ = Fd();
  TraceLines lines({}, in_.get(), {});
  lines.read(told_.batch());
  EXPECT_TRUE(lines.has_ended());
}

TEST_F(TraceTest, WaitingEndsWhenThatIsAsked) {
  for (int i = 0; i < 5'000; ++i) malloc(1);
  std::atomic<int> asked = 0;
  TraceLines lines({}, in_.get(), [&] { return ++asked == 2; });
  lines.read(told_.batch());
  EXPECT_EQ(asked, 2);
  EXPECT_TRUE(lines.has_ended());
}

}  // namespace
}  // namespace fade::live
