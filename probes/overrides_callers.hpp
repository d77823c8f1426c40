// For which callers a rule counts: patterns on the file name of the library that the call returns to.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace fade::probes {

class Callers {
 public:
  // Every caller but the libraries that ask HIP on its own behalf: the runtime itself, its compilers, ZLUDA and AMD's
  // math libraries, which size and compile kernels by what they are told.
  Callers();
  // "libtorch_hip*", "libfoo*,!libfoobar*", "!libmine*", "*". With a pattern that is not an exclusion, the patterns
  // alone decide; with exclusions only, they come on top of the default ones.
  static Result<Callers> parse(std::string_view text);

  // `file` has no folder; empty where the caller is in no file.
  bool match(const std::string& file) const;
  std::string text() const;  // for people
  bool operator==(const Callers&) const = default;

 private:
  std::vector<std::string> only_, except_;
};

}  // namespace fade::probes
