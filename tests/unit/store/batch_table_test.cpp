#include "store/batch_table.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <type_traits>
#include <utility>
#include <vector>

#include "store/recent_map.hpp"
#include "store/row_ids.hpp"

namespace fade::store {
namespace {

using testing::ElementsAre;
using testing::Pair;

class BatchTables : public testing::Test {
 protected:
  void SetUp() override {
    db_ = std::move(*sqlite::Db::open(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE));
    ASSERT_TRUE(db_.exec("CREATE TABLE number_(id INTEGER PRIMARY KEY, value INTEGER) STRICT"));
  }
  void TearDown() override { db_.close(); }

  std::vector<std::pair<std::int64_t, std::int64_t>> rows() {
    std::vector<std::pair<std::int64_t, std::int64_t>> out;
    sqlite::Stmt all = std::move(*db_.prepare("SELECT id, coalesce(value, -1) FROM number_ ORDER BY id"));
    while (*all.step()) out.emplace_back(all.integer(0), all.integer(1));
    return out;
  }

  BatchTable table_{"number_", 2};  // outlives the connection
  sqlite::Db db_;
};

static_assert(!std::is_convertible_v<ProcessRow, ThreadRow> && !std::is_assignable_v<ThreadRow&, ProcessRow>);

TEST_F(BatchTables, RowsOfOtherTablesAreNumbersOrNull) {
  ASSERT_TRUE(table_.attach(db_));
  table_.add(StreamRow(1), or_null(DeviceRow(7)));
  table_.add(StreamRow(2), or_null(DeviceRow()));
  ASSERT_TRUE(table_.flush());
  EXPECT_THAT(rows(), ElementsAre(Pair(1, 7), Pair(2, -1)));
}

// Calls come in the order of their returns, so their ids do not.
TEST_F(BatchTables, EveryRowKeepsItsIdInWhateverOrderTheyCome) {
  ASSERT_TRUE(table_.attach(db_));
  for (const std::int64_t id : {1, 2, 5, 4, 6, 3}) table_.add(id, id * 10);
  ASSERT_TRUE(table_.flush());
  for (const std::int64_t id : {7, 9, 8, 10}) table_.add(id, id == 9 ? BatchTable::kNull : id * 10);
  ASSERT_TRUE(table_.flush());
  EXPECT_THAT(rows(), ElementsAre(Pair(1, 10), Pair(2, 20), Pair(3, 30), Pair(4, 40), Pair(5, 50), Pair(6, 60),
                                  Pair(7, 70), Pair(8, 80), Pair(9, -1), Pair(10, 100)));
}

TEST_F(BatchTables, RowsFollowThoseThatTheTableHasAlready) {
  ASSERT_TRUE(db_.exec("INSERT INTO number_ VALUES (41, 1)"));
  ASSERT_TRUE(table_.attach(db_));
  table_.add(1, 2);
  table_.add(42, 3);
  table_.add(43, 4);
  ASSERT_TRUE(table_.flush());
  EXPECT_THAT(rows(), ElementsAre(Pair(1, 2), Pair(41, 1), Pair(42, 3), Pair(43, 4)));
}

TEST_F(BatchTables, AnIdThatIsThereAlreadyIsAnError) {
  ASSERT_TRUE(table_.attach(db_));
  table_.add(1, 10);
  table_.add(2, 20);
  table_.add(1, 30);
  EXPECT_FALSE(table_.flush());
}

// Where the id is the last column, stretches of ids without a gap go another way.
TEST_F(BatchTables, StretchesOfIdsWithoutAGapKeepTheirsToo) {
  ASSERT_TRUE(
      db_.exec("DROP TABLE number_; CREATE TABLE number_(value INTEGER, id INTEGER PRIMARY KEY) STRICT; INSERT INTO "
               "number_ VALUES (70, 7)"));
  ASSERT_TRUE(table_.attach(db_));
  std::vector<std::pair<std::int64_t, std::int64_t>> wanted{{7, 70}};
  const auto put = [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t id = first; id <= last; ++id) {
      table_.add(id, id * 10);
      wanted.emplace_back(id, id * 10);
    }
  };
  put(8, 40);   // follow at once
  put(45, 90);  // a gap, and what follows it
  put(42, 43);  // late ones
  put(91, 95);  // too few for a stretch
  put(100, 100);
  ASSERT_TRUE(table_.flush());
  put(101, 200);
  put(1, 3);
  ASSERT_TRUE(table_.flush());
  put(96, 96);
  put(201, 216);
  ASSERT_TRUE(table_.flush());
  std::sort(wanted.begin(), wanted.end());
  EXPECT_EQ(rows(), wanted);
}

TEST_F(BatchTables, ColumnsWithoutValuesAreNullInThatBatchOnly) {
  ASSERT_TRUE(db_.exec(
      "DROP TABLE number_; CREATE TABLE number_(value INTEGER, other INTEGER, id INTEGER PRIMARY KEY) STRICT"));
  BatchTable wide("number_", 3);
  ASSERT_TRUE(wide.attach(db_));
  for (std::int64_t id = 1; id <= 20; ++id) wide.add(id, BatchTable::kNull, id);
  ASSERT_TRUE(wide.flush());
  for (std::int64_t id = 21; id <= 40; ++id) wide.add(id, id == 40 ? 7 : BatchTable::kNull, BatchTable::kNull);
  ASSERT_TRUE(wide.flush());
  EXPECT_EQ(*db_.integer("SELECT count(*) FROM number_ WHERE other = id"), 20);
  EXPECT_EQ(*db_.integer("SELECT count(*) FROM number_ WHERE id > 20 AND other IS NULL"), 20);
  EXPECT_EQ(*db_.integer("SELECT sum(id) FROM number_ WHERE value = 7"), 40);
  EXPECT_EQ(*db_.integer("SELECT count(value) FROM number_"), 1);
  db_.close();
}

TEST_F(BatchTables, ColumnsThatAreTheSameInAllRowsKeepTheirValueInThatBatchOnly) {
  ASSERT_TRUE(db_.exec(
      "DROP TABLE number_; CREATE TABLE number_(value INTEGER, other INTEGER, id INTEGER PRIMARY KEY) STRICT"));
  BatchTable wide("number_", 3);
  ASSERT_TRUE(wide.attach(db_));
  std::string wanted;
  const auto put = [&](std::int64_t id, std::int64_t value, std::int64_t other) {
    wide.add(id, value, other);
    wanted += std::to_string(id) + " " + std::to_string(value) + " " + std::to_string(other) + ",";
  };
  for (std::int64_t id = 1; id <= 40; ++id) put(id, 5, id * 2);
  ASSERT_TRUE(wide.flush());
  for (std::int64_t id = 41; id <= 80; ++id) put(id, -6, 0);
  ASSERT_TRUE(wide.flush());
  for (std::int64_t id = 81; id <= 120; ++id) put(id, id == 120 ? 8 : 7, 0);  // but for the last
  for (std::int64_t id = 130; id <= 170; ++id)
    put(id, id == 170 ? 1LL << 62 : 7, 0);  // the same table in two stretches
  ASSERT_TRUE(wide.flush());
  put(171, 9, 9);
  ASSERT_TRUE(wide.flush());
  EXPECT_EQ(db_.text("SELECT group_concat(id || ' ' || value || ' ' || other, ',') || ',' FROM (SELECT * FROM number_ "
                     "ORDER BY id)"),
            wanted);
  db_.close();
}

// Every batch may have one of its own: the statements for them are not kept without end.
TEST_F(BatchTables, ManyShapesOfBatches) {
  std::string columns;
  for (int i = 0; i < 10; ++i) columns += "c" + std::to_string(i) + " INTEGER,";
  ASSERT_TRUE(db_.exec("DROP TABLE number_; CREATE TABLE number_(" + columns + "id INTEGER PRIMARY KEY) STRICT"));
  BatchTable wide("number_", 11);
  ASSERT_TRUE(wide.attach(db_));
  std::int64_t id = 0, sum = 0;
  for (std::int64_t shape = 0; shape < 1024; ++shape) {
    for (std::int64_t row = 1; row <= 20; ++row) {
      const auto cell = [&](int column) {
        const std::int64_t value = shape >> column & 1 ? row : 3;
        sum += value;
        return value;
      };
      wide.add(++id, cell(0), cell(1), cell(2), cell(3), cell(4), cell(5), cell(6), cell(7), cell(8), cell(9));
    }
    ASSERT_TRUE(wide.flush());
  }
  EXPECT_EQ(*db_.integer("SELECT count(*) FROM number_"), id);
  EXPECT_EQ(*db_.integer("SELECT sum(c0 + c1 + c2 + c3 + c4 + c5 + c6 + c7 + c8 + c9) FROM number_"), sum);
  db_.close();
}

TEST_F(BatchTables, WithoutAKeyEveryRowIsAppended) {
  ASSERT_TRUE(db_.exec("DROP TABLE number_; CREATE TABLE number_(id INTEGER, value INTEGER)"));
  ASSERT_TRUE(table_.attach(db_));
  for (const std::int64_t id : {5, 9, 5, 1}) table_.add(id, id * 10);
  ASSERT_TRUE(table_.flush());
  table_.add(9, BatchTable::kNull);
  ASSERT_TRUE(table_.flush());
  EXPECT_THAT(rows(), ElementsAre(Pair(1, 10), Pair(5, 50), Pair(5, 50), Pair(9, 90), Pair(9, -1)));
  EXPECT_EQ(*db_.integer("SELECT id FROM number_ WHERE rowid = 4"), 1);
}

TEST_F(BatchTables, WithAnotherKeyEqualRowsMeet) {
  ASSERT_TRUE(
      db_.exec("DROP TABLE number_; CREATE TABLE number_(id INTEGER NOT NULL, value INTEGER NOT NULL, PRIMARY KEY "
               "(id)) STRICT, WITHOUT ROWID"));
  BatchTable sums("number_", 2, "DO UPDATE SET value = value + excluded.value");
  ASSERT_TRUE(sums.attach(db_));
  for (std::int64_t id : {1, 2, 2, 1, 3}) sums.add(id, 10);
  ASSERT_TRUE(sums.flush());
  sums.add(3, 5);
  ASSERT_TRUE(sums.flush());
  EXPECT_THAT(rows(), ElementsAre(Pair(1, 20), Pair(2, 20), Pair(3, 15)));
  db_.close();
}

TEST(RecentMap, KeepsApartMoreKeysThanItHasAtHand) {
  RecentMap<std::uint64_t, std::uint64_t> map;
  for (int round = 0; round < 3; ++round)
    for (std::uint64_t key = 0; key < 1'000; ++key) map[key * 64] += key;
  EXPECT_EQ(map.size(), 1'000U);
  for (std::uint64_t key = 0; key < 1'000; ++key) EXPECT_EQ(map[key * 64], 3 * key);
  map.clear();
  EXPECT_EQ(map[64], 0U) << "what was at hand is forgotten with the rest";
  EXPECT_EQ(map.size(), 1U);
}

}  // namespace
}  // namespace fade::store
