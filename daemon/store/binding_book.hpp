// The library that answers for the imports of each module, and the reason for the loader's choice of libraries.
#pragma once
#include "store/directory.hpp"
#include "store/write.hpp"

namespace fade::store {

class BindingBook {
 public:
  BindingBook(sqlite::Db& db, Failure& failure, const Directory& directory);

  void on(const ModuleOrigin& notice);
  void on(const ImportsBound& notice);

 private:
  const Directory& directory_;
  Write origin_, forget_, binding_;
};

}  // namespace fade::store
