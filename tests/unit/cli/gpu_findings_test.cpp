// What is said about a GPU that was idle, and about kernels that are too short, on the seed recording. Each finding has
// a side on which it is not made.
#include <gmock/gmock.h>

#include <map>

#include "cli/query/database.hpp"
#include "cli/query_seed.hpp"
#include "cli/table/formats.hpp"
#include "schema/schema.hpp"

namespace fade::query {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// Device 0 of process 1 was used for 2 s, 1.2 s of them busy; 0.1 s of copies without a kernel.
constexpr char kDevice[] =
    "INSERT INTO gpu_count_ VALUES (1, 1000, 990, 5, 0, 0, 0);"
    "INSERT INTO gpu_span_ VALUES (1, 1, 0, 2000000000, 1200000000, 1100000000, 300000000, 990, 50000, 0);";

class GpuFindings : public testing::Test {
 protected:
  std::string found(const std::string& change) {
    TemporaryDirectory directory;
    const std::string path = make_recording(directory, "fade-idle.db");
    execute(path, kDevice + change);
    auto db = Database::open(path);
    EXPECT_TRUE(db) << db.error().text();
    auto value = db->one(
        "SELECT coalesce(group_concat(finding || ' ' || coalesce(device, 'none') || ': ' || text, char(10)), '') FROM "
        "findings WHERE "
        "finding GLOB 'gpu-idle-*' OR finding = 'tiny-kernels'");
    EXPECT_TRUE(value) << value.error().text();
    return value ? table::raw_text(*value) : "";
  }
  static std::string gap(const std::string& cause, int n, int ms) {
    return "INSERT INTO gpu_gap_ VALUES (1, 1, '" + cause + "', " + std::to_string(n) + ", " + std::to_string(ms) +
           "000000, 2000000);";
  }
  // Stops of fade that cost about so much.
  static std::string own(int ms) {
    return "DELETE FROM call_cost_; DELETE FROM overhead_; INSERT INTO call_cost_ VALUES (1, 'jump', 100, 1000, 10, 0, "
           "0, 0, 1000, NULL); INSERT INTO overhead_ VALUES (1, 4, 1000, " +
           std::to_string(ms) + "000000);";
  }
};

TEST_F(GpuFindings, BoundByLaunches) {
  EXPECT_THAT(found(gap("launch", 400, 500)),
              AllOf(StartsWith("gpu-idle-launch 0: Between 400 works"), HasSubstr("0.500 s of 2.000 s"),
                    HasSubstr("990 of 1000 works that were seen have a time. 5 more were not read in time.")));
  EXPECT_EQ(found(gap("launch", 400, 300)), "");
  EXPECT_EQ(found(gap("launch", 50, 500)), "");
}

TEST_F(GpuFindings, WhatFadeItselfMayHaveCausedIsNoFinding) {
  EXPECT_EQ(found(own(450) + gap("launch", 400, 500)), "");
  EXPECT_THAT(found(own(450) + gap("launch", 400, 800)), HasSubstr("fade's own stops explain at most 0.450 s"));
  EXPECT_EQ(found(own(5000) + gap("launch", 400, 800)), "");
}

TEST_F(GpuFindings, BoundByWaits) {
  EXPECT_THAT(found(gap("sync", 20, 500)), StartsWith("gpu-idle-sync 0: 20 times the GPU was done"));
  EXPECT_EQ(found(gap("sync", 20, 100)), "");
}

TEST_F(GpuFindings, BoundByCopies) {
  EXPECT_THAT(found(gap("copy", 20, 350)),
              AllOf(StartsWith("gpu-idle-copy 0: For 0.100 s of 2.000 s copies ran and no kernel; 20 times")));
  EXPECT_EQ(found(gap("copy", 20, 150)), "");
}

TEST_F(GpuFindings, BoundByTheHost) {
  EXPECT_THAT(found(gap("host", 20, 500)), StartsWith("gpu-idle-host 0: 20 times"));
  EXPECT_EQ(found(gap("host", 20, 100)), "");
}

// Work without a call and work of a device without a number are two devices whose ordinal is not known.
TEST_F(GpuFindings, DevicesWithoutAnOrdinalAreNotOne) {
  const std::string change =
      "INSERT INTO device_ VALUES (77, 1, -1, NULL, NULL, NULL, NULL, NULL);"
      "INSERT INTO gpu_span_ VALUES (1, 0, 0, 2000000000, 1900000000, 1900000000, 0, 990, 50000, 0),"
      " (1, 77, 0, 2000000000, 1200000000, 1100000000, 0, 990, 50000, 0);"
      "INSERT INTO gpu_gap_ VALUES (1, 77, 'host', 20, 500000000, 2000000);";
  EXPECT_THAT(found(change), AllOf(StartsWith("gpu-idle-host none: 20 times"), Not(HasSubstr("\n"))));
}

TEST_F(GpuFindings, IdleTimesWithQueuedWorkAreNotOfTheHost) {
  EXPECT_EQ(found(gap("queued", 400, 700) + gap("unknown", 400, 700)), "");
}

TEST_F(GpuFindings, KernelsThatAreShorterThanTheirLaunch) {
  const std::string cost = own(0) + "UPDATE process_use_ SET launches = iif(sec = 0, 1000, 0) WHERE process = 1;";
  const auto launched = [](int ns) {
    return "UPDATE call_stat_ SET n = 1000, total = " + std::to_string(ns) + "000 WHERE fn = 4;";
  };
  const std::string kernels = "UPDATE gpu_span_ SET n = 5000, median = 2000;";
  EXPECT_THAT(found(cost + launched(6'000) + kernels),
              StartsWith("tiny-kernels 0: Half of 5000 kernels took at most 2.0 us"));
  EXPECT_EQ(found(cost + launched(900) + kernels), "");
  EXPECT_EQ(found(cost + launched(6'000) + "UPDATE gpu_span_ SET n = 500, median = 2000;"), "");
}

// The launches of two threads took 12 ms.
TEST_F(GpuFindings, LaunchesThatFadeMadeSlowAreNotSlow) {
  const std::string launched =
      "UPDATE process_use_ SET launches = iif(sec = 0, 1000, 0) WHERE process = 1;"
      "UPDATE call_stat_ SET n = 1000, total = 6000000 WHERE fn = 4; UPDATE gpu_span_ SET n = 5000, median = 2000;";
  EXPECT_THAT(found(own(2) + launched), HasSubstr("needed at least 10.0 us for each"));
  EXPECT_EQ(found(own(7) + launched), "");
}

TEST_F(GpuFindings, ALaunchThatCannotBeToldFromFadesCostIsNone) {
  EXPECT_EQ(found(own(0) + "UPDATE call_cost_ SET least = 1000000; UPDATE gpu_span_ SET n = 5000, median = 1;"), "");
}

TEST_F(GpuFindings, TellThatTheRecordingBeganLater) {
  EXPECT_THAT(found(gap("host", 20, 500) + "INSERT INTO lifecycle_ (session, process, ts, kind, value, detail) VALUES "
                                           "(1, 1, 3000000000, 'attach', 0, '');"),
              HasSubstr("The recording began"));
}

// Columns of 1.43 s: a steady load is steady in the plot, too.
TEST(GpuColumns, ShareTheSecondsBetweenThem) {
  TemporaryDirectory directory;
  const std::string path = make_recording(directory, "fade-busy.db");
  execute(path,
          "WITH RECURSIVE s(sec) AS (VALUES (3) UNION ALL SELECT sec + 1 FROM s WHERE sec < 12) "
          "INSERT INTO gpu_busy_ SELECT 1, 1, sec, 900000000, 900000000, 0 FROM s;");
  std::string sql(schema::page_sql("gpu_columns"));
  for (const auto& [name, number] :
       std::map<std::string, std::string>{{":first", "3000000000"}, {":width", "7"}, {":span", "10000000000"}})
    for (std::size_t at = sql.find(name); at != std::string::npos; at = sql.find(name))
      sql.replace(at, name.size(), number);
  auto db = Database::open(path);
  ASSERT_TRUE(db) << db.error().text();
  auto value = db->one("SELECT group_concat(CAST(busy AS INTEGER)) FROM (" + sql + ")");
  ASSERT_TRUE(value) << value.error().text();
  EXPECT_EQ(table::raw_text(*value), "90,90,90,90,90,90,90");
}

}  // namespace
}  // namespace fade::query
