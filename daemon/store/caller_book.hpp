// The calls of each function by each library, their number and time: sums over all calls, added to their table about
// every second.
#pragma once
#include <cstdint>

#include "store/libraries.hpp"
#include "store/recent_map.hpp"
#include "store/rollups.hpp"
#include "store/write.hpp"

namespace fade::store {

class CallerBook {
 public:
  CallerBook(sqlite::Db& db, Failure& failure, const Libraries& libraries);

  struct Sum {
    std::uint64_t n = 0, errors = 0;
    std::int64_t total = 0, self = 0;

    // `ns` between entry and return, `self_ns` without watched calls inside.
    void add(std::int64_t ns, std::int64_t self_ns, bool failed, std::uint64_t calls = 1) {
      n += calls;
      errors += failed;
      total += ns;
      self += self_ns;
    }
  };
  Sum& calls(ProcessRow process, LibraryId library, FunctionRow function) {
    return sums_[{process, function, library}];
  }  // until the next flush
  void flush();

 private:
  struct Key {
    ProcessRow process = 0;
    FunctionRow function = 0;
    LibraryId library = 0;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& k) const {
      return (static_cast<std::size_t>(k.process.value()) * 1'000'003 + static_cast<std::size_t>(k.function.value())) *
                 1'000'003 +
             k.library.value();
    }
  };

  const Libraries& libraries_;
  RecentMap<Key, Sum, Hash> sums_;  // since the last flush
  Write write_;
};

}  // namespace fade::store
