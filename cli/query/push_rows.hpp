// One table of rows that never change, such as calls, and how much of it a server has. Rows are told apart by their
// id. The ids are cut into ranges of equal length: a range is complete on the server if it has as many rows as the
// recording. So nothing is noted on this side, and a killed program goes on where it was.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cli/push/server.hpp"
#include "cli/query/push_source.hpp"

namespace fade::query {

class PushRows {
 public:
  PushRows(push::Server& server, const push::Table& table, const PushedSession& session)
      : server_(server), table_(table), session_(session) {}

  // Sends what the server lacks. `whole`: looks at all ranges, else at the newest ones only. After an error the rows on
  // the server are counted again before the next row is sent.
  Result<std::int64_t> send(Database& database, bool whole);
  Result<std::int64_t> missing(Database& database) const;  // rows that the server lacked when it was asked last
  std::int64_t on_server() const;
  // Asks the server again for its rows, and compares.
  Result<void> verify(Database& database);

 private:
  static constexpr std::int64_t kRange = 1 << 17;      // ids
  static constexpr std::int64_t kFullBlock = 1 << 17;  // rows
  using Ids = std::vector<bool>;                       // of a range

  struct Part {  // of a block: the rows of one range
    std::int64_t range, rows;
    Ids ids;
  };

  Result<void> learn();
  Result<std::pair<std::int64_t, std::int64_t>> bounds(Database& database) const;  // first id, and the one behind
  Result<std::int64_t> count(Database& database, std::int64_t from, std::int64_t to) const;
  Result<Ids> ids_on_server(std::int64_t range);
  Result<void> add_range(Database& database, push::NativeBlock& block, std::int64_t range, std::int64_t from,
                         std::int64_t to);
  Result<void> flush(push::NativeBlock& block);
  std::string condition() const;
  std::string request_id() const;

  push::Server& server_;
  const push::Table& table_;
  const PushedSession& session_;
  std::map<std::int64_t, std::int64_t> ranges_;  // rows on the server
  std::map<std::int64_t, Ids> known_;            // ids on the server, of the newest ranges
  std::vector<Part> parts_;                      // of the block that is filled
  std::int64_t newest_ = 0;                      // range that was sent last
  bool is_sure_ = false;                         // that ranges_ is what the server has
};

}  // namespace fade::query
