// The packets that calls put into queues of a GPU. A function of HSA gives a place in a queue, and the packet is
// written there after that call. So the call waits here until its packet is written: a later call of the same thread
// has ended that is no question for a time. Or any thread asks for a time, and the GPU has begun with the packet. It is
// completed with the packet, or without if the packet was overwritten meanwhile. Tracing thread only.
#pragma once
#include <span>
#include <unordered_map>
#include <vector>

#include "session/call_book.hpp"
#include "session/function_table.hpp"
#include "session/inferior.hpp"
#include "session/queue_reader.hpp"

namespace fade {

class QueuePackets {
 public:
  explicit QueuePackets(CallBook& book) : book_(book) {}

  // A call has ended and is about to be completed. Completes the calls before it if their packets are written by now.
  // True: `call` was taken, because its own packet is not written yet.
  bool take(Thread& thread, const Entry& entry, OpenCall& call);
  // Calls that end from now on have ended before: they are read out of rings (QueueReader).
  void begin_round() { reader_.begin_round(); }
  void end_round() { reader_.end_round(); }
  // The thread is about to destroy the queue. All that was put there is written.
  void queue_ends(const Thread& thread, RemoteAddr queue);
  // The thread makes no further calls.
  void thread_ended(const Thread& thread) { complete(thread.id); }

 private:
  struct Waiting {
    const Thread* thread = nullptr;
    std::vector<OpenCall> calls;
  };

  void complete(ThreadId thread);
  void complete(const Thread& thread, OpenCall call);
  void complete(OpenCall call, std::span<const std::byte> packets);
  // Shows `completes` each waiting call of the program; it returns true if it has completed the call.
  template <class Completes>
  void for_waiting(const Program& program, const Completes& completes);
  // Completes the calls of whose packets the GPU has begun.
  void complete_begun(const Program& program);

  CallBook& book_;
  QueueReader reader_;
  std::unordered_map<ThreadId, Waiting> waiting_;
};

}  // namespace fade
