// Which functions of CUDA's libraries a program uses: from a recording, or from the imports of its files.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/query/command.hpp"

namespace fade::query {

struct CudaUse {
  std::string name;
  std::string module;                 // the file that imports it; empty in a recording
  std::optional<std::int64_t> calls;  // of a recording
  std::int64_t total_ns = 0;
};
struct CudaUses {
  std::vector<CudaUse> all;
  std::vector<std::string> limits;  // sentences: further functions that the program may use
};

Result<CudaUses> cuda_calls(Context& context, Recording& recording);
// `with_libraries`: also the imports of the libraries that are loaded with the file, but not those of CUDA itself.
Result<CudaUses> cuda_imports(const std::string& file, bool with_libraries);

}  // namespace fade::query
