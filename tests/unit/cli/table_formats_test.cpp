#include <gmock/gmock.h>

#include <clocale>

#include "cli/table/bars.hpp"
#include "cli/table/formats.hpp"
#include "cli/table/human.hpp"
#include "cli/table/text.hpp"

namespace fade::table {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class InUtf8 : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(std::setlocale(LC_CTYPE, "C.UTF-8")); }
  void TearDown() override { std::setlocale(LC_CTYPE, "C"); }
};

using Rows = std::vector<std::vector<Value>>;

std::string print(Format format, Style style, std::vector<Column> columns, const Rows& rows) {
  StringBytes out;
  const auto sink = make_sink(format, std::move(style), out);
  EXPECT_TRUE(sink->begin(std::move(columns)));
  for (const auto& row : rows) EXPECT_TRUE(sink->row(row));
  EXPECT_TRUE(sink->end());
  return out.text;
}

Style terminal(unsigned width, bool utf8 = true) {
  Style s;
  s.terminal = {.tty = true, .color = false, .utf8 = utf8, .width = width};
  return s;
}

std::vector<std::size_t> line_widths(const std::string& text) {
  std::vector<std::size_t> out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    out.push_back(display_width(text.substr(at, end - at)));
    at = end + 1;
  }
  return out;
}

const std::vector<Column> kTwo{{"name", Kind::Text}, {"total_ns", Kind::Duration}};
const Rows kRows{{std::string("hipMalloc"), std::int64_t{1234567}}, {std::string("a,\"b\"\tc|d\n\x1b[31m"), Value{}}};

TEST(Formats, TsvEscapesWhatWouldBreakALineOrReachTheTerminal) {
  EXPECT_EQ(print(Format::Tsv, {}, kTwo, kRows), "name\ttotal_ns\nhipMalloc\t1234567\na,\"b\"\\tc|d\\n\\x1b[31m\t\n");
}

TEST(Formats, CsvQuotesAsRfc4180Asks) {
  EXPECT_EQ(print(Format::Csv, {}, kTwo, kRows),
            "name,total_ns\r\nhipMalloc,1234567\r\n\"a,\"\"b\"\"\\tc|d\\n\\x1b[31m\",\r\n");
}

TEST(Formats, JsonIsAnArrayOfObjects) {
  EXPECT_EQ(print(Format::Json, {}, kTwo, kRows),
            "[\n  {\"name\": \"hipMalloc\", \"total_ns\": 1234567},\n"
            "  {\"name\": \"a,\\\"b\\\"\\tc|d\\n\\u001b[31m\", \"total_ns\": null}\n]\n");
  EXPECT_EQ(print(Format::Json, {}, kTwo, {}), "[]\n");
}

TEST(Formats, JsonLinesHaveOneObjectEach) {
  EXPECT_EQ(print(Format::Jsonl, {}, kTwo, {kRows[0]}), "{\"name\":\"hipMalloc\",\"total_ns\":1234567}\n");
}

TEST(Formats, MarkdownKeepsMarkupInNamesAsText) {
  EXPECT_EQ(print(Format::Markdown, {}, kTwo, {{std::string("add<int*>|x"), std::int64_t{5}}}),
            "| name | total\\_ns |\n| --- | ---: |\n| add\\<int\\*\\>\\|x | 5 |\n");
}

TEST(Formats, LineHasOneValuePerLine) {
  EXPECT_EQ(print(Format::Line, {}, kTwo, kRows),
            "    name = hipMalloc\ntotal_ns = 1234567\n\n    name = a,\"b\"\\tc|d\\n\\x1b[31m\ntotal_ns = \n");
}

TEST(Formats, TheHeaderCanBeLeftOut) {
  Style bare;
  bare.header = false;
  EXPECT_EQ(print(Format::Tsv, bare, kTwo, {kRows[0]}), "hipMalloc\t1234567\n");
}

TEST(Formats, BytesThatAreNoUtf8StayVisibleAndTheOutputStaysUtf8) {
  EXPECT_EQ(escape("a\xff\xc3(\xed\xa0\x80"), "a\\xff\\xc3(\\xed\\xa0\\x80");
  EXPECT_EQ(json_quote("\xff"), "\"\\\\xff\"");
  EXPECT_EQ(escape("\xc2\x9b"
                   "31m"),
            "\\u009b31m")
      << "C1 controls are control sequences too";
  EXPECT_EQ(escape("\xe2\x80\xae"
                   "x"),
            "\\u202ex")
      << "so is what turns the reading order around";
  EXPECT_EQ(escape("back\\slash"), "back\\\\slash");
}

TEST(Formats, AJsonValueStaysOneIfItIsOne) {
  EXPECT_EQ(json_value(R"({"a":[1,"x"]})"), R"({"a":[1,"x"]})");
  EXPECT_EQ(json_value("{\n\t\"a\" : 1\r\n}"), "{\"a\" : 1}") << "one line";
  EXPECT_EQ(json_value("true"), "true");
  EXPECT_EQ(json_value("\"\xc2\x9b"
                       "31m\xe2\x80\xae\""),
            "\"\\u009b31m\\u202e\"")
      << "nothing for a terminal";
  EXPECT_EQ(json_value("{\"a\":"), R"("{\"a\":")");
  EXPECT_EQ(json_value("{\"a\":\"\xff\"}"), R"("{\"a\":\"\\xff\"}")") << "not UTF-8";
  EXPECT_EQ(json_value("1 2"), "\"1 2\"");
  EXPECT_EQ(json_value(""), "\"\"");
  const std::string deep(1000000, '[');
  EXPECT_EQ(json_value(deep), '"' + deep + '"');
}

TEST(Human, NumbersReadWell) {
  EXPECT_EQ(human_duration(999, Units::Auto, false), "999 ns");
  EXPECT_EQ(human_duration(12345, Units::Auto, false), "12.3 us");
  EXPECT_EQ(human_duration(999950, Units::Auto, false), "1.00 ms");
  EXPECT_EQ(human_duration(90'000'000'000, Units::Auto, false), "90.0 s");
  EXPECT_EQ(human_duration(7'200'000'000'000, Units::Auto, false), "2 h 00 min");
  EXPECT_EQ(human_duration(141'400'000'000, Units::Auto, false), "2 min 21 s");
  EXPECT_EQ(human_duration(119'960'000'000, Units::Auto, false), "2 min 00 s");
  EXPECT_EQ(human_duration(-11'130'000'000'000, Units::Auto, false), "-3 h 06 min");
  EXPECT_EQ(human_duration(1234567, Units::Us, false), "1234.567 us");
  EXPECT_EQ(human_bytes(0), "0 B");
  EXPECT_EQ(human_bytes(1023), "1.00 KiB");
  EXPECT_EQ(human_bytes(1536), "1.50 KiB");
  EXPECT_EQ(human_bytes(17163091968), "16.0 GiB");
  EXPECT_EQ(human_count(-1234567), "-1,234,567");
  EXPECT_EQ(human_counted(1, "call"), "1 call");
  EXPECT_EQ(human_counted(0, "call"), "0 calls");
  EXPECT_EQ(human_counted(2000, "launch", "launches"), "2,000 launches");
  EXPECT_EQ(human_time(1'234'567'890, Units::Auto), "1.234568 s");
  EXPECT_EQ(wall_clock(1'700'000'000'000'000'042), "2023-11-14T22:13:20.000000042Z");
}

TEST_F(InUtf8, ATableAlignsNumbersToTheRightAndHasHumanUnits) {
  EXPECT_EQ(print(Format::Table, terminal(80), kTwo, {kRows[0], {std::string("x"), std::int64_t{5}}}),
            "name         total\nhipMalloc  1.23 ms\nx             5 ns\n");
}

TEST_F(InUtf8, AnEmptyTableSaysSo) { EXPECT_EQ(print(Format::Table, terminal(80), kTwo, {}), "(nothing)\n"); }

TEST_F(InUtf8, LongNamesAreCutInTheMiddleToFitTheTerminal) {
  const std::string name = "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>>(int)";
  for (const unsigned width : {30u, 40u, 80u, 200u}) {
    const std::string text = print(Format::Table, terminal(width), kTwo, {{name, std::int64_t{5}}});
    EXPECT_THAT(line_widths(text), testing::Each(testing::Le(width))) << text;
    EXPECT_THAT(text, HasSubstr("void at"));
  }
  EXPECT_EQ(shorten_middle("abcdefghij", 5, true), "ab…ij");
  EXPECT_EQ(shorten_middle("abcdefghij", 8, false), "abc...ij");
  EXPECT_EQ(shorten_middle("日本語日本語", 7, true), "日…本語");
}

TEST_F(InUtf8, ANarrowTerminalLeavesOutTheColumnsThatTheReportNames) {
  Style style = terminal(30);
  style.leave_first = {"b", "c"};
  const std::vector<Column> columns{{"a", Kind::Count}, {"b", Kind::Count}, {"c", Kind::Count}};
  const Rows rows{{std::int64_t{1234567890}, std::int64_t{1234567890}, std::int64_t{1}}};
  const std::string text = print(Format::Table, style, columns, rows);
  EXPECT_THAT(text, HasSubstr("1,234,567,890  1\n"));
  style.all_columns = true;
  EXPECT_THAT(print(Format::Table, style, columns, rows), HasSubstr("1,234,567,890  1,234,567,890  1\n"));
}

TEST_F(InUtf8, ANarrowTerminalLeavesOutWhatIsTheSameInAllRowsFirst) {
  Style style = terminal(20);
  style.leave_first = {"a", "pid"};
  const std::vector<Column> columns{{"name", Kind::Text}, {"a", Kind::Count}, {"pid", Kind::Id}};
  const Rows rows{{std::string("hipMalloc"), std::int64_t{1}, std::int64_t{4711}},
                  {std::string("hipFree"), std::int64_t{1234567}, std::int64_t{4711}}};
  EXPECT_THAT(print(Format::Table, style, columns, rows), AllOf(HasSubstr("1,234,567"), Not(HasSubstr("4711"))));
}

TEST_F(InUtf8, TheUsersLineIsTheLastToGo) {
  Style style = terminal(44);
  style.leave_first = {"user_line"};
  const std::vector<Column> columns{{"name", Kind::Text}, {"user_line", Kind::Text}};
  const Rows rows{{std::string("hipModuleLaunchKernelExtended"), std::string("train.py:42 Trainer.step")},
                  {std::string("hipFree"), std::string("other.py:7 main")}};
  EXPECT_THAT(print(Format::Table, style, columns, rows), HasSubstr("train.py:42 Tra"));
}

TEST_F(InUtf8, PercentagesAreDrawnAsBars) {
  EXPECT_EQ(bar(0.5, 4, true), "██  ");
  EXPECT_EQ(bar(0.0001, 4, true), "▏   ");
  EXPECT_EQ(bar(0.5, 4, false), "##  ");
  EXPECT_EQ(bar(7, 2, false), "##");
  EXPECT_EQ(sparkline("0,1,8", 10, true), " ▁█");
  EXPECT_EQ(sparkline("1,1,1,1", 2, true), "██");
  EXPECT_EQ(sparkline("0,nonsense,8", 10, false), "  #");
}

TEST_F(InUtf8, ATreeIsDrawnByItsDepth) {
  Style style = terminal(80);
  style.tree = "name";
  const std::vector<Column> columns{{"depth", Kind::Count}, {"name", Kind::Text}};
  const Rows rows{{std::int64_t{0}, std::string("a")},
                  {std::int64_t{1}, std::string("b")},
                  {std::int64_t{2}, std::string("c")},
                  {std::int64_t{0}, std::string("d")}};
  EXPECT_EQ(print(Format::Table, style, columns, rows), "name\na\n└─b\n  └─c\nd\n");
}

TEST_F(InUtf8, EveryCharacterThereIsCanStandInATable) {
  // Nothing is assigned between the first two.
  constexpr char32_t kFirstEmpty = 0x40000, kTags = 0xE0000, kAll = 0x110000;
  for (char32_t block = 0; block < kAll; block += block + 256 == kFirstEmpty ? kTags - block : 256) {
    std::string text;
    for (char32_t c = block; c < block + 256; ++c) {
      if (c < 0x80) text += static_cast<char>(c);
      else if (c < 0x800) text += {static_cast<char>(0xC0 | (c >> 6)), static_cast<char>(0x80 | (c & 63))};
      else if (c < 0x10000)
        text += {static_cast<char>(0xE0 | (c >> 12)), static_cast<char>(0x80 | (c >> 6 & 63)),
                 static_cast<char>(0x80 | (c & 63))};
      else
        text += {static_cast<char>(0xF0 | (c >> 18)), static_cast<char>(0x80 | (c >> 12 & 63)),
                 static_cast<char>(0x80 | (c >> 6 & 63)), static_cast<char>(0x80 | (c & 63))};
    }
    for (const unsigned width : {40u, 0u}) {
      const std::string table = print(Format::Table, terminal(width), kTwo, {{text, std::int64_t{5}}});
      ASSERT_THAT(table, Not(HasSubstr("\x1b[")));
      if (width > 0) {
        EXPECT_THAT(line_widths(table), testing::Each(testing::Le(width))) << table;
      }
    }
  }
}

TEST(InC, OnlyAsciiIsPrintedWhereTheLocaleIsNotUtf8) {
  std::setlocale(LC_CTYPE, "C");
  const std::string text = print(Format::Table, terminal(80, false), {{"name", Kind::Text}, {"percent", Kind::Percent}},
                                 {{std::string("µ"), 50.0}});
  EXPECT_THAT(text, HasSubstr("\\u00b5"));
  EXPECT_THAT(text, HasSubstr("#####"));
  for (const char c : text) EXPECT_LT(static_cast<unsigned char>(c), 0x80);
}

TEST_F(InUtf8, ColoursAppearOnlyWhereWanted) {
  Style style = terminal(80);
  EXPECT_THAT(print(Format::Table, style, kTwo, {kRows[0]}), Not(HasSubstr("\x1b")));
  style.terminal.color = true;
  EXPECT_THAT(print(Format::Table, style, kTwo, {kRows[0]}), HasSubstr("\x1b["));
  EXPECT_THAT(print(Format::Table, style, kTwo, kRows), HasSubstr("\\x1b[31m")) << "but not from the data";
}

}  // namespace
}  // namespace fade::table
