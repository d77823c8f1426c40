#include "store/stack_book.hpp"

namespace fade::store {

StackBook::StackBook(sqlite::Db& db, Failure& failure, const Directory& directory)
    : directory_(directory),
      frame_(db, failure, "INSERT INTO frame_ VALUES (?,?,?,?,?,?,?,?,?)"),
      stack_(db, failure, "INSERT INTO stack_ VALUES (?,?,?)"),
      call_(db, failure, "INSERT OR REPLACE INTO call_stack_ VALUES (?,?)") {}

void StackBook::on(const FrameSeen& n) {
  frame_(directory_.frame_row(n.frame), directory_.process_row(n.process), static_cast<int>(n.kind), unless(directory_.module_row(n.module), 0),
         static_cast<std::int64_t>(n.address), static_cast<std::int64_t>(n.offset), unless_empty(n.function), unless_empty(n.file), unless(n.line, 0));
}

void StackBook::on(const StackSeen& n) {
  stack_(directory_.stack_row(n.stack), unless(directory_.stack_row(n.parent), 0), directory_.frame_row(n.frame));
}

}  // namespace fade::store
