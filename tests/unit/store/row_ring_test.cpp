// Rows of calls that are removed, as no trigger is near to them.
#include "store/row_ring.hpp"

#include <gmock/gmock.h>

#include <optional>
#include <string>
#include <vector>

#include "schema/schema.hpp"

namespace fade::store {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::int64_t kOneS = 1'000'000'000;

class Rings : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = sqlite::Db::open(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    ASSERT_TRUE(opened);
    db = std::move(*opened);
    ASSERT_TRUE(db.exec(schema::tables()));
    ring.emplace(db, failure);
  }
  void TearDown() override { EXPECT_FALSE(failure) << failure.error->text(); }

  void call(std::int64_t id, std::int64_t begin, std::int64_t end) {
    Write(db, failure, "INSERT INTO call_ (id, ts, dur, thread, fn) VALUES (?,?,?,1,7)")(id, begin, end - begin);
    Write(db, failure, "INSERT INTO arg_ VALUES (?,'{}')")(id);
    Write(db, failure, "INSERT INTO copy_ (call) VALUES (?)")(id);
  }
  void unwound(std::int64_t id, std::int64_t begin, std::int64_t end) {
    Write(db, failure, "INSERT INTO call_ (id, ts, thread, fn) VALUES (?,?,1,7)")(id, begin);
    Write(db, failure, "INSERT INTO unwound_ VALUES (?,?)")(id, end);
  }
  void block(std::int64_t first, std::int64_t last) {
    Write(db, failure, "INSERT INTO arg_block_ (fn, first, last, n, data) VALUES (7,?,?,2,x'00')")(first, last);
  }
  std::vector<std::int64_t> ids(const std::string& table, const std::string& column = "call") {
    std::vector<std::int64_t> out;
    auto stmt = db.prepare("SELECT " + column + " FROM " + table + " ORDER BY 1");
    EXPECT_TRUE(stmt);
    while (stmt && stmt->step().value_or(false)) out.push_back(stmt->integer(0));
    return out;
  }

  sqlite::Db db;
  Failure failure;
  std::optional<RowRing> ring;
};

TEST_F(Rings, KeepALongCallThatEndedInTheKeptTime) {
  call(2, 2 * kOneS, 3 * kOneS);
  call(3, 4 * kOneS, 5 * kOneS);
  ring->mark(10 * kOneS);
  call(1, kOneS, 40 * kOneS);
  call(4, 39 * kOneS, 40 * kOneS);
  ring->mark(41 * kOneS);
  ring->forget({0, 30 * kOneS});
  EXPECT_THAT(ids("call_", "id"), ElementsAre(1, 4));
  EXPECT_THAT(ids("arg_"), ElementsAre(1, 4));
  EXPECT_THAT(ids("copy_"), ElementsAre(1, 4));
  ring->forget({0, 45 * kOneS});
  EXPECT_THAT(ids("call_", "id"), IsEmpty());
  EXPECT_THAT(ids("arg_"), IsEmpty());
  EXPECT_THAT(ids("copy_"), IsEmpty());
}

TEST_F(Rings, KeepALongCallThatWasUnwoundInTheKeptTime) {
  call(2, 2 * kOneS, 3 * kOneS);
  ring->mark(10 * kOneS);
  unwound(1, kOneS, 40 * kOneS);
  ring->forget({0, 30 * kOneS});
  EXPECT_THAT(ids("call_", "id"), ElementsAre(1));
  EXPECT_THAT(ids("unwound_"), ElementsAre(1));
}

TEST_F(Rings, KeepACallThatBeganInAKeptTimeAndEndedAfterIt) {
  call(1, 5 * kOneS, 6 * kOneS);
  ring->mark(8 * kOneS);
  ring->mark(10 * kOneS);
  call(2, 9 * kOneS, 11 * kOneS);
  call(3, 12 * kOneS, 13 * kOneS);
  block(2, 2);
  block(3, 3);
  ring->mark(14 * kOneS);
  ring->forget({10 * kOneS, 20 * kOneS});
  EXPECT_THAT(ids("call_", "id"), ElementsAre(1, 2));
  EXPECT_THAT(ids("copy_"), ElementsAre(1, 2));
  EXPECT_THAT(ids("arg_block_", "first"), ElementsAre(2));
}

}  // namespace
}  // namespace fade::store
