// The callers that a rule applies to: patterns on the file name of the library that the call returns to.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace fade::probes {

class Callers {
 public:
  // The default: every caller except libraries that ask HIP on HIP's own behalf. These are the runtime itself, its
  // compilers, ZLUDA, and AMD's math libraries, which size and compile kernels by the answers.
  Callers();
  // "libtorch_hip*", "libfoo*,!libfoobar*", "!libmine*", "*". If a pattern is not an exclusion, the patterns alone
  // decide. If all patterns are exclusions, they are added to the default exclusions.
  static Result<Callers> parse(std::string_view text);

  // `file` has no folder; empty if the caller is in no file.
  bool match(const std::string& file) const;
  std::string text() const;  // for messages
  bool operator==(const Callers&) const = default;

 private:
  std::vector<std::string> only_, except_;
};

}  // namespace fade::probes
