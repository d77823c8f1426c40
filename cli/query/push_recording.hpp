// Sends one session of a recording to ClickHouse: its rows, then a snapshot of all else. An error leaves the server's
// tables in order: what is there is right, and the next attempt sends the rest.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/push/server.hpp"
#include "cli/query/push_rows.hpp"
#include "cli/query/push_source.hpp"
#include "cli/query/recording.hpp"

namespace fade::query {

class PushRecording {
 public:
  // `job`: empty where the user names none.
  static Result<PushRecording> of(push::Server& server, Recording& recording, std::int64_t session,
                                  const std::string& job);

  // True if the server has all of the closed recording, as the file is now.
  Result<bool> is_there(Recording& recording);
  Result<void> send_rows(Recording& recording, bool whole);
  Result<void> send_snapshot(Recording& recording, bool complete);
  Result<void> verify(Recording& recording);
  Result<std::int64_t> missing(Recording& recording) const;  // rows, those of snapshots not counted

  std::int64_t rows() const { return rows_; }  // sent by this object
  std::int64_t recording() const { return session_->recording; }
  const std::string& job() const { return session_->job; }
  bool has_named_job() const { return has_named_job_; }  // else the job is the recording's number
  // False: rows may be removed again while the recording goes on (--trigger).
  bool keeps_rows() const { return keeps_rows_; }

 private:
  PushRecording(push::Server& server, std::unique_ptr<PushedSession> session);
  Result<std::int64_t> send_table(Database& database, const push::Table& table, const Parameters& parameters);
  Result<void> mark(const std::vector<std::pair<std::string, std::int64_t>>& tables);

  push::Server* server_;
  std::unique_ptr<PushedSession> session_;  // the tables refer to it
  std::vector<PushRows> tables_;
  std::int64_t rows_ = 0;
  bool keeps_rows_ = true, has_named_job_ = false;
};

}  // namespace fade::query
