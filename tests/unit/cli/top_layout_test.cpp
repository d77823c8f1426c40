// The view as text, compared with data/top_*.txt. FADE_UPDATE_GOLDENS=1 writes these files.
#include "cli/top/layout.hpp"

#include <gmock/gmock.h>

#include <clocale>
#include <cstdlib>
#include <fstream>

#include "cli/query_seed.hpp"
#include "cli/table/text.hpp"

namespace fade::cli::top {
namespace {

constexpr std::int64_t kLayoutSecond = 1'000'000'000;

Sums sums_at(std::int64_t second) {
  Sums sums;
  sums.at_ns = second * kLayoutSecond;
  sums.since_ns = (750 + second) * kLayoutSecond;
  sums.under_way = true;
  sums.gpus = 2;
  sums.processes = {{1, 4242, "/usr/bin/python3 /home/user/train.py --epochs 3", false, 41'000 * second, 4 * second,
                     9'000 * second, second * kLayoutSecond / 8, 11'811'160'064},
                    {2, 4243, "python3 worker.py", true, 120, 0, 0, 0, 0}};
  sums.functions = {{1, "hipMemcpyAsync", 9'000 * second, 0, 60'000'000 * second, 0},
                    {1, "hipLaunchKernel", 9'000 * second, 0, 45'000'000 * second, 0},
                    {1, "hipMalloc", 10 * second, 4 * second, 2'000'000 * second, 0},
                    {1, "hipGetDevice", 22'000 * second, 0, 0, 0},
                    {1, "hipStreamSynchronize", 900 * second, 0, kLayoutSecond * second / 8, 0},
                    {2, "hipInit", 1, 0, 148'000'000'000, 0}};
  for (int i = 0; i < 12; ++i) sums.functions.push_back({1, "hipFunction" + std::to_string(i), 10, 0, 100 - i, 0});
  sums.kernels = {
      {0, "void gemm<float, 128, 128, true, (anonymous namespace)::Epilogue>(float const*, float const*, float*)",
       6'000 * second, 0, 30'000'000 * second, 0},
      {0, "softmax_forward", 3'000 * second, 0, 15'000'000 * second, 0}};
  sums.lines = {{1, "train.py:84 step", 300, 0, 2'000'000 * second, 30 * second},
                {1, "models/encoder.py:12 forward", 4'000, 0, 9'000'000 * second, 10 * second}};
  sums.devices = {{1, "gfx1100", false, 63, 244, 61, 11'811'160'064, 17'163'091'968},
                  {2, "gfx1030", true, {}, {}, {}, {}, {}}};
  sums.failures = {{1, 4242, "hipMalloc", "hipErrorOutOfMemory", "train.py:90 grow", 3, (749 + second) * kLayoutSecond},
                   {1, 4242, "hipGetDeviceProperties", "hipErrorInvalidDevice", "", 1, 2 * kLayoutSecond}};
  sums.cost = "about 1.3x: 20,001 calls x 15.0 us = 300 ms of 1.30 s";
  return sums;
}

View example() {
  const Sums before = sums_at(10), now = sums_at(12);
  return make_view(&before, now, {});
}

Status recording() {
  Status status;
  status.source = "run.db";
  status.state = "recording";
  return status;
}

void expect_golden(const std::string& name, const std::string& text) {
  const auto path = query::data_directory() / name;
  if (std::getenv("FADE_UPDATE_GOLDENS") != nullptr) std::ofstream(path) << text;
  EXPECT_EQ(text, query::slurp(path)) << name;
}

std::string text_at(Size size, bool utf8, const Status& status = recording(), const View& view = example()) {
  return plain(lay_out(view, status, size, utf8));
}

class TopLayout : public testing::Test {
 protected:
  void SetUp() override { std::setlocale(LC_CTYPE, "C.UTF-8"); }
  void TearDown() override { std::setlocale(LC_CTYPE, "C"); }
};

TEST_F(TopLayout, SmallTerminal) { expect_golden("top_80x24.txt", text_at({80, 24}, true)); }
TEST_F(TopLayout, WideTerminal) { expect_golden("top_200x50.txt", text_at({200, 50}, true)); }
TEST_F(TopLayout, TextWithoutATerminal) { expect_golden("top_once.txt", text_at({100, 0}, false)); }

TEST_F(TopLayout, Help) {
  Status status = recording();
  status.help = true;
  expect_golden("top_help.txt", text_at({80, 24}, true, status));
}

TEST_F(TopLayout, FillsEverySizeExactly) {
  for (std::size_t columns = 1; columns <= 240; columns += 7)
    for (std::size_t rows = 1; rows <= 60; rows += 3) {
      const auto lines = lay_out(example(), recording(), {columns, rows}, true);
      EXPECT_LE(lines.size(), rows);
      for (const TextLine& line : lines)
        EXPECT_LE(table::display_width(plain({line})) - 1, columns) << columns << "x" << rows;
    }
}

TEST_F(TopLayout, SaysWhatItNeeds) {
  EXPECT_THAT(text_at({40, 8}, true), testing::StartsWith("fade top needs 60 columns and 12 lines;\n"));
}

TEST_F(TopLayout, NamesKeepTheirRoomOnANarrowTerminal) {
  const std::string text = text_at({60, 24}, true);
  EXPECT_THAT(text, testing::HasSubstr("hipStreamSynchronize"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("AVERAGE")));
  EXPECT_THAT(text, testing::HasSubstr("ERRORS  FUNCTION"));
}

TEST_F(TopLayout, AsciiHasNoOtherCharacters) {
  for (const Size size : {Size{80, 24}, Size{200, 50}})
    for (const char c : text_at(size, false)) EXPECT_TRUE(c == '\n' || (c >= ' ' && c <= '~')) << int{c};
}

TEST_F(TopLayout, EmptyTablesSayWhy) {
  const std::string text = text_at({80, 24}, true, recording(), make_view(nullptr, Sums{}, {}));
  for (const char* words : {"no call was recorded yet", "no kernel was launched yet", "no sample and no stack yet",
                            "no call failed", "no process yet", "the driver shows no GPU"})
    EXPECT_THAT(text, testing::HasSubstr(words));
}

TEST_F(TopLayout, MemoryFromBeforeIsNotKnown) {
  View view = example();
  for (ProcessItem& process : view.processes) process.memory_before = true;
  const std::string text = text_at({80, 24}, true, recording(), view);
  EXPECT_THAT(text, testing::HasSubstr(" >=11.0 GiB "));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr(" 0 B ")));
}

TEST_F(TopLayout, SaysWhatWasDropped) {
  View view = example();
  view.drops = {{"the queue was full", 1234}, {"other", 1}};
  EXPECT_THAT(text_at({80, 24}, true, recording(), view), testing::HasSubstr("dropped 1,235: the queue was full"));
}

TEST_F(TopLayout, BottomLineShowsWhatIsTyped) {
  Status status = recording();
  status.typed = "hipMem";
  EXPECT_THAT(text_at({80, 24}, false, status), testing::EndsWith("/hipMem_\n"));
  status.typed.reset();
  status.message = "wrote fade-top.txt";
  EXPECT_THAT(text_at({80, 24}, false, status), testing::EndsWith("wrote fade-top.txt\n"));
}

}  // namespace
}  // namespace fade::cli::top
