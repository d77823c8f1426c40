// The rules of --actions, and their work: a row each time.
#pragma once
#include <cstdint>

#include "store/directory.hpp"
#include "store/step_book.hpp"

namespace fade::store {

class ActionBook {
 public:
  ActionBook(sqlite::Db& db, Failure& failure, Directory& directory, StepBook& steps, SessionRow session);

  void on(const ActionRule& notice);
  void on(const ActionDone& notice);

 private:
  Directory& directory_;
  StepBook& steps_;
  const SessionRow session_;
  Write rule_, done_;
};

}  // namespace fade::store
