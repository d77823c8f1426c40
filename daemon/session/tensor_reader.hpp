// Reads the tensors and lists of numbers among the arguments of PyTorch's operators (--operator-shapes). The layout of
// tensors is learned from the first results of aten::empty.memory_format, whose arguments tell their sizes. Bounded,
// whatever the target says. Tracing thread only.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/remote.hpp"
#include "probe/open_calls.hpp"
#include "session/function_table.hpp"
#include "session/tensor_layout.hpp"

namespace fade {

class TensorReader {
 public:
  TensorReader(EventSink& sink, const SessionClock& clock) : sink_(sink), clock_(clock) {}

  // At the entry: appends a piece for each such argument. Tensors have none until their layout is known.
  void read(const Entry& entry, ProcessId process, const Memory& memory, OpenCall& call);
  // At the return of a call that makes a tensor.
  void learn(const Entry& entry, ProcessId process, const Memory& memory, const OpenCall& call);

 private:
  struct Library {
    std::optional<TensorLayout> layout;
    std::uint64_t unread = 0;  // calls before the layout was known
  };
  using Tensors = std::vector<std::byte>;

  void read_integers(const Entry& entry, std::uint8_t index, const Memory& memory, OpenCall& call);
  void read_tensors(const Entry& entry, std::uint8_t index, const TensorLayout& layout, const Memory& memory,
                    OpenCall& call);
  void note(ProcessId process, std::string detail);

  EventSink& sink_;
  const SessionClock& clock_;
  std::map<std::string, Library> libraries_;  // by path
  std::vector<std::byte> buffer_;
};

}  // namespace fade
