// Rules of --inject and --replace and their effects. Equal hits add up in one row.
#pragma once
#include <cstdint>
#include <string>
#include <unordered_map>

#include "store/directory.hpp"

namespace fade::store {

class InjectionBook {
 public:
  InjectionBook(sqlite::Db& db, Failure& failure, Directory& directory, SessionRow session);

  void on(const InjectionRule& notice);
  void on(const InjectionHit& notice);
  void flush();
  std::uint64_t hits() const { return hits_; }

 private:
  struct Sum {
    InjectionHitRow row = 0;
    std::uint64_t n = 0;
    std::int64_t last = 0;
    bool changed = false;
  };
  Sum& sum_of(const InjectionHit& hit);
  InjectionRow row_of(RuleId rule) const { return InjectionRow::of(base_.value() + rule.value()); }

  Directory& directory_;
  const SessionRow session_;
  std::unordered_map<std::string, Sum> sums_;
  const InjectionRow base_;  // the last rule of earlier sessions
  InjectionHitRow last_;
  std::uint64_t hits_ = 0;
  Write rule_, hit_, repeat_;
};

}  // namespace fade::store
