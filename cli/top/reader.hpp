// Reads Sums from a recording, again and again, also while it is written. Statements are compiled once. Names of lines
// are looked up once for each stack and frame.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/result.hpp"
#include "cli/query/named_row.hpp"
#include "cli/query/recording.hpp"
#include "cli/top/sums.hpp"

namespace fade::cli::top {

class Reader {
 public:
  static Result<Reader> open(const std::string& path);

  const std::string& path() const { return recording_.path; }
  bool under_way() const { return recording_.state == query::State::Running; }  // when it was opened
  bool writer_is_gone() const;  // false if the kernel did not tell which process writes

  // Changes when sums were written; cheap. Sums are written about once a second.
  Result<std::int64_t> mark();
  Result<Sums> read(std::int64_t now_ns, bool utf8);

 private:
  explicit Reader(query::Recording recording) : recording_(std::move(recording)) {}

  using Row = query::NamedRow;
  template <class Use>
  Result<void> each(std::string_view page, const Use& use);
  query::Statement* statement(std::string_view page);
  Result<void> read_session(Sums& to);
  Result<void> read_processes(Sums& to);
  Result<void> read_functions(Sums& to);
  Result<void> read_kernels(Sums& to);
  Result<void> read_lines(Sums& to);
  Result<void> read_samples();
  Result<void> read_trouble(Sums& to);
  const std::string& line_of(std::string_view page, const char* parameter, std::int64_t id,
                             std::unordered_map<std::int64_t, std::string>& known);

  query::Recording recording_;
  std::map<std::string, query::Statement, std::less<>> statements_;  // by page; after recording_: they end first
  std::int64_t session_ = 0;
  std::optional<Error> failed_;

  std::int64_t last_sample_ = 0;                                             // row of sample_ that was counted last
  std::map<std::pair<std::int64_t, std::string>, std::int64_t> samples_;     // by process and line
  std::unordered_map<std::int64_t, std::string> stack_lines_, frame_lines_;  // by id
};

}  // namespace fade::cli::top
