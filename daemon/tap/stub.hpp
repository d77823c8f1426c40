// The code of a tap: it records a call of one function into the ring of the thread, and calls the function. Only the
// thread itself runs it; nothing stops. Pure; knows no process.
//
// The tap calls the function with a frame of its own (%rbp) and never changes a return address. So exceptions, longjmp
// and backtraces pass through it, if the unwinder knows its frames: the call frame address is %rbp + 16. It uses only
// general registers. %rax and %rdx reach the caller as the function returned them.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/remote.hpp"
#include "tap/layout.hpp"

namespace fade::tap {

// The questions that a tap asks the tracer, each with an int3 of its own.
//   NewSite        the call site is not in the table. The tracer adds it, or the tap asks again.
//   UnknownThread  the thread has no ring. The tracer gives it one.
//   Full           the ring has no room for a record. The tracer reads it, and moves its limit.
//   Failed         the result is not the function's success value; the record is complete.
enum class Question : std::uint8_t { NewSite, UnknownThread, Full, Failed };
constexpr std::size_t kQuestions = 4;

// The shared code behind the int3s. A thread that continues there goes on with the tap. If fade is dead, its safety net
// sends the thread to `give_up`, which turns all taps of the process off.
struct Traps {
  std::array<RemoteAddr, kQuestions> trap{};     // the address of each int3
  std::array<RemoteAddr, kQuestions> give_up{};  // the continuation without a tracer
  std::vector<std::uint8_t> code;
};
// `data`: the data area (DataLayout), within +-2 GiB of `at`.
Traps traps_code(RemoteAddr at, RemoteAddr data);

// A function to tap.
struct Tapped {
  std::uint16_t number = 0;               // of the function, in this process
  std::uint8_t stack_words = 0;           // words of arguments on the stack, at most EntryLayout::kMostStackWords
  std::uint8_t passed_words = 0;          // further words, at most kMostPassed with those, which are not recorded
  bool asks_for_sites = true;             // a call from a new call site asks the tracer
  std::optional<std::uint32_t> success;   // a 32-bit result that is no failure; nullopt: the result is never one
  std::optional<std::uint32_t> expected;  // another result that asks nothing, e.g. hipErrorNotReady
  // An out-parameter: its value after success goes into the record. `size` is 4, 8 or ExitLayout::kMostOut.
  struct Out {
    std::uint8_t parameter = 0;  // 0 to 5
    std::uint8_t size = 8;
  };
  std::optional<Out> out;

  static constexpr std::size_t kMostPassed = 14;
  int all_stack_words() const { return stack_words + passed_words; }
};

// The places of a process that a stub refers to, all within +-2 GiB of it.
struct Surroundings {
  RemoteAddr data;              // DataLayout
  std::uint64_t ring_size = 0;  // RingLayout::size of all rings
  std::array<RemoteAddr, kQuestions> traps{};
};

// The state of a call whose thread is in a stub.
//   Entering   nothing is recorded yet
//   Reserved   the entry has room in the ring, and is not complete
//   Recorded   the entry is in the ring; the function was not called yet
//   Returned   the function has returned
//   Leaving    the exit has room in the ring, and is not complete
//   Left       the exit is in the ring, or the call is recorded without an exit
//   Passing    the thread goes on in the function without a record
enum class Stage : std::uint8_t { Entering, Reserved, Recorded, Returned, Leaving, Left, Passing };

// It has more than 15 members: an address for each change of the state.
struct Stub {
  std::vector<std::uint8_t> code;
  RemoteAddr begin;
  RemoteAddr calls_from;  // the return address of its call, which is in every backtrace through it
  // Ways out for a thread at a question: before the call it goes on in the function as if there were no tap, after the
  // call it returns without a record.
  RemoteAddr pass, done;

  // Addresses of instructions at which something else holds than before.
  RemoteAddr framed;         // %rbp leads to the frame
  RemoteAddr reserved;       // Stage::Reserved
  RemoteAddr clocked;        // %rdx is only in the record
  RemoteAddr recorded;       // Stage::Recorded, and %rdx is back
  RemoteAddr kept;           // the results are in the frame
  RemoteAddr leaving, left;  // Stage::Leaving, Stage::Left
  RemoteAddr returns;        // the return instruction; the frame is gone
  RemoteAddr asks, end;      // the code of the questions; the first byte behind it
  struct Asking {
    RemoteAddr at, again;  // the code of one question, and where the thread goes on
  };
  std::vector<Asking> askings;

  Stage stage_at(RemoteAddr ip) const;
};
// `moved`: the slot with the function's first instructions, which goes on in the function.
Stub stub_code(const Tapped& function, const Surroundings& surroundings, RemoteAddr at, RemoteAddr moved);

}  // namespace fade::tap
