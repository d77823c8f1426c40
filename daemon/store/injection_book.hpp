// Rules of --inject and --replace and their effects. Equal hits add up in one row.
#pragma once
#include <cstdint>
#include <string>

#include "store/directory.hpp"
#include "store/hit_sums.hpp"

namespace fade::store {

class InjectionBook {
 public:
  InjectionBook(sqlite::Db& db, Failure& failure, Directory& directory, SessionRow session);

  void on(const InjectionRule& notice);
  void on(const InjectionHit& notice);
  void flush() { sums_.flush(); }
  std::uint64_t hits() const { return sums_.hits(); }

 private:
  std::string key_of(const InjectionHit& hit) const;
  InjectionRow row_of(RuleId rule) const { return InjectionRow::of(base_.value() + rule.value()); }

  Directory& directory_;
  const SessionRow session_;
  const InjectionRow base_;  // the last rule of earlier sessions
  HitSums<InjectionHitRow> sums_;
  Write rule_, hit_;
};

}  // namespace fade::store
