// Deaths and hangs of processes: the activity of their threads, the last calls of each, the memory that they held.
#pragma once
#include <array>
#include <memory>
#include <vector>

#include "base/event.hpp"
#include "store/directory.hpp"
#include "store/memory_ledger.hpp"
#include "store/write.hpp"

namespace fade::store {

class PostmortemBook {
 public:
  PostmortemBook(sqlite::Db& db, Failure& failure, Directory& directory, const MemoryLedger& memory,
                 SessionRow session);

  // Every call that was left: the last ones of each thread are kept.
  struct Left {
    CallRow call = 0;
    FunctionRow function = 0;
    std::int64_t at = 0, end = 0, result = 0;
    bool returned = false;
  };
  static constexpr std::size_t kLast = 8;
  struct Last {
    std::array<Left, kLast> calls;
    std::size_t n = 0;  // ever

    void left(const Left& call) { calls[n++ % kLast] = call; }
  };
  Last& last_of(ThreadId thread);  // until the thread ends
  void on(const ThreadEnded& notice);
  void on(const Postmortem& notice);
  void on(const ThreadSeen& notice);

 private:
  PostmortemRow row(PostmortemId id) const { return PostmortemRow::of(id.value() + base_.value()); }
  void write_call(PostmortemRow postmortem, const ThreadSeen& seen, const ThreadSeen::Call& call);

  Directory& directory_;
  const MemoryLedger& memory_;
  const SessionRow session_;
  const PostmortemRow base_;
  std::vector<std::unique_ptr<Last>> last_;  // by thread
  Write postmortem_, held_, thread_, call_, last_call_;
};

}  // namespace fade::store
