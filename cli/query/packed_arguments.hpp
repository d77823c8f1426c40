// Arguments that a recording keeps in packed blocks (arg_block_) as the JSON texts that the view calls promises. Where
// a recording has such blocks, temporary views take the place of the file's own that show arguments. Nothing in the
// file is trusted; what is kept in memory is bounded.
#pragma once
#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "probes/call_block.hpp"
#include "probes/signature.hpp"

namespace fade::query {

class PackedArguments {
 public:
  static constexpr std::size_t kMostBlocks = 128;  // unpacked at a time, some 100 KB each

  explicit PackedArguments(sqlite3* db) : db_(db) {}  // ends before the database does
  // Before the connection is made read-only. `fade_args(call, function)` becomes a function of SQL: NULL where no block
  // has them.
  void install();

 private:
  struct Range {
    std::int64_t first = 0, last = 0, id = 0;
    std::int64_t highest = 0;  // `last` of this range and those before it
  };
  struct Function {
    std::optional<probes::Signature> signature;
    std::vector<Range> ranges;  // by first
  };

  static void function(sqlite3_context* context, int count, sqlite3_value** args);
  std::optional<std::string> text(std::int64_t call, std::int64_t function);
  void read_ranges();
  void read_signatures();
  const probes::CallBlock* block(std::int64_t id);
  void shadow(const std::string& view, const std::string& from, const std::string& to);

  sqlite3* db_;
  bool is_read_ = false, is_busy_ = false;
  std::unordered_map<std::int64_t, Function> functions_;
  std::unordered_map<std::int64_t, std::optional<probes::CallBlock>> blocks_;  // nullopt: it is none
};

}  // namespace fade::query
