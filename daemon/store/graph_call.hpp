// A call about graphs, with what it names.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "store/call_view.hpp"
#include "store/graph_set.hpp"
#include "store/write.hpp"

namespace fade::store {

struct GraphCall {
  ProcessId process = 0;
  ProcessRow process_row = 0;
  CallRow call = 0;
  StreamRow stream = 0;
  std::int64_t at = 0, end = 0, ns = 0;
  bool failed = false;
  bool stored = false;  // it has a row
  const CallView& view;
  std::vector<GraphKernel> kernels;     // that it names
  std::optional<GraphMemory> memory{};  // that it puts into a graph; its node is not set
  std::optional<GraphCopy> copy{};      // likewise

  // The nth parameter of that type; 0: none. The next function gives the value that an out-parameter of that type
  // received.
  std::uint64_t given(std::string_view type, std::size_t nth = 0) const;
  std::uint64_t made(std::string_view type) const;
};

}  // namespace fade::store
