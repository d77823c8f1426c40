// Launches that come again: the same words in registers and on the stack mean the same kernel, shape and stream as the
// last time, so they are not decoded anew. Of fixed size; knows no kernels, only its owner's findings about them.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "base/event.hpp"
#include "probes/arguments.hpp"
#include "probes/call_words.hpp"
#include "store/rollups.hpp"
#include "store/stream_book.hpp"

namespace fade::store {

// The words of a function's calls that hold the kernel, the shape and the stream of a launch.
class LaunchWords {
 public:
  using Values = probes::CallWords::Values;

  LaunchWords() = default;
  explicit LaunchWords(const probes::Probe& probe);

  std::size_t size() const { return words_.size(); }  // 0: some of it lies elsewhere, behind a pointer
  // Their values, and a hash of these; 0: the call lacks the expected words on the stack.
  std::uint64_t read(const CallRecord& record, probes::Payload payload, Values& values) const;

 private:
  probes::CallWords words_;
};

class LaunchMemo {
 public:
  struct Key {
    LaunchWords::Values words;  // as many as the function has
    std::size_t size;
    std::uint64_t hash;
    FunctionId function;
    ProcessId process;
    int device;  // of the thread: the default stream belongs to it
  };
  struct Launch {
    LaunchSum* sum = nullptr;
    StreamBook::Stream* stream = nullptr;  // nullptr: the function takes none
    LaunchRow row = 0;                     // 0: none
    bool wanted = false;
  };

  // nullptr: not known as of `told`, which changes if a kernel, stream or sum may have become another.
  const Launch* find(const Key& key, std::uint64_t told) const {
    const Entry& entry = entries_[key.hash >> (64 - kBits)];
    if (entry.told != told || entry.function != key.function || entry.process != key.process ||
        entry.device != key.device)
      return nullptr;
    for (std::size_t i = 0; i < key.size; ++i)
      if (entry.words[i] != key.words[i]) return nullptr;
    return &entry.launch;
  }
  void remember(const Key& key, std::uint64_t told, const Launch& launch) {
    Entry& entry = entries_[key.hash >> (64 - kBits)];
    entry = {.words = {},
             .launch = launch,
             .told = told,
             .function = key.function,
             .process = key.process,
             .device = key.device};
    std::copy_n(key.words.begin(), key.size, entry.words.begin());
  }

 private:
  static constexpr int kBits = 12;
  struct Entry {
    LaunchWords::Values words{};
    Launch launch;
    std::uint64_t told = 0;
    FunctionId function = 0;
    ProcessId process = 0;
    int device = 0;
  };

  std::vector<Entry> entries_{std::size_t{1} << kBits};
};

}  // namespace fade::store
