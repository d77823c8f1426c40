// Which thread state of an interpreter belongs to a thread: the one whose thread_id is the thread's pointer (fs_base), as pthread_self()
// gives it. That holds in every PID namespace, and no thread id has to be known.
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
  std::array<std::byte, kMaxSize> bytes;  // of the thread state, layout.thread_size() of them

  std::uint64_t word(std::uint32_t offset) const;
};

class PythonThreads {
 public:
  explicit PythonThreads(const PythonInterpreter& interpreter)
      : layout_(interpreter.layout), runtime_(interpreter.runtime) {}

  // nullopt: the thread has nothing to do with Python.
  std::optional<PythonThread> find(std::uint64_t fs_base, const Memory& memory);
  // The same without what is remembered: a thread may have left Python and come back with another state.
  std::optional<PythonThread> find_anew(std::uint64_t fs_base, const Memory& memory);
  struct Known {
    RemoteAddr interpreter, state;
    RemoteAddr link;  // where the list of threads leads to the state
  };
  // Where its state stood when it was last found; null: nowhere.
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
