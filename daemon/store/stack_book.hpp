// Frames, stacks, the stack of each call, and sums over the calls of each stack, added to their table about every
// second.
#pragma once

#include "store/directory.hpp"
#include "store/recent_map.hpp"
#include "store/write.hpp"

namespace fade::store {

struct StackCall {
  StackId stack = 0;
  CallRow call = 0;
  FunctionRow function = 0;
  std::int64_t ns = 0, self_ns = 0;  // self: without watched calls inside
  std::uint64_t bytes = 0;           // that it allocated
  bool failed = false;
};

class StackBook {
 public:
  StackBook(sqlite::Db& db, Failure& failure, const Directory& directory);

  void on(const FrameSeen& notice);
  void on(const StackSeen& notice);
  void call(CallRow call, StackId stack) { call_(call, directory_.stack_row(stack)); }
  void count(const StackCall& call);
  void flush();

 private:
  struct Sum {
    std::uint64_t n = 0, errors = 0;
    std::int64_t total = 0, self = 0, bytes = 0;
    CallRow first_call = 0;
  };
  struct Key {
    StackRow stack = 0;
    FunctionRow function = 0;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& k) const {
      return static_cast<std::size_t>(k.stack.value()) * 0x9E3779B97F4A7C15u ^
             static_cast<std::size_t>(k.function.value());
    }
  };

  const Directory& directory_;
  RecentMap<Key, Sum, Hash> sums_;  // since the last flush
  Write frame_, stack_, call_, sum_;
};

}  // namespace fade::store
