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
#include "ptrace/process_memory.hpp"
#include "session/function_table.hpp"
#include "session/tensor_layout.hpp"

namespace fade {

class TensorReader {
 public:
  TensorReader(EventSink& sink, const SessionClock& clock) : sink_(sink), clock_(clock) {}

  // At the entry: appends a piece for each such argument. Tensors have none until their layout is known.
  // The tensors of a call are read together: the handles of all of them, and the objects.
  void read(const Entry& entry, ProcessId process, const ProcessMemory& memory, OpenCall& call);
  // At the return of a call that makes a tensor.
  void learn(const Entry& entry, ProcessId process, const Memory& memory, const OpenCall& call);

 private:
  struct Library {
    std::optional<TensorLayout> layout;
    std::uint64_t unread = 0;  // calls before the layout was known
  };
  // A parameter that leads to tensors, while it is read.
  struct Argument {
    std::uint8_t index = 0;
    RemoteAddr handles;
    std::uint64_t told = 0;        // the number of tensors that it says it has
    std::size_t first = 0, n = 0;  // in objects_
    bool is_readable = true;
  };
  struct Handle {
    ProcessId process;
    std::uint64_t address = 0;
    bool operator==(const Handle&) const = default;
  };
  // The object that a handle had when it was last read. Few are kept: a newer one takes the place of another.
  class SeenObjects {
   public:
    std::uint64_t last(Handle at) const;  // 0: not known
    void note(Handle at, std::uint64_t object);

   private:
    struct Seen {
      Handle at;
      std::uint64_t object = 0;
    };
    static constexpr std::size_t kMost = 4096;
    static std::size_t place_of(Handle at);
    std::vector<Seen> all_ = std::vector<Seen>(kMost);
  };

  void read_integers(const Entry& entry, std::uint8_t index, const Memory& memory, OpenCall& call);
  void read_tensors(const Entry& entry, ProcessId process, const TensorLayout& layout, const ProcessMemory& memory,
                    const OpenCall& call);
  void find_handles(const Entry& entry, const Memory& memory, const OpenCall& call);
  void add_handles();
  void take_handles(ProcessId process);
  void read_others(std::size_t size, bool is_guessed, const ProcessMemory& memory);
  void append_tensors(const Argument& argument, const Entry& entry, const TensorLayout& layout, const Memory& memory,
                      OpenCall& call);
  void note(ProcessId process, std::string detail);

  EventSink& sink_;
  const SessionClock& clock_;
  std::map<std::string, Library> libraries_;  // by path
  SeenObjects seen_;
  // Of one call; members, because their memory is used again.
  std::vector<Argument> arguments_;
  std::vector<std::uint64_t> objects_;   // addresses
  std::vector<std::uint64_t> guesses_;   // where the objects were before; 0: not known
  std::vector<std::byte> object_bytes_;  // layout.end() of each
  std::vector<ProcessMemory::Piece> pieces_;
  std::vector<std::byte> buffer_;
};

}  // namespace fade
