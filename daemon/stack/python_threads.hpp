// The thread state of a thread in an interpreter: the state whose thread_id is the thread's pointer (fs_base), as
// pthread_self() returns it. This works in every PID namespace, and needs no thread id.
#pragma once
#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/remote.hpp"
#include "stack/python_layout.hpp"

namespace fade {

struct PythonThread {
  static constexpr std::size_t kMaxSize = 1024;
  RemoteAddr interpreter, state;
  std::array<std::byte, kMaxSize> bytes;  // layout.thread_size() bytes of the thread state

  std::uint64_t word(std::uint32_t offset) const;
};

class PythonThreads {
 public:
  explicit PythonThreads(const PythonInterpreter& interpreter)
      : layout_(interpreter.layout), runtime_(interpreter.runtime) {}

  // nullopt: the thread has no Python state.
  std::optional<PythonThread> find(std::uint64_t fs_base, const Memory& memory);
  // The same without remembered states: a thread may have left Python and have another state now.
  std::optional<PythonThread> find_anew(std::uint64_t fs_base, const Memory& memory);
  struct Known {
    RemoteAddr interpreter, state;
    RemoteAddr link;  // the link in the list of threads that leads to the state
  };
  // The last known place of its state; null: none.
  const Known* last(std::uint64_t fs_base) const;

 private:
  struct Strange {  // not found while these were the newest thread states
    std::vector<std::uint64_t> newest;
    std::chrono::steady_clock::time_point since;
  };

  std::optional<PythonThread> load(const Known& known, std::uint64_t fs_base, const Memory& memory) const;
  RemoteAddr link_to(const PythonThread& thread) const;
  bool is_listed(Known& known, const PythonThread& thread, const Memory& memory) const;
  std::vector<Known> newest_states(const Memory& memory) const;
  bool is_strange(std::uint64_t fs_base, const std::vector<Known>& newest) const;

  PythonLayout layout_;
  RemoteAddr runtime_;
  std::unordered_map<std::uint64_t, Known> known_;
  std::unordered_map<std::uint64_t, Strange> strange_;
};

}  // namespace fade
