// Which rows fade-query push sends: those that the server lacks, under one name of the request.
#include "cli/query/push_rows.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "cli/push/http.hpp"
#include "cli/push_block.hpp"
#include "cli/push_server.hpp"
#include "cli/query/recording.hpp"
#include "cli/query_seed.hpp"
#include "cli/table/formats.hpp"

namespace fade::query {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::int64_t kRange = 1 << 17;  // ids of a range

class PushRowsTest : public ::testing::Test {
 protected:
  PushRowsTest()
      : http_([this](const std::string& query, const std::string& body) { return answer(query, body); }),
        server_(*push::Server::make(*push::read_address(http_.url()), {}, stop_)) {
    session_.session = 1;
    session_.recording = 77;
    session_.job = "it's a job";
  }
  // Calls with these ids.
  void record(const std::set<std::int64_t>& ids) {
    std::string sql =
        "INSERT INTO session_ (id, kind, start_ns, boot_ns, clean, last_call) VALUES (1, 'run', 1, 1, 1, " +
        std::to_string(*ids.rbegin()) + ");";
    for (const std::int64_t id : ids)
      sql += "INSERT INTO call_ (id, ts, dur, thread, fn) VALUES (" + std::to_string(id) + ", 5, 6, 1, 1);";
    path_ = make_recording(directory_, "run.db", false);
    execute(path_, sql);
  }
  Result<std::int64_t> send(PushRows& rows, bool whole = true) {
    auto recording = open_recording(path_);
    EXPECT_TRUE(recording) << recording.error().text();
    return rows.send(recording->database, whole);
  }
  PushRows rows() { return {server_, push::tables().front(), session_}; }

  // As ClickHouse would, with the ids in `there`.
  std::pair<int, std::string> answer(const std::string& query, const std::string& body) {
    if (body.find("system.processes") != body.npos) return {200, is_running_ ? "1\n" : "0\n"};
    if (body.find("GROUP BY part") != body.npos) return {200, counted()};
    if (body.find("SELECT id FROM calls") != body.npos) return {200, ids_from(body)};
    if (const std::size_t at = query.find("query_id="); at != query.npos)
      names_.insert(query.substr(at + 9, query.find('&', at) - at - 9));
    if (fails_ > 0 && --fails_ == 0) return {500, "Code: 241. DB::Exception: Memory limit exceeded"};
    sent_text_ = push::unpacked(body);
    const push::ReadBlock block(sent_text_);
    for (const std::string& id : block["id"]) {
      sent_.push_back(std::stoll(id));
      there_.insert(sent_.back());
    }
    ++blocks_;
    return {200, ""};
  }
  std::string counted() const {
    std::map<std::int64_t, int> ranges;
    for (const std::int64_t id : there_) ++ranges[id / kRange];
    std::string out;
    for (const auto& [range, count] : ranges)
      out += std::to_string(range) + "\t" + std::to_string(count + more_) + "\n";
    return out;
  }
  std::string ids_from(const std::string& sql) const {
    const std::int64_t from = std::stoll(sql.substr(sql.find("id >= ") + 6)),
                       to = std::stoll(sql.substr(sql.find("id < ") + 5));
    std::string out;
    for (const std::int64_t id : there_)
      if (id >= from && id < to) out.append(reinterpret_cast<const char*>(&id), sizeof id);
    return out;
  }

  // The server's thread uses these, during a request.
  std::set<std::int64_t> there_;
  std::set<std::string> names_;
  std::vector<std::int64_t> sent_;
  std::string sent_text_;  // of the last block
  int blocks_ = 0, fails_ = 0, more_ = 0;
  bool is_running_ = false;

  std::atomic<bool> stop_{false};
  TemporaryDirectory directory_;
  std::string path_;
  PushedSession session_;
  push::FakeServer http_;
  push::Server server_;
};

TEST_F(PushRowsTest, SendsAllToAnEmptyServerOnce) {
  record({1, 2, 3, kRange + 4});
  PushRows table = rows();
  EXPECT_EQ(send(table).value(), 4);
  EXPECT_THAT(sent_, ElementsAre(1, 2, 3, kRange + 4));
  EXPECT_EQ(send(table).value(), 0);
  PushRows later = rows();  // of another process, which knows nothing
  EXPECT_EQ(send(later).value(), 0);
  EXPECT_EQ(blocks_, 1);
  EXPECT_THAT(names_, ElementsAre("fade-77-calls"));
}

TEST_F(PushRowsTest, SendsOnlyWhatTheServerLacks) {
  record({1, 2, 3, 4, kRange + 1, kRange + 2, 2 * kRange});
  there_ = {2, 4, kRange + 1, kRange + 2};
  PushRows table = rows();
  EXPECT_EQ(send(table).value(), 3);
  EXPECT_THAT(sent_, ElementsAre(1, 3, 2 * kRange));
}

TEST_F(PushRowsTest, LooksAtTheNewestRangesWhileARecordingGoesOn) {
  record({1, kRange + 1, 3 * kRange + 1});
  PushRows table = rows();
  EXPECT_EQ(send(table).value(), 3);
  execute(path_,
          "INSERT INTO call_ (id, ts, thread, fn) VALUES (2, 5, 1, 1), (" + std::to_string(2 * kRange) + ", 5, 1, 1)");
  EXPECT_EQ(send(table, false).value(), 1) << "a call of the range before the newest one";
  EXPECT_EQ(send(table).value(), 1) << "the whole";
  EXPECT_THAT(sent_, ElementsAre(1, kRange + 1, 3 * kRange + 1, 2 * kRange, 2));
}

TEST_F(PushRowsTest, WaitsForAnEarlierRequest) {
  record({1});
  is_running_ = true;
  PushRows table = rows();
  const auto refused = send(table);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, push::kUnreachable);
  EXPECT_THAT(sent_, IsEmpty());
  is_running_ = false;
  EXPECT_EQ(send(table).value(), 1);
}

TEST_F(PushRowsTest, CountsAgainAfterAnError) {
  record({1, 2});
  fails_ = 1;
  PushRows table = rows();
  const auto failed = send(table);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, push::kUnreachable);
  there_ = {1, 2};  // the answer was lost, and not the rows
  EXPECT_EQ(send(table).value(), 0);
  EXPECT_THAT(sent_, IsEmpty());
}

TEST_F(PushRowsTest, RefusesAServerThatHasTooMuch) {
  record({1, 2});
  there_ = {1, 2};
  more_ = 1;
  PushRows table = rows();
  const auto refused = send(table);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text(), HasSubstr("has 3 rows of a part of this recording that has 2"));
  EXPECT_EQ(refused.error().code, 0);
}

// Each way in which a call can end, of a function with a result and of one without.
TEST_F(PushRowsTest, SendsWhatTheViewOfCallsSays) {
  path_ = make_recording(directory_, "run.db", false);
  execute(path_,
          "INSERT INTO session_ (id, kind, start_ns, boot_ns, clean, last_call) VALUES (1, 'run', 1, 1, 1, 12);"
          "INSERT INTO process_ (id, session, pid, ts) VALUES (1, 1, 70, 0);"
          "INSERT INTO thread_ (id, process, tid, ts) VALUES (1, 1, 71, 0), (2, 1, 72, 0);"
          "INSERT INTO function_ (id, session, name, api, grp, kind, result_type) VALUES "
          "(1, 1, 'hipMalloc', 'hip', 'mem', 'alloc', 'hipError_t'), (2, 1, 'hipNothing', 'hip', 'mem', '', 'void');"
          "INSERT INTO result_name_ VALUES (1, 2, 'hipErrorOutOfMemory', 1), (1, -1, 'below zero', 0);"
          "INSERT INTO call_site_ (id, process, library, offset) VALUES (4, 1, '/lib/a.so', 16);"
          "INSERT INTO call_ (id, ts, dur, thread, fn, up, result, caller, launch) VALUES "
          "(1, 5, 6, 1, 1, NULL, NULL, NULL, NULL), (2, 5, 6, 1, 1, 1, 2, 4, NULL), (3, 5, 6, 2, 1, NULL, 7, 9, 3),"
          "(4, 5, 6, 1, 1, 2, -1, 4, NULL), (5, 5, NULL, 1, 1, NULL, NULL, NULL, NULL), (6, 5, NULL, 1, 1, NULL, 2, 4, "
          "NULL),"
          "(7, 5, NULL, 1, 1, NULL, NULL, NULL, NULL), (8, 5, NULL, 1, 1, NULL, NULL, NULL, NULL),"
          "(9, 5, 6, 1, 2, NULL, NULL, NULL, NULL), (10, 5, 6, 2, 2, NULL, 2, NULL, NULL),"
          "(11, 5, NULL, 2, 2, NULL, NULL, NULL, NULL), (12, 5, 6, 1, 1, NULL, 8589934594, NULL, NULL);"
          "INSERT INTO unwound_ VALUES (6, NULL), (7, -1), (8, 9)");
  PushRows table = rows();
  ASSERT_EQ(send(table).value(), 12);
  auto recording = open_recording(path_);
  ASSERT_TRUE(recording);
  const push::ReadBlock block(sent_text_);
  for (const std::string column :
       {"id", "start", "duration", "pid", "tid", "category", "name", "parent_id", "result", "result_name", "failed",
        "state", "caller_id", "caller", "caller_library", "thread_id", "function_id", "launch_id"}) {
    auto seen = recording->database.prepare("SELECT ifnull(" + column + ", 'NULL') FROM calls ORDER BY id");
    ASSERT_TRUE(seen) << seen.error().text();
    const auto cells = seen->all();
    ASSERT_TRUE(cells && cells->size() == 12);
    for (std::size_t i = 0; i < cells->size(); ++i)
      EXPECT_EQ(block[column][i], table::raw_text((*cells)[i][0])) << column << " of call " << i + 1;
  }
  EXPECT_THAT(block["state"], testing::IsSupersetOf({"returned", "open", "unseen", "entry only", "unwound"}));
}

}  // namespace
}  // namespace fade::query
