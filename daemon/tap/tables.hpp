// The tables that taps look into: which thread has which ring, and which call sites are known. Each object is the
// tracer's copy of a table in the data area of one process (DataLayout); it says which words change there, and in which
// order they must be written. Pure bookkeeping.
#pragma once
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/remote.hpp"
#include "tap/layout.hpp"

namespace fade::tap {

// A change of the data area.
struct Word {
  RemoteAddr at;
  std::uint64_t value = 0;
};

class ThreadTable {
 public:
  explicit ThreadTable(RemoteAddr data) : table_(data + DataLayout::kThreadsAt) {}

  // A thread gets a ring. Empty: its bucket is full, and its calls go on asking the tracer.
  std::vector<Word> add(std::uint64_t thread_pointer, RemoteAddr ring);
  // The thread has no ring any longer; nothing if it had none.
  std::optional<Word> remove(std::uint64_t thread_pointer);
  std::size_t size() const { return places_.size(); }

 private:
  bool is_taken(std::uint64_t place) const { return taken_.contains(place); }

  RemoteAddr table_;
  std::unordered_map<std::uint64_t, std::uint64_t> places_;  // thread pointer -> offset of its pair
  std::unordered_map<std::uint64_t, std::uint64_t> taken_;   // the other way round
};

class SiteTable {
 public:
  explicit SiteTable(RemoteAddr data) : table_(data + DataLayout::kSitesAt) {}

  // The call site of a function becomes known. nullopt: it is known already, or its bucket is full.
  std::optional<Word> add(std::uint16_t function, RemoteAddr return_address);
  bool contains(std::uint16_t function, RemoteAddr return_address) const;
  // Forgets the call sites in code that is gone.
  std::vector<Word> forget(RemoteRange range);
  // Forgets the call sites of a function that is tapped no longer.
  std::vector<Word> forget(std::uint16_t function);
  std::size_t size() const { return places_.size(); }

  static constexpr int kAddressBits = 48;

 private:
  std::optional<std::uint64_t> free_place(std::uint64_t bucket) const;
  template <class IsGone>
  std::vector<Word> forget_if(IsGone&& is_gone);

  RemoteAddr table_;
  std::unordered_map<std::uint64_t, std::uint64_t> places_;  // key -> offset
  std::unordered_map<std::uint64_t, std::uint64_t> taken_;
};

}  // namespace fade::tap
