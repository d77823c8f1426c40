// Rows of single calls: the call itself, its arguments, its stack and its error.
#pragma once
#include <cstdint>

#include "base/recording.hpp"
#include "store/books.hpp"
#include "store/recorded_call.hpp"

namespace fade::store {

class CallRows {
 public:
  CallRows(sqlite::Db& db, Failure& failure, Books& books);

  void write(const RecordedCall& call);
  // The call gets no row, but its error and the name of its result are kept.
  void write_sums(const RecordedCall& call) {
    if (call.result != 0) note_result(call);
  }

  // False: no call has a row.
  bool are_wanted() const { return has_rows_ && books_.detail.wants_rows(); }
  std::uint64_t written() const { return written_; }
  std::uint64_t left_out() const { return left_out_; }  // calls that got no row because of Keep
  void leave_out() { ++left_out_; }

 private:
  void write_row(const RecordedCall& call);
  void write_arguments(const RecordedCall& call);
  void note_result(const RecordedCall& call);  // other than 0
  void note_error(const RecordedCall& call);

  Books& books_;
  const bool has_rows_;
  Write unwound_, arguments_as_text_;
  std::uint64_t written_ = 0, left_out_ = 0;
};

}  // namespace fade::store
