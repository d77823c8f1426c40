// Failed calls: the first ones of each (function, code, caller) have a row each, later ones add up in one more row.
// Also the names of results other than 0.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "store/rollups.hpp"
#include "store/write.hpp"

namespace fade::store {

struct FailedCall {
  CallRow call = 0;
  ThreadRow thread = 0;
  FunctionRow function = 0;
  SiteRow caller = 0;
  std::int64_t at = 0;
  std::int64_t code = 0;
  std::string name;
  bool is_injected = false;  // by a rule of --inject
  bool is_replaced = false;  // it failed by itself, and a rule of --replace had changed an argument
};

class ErrorBook {
 public:
  static constexpr std::uint64_t kRowsEach = 100;

  ErrorBook(sqlite::Db& db, Failure& failure);

  // True: has a row of its own, and `args` was asked for.
  bool add(const FailedCall& call, const std::function<std::string()>& args);
  void name_result(FunctionRow function, std::int64_t code, const std::string& name, bool failed);
  // The text at the address `code`. An address with different texts, one after the other, has no name.
  void name_text(FunctionRow function, std::int64_t code, const std::string& text);
  bool knows_result(FunctionRow function, std::int64_t code) const { return named_.count({function, code}) > 0; }
  // Numbers are as many as the program likes: half of the room is for names.
  bool has_room_for_numbers() const { return named_.size() < kMostResults / 2; }
  void flush();

 private:
  struct Key {
    FunctionRow function = 0;
    SiteRow caller = 0;
    std::int64_t code = 0;
    bool is_injected = false, is_replaced = false;
    bool operator==(const Key&) const = default;
  };
  static constexpr std::size_t kMostResults = 10'000;  // names of results
  struct ResultKey {
    FunctionRow function = 0;
    std::int64_t code = 0;
    bool operator==(const ResultKey&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& k) const {
      return static_cast<std::size_t>(k.function.value() * 1'000'003 + k.caller.value()) * 1'000'003 +
             static_cast<std::size_t>(k.code) + (k.is_injected ? 0x9e3779b9u : 0u) + (k.is_replaced ? 0x85ebca6bu : 0u);
    }
    std::size_t operator()(const ResultKey& k) const {
      return static_cast<std::size_t>(k.function.value()) * 1'000'003 + static_cast<std::size_t>(k.code);
    }
  };
  struct Seen {
    std::uint64_t rows = 0;
    ErrorRow fold = 0;  // the row that later ones add up in
    std::uint64_t folded = 0;
    std::int64_t last = 0;
    bool changed = false;
  };

  std::unordered_map<Key, Seen, Hash> seen_;
  std::unordered_set<ResultKey, Hash> named_;
  std::unordered_map<ResultKey, std::string, Hash> texts_;  // empty: there were different ones
  ErrorRow last_;
  Write insert_, injected_, fold_, name_, unname_;
};

}  // namespace fade::store
