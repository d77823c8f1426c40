// Products that --check blas computed again: a row each, and the number of those that were not checked, by reason.
#pragma once
#include "store/directory.hpp"
#include "store/step_book.hpp"

namespace fade::store {

class CheckBook {
 public:
  CheckBook(sqlite::Db& db, Failure& failure, Directory& directory, StepBook& steps);

  void on(const ProductChecked& notice);
  void on(const ProductsLeft& notice);

 private:
  Directory& directory_;
  StepBook& steps_;
  Write row_, left_;
};

}  // namespace fade::store
