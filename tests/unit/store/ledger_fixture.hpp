// A recording with calls that allocate, free and copy memory.
#pragma once
#include <array>
#include <cstdint>
#include <string>

#include "store_fixture.hpp"

namespace fade::store {

class Ledger : public Recording {
 protected:
  static constexpr const char* kStats =
      "SELECT kind, live_at_end, peak, allocs, frees, allocated FROM memory_stats ORDER BY kind";
  static constexpr const char* kTotals =
      "SELECT memory, live_at_end, peak, allocs, frees FROM memory_totals ORDER BY memory";

  // A call that gives its first parameter the value.
  CallId give(const std::string& symbol, std::uint64_t value, std::array<std::uint64_t, 6> words) {
    const CallRecord record = tracee->begin(symbol, words);
    tracee->piece(PieceKind::Out, 0, value);
    return tracee->put(record);
  }
  CallId refuse(const std::string& symbol, std::uint64_t address, std::uint64_t code = 1) {
    CallRecord record = tracee->begin(symbol, {address});
    record.result = code;
    record.flags |= kFailed;
    return tracee->put(record);
  }
  CallId run_out(std::uint64_t bytes) {
    CallRecord record = tracee->begin("hipMalloc", {0x7ffd1000, bytes});
    record.result = 2;
    record.flags |= kFailed;
    return tracee->put(record);
  }
  CallId told(std::uint64_t free, std::uint64_t total) {
    const CallRecord record = tracee->begin("hipMemGetInfo", {0x7ffd1000, 0x7ffd2000});
    tracee->piece(PieceKind::Out, 0, free);
    tracee->piece(PieceKind::Out, 1, total);
    return tracee->put(record);
  }
  void copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes, std::uint64_t kind) {
    tracee->call("hipMemcpy", {to, from, bytes, kind});
  }
  void site(CallSiteId id, const std::string& library) {
    tracee->notice(
        CallSiteSeen{id, 1, 0x7f0000000000u + id.value(), library, id.value(), "f" + std::to_string(id.value())});
  }
  void malloc_from(CallSiteId caller, std::uint64_t address, std::uint64_t bytes, CallId parent = 0) {
    CallRecord record = tracee->begin("hipMalloc", {0x7ffd1000, bytes});
    record.caller = caller;
    record.parent = parent;
    tracee->piece(PieceKind::Out, 0, address);
    tracee->put(record);
  }
};

}  // namespace fade::store
