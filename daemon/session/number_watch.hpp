// --watch-numbers: looks at the host's side of copies between host and device, from outside: before a copy to the
// device, and when a copy to the host has been waited for. Reads the memory of the program and writes nothing there.
// Only the thread that stands at its stop waits for it, and other threads that come to a stop meanwhile. Tracing thread
// only.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "base/clock.hpp"
#include "numbers/byte_rate.hpp"
#include "numbers/copy_waits.hpp"
#include "numbers/watch_rule.hpp"
#include "session/call_book.hpp"
#include "session/function_table.hpp"
#include "session/inferior.hpp"
#include "session/stack_capture.hpp"

namespace fade {

class NumberWatch {
 public:
  NumberWatch(EventSink& sink, const SessionClock& clock, CallBook& book, StackCapture& stacks,
              const numbers::WatchRule& rule)
      : sink_(sink), clock_(clock), book_(book), stacks_(stacks), rule_(rule), rate_(rule.bytes_per_second) {}

  bool is_on() const { return rule_.is_on(); }

  // The thread is at the entry of a call that is recorded. Its arguments are read; it has no id yet.
  void at_entry(Thread& thread, const Entry& entry, const Registers& registers, OpenCall& call);
  // The call of at_entry() has its id and its time. The find is sent.
  void began(const OpenCall& call);
  // The thread is behind the return; result and outputs are read.
  void at_return(Thread& thread, const Entry& entry, const Registers& registers, OpenCall& call);
  // Its copies that no call has waited for are counted. An exec is an end, too.
  void process_ended(const Inferior& inferior);
  // Sends the numbers of copies that were not looked at, since the last time.
  void report();

 private:
  struct Copy {  // of a call, between host and device
    bool down = false, is_async = false;
    std::uint64_t host = 0, device = 0, bytes = 0, stream = 0;
    const char* why_not = nullptr;  // it is not looked at; null: it is
  };
  struct State {  // of one program
    std::uint32_t execs = 0;
    numbers::CopyWaits waits;
    std::unordered_map<std::uint64_t, std::uint64_t> began;  // a call that runs -> copies at its entry
  };
  static std::optional<Copy> copy_of(const Thread& thread, const Entry& entry, const OpenCall& call);
  State& state_of(const Inferior& inferior);
  bool is_chosen(const OpenCall& call);
  std::optional<Copy> chosen_copy(const Thread& thread, const Entry& entry, const OpenCall& call);
  NumbersSeen described(const Thread& thread, const Copy& copy, const OpenCall& call) const;
  bool look(const Thread& thread, NumbersSeen& seen);
  void read(const Thread& thread, NumbersSeen& seen);
  bool wants_stack(const OpenCall& call) const;
  void send(NumbersSeen seen);
  void left_out(const Inferior& inferior, const NumbersSeen& seen, const char* reason);
  void left_out(const Inferior& inferior, const std::vector<numbers::CopyWaits::Copy>& copies, const char* reason);
  void take_copy(Thread& thread, const Entry& entry, const Registers& registers, OpenCall& call);
  std::vector<numbers::CopyWaits::Copy> waited_for(State& state, const Thread& thread, const Entry& entry,
                                                   const OpenCall& call, std::uint64_t order);

  EventSink& sink_;
  const SessionClock& clock_;
  CallBook& book_;
  StackCapture& stacks_;
  const numbers::WatchRule rule_;
  numbers::ByteRate rate_;
  std::optional<NumbersSeen> upload_;  // of the call that begins
  std::unordered_map<ProcessId, State> states_;
  std::unordered_map<std::uint64_t, std::uint64_t> copies_of_place_;
  std::map<std::tuple<ProcessId, bool, std::string>, NumbersLeft> left_;
  std::vector<std::byte> buffer_;
};

// Tests if a function's calls matter for --watch-numbers: copies, waits for them, and calls that order streams.
bool needs_for_numbers(const probes::Probe& probe);

}  // namespace fade
