// Copies of device properties in programs' memory: searches, copies, the fields that differ from rules, and what fade
// did to them.
#pragma once
#include <cstdint>

#include "store/directory.hpp"

namespace fade::store {

class CachedBook {
 public:
  CachedBook(sqlite::Db& db, Failure& failure, const Directory& directory);

  void on(const CachedSearch& notice);
  void on(const CachedCopy& notice);
  void on(const CachedField& notice);
  void on(const CachedChange& notice);

 private:
  CachedCopyRow row(CachedId id) const;

  const Directory& directory_;
  const CachedCopyRow base_;
  Write search_, copy_, drop_fields_, field_, changed_, put_back_, left_;
};

}  // namespace fade::store
