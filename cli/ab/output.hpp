// What a program wrote to its standard output, kept just well enough to be compared: the program writes into a file
// without a name, which is gone after the run.
#pragma once
#include <cstdint>
#include <string>

#include "base/fd.hpp"
#include "base/result.hpp"

namespace fade::cli::ab {

struct Output {
  static constexpr std::size_t kHead = 64 * 1024;

  std::uint64_t bytes = 0;
  std::uint64_t hash = 0;  // FNV-1a of all of it
  std::string head;        // the first kHead bytes

  bool operator==(const Output&) const = default;
};

// Where two outputs part, safe for a terminal.
struct Difference {
  std::string place;          // "line 3", or "beyond the first 65536 bytes"
  std::string first, second;  // the two lines, quoted and cut; empty where they are not known
};
Difference first_difference(const Output& first, const Output& second);

// Our standard output for as long as it lives; the one before comes back with its end. One at a time.
class OutputFile {
 public:
  static Result<OutputFile> begin();
  OutputFile(OutputFile&&) = default;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();
  Result<Output> read() const;

 private:
  OutputFile(Fd file, Fd before) : file_(std::move(file)), before_(std::move(before)) {}
  Fd file_, before_;
};

}  // namespace fade::cli::ab
