// What the user's wishes do to a report: columns, order, limits, filters, units, sessions.
#include <gmock/gmock.h>

#include <algorithm>
#include <clocale>

#include "cli/query/command.hpp"
#include "cli/query/engine.hpp"
#include "cli/query_seed.hpp"

namespace fade::query {
namespace {

using testing::HasSubstr;
using testing::Not;

class Engine : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    directory_ = new TemporaryDirectory;
    path_ = make_recording(*directory_, "fade-seed.db");
  }
  static void TearDownTestSuite() { delete directory_; }

  Result<Outcome> run(const std::string& report, const Settings& settings, table::Format format = table::Format::Tsv,
                      const std::string& word = {}) {
    auto recording = open_recording(path_);
    if (!recording) return tl::unexpected(recording.error());
    table::StringBytes out;
    Output output{format, {}, &out};
    output.style.terminal = {.tty = true, .color = false, .utf8 = false, .width = 100};
    output.style.header = !settings.no_header;
    auto outcome = run_report(*recording, *find_report(report), settings, word, output);
    text_ = out.text;
    return outcome;
  }
  std::string tsv(const std::string& report, Settings settings, std::vector<std::string> columns) {
    settings.columns = std::move(columns);
    settings.no_header = true;
    auto outcome = run(report, settings);
    EXPECT_TRUE(outcome) << outcome.error().text();
    return text_;
  }

  static inline TemporaryDirectory* directory_ = nullptr;
  static inline std::string path_;
  std::string text_;
};

TEST_F(Engine, SortsAndLimits) {
  Settings s;
  s.sort = "-calls";
  s.limit = 2;
  EXPECT_EQ(tsv("top", s, {"name", "calls"}), "hipMemcpy\t8\nhipLaunchKernel\t3\n");
  s.sort = "name";
  s.limit = 1;
  EXPECT_EQ(tsv("top", s, {"name"}), "hipFree\n");
}

TEST_F(Engine, WhereMayNameAnyColumnOfTheReport) {
  Settings s;
  s.where = "calls > 2 AND errors = 0 -- a comment";
  EXPECT_EQ(tsv("top", s, {"name"}), "hipLaunchKernel\n");
  s.where = "nonsense >";
  auto bad = run("top", s);
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().code, kUsageCode);
  EXPECT_THAT(bad.error().message, HasSubstr("nonsense >"));
}

TEST_F(Engine, FiltersOfCalls) {
  const auto ids = [&](const std::function<void(Settings&)>& set) {
    Settings s;
    set(s);
    std::string out = tsv("calls", s, {"id"});
    std::replace(out.begin(), out.end(), '\n', ' ');
    return out;
  };
  EXPECT_EQ(ids([](Settings& s) { s.errors = true; }), "3 9 ");
  EXPECT_EQ(ids([](Settings& s) { s.slower_than_ns = 2'000'000; }), "4 7 8 ");
  EXPECT_EQ(ids([](Settings& s) { s.unfinished = true; }), "12 13 ");
  EXPECT_EQ(ids([](Settings& s) { s.tid = 4244; }), "6 9 13 ");
  EXPECT_EQ(ids([](Settings& s) { s.api = {"hiprtc"}; }), "7 ");
  EXPECT_EQ(ids([](Settings& s) { s.name = "Malloc|Free"; }), "2 3 11 ");
  EXPECT_EQ(ids([](Settings& s) { s.from_ns = 500'000'000, s.to_ns = 1'700'000'000; }), "4 5 6 ");
  EXPECT_EQ(ids([](Settings& s) { s.pid = 1; }), "");
  EXPECT_EQ(ids([](Settings& s) {
              s.limit = 2;
              s.where = "id > 4";
            }),
            "5 6 ");
}

TEST_F(Engine, AFilterThatTheReportDoesNotHaveIsRefused) {
  Settings s;
  s.tid = 1;
  auto outcome = run("devices", s);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, kUsageCode);
  EXPECT_THAT(outcome.error().cause, HasSubstr("--device"));
}

TEST_F(Engine, UnknownColumnsNameTheNearest) {
  Settings s;
  s.columns = {"naem"};
  EXPECT_THAT(run("top", s).error().fix, HasSubstr("--columns name"));
  s = {};
  s.sort = "-cals";
  EXPECT_THAT(run("top", s).error().fix, HasSubstr("--sort calls"));
}

TEST_F(Engine, ATableSaysHowManyRowsWereLeftOut) {
  Settings s;
  s.limit = 3;
  auto outcome = run("calls", s, table::Format::Table);
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(outcome->more);
  EXPECT_EQ(outcome->left_out, 10);
  s.limit = 0;
  EXPECT_FALSE(run("calls", s, table::Format::Table)->more);
}

TEST_F(Engine, AnEmptyTableSaysThatTheReaderFilteredItsRows) {
  Settings s;
  s.where = "calls > 1000000";
  ASSERT_TRUE(run("top", s, table::Format::Table));
  EXPECT_EQ(text_, "(nothing: no row matches --where \"calls > 1000000\"; there are rows without it)\n");
}

TEST_F(Engine, AnEmptyTableNamesTheProcessesThatThereAre) {
  Settings s;
  s.pid = 99999;
  ASSERT_TRUE(run("calls", s, table::Format::Table));
  EXPECT_THAT(text_, HasSubstr("(nothing: no process 99999 in this recording (it has "));
}

TEST_F(Engine, AnEmptyTableNamesTheDevicesThatThereAre) {
  Settings s;
  s.device = 99;
  ASSERT_TRUE(run("allocs", s, table::Format::Table));
  EXPECT_THAT(text_, HasSubstr("(nothing: no device 99 in this recording (it has "));
}

TEST_F(Engine, AnEmptyTableSaysThatNothingOfTheKindHappened) {
  ASSERT_TRUE(run("samples", {}, table::Format::Table));
  EXPECT_EQ(text_, "(nothing: no samples were taken; record with fade-run --sample 50)\n");
}

TEST(EmptyReports, SayThatCallsWereOnlyCounted) {
  TemporaryDirectory directory;
  const std::string path = make_recording(directory, "fade-stats.db");
  execute(path, "UPDATE session_ SET detail = 'stats'; DELETE FROM call_;");
  auto recording = open_recording(path);
  ASSERT_TRUE(recording);
  table::StringBytes out;
  Output output{table::Format::Table, {}, &out};
  output.style.terminal.width = 0;
  ASSERT_TRUE(run_report(*recording, *find_report("calls"), {}, {}, output));
  EXPECT_EQ(out.text,
            "(nothing: not stored: 12 calls were not recorded: the disk was full; only counts and times were recorded "
            "(--detail stats); record with fade-run --detail calls)\n");
}

TEST_F(Engine, MachineFormatsCarryTheUnitInTheName) {
  Settings s;
  s.limit = 1;
  s.columns = {"start_ns", "duration_ns"};
  s.units = table::Units::Ms;
  ASSERT_TRUE(run("calls", s));
  EXPECT_EQ(text_, "start_ms\tduration_ms\n250\t0.09\n");
  s.units = table::Units::Auto;
  s.abs_time = true;
  ASSERT_TRUE(run("calls", s));
  EXPECT_EQ(text_, "start_time\tduration_ns\n2023-11-14T22:13:20.250000000Z\t90000\n");
}

TEST_F(Engine, PeakIsAVariantOfMemory) {
  Settings s;
  s.peak = true;
  EXPECT_EQ(tsv("memory", s, {"kind", "n", "size_bytes"}), "device\t2\t5242880\nhost\t1\t65536\n");
}

TEST_F(Engine, ATreeIsDrawnEvenWhereItsDepthWasNotAskedFor) {
  Settings s;
  s.columns = {"name", "calls"};
  ASSERT_TRUE(run("tree", s, table::Format::Table));
  EXPECT_THAT(text_, HasSubstr("hiprtcCompileProgram"));
  EXPECT_THAT(text_, HasSubstr("`-hipModuleLoadData"));
  EXPECT_THAT(text_, Not(HasSubstr("depth")));
}

TEST_F(Engine, SchemaShowsOneView) {
  ASSERT_TRUE(run("schema", {}, table::Format::Tsv, "drops"));
  EXPECT_EQ(text_, "view\tcolumn\ttype\tunit\tdescription\ndrops\t\t\t\tWhat was not recorded\n");
}

TEST_F(Engine, SqlPrintedForAFilterHoldsItsValue) {
  auto recording = open_recording(path_);
  ASSERT_TRUE(recording);
  Settings s;
  s.pid = 4242;
  s.name = "it's";
  auto sql = sql_of_report(*recording, *find_report("calls"), s, {});
  ASSERT_TRUE(sql);
  EXPECT_THAT(*sql, HasSubstr("AND pid = 4242"));
  EXPECT_THAT(*sql, HasSubstr("name REGEXP 'it''s'"));
  EXPECT_THAT(*sql, Not(HasSubstr("/*?")));
}

TEST(LongResults, ArePagedWithoutLossAtTheSeams) {
  TemporaryDirectory dir;
  const std::string path = make_recording(dir, "fade-long.db");
  execute(path,
          "DELETE FROM call_; WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 50000) "
          "INSERT INTO call_ (id, ts, dur, thread, fn) SELECT 3 * x, x, 1, 1, 1 + x % 8 FROM n");
  auto recording = open_recording(path);
  ASSERT_TRUE(recording);
  for (const std::vector<std::string>& columns : {std::vector<std::string>{}, {"name"}}) {
    Settings s;
    s.columns = columns;
    s.no_header = true;
    table::StringBytes out;
    Output output{table::Format::Tsv, {}, &out};
    output.style.header = false;
    auto outcome = run_report(*recording, *find_report("calls"), s, {}, output);
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->rows, 50000);
    EXPECT_EQ(std::count(out.text.begin(), out.text.end(), '\n'), 50000);
  }
}

constexpr int kLong = 50'000;

std::string make_long_recording(const TemporaryDirectory& directory) {
  const std::string path = make_recording(directory, "fade-long.db");
  execute(path, "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < " + std::to_string(kLong) +
                    ") INSERT INTO call_ (id, ts, dur, thread, fn, launch) SELECT 100 + x, x, 1, 1, 4, 1 FROM n");
  return path;
}

// Of every report that has these filters, 20 rows.
void expect_few_steps(const std::string& path, Settings settings) {
  auto recording = open_recording(path);
  ASSERT_TRUE(recording);
  settings.limit = 20;
  int asked = 0;
  for (const Report& report : reports()) {
    if (report.name == "first_error") continue;  // tells how many calls came after it
    table::StringBytes out;
    const auto outcome = run_report(*recording, report, settings, {}, {table::Format::Tsv, {}, &out});
    if (!outcome) continue;
    ++asked;
    EXPECT_LT(outcome->steps, kLong) << report.name;
  }
  EXPECT_GT(asked, 10);
}

TEST(LongRecordings, ReportsOfAFewRowsDoNotReadAllCalls) {
  TemporaryDirectory dir;
  const std::string path = make_long_recording(dir);
  Settings of_session, of_process;
  of_session.session = "1";
  of_process.pid = 4242;
  for (const Settings& settings : {Settings{}, of_process}) expect_few_steps(path, settings);
  auto recording = open_recording(path);
  ASSERT_TRUE(recording);
  Context context{of_session, {}, path, false, {}};
  ASSERT_TRUE(build_indexes(context, *recording));
  for (const Settings& settings : {of_session, of_process}) expect_few_steps(path, settings);
}

// The last page costs what the first does.
TEST(LongRecordings, ListingAllTakesStepsForEachRowOnce) {
  TemporaryDirectory dir;
  auto recording = open_recording(make_long_recording(dir));
  ASSERT_TRUE(recording);
  for (const char* name : {"calls", "launches", "export"}) {
    std::int64_t of_some = 0;
    for (const std::int64_t limit : {kLong / 5, kLong}) {
      Settings settings;
      settings.limit = limit;
      table::StringBytes out;
      const auto outcome = run_report(*recording, *find_report(name), settings, {}, {table::Format::Tsv, {}, &out});
      ASSERT_TRUE(outcome);
      EXPECT_EQ(outcome->rows, limit);
      if (of_some == 0) of_some = outcome->steps;
      else EXPECT_LT(outcome->steps, 6 * of_some) << name;
    }
  }
}

class Appended : public testing::Test {
 protected:
  void SetUp() override {
    path_ = make_recording(directory_, "fade-two.db");
    execute(path_,
            "INSERT INTO session_ (id, kind, start_ns, boot_ns, command, clean) VALUES (2, 'run', 1800000000000000000, "
            "1, 'second', 1);"
            "INSERT INTO process_ (id, session, pid, ts) VALUES (9, 2, 77, 0); INSERT INTO thread_ VALUES (9, 9, 77, "
            "'second', 0, NULL);"
            "INSERT INTO function_ (id, session, name, api, grp, kind, result_type) VALUES (90, 2, 'hipInit', 'hip', "
            "'device', 'other', 'hipError_t');"
            "INSERT INTO call_ (id, ts, dur, thread, fn) VALUES (100, 5, 1, 9, 90);");
  }
  std::string names(const std::string& session, bool abs_time = false) {
    auto recording = open_recording(path_);
    table::StringBytes out;
    Settings s;
    s.session = session;
    s.abs_time = abs_time;
    s.columns = {"name", "start_ns"};
    auto outcome = run_report(*recording, *find_report("calls"), s, {}, {table::Format::Jsonl, {}, &out});
    return outcome ? out.text : outcome.error().message;
  }
  TemporaryDirectory directory_;
  std::string path_;
};

TEST_F(Appended, TheNewestSessionIsMeantWhereNoneIsNamed) {
  EXPECT_EQ(names(""), "{\"name\":\"hipInit\",\"start_ns\":5}\n");
  EXPECT_THAT(names("1"), Not(HasSubstr("hipInit")));
  EXPECT_THAT(names("all"), testing::AllOf(HasSubstr("hipInit"), HasSubstr("hipMalloc")));
  EXPECT_THAT(names("3"), HasSubstr("there is no session 3"));
  EXPECT_THAT(names("x"), HasSubstr("number or all"));
  EXPECT_THAT(names("2", true), HasSubstr("2027-01-15T08:00:00.000000005Z"));
  EXPECT_THAT(names("all", true), HasSubstr("needs one session"));
}

class Summary : public testing::Test {
 protected:
  std::string show(const std::string& path) {
    auto recording = open_recording(path);
    EXPECT_TRUE(recording);
    table::StringBytes out;
    Settings settings;
    Context context{settings, {}, path, false, {}};
    context.output = {table::Format::Table, {}, &out};
    std::setlocale(LC_CTYPE, "C.UTF-8");
    context.output.style.terminal = {.tty = true, .color = false, .utf8 = true, .width = 100};
    auto done = show_summary(context, *recording);
    EXPECT_TRUE(done) << done.error().text();
    return out.text;
  }
  TemporaryDirectory directory_;
};

TEST_F(Summary, TellsWhatANewcomerAsks) {
  const std::string text = show(make_recording(directory_, "fade-seed.db"));
  for (const char* words :
       {"python3 train.py --epochs 2", "exit status 0 after 9.90 s", "2 processes", "AMD Radeon RX 6800 XT",
        "hiprtcCompileProgram", "33 launches of 2 kernels, 30 of them in graphs",
        "8.00 MiB written from host to device in 8 calls", "device 0: peak 5.00 MiB", "4.00 MiB not seen to be freed",
        "8 failed calls", "hipErrorOutOfMemory hipMalloc x 1", "device.0.multiProcessorCount=72: 2 times 36 -> 72",
        "device.1.warpSize=64: never applied", "12 not recorded: the disk was full",
        "set-user-id program runs on unwatched",
        "fade's own cost: unknown, fade's own part alone is 17 calls of 2 threads x 8.82 µs", "fade-query errors"})
    EXPECT_THAT(text, HasSubstr(words));
}

TEST_F(Summary, SaysInWordsThatTheGpuWasNotUsed) {
  const std::string path = make_recording(directory_, "fade-none.db", false);
  execute(path,
          "INSERT INTO session_ (id, kind, start_ns, end_ns, boot_ns, command, host, fade_version, clean) VALUES (1, "
          "'run', 1, 2000000001, 1, 'true', 'box', '0.1.0', 1);"
          "INSERT INTO process_ (id, session, pid, ts, ts_end, exit_code) VALUES (1, 1, 5, 0, 2000000000, 0)");
  EXPECT_THAT(show(path), HasSubstr("NOT USED  NOT_LOADED: no HIP library was ever loaded"));
  execute(path,
          "INSERT INTO module_ (id, process, path, role, sites, ts) VALUES (1, 1, '/opt/rocm/lib/libamdhip64.so.6', "
          "'hip', 480, 0)");
  EXPECT_THAT(show(path), HasSubstr("NOT USED  LOADED_UNUSED: HIP was loaded, but no recorded function was called"));
}

TEST_F(Summary, SaysThatTheRecordingWasNotClosed) {
  const std::string path = make_recording(directory_, "fade-cut.db");
  execute(path, "UPDATE session_ SET clean = 0, end_ns = NULL");
  EXPECT_THAT(show(path), HasSubstr("not closed cleanly (fade was killed, or could not write)"));
}

TEST(Filters, OfAnotherFormOfAReportAreRefusedInWordsThatWork) {
  Settings settings;
  settings.gpu = true;
  settings.api = {"cuda"};
  const auto refused = check_filters(settings, *find_report("top_gpu"));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("report top --gpu has no --api"));
  EXPECT_THAT(refused.error().fix, HasSubstr("fade-query top --gpu --where"));
}

}  // namespace
}  // namespace fade::query
