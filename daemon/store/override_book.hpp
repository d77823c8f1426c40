// Override rules and their effects. Equal hits add up in one row.
#pragma once
#include <cstdint>
#include <string>
#include <unordered_map>

#include "store/directory.hpp"

namespace fade::store {

class OverrideBook {
 public:
  OverrideBook(sqlite::Db& db, Failure& failure, Directory& directory, SessionRow session);

  void on(const OverrideRule& notice);
  void on(const OverrideHit& notice);
  void flush();
  std::uint64_t hits() const { return hits_; }

 private:
  struct Sum {
    OverrideHitRow row = 0;
    std::uint64_t n = 0;
    std::int64_t last = 0;
    bool changed = false;
  };
  Sum& sum_of(const OverrideHit& hit);

  Directory& directory_;
  const SessionRow session_;
  std::unordered_map<std::string, Sum> sums_;
  OverrideHitRow last_;
  std::uint64_t hits_ = 0;
  Write rule_, hit_, repeat_;
};

}  // namespace fade::store
