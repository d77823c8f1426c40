// The rings of one program's taps: which thread has which one, and what was read from them. Tracing thread only.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "base/event.hpp"
#include "base/pid.hpp"
#include "probe/open_calls.hpp"
#include "probe/tap_rings.hpp"
#include "session/tap_sampling.hpp"
#include "tap/ring_reader.hpp"

namespace fade {

// A ring, and the thread that has it.
struct TapThread {
  explicit TapThread(std::size_t number) : ring(number), reader(TapRings::kLayout.size) {}

  const std::size_t ring;
  tap::RingReader reader;
  Tid tid = 0;  // 0: no thread has the ring
  ThreadId thread = 0;
  std::uint64_t thread_pointer = 0;
  bool is_broken = false;  // the program has overwritten it

  // Records that were read and not yet handled, from `next` on. A record has no earlier time than the one before it.
  std::vector<tap::Record> records;
  std::size_t next = 0;
  std::uint64_t last_tsc = 0;
  std::uint64_t asked_at = 0;  // the reader's position at the last take_most_read()

  // A stack that was taken at a question, for the record that follows.
  struct EntryStack {
    std::uint64_t sp = 0;
    std::uint32_t entry = 0;
    StackId stack = 0;
  };
  std::vector<EntryStack> stacks;
  TapSampling sampling{0, 0};
  // By gate: its count of calls up to which they were reported, or taken back. Empty: no gate was ever read.
  std::vector<std::uint64_t> reported;
  std::uint64_t recorded = 0, counted = 0;  // calls of its threads that were read
  std::vector<OpenCall> failed;             // calls whose thread is about to ask, for their stack

  bool has_record() const { return next < records.size(); }
};

class TapThreads {
 public:
  explicit TapThreads(std::string why_not = {}) : why_not_(std::move(why_not)) {}

  // Not empty: the program's functions cannot be tapped.
  const std::string& why_not() const { return why_not_; }
  void give_up(std::string why) { why_not_ = std::move(why); }
  bool has_rings() const { return rings_ != nullptr; }
  void use(std::shared_ptr<TapRings> rings) { rings_ = std::move(rings); }
  // Null: none yet.
  const std::shared_ptr<TapRings>& rings() const { return rings_; }

  // The thread of that number, or with that thread pointer, and its ring; null: it has none.
  TapThread* of(ThreadId thread);
  TapThread* at(std::uint64_t thread_pointer);
  // Gives a thread a ring. Every `sample`th call of the thread is sampled (TapSampling); 0: none. Returns null if no
  // ring is left.
  TapThread* add(Tid tid, ThreadId thread, std::uint64_t thread_pointer, std::uint32_t sample);
  RemoteAddr address(const TapThread& thread) const { return rings_->at(thread.ring); }
  // The thread is gone, and its records were handled.
  void remove(TapThread& thread);

  // The calls that the gate has only counted since the last time; nullopt: the program has written over the count.
  std::optional<std::uint64_t> counted_since(TapThread& thread, std::uint16_t gate) const;
  // One of the calls that the gate has counted was taken back.
  static void take_back(TapThread& thread, std::uint16_t gate);

  // Reads what the ring has, at most `most` records (RingReader::read()), and lets its thread use the room. True: there
  // is more. Only if no record waits to be handled. No record is later than now.
  bool read(TapThread& thread, std::size_t most);
  // The thread's ring as it is now.
  std::span<const std::byte> memory(const TapThread& thread) const { return rings_->memory(thread.ring); }
  // Lets the thread use the room that was read, until its next sample.
  void allow(const TapThread& thread) const {
    rings_->allow(thread.ring, std::min(thread.reader.limit(), thread.sampling.limit()));
  }
  // Tests if the program has written over the ring. `position`: of the next record of the thread, which stands still.
  bool is_broken(TapThread& thread, std::uint64_t position) const;
  // The thread stands still in front of its next record, which is at `position`: what it has left behind incomplete is
  // passed over.
  void pass_gap(TapThread& thread, std::uint64_t position);
  // The thread will never complete what is incomplete in its ring.
  void pass_incomplete(TapThread& thread);
  // The most bytes that were read from one ring, since last asked.
  std::uint64_t take_most_read();
  // Tests if the rings hold anything that was not handled, or room that a thread has taken and not filled.
  bool is_idle() const;

  const std::vector<std::unique_ptr<TapThread>>& all() const { return threads_; }

  bool has_said_so = false;  // that a thread has no ring

 private:
  std::uint64_t head_of(const TapThread& thread) const;

  std::string why_not_;
  std::shared_ptr<TapRings> rings_;
  std::vector<std::unique_ptr<TapThread>> threads_;  // one for each ring that was used
};

}  // namespace fade
