// What the capture side tells the storing side. The raw call record is the contract between them: fixed size,
// words as they stood in registers and memory; names and texts are made from it after the queue, where nothing
// can ask the tracee anything. Bytes that do not fit (strings, stack arguments, out-parameters) travel as pieces
// in the payload of the batch.
//
// All ids are dense, count from 1 and are local to the session; 0 means none. Times are SessionClock nanoseconds.
#pragma once
#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/fd.hpp"

namespace fade::probes {
struct Probe;
}

namespace fade {

using CallId = std::uint64_t;
using ProcessId = std::uint32_t;
using ThreadId = std::uint32_t;
using ModuleId = std::uint32_t;
using FunctionId = std::uint32_t;
using CallSiteId = std::uint32_t;
using RuleId = std::uint32_t;
using FrameId = std::uint32_t;
using StackId = std::uint32_t;
using PostmortemId = std::uint32_t;

// ---------------------------------------------------------------- the raw call record
enum CallFlag : std::uint16_t {
  kReturned = 1,    // exit_ns and result are valid
  kUnwound = 2,     // left by exception, longjmp, cancellation, thread or process end: exit_ns says when noticed
  kOpenAtEnd = 4,   // still running when the recording ended; exit_ns is not valid
  kFailed = 8,      // returned, and the result is not the probe's success value
  kOverridden = 16, // an override rule changed what the caller received
  kEntryOnly = 32,  // recorded at its entry alone, as its probe says: neither result nor duration were taken
  kUnseen = 64,     // its return could not be watched: neither result nor duration are known
};

struct CallRecord {
  CallId id = 0;           // handed out at entry, so ids are in order of entry
  CallId parent = 0;       // innermost probed call of the same thread that was open at entry
  std::int64_t entry_ns = 0;
  std::int64_t exit_ns = 0;
  std::uint64_t result = 0;             // rax, or the low 8 bytes of xmm0 where the probe returns float/double
  std::array<std::uint64_t, 6> words{}; // rdi rsi rdx rcx r8 r9 at entry
  FunctionId function = 0;
  ThreadId thread = 0;
  CallSiteId caller = 0;
  std::uint32_t payload_at = 0;   // offset of this call's pieces in the batch's payload
  std::uint32_t payload_size = 0;
  std::uint16_t flags = 0;
  StackId stack = 0;  // at entry; 0: none was taken
  std::uint32_t held_ns = 0;  // for which fade held the thread at its stops outside of entry_ns to exit_ns
};

// One piece of a call's payload: this header, then `size` bytes, then padding to a multiple of 8.
enum class PieceKind : std::uint8_t {
  Stack,   // argument words on the stack at entry: [rsp+8], [rsp+16], ...  (param = 0)
  Sse,     // low 8 bytes of xmm0.. at entry (param = 0)
  String,  // the C string that parameter `param` pointed to at entry, without NUL; cut at the limit if `cut`
  In,      // bytes that pointer parameter `param` pointed to at entry
  Out,     // bytes that pointer parameter `param` pointed to at return, before any override
  Became,  // the same bytes after an override changed them
};
struct PieceHeader {
  PieceKind kind{};
  std::uint8_t param = 0;     // index into Probe::parameters
  std::uint8_t cut = 0;       // string: the limit was reached
  std::uint8_t unreadable = 0;  // the pointer could not be read; size is 0 or what could be read
  std::uint32_t size = 0;
};
static_assert(sizeof(PieceHeader) == 8);

// Appends a piece to a payload. Returns where its bytes begin.
inline std::size_t append_piece(std::vector<std::byte>& payload, PieceHeader header, std::span<const std::byte> bytes) {
  header.size = static_cast<std::uint32_t>(bytes.size());
  const std::size_t at = payload.size();
  payload.resize(at + sizeof header + (bytes.size() + 7) / 8 * 8);
  std::memcpy(payload.data() + at, &header, sizeof header);
  if (!bytes.empty()) std::memcpy(payload.data() + at + sizeof header, bytes.data(), bytes.size());
  return at + sizeof header;
}

// Calls visit(header, bytes) for each piece.
template <class Visit>
void for_each_piece(std::span<const std::byte> payload, Visit&& visit) {
  while (payload.size() >= sizeof(PieceHeader)) {
    PieceHeader header;
    std::memcpy(&header, payload.data(), sizeof header);
    payload = payload.subspan(sizeof header);
    const std::size_t padded = (std::size_t{header.size} + 7) / 8 * 8;
    if (padded > payload.size()) return;
    visit(header, payload.first(header.size));
    payload = payload.subspan(padded);
  }
}

// ---------------------------------------------------------------- everything else that happens, rarely
inline constexpr int kUnknownDevice = -1;  // of a thread whose current device of HIP was not seen

struct ProcessStarted {
  ProcessId process = 0;
  ProcessId parent = 0;
  std::int64_t at = 0;
  pid_t pid = 0;
  pid_t ppid = 0;
  uid_t uid = 0;
  std::uint64_t start_ticks = 0;  // /proc/PID/stat field 22
  std::string exe;
  std::vector<std::string> command;
  std::vector<std::pair<std::string, std::string>> environment;  // only what may be stored
};
struct ProcessExec {  // same process, new program
  ProcessId process = 0;
  std::int64_t at = 0;
  std::string exe;
  std::vector<std::string> command;
  std::vector<std::pair<std::string, std::string>> environment;
  int device = 0;  // current device of its thread, as in ThreadStarted
};
struct ProcessEnded {
  ProcessId process = 0;
  std::int64_t at = 0;
  int exit_code = -1;   // -1 where it died of a signal or the recording ended first
  int exit_signal = 0;
};
struct ThreadStarted {
  ThreadId thread = 0;
  ProcessId process = 0;
  std::int64_t at = 0;
  pid_t tid = 0;
  std::string name;
  int device = 0;  // its current device of HIP, kUnknownDevice where that was not seen
};
// A thread's current device changed by a call that is not recorded.
struct DeviceSet {
  ThreadId thread = 0;
  int device = 0;
};
struct ThreadEnded {
  ThreadId thread = 0;
  std::int64_t at = 0;
  std::string name;  // the last one it had, may be empty
};
struct ModuleLoaded {
  ModuleId module = 0;
  ProcessId process = 0;
  std::int64_t at = 0;
  std::string path;      // as the process knows it
  std::string soname;
  std::string build_id;  // hex, empty where it has none
  std::string role;      // hip, hiprtc, zluda, cuda, user, program, loader or empty
  std::string version;   // of the library where it can be told, e.g. "6.4.43484"
  std::uint64_t base = 0;
  std::uint64_t size = 0;
  std::uint32_t sites = 0;  // functions armed in it
  std::shared_ptr<const Fd> file;  // the file that is mapped, open for reading; null: it cannot be had
};
struct ModuleUnloaded {
  ModuleId module = 0;
  std::int64_t at = 0;
};
// Before the first call of that function. One function = one address in one library file, whatever the process.
struct FunctionDefined {
  FunctionId function = 0;
  std::shared_ptr<const probes::Probe> probe;
  std::string library;     // path
  int library_major = 0;   // of the HIP library, 0 where unknown: chooses the enum names
  std::vector<std::string> other_names;  // that the library exports at the same address: a call may have meant any of them
};
// Before the first call from there.
struct CallSiteSeen {
  CallSiteId site = 0;
  ProcessId process = 0;
  std::uint64_t address = 0;  // the return address
  std::string library;        // path of the module that contains it; empty for anonymous memory
  std::uint64_t offset = 0;   // from the module's load address
  std::string symbol;         // enclosing symbol where known, mangled, with +offset
};
// Before the first launch through that address; resolves kernel handle objects (their ELF symbol is the name).
struct KernelNamed {
  ProcessId process = 0;
  std::uint64_t handle = 0;
  std::string name;     // mangled; empty: what was there before is gone, and what is there now has no name
  std::string library;  // path
  std::shared_ptr<const Fd> file;  // the library's, open for reading, with the first kernel of it
};
// Before the first stack that has it. One place in code: an address in a module, or a line of a Python function.
struct FrameSeen {
  enum class Kind : std::uint8_t { Native, Python, Gap };  // Gap: frames are missing here, and why stands in `function`
  FrameId frame = 0;
  ProcessId process = 0;
  Kind kind = Kind::Native;
  ModuleId module = 0;        // 0: in none
  std::uint64_t address = 0;  // of the instruction, or of the call where it is a return address; of the code object (Python)
  std::uint64_t offset = 0;   // of `address`, from the module's load address
  std::string function, file;  // Python: qualified name; native frames are named by the storing side
  int line = 0;
};
// Before the first call that has it. Stacks are a tree: a stack is one frame on top of another stack.
struct StackSeen {
  StackId stack = 0;
  StackId parent = 0;  // the rest of it, outwards; 0: this frame is the outermost
  FrameId frame = 0;
};
struct OverrideRule {
  RuleId rule = 0;
  std::string spec;    // as the user wrote it
  std::string target;  // device.0.multiProcessorCount
  std::string value;
  std::string origin;  // "--set" or FILE:LINE
};
struct OverrideHit {
  RuleId rule = 0;
  CallId call = 0;
  ThreadId thread = 0;
  CallSiteId caller = 0;
  std::int64_t at = 0;
  int device = -1;
  std::string target;  // the field that was written
  std::string was, became;
};
// fork, vfork, clone, exec, exit, signal, group-stop, dlopen, attach, detach, unwatched, refused, note ...
struct Lifecycle {
  std::int64_t at = 0;
  ProcessId process = 0;
  ThreadId thread = 0;
  std::string kind;
  std::int64_t value = 0;
  std::string detail;
};
struct Drop {
  std::int64_t at = 0;
  std::int64_t duration = 0;
  std::uint64_t n = 0;
  std::string reason;
};
// Where a thread was that was in no watched call, seen from outside while it ran (--sample).
struct Sampled {
  ThreadId thread = 0;
  std::int64_t at = 0;
  StackId stack = 0;  // of Python frames alone
  FrameId frame = 0;  // the innermost of them that is the user's own code, else the innermost
};
// Added up by the storing side.
struct StopCost {
  FunctionId function = 0;  // 0: stops that belong to no function
  std::uint64_t stops = 0;
  std::int64_t held_ns = 0;  // from the stop's report to the thread's resumption
};

// Of one thread, for all functions. Added up by the storing side.
struct ThreadCost {
  ThreadId thread = 0;
  std::uint64_t stops = 0;
  std::int64_t held_ns = 0;
};
// What a stop costs on this machine, once for each form of entry (ptrace/stop_cost.hpp). Before the first call.
struct CostMeasured {
  std::string form;       // jump or int3
  std::uint32_t calls = 0;  // that were measured, 0: none
  std::int64_t call_ns = 0, call_spread_ns = 0;  // within each duration
  std::int64_t stop_ns = 0, stop_spread_ns = 0;  // of each stop, beyond the time for which fade held the thread
  std::string problem;    // why nothing was measured
};

// CPU time of all threads of a process, user and system, since it began.
struct CpuUsed {
  ProcessId process = 0;
  std::int64_t at = 0;
  std::int64_t cpu_ns = 0;
};
// Of modules that use the GPU stack, belong to it, or come in several copies: why the loader took that file (ld.so(8)).
struct ModuleOrigin {
  ModuleId module = 0;
  std::uint32_t space = 0;  // 0: base namespace; others are dlmopen's and those of auditors
  std::string family;       // equal for copies of one library; empty: a user of the GPU stack only
  std::string kind;         // of the family: rocm, cuda, openmp, c++
  std::string version;      // in the file's real name
  std::string rocm;         // release of ROCm where it tells, e.g. "6.4"
  std::string rule;         // LD_PRELOAD, RPATH, LD_LIBRARY_PATH, RUNPATH, system, dlopen ...
  ModuleId asker = 0;       // who needs it, or whose RPATH or RUNPATH it was
  std::string rpath, runpath;               // of the module itself
  std::vector<std::string> not_taken;       // other files of that library that the program's variables name
};
// What a module's imports of the GPU stack are bound to, as its memory says now. Replaces what was said of it before.
struct ImportsBound {
  enum class State : std::uint8_t { Bound, NotYet, Absent };  // NotYet: lazy, not called so far; Absent: weak, nobody has it
  struct Group {
    std::string api;
    State state = State::Bound;
    ModuleId target = 0;  // of Bound; 0: memory without a module
    std::vector<std::string> names;
  };
  ModuleId module = 0;
  std::int64_t at = 0;
  std::vector<Group> groups;
};

// A moment of a process that somebody will ask about: it dies, hangs, or was to be looked at. A ThreadSeen for each of its threads
// follows. Sent again with the same number, it replaces what was said before.
struct Postmortem {
  enum class Kind : std::uint8_t { Signal, Exit, Hang, Snapshot };  // Exit: ended by itself while calls were running
  PostmortemId postmortem = 0;
  ProcessId process = 0;
  ThreadId thread = 0;        // that the signal came to, or that ended the process; 0: none, or not known
  std::int64_t at = 0;
  Kind kind = Kind::Signal;
  int signal = 0;             // of Signal
  int code = 0;               // siginfo_t::si_code
  bool has_code = false;      // false: nobody saw the signal before it killed
  std::optional<std::uint64_t> address;  // that could not be used, of a fault
  pid_t sender = 0;           // 0: the kernel, or not known
  uid_t sender_uid = 0;
  std::string sender_name;
  int exit_code = -1;         // of Exit
  std::int64_t quiet_ns = 0;  // of Hang: since a call began or ended
  std::string cause;          // where more is known: stack (overflow), self (sent by the process), oom, oom? (perhaps)
  std::string evidence;       // in words: how that is known
};
// What a thread was doing then.
struct ThreadSeen {
  struct Call {
    CallRecord record;        // as far as it was known; payload_at, payload_size: unused
    std::vector<std::byte> payload;
  };
  PostmortemId postmortem = 0;
  ThreadId thread = 0;
  std::int64_t at = 0;
  std::string doing;          // "running", the system call it was in, or why that is not known
  ModuleId module = 0;        // where it stood; 0: in none
  std::uint64_t address = 0;  // of the instruction; 0: not known
  std::uint64_t offset = 0;   // from the module's load address
  std::string symbol;         // enclosing function where known, mangled, with +offset
  StackId stack = 0;          // 0: none was taken
  std::vector<Call> calls;    // running, outermost first
  std::vector<std::string> earlier;  // names of calls that were running already when fade came, outermost first
};

using Notice = std::variant<ProcessStarted, ProcessExec, ProcessEnded, ThreadStarted, ThreadEnded, DeviceSet, ModuleLoaded,
                            ModuleUnloaded, FunctionDefined, CallSiteSeen, KernelNamed, OverrideRule, OverrideHit,
                            Lifecycle, Drop, StopCost, ThreadCost, CostMeasured, CpuUsed, ModuleOrigin, ImportsBound,
                            FrameSeen, StackSeen, Postmortem, ThreadSeen, Sampled>;

// Where a session puts what it sees. Called from the tracing thread only.
class EventSink {
 public:
  virtual ~EventSink() = default;
  // `payload` holds this call's pieces; payload_at and payload_size of the record are filled in by the sink.
  virtual void call(CallRecord record, std::span<const std::byte> payload) = 0;
  // Notices are seen by the reader before any call that is put in after them.
  virtual void notice(Notice notice) = 0;
  // The tracing thread keeps to this CPU, -1: to none. Who reads is kept off it where there is another one.
  virtual void keeps_to(int /*cpu*/) {}
};

}  // namespace fade
