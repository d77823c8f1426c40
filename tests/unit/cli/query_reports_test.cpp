// Every report on the seed recording: its figures (data/REPORT.tsv), every format, and that its head tells the truth.
// FADE_UPDATE_GOLDENS=1 writes the expected figures anew; look at the difference before committing it.
#include <gmock/gmock.h>

#include <algorithm>
#include <clocale>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/query/engine.hpp"
#include "cli/query/named_row.hpp"
#include "cli/query/target.hpp"
#include "cli/query_seed.hpp"
#include "cli/table/text.hpp"
#include "schema/schema.hpp"

namespace fade::query {
namespace {

using testing::HasSubstr;

class Reports : public testing::TestWithParam<std::string> {
 protected:
  static void SetUpTestSuite() { directory_ = new TemporaryDirectory; }
  static void TearDownTestSuite() {
    open_.clear();
    delete directory_;
  }
  // The file with the rows that only this report needs; empty: those of the seed are enough.
  static std::string rows_for(const std::string& report) {
    static const std::map<std::string, std::string> more = {{"cuda", "cuda.sql"},
                                                            {"cuda_errors", "cuda.sql"},
                                                            {"gaps", "cuda.sql"},
                                                            {"ranges", "ranges.sql"},
                                                            {"steps", "ranges.sql"},
                                                            {"step_summary", "ranges.sql"},
                                                            {"step_diff", "ranges.sql"},
                                                            {"waits", "ranges.sql"},
                                                            {"wait_lines", "ranges.sql"},
                                                            {"idle", "ranges.sql"},
                                                            {"oom", "memory.sql"},
                                                            {"allocators", "allocators.sql"},
                                                            {"oom_places", "memory.sql"},
                                                            {"memory-free", "memory.sql"},
                                                            {"postmortem", "postmortem.sql"},
                                                            {"postmortem_threads", "postmortem.sql"},
                                                            {"postmortem_calls", "postmortem.sql"},
                                                            {"stacks", "stacks.sql"},
                                                            {"flame", "stacks.sql"},
                                                            {"flame_memory", "stacks.sql"},
                                                            {"libraries", "stacks.sql"},
                                                            {"library-apis", "stacks.sql"},
                                                            {"calls", "stacks.sql"},
                                                            {"errors", "stacks.sql"},
                                                            {"ranks", "ranks.sql"},
                                                            {"rank_summary", "ranks.sql"},
                                                            {"rank_waits", "ranks.sql"},
                                                            {"rank_failures", "ranks.sql"},
                                                            {"steps_merged", "ranks.sql"},
                                                            {"memory_merged", "ranks.sql"},
                                                            {"samples", "samples.sql"},
                                                            {"sensors", "sensors.sql"},
                                                            {"gpu-memory", "gpu_memory.sql"},
                                                            {"imports", "imports.sql"},
                                                            {"operators", "operators.sql"},
                                                            {"operator_lines", "operators.sql"},
                                                            {"operator_modules", "operators.sql"},
                                                            {"operator_shapes", "operators.sql"},
                                                            {"operator_threads", "operators.sql"},
                                                            {"gpu-work", "gpu_work.sql"},
                                                            {"gpu-coverage", "gpu_work.sql"},
                                                            {"gpu", "gpu_work.sql"},
                                                            {"gpu-busy", "gpu_work.sql"},
                                                            {"gpu-idle", "gpu_work.sql"},
                                                            {"gpu-delays", "gpu_work.sql"},
                                                            {"gpu-copies", "gpu_work.sql"},
                                                            {"gpu-steps", "gpu_work.sql"},
                                                            {"top_gpu", "gpu_work.sql"},
                                                            {"library-calls", "library_work.sql"},
                                                            {"gemm", "library_work.sql"},
                                                            {"collectives", "library_work.sql"},
                                                            {"fallbacks", "fallbacks.sql"},
                                                            {"convolutions", "dnn_work.sql"},
                                                            {"fft", "dnn_work.sql"},
                                                            {"loads", "loads.sql"},
                                                            {"injections", "injections.sql"},
                                                            {"cached", "cached.sql"},
                                                            {"numbers", "numbers.sql"},
                                                            {"numbers-steps", "numbers.sql"},
                                                            {"actions", "numbers.sql"},
                                                            {"blas-checks", "blas_checks.sql"},
                                                            {"allocs", "stacks.sql"},
                                                            {"leaks", "stacks.sql"},
                                                            {"memory_peak", "stacks.sql"}};
    const auto found = more.find(report);
    return found == more.end() ? "" : found->second;
  }
  // Made and opened once: reports only read.
  void SetUp() override {
    const std::string more = rows_for(GetParam());
    if (!open_.contains(more)) {
      const std::string path = make_recording(*directory_, more.empty() ? "fade-seed.db" : "fade-" + more + ".db");
      if (!more.empty()) execute(path, slurp(data_directory() / more));
      auto opened = open_recording(path);
      ASSERT_TRUE(opened) << opened.error().text();
      open_.emplace(more, std::move(*opened));
    }
    recording_ = &open_.at(more);
  }
  std::string print(table::Format format, Settings settings = {}) {
    table::StringBytes out;
    Output output{format, {}, &out};
    output.style.terminal = {.tty = true, .color = false, .utf8 = true, .width = width_};
    auto outcome = run_report(*recording_, *find_report(GetParam()), settings, {}, output);
    EXPECT_TRUE(outcome) << outcome.error().text();
    return out.text;
  }

  static inline TemporaryDirectory* directory_ = nullptr;
  static inline std::map<std::string, Recording> open_;  // by rows_for()
  Recording* recording_ = nullptr;
  unsigned width_ = 80;
};

std::size_t lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST_P(Reports, TellTheSeededFigures) {
  const std::string text = print(table::Format::Tsv);
  const auto golden = data_directory() / (GetParam() + ".tsv");
  if (std::getenv("FADE_UPDATE_GOLDENS")) std::ofstream(golden) << text;
  EXPECT_EQ(text, slurp(golden));
  EXPECT_GE(lines(text), 2u) << "the seed has nothing for this report";
}

TEST_P(Reports, HaveTheColumnsThatTheirHeadDescribes) {
  auto statement =
      recording_->database.prepare(find_report(GetParam())->sql_for([](std::string_view) { return false; }));
  ASSERT_TRUE(statement) << statement.error().text();
  std::vector<std::string> names;
  for (int i = 0; i < statement->columns(); ++i) names.push_back(statement->column_name(i));
  EXPECT_THAT(find_report(GetParam())->column_names(), testing::UnorderedElementsAreArray(names));
  for (const ReportColumn& c : find_report(GetParam())->columns) EXPECT_FALSE(c.help.empty()) << c.name;
  for (const std::string& name : find_report(GetParam())->leave_first)
    EXPECT_TRUE(find_report(GetParam())->column(name)) << name;
}

TEST_P(Reports, AreTheSameRowsInEveryFormat) {
  const std::size_t rows = lines(print(table::Format::Tsv)) - 1;
  EXPECT_EQ(lines(print(table::Format::Csv)), rows + 1);
  EXPECT_EQ(lines(print(table::Format::Markdown)), rows + 2);
  EXPECT_EQ(lines(print(table::Format::Jsonl)), rows);
  const auto json = nlohmann::json::parse(print(table::Format::Json));
  ASSERT_EQ(json.size(), rows);
  EXPECT_EQ(json[0].size(), find_report(GetParam())->columns.size());
  EXPECT_THAT(print(table::Format::Line), HasSubstr(find_report(GetParam())->columns[0].name + " = "));
}

TEST_P(Reports, FitTheTerminal) {
  std::setlocale(LC_CTYPE, "C.UTF-8");
  for (const unsigned width : {60u, 80u, 120u, 200u}) {
    width_ = width;
    const std::string text = print(table::Format::Table);
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at);
      EXPECT_LE(table::display_width(text.substr(at, end - at)), width) << text;
      at = end + 1;
    }
  }
}

TEST_P(Reports, TakeEachOfTheirFilters) {
  const Report& report = *find_report(GetParam());
  Settings all;
  all.name = "hip";
  all.pid = 4242;
  all.tid = 4242;
  all.rank = 1;
  all.merge = true;
  all.device = 0;
  all.from_ns = 0;
  all.to_ns = 1'000'000'000'000;
  all.slower_than_ns = 0;
  all.api = {"hip", "hiprtc"};
  all.errors = all.unfinished = true;
  for (const Parameter& p : parameters(all)) {
    if (!report.knows(p.parameter)) continue;
    auto statement =
        recording_->database.prepare(report.sql_for([&](std::string_view name) { return name == p.parameter; }));
    ASSERT_TRUE(statement) << p.option << ": " << statement.error().text();
  }
}

TEST_P(Reports, CanBePastedAsSql) {
  auto sql = sql_of_report(*recording_, *find_report(GetParam()), {}, {});
  ASSERT_TRUE(sql) << sql.error().text();
  table::StringBytes out;
  auto outcome = run_sql(*recording_, *sql, {}, {table::Format::Tsv, {}, &out});
  ASSERT_TRUE(outcome) << outcome.error().text();
  EXPECT_EQ(out.text, slurp(data_directory() / (GetParam() + ".tsv")));
}

std::vector<std::string> names() {
  std::vector<std::string> out;
  for (const Report& r : reports()) out.push_back(r.name);
  return out;
}
INSTANTIATE_TEST_SUITE_P(Each, Reports, testing::ValuesIn(names()), [](const auto& i) {
  std::string name = i.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(ReportHead, FaultsAreTold) {
  EXPECT_THAT(parse_report("x", "-- Title\n-- colour: red\nSELECT 1").error().cause, HasSubstr("line 2"));
  EXPECT_FALSE(parse_report("x", "-- Title\n-- column: a nonsense what it is\nSELECT 1"));
  EXPECT_FALSE(parse_report("x", "-- Title\nSELECT 1")) << "no columns";
  EXPECT_TRUE(parse_report("x", "-- Title\n-- column: a id what it is\nSELECT 1 AS a;"));
  EXPECT_THAT(parse_report("x", "-- Title\n-- about: a\n--   b\n-- colour: red\nSELECT 1").error().cause,
              HasSubstr("line 4"));
}

TEST(ReportHead, SaysWhatAnEmptyReportMeans) {
  std::vector<std::string> wanted;
  for (const Report& r : reports()) {
    if (!r.hidden) wanted.push_back(r.name);
    for (const Variant& v : r.variants) wanted.push_back(v.report);
  }
  for (const std::string& name : wanted) {
    const Report& r = *find_report(name);
    EXPECT_FALSE(r.none.empty()) << name << " needs a line \"-- none: ...\"";
    EXPECT_TRUE(r.hidden || !r.question.empty()) << name << " needs a line \"-- question: ...\"";
    EXPECT_TRUE(r.events.empty() || !r.topic.empty()) << name;
    EXPECT_TRUE(r.none.empty() || !r.topic.empty()) << name << " says that there is nothing and does not ask coverage";
    EXPECT_TRUE(r.topic.empty() || r.topic == "file" ||
                schema::tables().find("('" + r.topic + "', ") != std::string_view::npos)
        << name << ": unknown topic " << r.topic;
  }
}

TEST(ReportSql, ConditionsAppearOnlyWhereTheirOptionIsGiven) {
  const auto report = parse_report(
      "x", "-- T\n-- column: a id b\nSELECT a FROM t\nWHERE true /*? AND pid = :pid */ /*?errors AND failed */\n");
  EXPECT_EQ(report->sql_for([](std::string_view) { return false; }), "SELECT a FROM t\nWHERE true");
  EXPECT_EQ(report->sql_for([](std::string_view p) { return p == "errors"; }),
            "SELECT a FROM t\nWHERE true AND failed");
  EXPECT_EQ(report->sql_for([](std::string_view p) { return p == "pid"; }),
            "SELECT a FROM t\nWHERE true AND pid = :pid");
  EXPECT_TRUE(report->knows("pid"));
  EXPECT_TRUE(report->knows("errors"));
  EXPECT_FALSE(report->knows("tid"));
}

// "-- over: REPORT" in the head of a page's SQL names the rows that it knows as the table "report".
std::string runnable(std::string_view page) {
  constexpr std::string_view mark = "\n-- over: ";
  const std::size_t at = page.find(mark);
  if (at == page.npos) return std::string(page);
  const std::string_view rest = page.substr(at + mark.size());
  return over(whole_sql(rest.substr(0, rest.find('\n'))), page);
}

TEST(Pages, CanBeRunOnEachRecording) {
  TemporaryDirectory directory;
  auto recording = open_recording(make_recording(directory, "fade-pages.db"));
  ASSERT_TRUE(recording) << recording.error().text();
  for (const schema::Report& page : schema::pages()) {
    EXPECT_TRUE(page.sql.starts_with("-- ")) << page.name << " needs a line that says what it is";
    if (page.sql.find("FROM source.") != page.sql.npos || page.sql.find("JOIN source.") != page.sql.npos)
      continue;  // a second file is attached (merge_test.cpp)
    auto rows = named_rows(*recording, runnable(page.sql), {}, {{":most", std::int64_t{1}}});
    EXPECT_TRUE(rows) << page.name << ": " << rows.error().text();
  }
}

TEST(Pages, AreNoReports) {
  for (const schema::Report& page : schema::pages()) {
    EXPECT_TRUE(page.name.starts_with("page_"));
    EXPECT_EQ(find_report(page.name), nullptr);
    EXPECT_FALSE(is_known_name(std::string(page.name)));
  }
}

TEST(NamedRow, GivesCellsByName) {
  const auto names = std::make_shared<const NamedRow::Names>(NamedRow::Names{"n", "text", "nothing"});
  const NamedRow row(names, {std::int64_t{3}, std::string("a\x1b"), std::monostate{}});
  EXPECT_EQ(row.number("n"), 3);
  EXPECT_TRUE(row.is("n"));
  EXPECT_EQ(row.raw("text"), "a\x1b");
  EXPECT_EQ(row.text("text"), table::printable("a\x1b"));
  EXPECT_FALSE(row.has("nothing"));
  EXPECT_FALSE(row.has("no such column"));
  EXPECT_EQ(NamedRow().text("n"), "");
}

}  // namespace
}  // namespace fade::query
