// Frames, stacks, and which call has which stack.
#pragma once
#include "store/directory.hpp"
#include "store/write.hpp"

namespace fade::store {

class StackBook {
 public:
  StackBook(sqlite::Db& db, Failure& failure, const Directory& directory);

  void on(const FrameSeen& notice);
  void on(const StackSeen& notice);
  void call(RowId call, StackId stack) { call_(call, directory_.stack_row(stack)); }

 private:
  const Directory& directory_;
  Write frame_, stack_, call_;
};

}  // namespace fade::store
