// Looks of --watch-numbers: a row for each copy in which something was found or that has a checksum, sums by place and
// buffer of all copies that were looked at, and the copies that were not.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "store/directory.hpp"
#include "store/step_book.hpp"

namespace fade::store {

class NumberBook {
 public:
  NumberBook(sqlite::Db& db, Failure& failure, Directory& directory, StepBook& steps);

  // `keep_rows`: rows are still written.
  void on(const NumbersSeen& notice, bool keep_rows);
  void on(const NumbersLeft& notice);
  void flush();

 private:
  static constexpr std::size_t kMostSums = 20'000;  // places and buffers; beyond them buffers are one
  static constexpr std::int64_t kMostRows = 2'000'000;

  using Key = std::tuple<ProcessRow, FunctionRow, SiteRow, StackRow, bool, std::uint64_t, std::string, bool>;
  struct Sum {  // since the last flush
    std::uint64_t copies = 0, bytes = 0, scanned = 0, elements = 0, nan = 0, inf = 0, outside = 0, nan_copies = 0,
                  found_copies = 0;
    std::optional<double> least, greatest;
    std::int64_t first = 0;
    NumberRow first_found = 0, first_nan = 0;
  };
  struct StepSum {
    std::uint64_t copies = 0, bytes = 0, scanned = 0;
  };
  NumberRow write(const NumbersSeen& seen, ProcessRow process);
  void add_up(const NumbersSeen& seen, ProcessRow process, NumberRow row);

  Directory& directory_;
  StepBook& steps_;
  std::map<Key, Sum> sums_;
  std::map<std::tuple<ProcessRow, ThreadRow, StepRow, bool>, StepSum> step_sums_;  // since the last flush
  NumberRow last_;
  std::int64_t rows_ = 0;
  Write row_, sum_, step_sum_, left_;
};

}  // namespace fade::store
