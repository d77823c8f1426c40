// Override rules and their effects. Equal hits add up in one row.
#pragma once
#include <cstdint>
#include <string>

#include "store/directory.hpp"
#include "store/hit_sums.hpp"

namespace fade::store {

class OverrideBook {
 public:
  OverrideBook(sqlite::Db& db, Failure& failure, Directory& directory, SessionRow session);

  void on(const OverrideRule& notice);
  void on(const OverrideHit& notice);
  void flush() { sums_.flush(); }
  std::uint64_t hits() const { return sums_.hits(); }

 private:
  std::string key_of(const OverrideHit& hit) const;

  Directory& directory_;
  const SessionRow session_;
  HitSums<OverrideHitRow> sums_;
  Write rule_, hit_;
};

}  // namespace fade::store
