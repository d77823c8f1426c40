// The calls of an errand that fetches matrices: the stream of the product is asked for and waited for, then the
// matrices are copied to the errand's data. A wait has a limit, because the stream may wait for work that the program
// has yet to give. Tracing thread only.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "blas/request.hpp"
#include "ptrace/errand.hpp"
#include "session/blas/gemm_call.hpp"

namespace fade {

// The functions that an errand calls, in the program.
struct ErrandCalls {
  RemoteAddr peek_error, last_error, is_capturing, query, synchronize, copy;
  RemoteAddr stream_getter, mode_getter;  // null: not needed

  // The runtime's, and those of the library at `library` that the call was of.
  static Result<ErrandCalls> find(const Inferior& inferior, const std::string& library, const GemmCall& gemm);
};

class MatrixFetch {
 public:
  // The matrices of a product; `batch` of each. The strides become those of the fetched bytes.
  void add(RemoteAddr from, blas::Matrix& matrix, std::uint64_t batch);
  std::uint64_t bytes() const { return bytes_; }
  // Of the matrix that was added `index`th, in the errand's data.
  blas::Request::Part part(std::size_t index) const { return parts_[index]; }

  std::vector<ErrandStep> steps(const Errand& errand, const GemmCall& gemm, const ErrandCalls& calls);
  // Why the errand with these steps has not fetched the matrices; empty: it has.
  std::string why_not(const Errand::Outcome& outcome) const;

  // So many matrices of a batch fit if each is a copy of its own.
  static constexpr std::uint64_t kMostSingle = 40;

 private:
  struct Copy {
    RemoteAddr from;
    std::uint64_t offset = 0, bytes = 0;
  };
  std::vector<Copy> copies_;
  std::vector<blas::Request::Part> parts_;
  std::uint64_t bytes_ = 0;
  std::vector<std::string> names_;  // of the steps' functions
};

// The processor's time stamp counter, in nanoseconds.
class Ticks {
 public:
  Ticks();
  std::uint64_t of(std::int64_t ns) const;  // the wait for a measured scale is short

 private:
  std::uint64_t ticks_;
  std::int64_t ns_;
};

}  // namespace fade
