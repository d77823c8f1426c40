// Which results of a function are an answer rather than a failure, by the rules of the file (result_rule_).
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "store/sqlite.hpp"
#include "store/write.hpp"

namespace fade::store {

class ResultRules {
 public:
  ResultRules(sqlite::Db& db, Failure& failure);

  // Codes that are normal for that function. If several patterns fit a code, the longest counts, as in the view
  // failures.
  std::vector<std::int64_t> normal(const std::string& function) const;

 private:
  struct Rule {
    std::string pattern;
    std::int64_t code = 0;
    bool is_normal = false;
  };
  std::vector<Rule> rules_;  // longest pattern first
};

}  // namespace fade::store
