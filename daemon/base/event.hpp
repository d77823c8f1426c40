// The data that the capture side sends to the storing side. The raw call record is the contract between them: fixed
// size, with the words of registers and memory. Names and texts are made from it after the queue, where the tracee
// cannot be read. Bytes that do not fit (strings, stack arguments, out-parameters) are pieces in the payload of the
// batch.
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
#include "base/gpu_sample.hpp"
#include "base/id.hpp"
#include "base/pid.hpp"

namespace fade::probes {
struct Probe;
}

namespace fade {

using CallId = Id<struct CallTag, std::uint64_t>;
using ProcessId = Id<struct ProcessTag, std::uint32_t>;
using ThreadId = Id<struct ThreadTag, std::uint32_t>;
using ModuleId = Id<struct ModuleTag, std::uint32_t>;
using FunctionId = Id<struct FunctionTag, std::uint32_t>;
using CallSiteId = Id<struct CallSiteTag, std::uint32_t>;
using RuleId = Id<struct RuleTag, std::uint32_t>;
using FrameId = Id<struct FrameTag, std::uint32_t>;
using StackId = Id<struct StackTag, std::uint32_t>;
using PostmortemId = Id<struct PostmortemTag, std::uint32_t>;
using CachedId = Id<struct CachedTag, std::uint32_t>;

// ---------------------------------------------------------------- the raw call record
enum CallFlag : std::uint16_t {
  kReturned = 1,   // exit_ns and result are valid
  kUnwound = 2,    // left by exception, longjmp, cancellation, thread or process end: exit_ns is the time of detection
  kOpenAtEnd = 4,  // still running when the recording ended; exit_ns is not valid
  kFailed = 8,     // returned, and the result is not the probe's success value
  kOverridden = 16,  // an override rule changed what the caller received
  kEntryOnly = 32,   // recorded at its entry alone, as its probe says: without result and duration
  kUnseen = 64,      // its return could not be watched: result and duration are unknown
  kTapped = 128,     // recorded by its own thread: no stop is in its duration, and none around it
  kSumsOnly = 256,   // it gets no row: only sums and books know of it (--budget)
  kInjected = 512,   // a rule of --inject has failed it, or has given its result
  kReplaced = 1024,  // a rule of --replace has changed an argument of it
};

struct CallRecord {
  CallId id = 0;      // assigned at entry, so ids are in order of entry
  CallId parent = 0;  // innermost probed call of the same thread that was open at entry
  std::int64_t entry_ns = 0;
  std::int64_t exit_ns = 0;
  std::uint64_t result = 0;              // rax, or the low 8 bytes of xmm0 if the probe returns float/double
  std::array<std::uint64_t, 6> words{};  // rdi rsi rdx rcx r8 r9 at entry
  FunctionId function = 0;
  ThreadId thread = 0;
  CallSiteId caller = 0;
  std::uint32_t payload_at = 0;  // offset of this call's pieces in the batch's payload
  std::uint32_t payload_size = 0;
  std::uint16_t flags = 0;
  StackId stack = 0;          // at entry; 0: none was taken
  std::uint32_t held_ns = 0;  // time for which fade held the thread at its stops outside of entry_ns to exit_ns
};

// One piece of a call's payload: this header, then `size` bytes, then padding to a multiple of 8.
enum class PieceKind : std::uint8_t {
  Stack,           // argument words on the stack at entry: [rsp+8], [rsp+16], ...  (param = 0)
  Sse,             // low 8 bytes of xmm0.. at entry (param = 0)
  String,          // the C string that parameter `param` pointed to at entry, without NUL; cut at the limit if `cut`
  In,              // bytes that pointer parameter `param` pointed to at entry
  Out,             // bytes that pointer parameter `param` pointed to at return, before any override
  Became,          // the same bytes after an override changed them
  ReturnedString,  // the C string that out-parameter `param`, or the result (kResultParam), points to at return
};
inline constexpr std::uint8_t kResultParam = 255;
struct PieceHeader {
  PieceKind kind{};
  std::uint8_t param = 0;       // index into Probe::parameters
  std::uint8_t cut = 0;         // string: the limit was reached
  std::uint8_t unreadable = 0;  // the pointer could not be read; size is 0 or the readable part
  std::uint32_t size = 0;
};
static_assert(sizeof(PieceHeader) == 8);

// Appends a piece to a payload. Returns the offset of its bytes.
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

// ---------------------------------------------------------------- all other events, which are rare
inline constexpr int kUnknownDevice = -1;  // of a thread whose current HIP device was not seen

struct ProcessStarted {
  ProcessId process = 0;
  ProcessId parent = 0;
  std::int64_t at = 0;
  Pid pid = 0;
  Pid ppid = 0;
  uid_t uid = 0;
  std::uint64_t start_ticks = 0;  // /proc/PID/stat field 22
  std::string exe;
  std::vector<std::string> command;
  std::vector<std::pair<std::string, std::string>> environment;  // only variables that may be stored
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
  int exit_code = -1;  // -1 if a signal killed it or if the recording ended first
  int exit_signal = 0;
};
struct ThreadStarted {
  ThreadId thread = 0;
  ProcessId process = 0;
  std::int64_t at = 0;
  Tid tid = 0;
  std::string name;
  int device = 0;  // its current HIP device; kUnknownDevice if not seen
};
// A call that is not recorded changed the current device of a thread.
struct DeviceSet {
  ThreadId thread = 0;
  int device = 0;
};
struct ThreadEnded {
  ThreadId thread = 0;
  std::int64_t at = 0;
  std::string name;  // its last name, may be empty
};
struct ModuleLoaded {
  ModuleId module = 0;
  ProcessId process = 0;
  std::int64_t at = 0;
  std::string path;  // in the process's view
  std::string soname;
  std::string build_id;  // hex, empty if it has none
  std::string role;      // hip, hiprtc, zluda, cuda, user, program, loader or empty
  std::string version;   // of the library if known, e.g. "6.4.43484"
  std::uint64_t base = 0;
  std::uint64_t size = 0;
  std::uint32_t sites = 0;         // functions armed in it
  std::shared_ptr<const Fd> file;  // the mapped file, open for reading; null: unavailable
};
struct ModuleUnloaded {
  ModuleId module = 0;
  std::int64_t at = 0;
};
// Sent before the first call of that function. One function is one address in one library file, in any process.
struct FunctionDefined {
  FunctionId function = 0;
  std::shared_ptr<const probes::Probe> probe;
  std::string library;                   // path
  int library_major = 0;                 // of the HIP library, 0 if unknown: selects the enum names
  std::vector<std::string> other_names;  // exported at the same address: a call may have meant any of them
};
// Sent before the first call from that address.
struct CallSiteSeen {
  CallSiteId site = 0;
  ProcessId process = 0;
  std::uint64_t address = 0;  // the return address
  std::string library;        // path of the module that contains it; empty for anonymous memory
  std::uint64_t offset = 0;   // from the module's load address
  std::string symbol;         // enclosing symbol if known, mangled, with +offset
};
// Sent before the first launch through that address; resolves kernel handle objects (their ELF symbol is the name).
struct KernelNamed {
  ProcessId process = 0;
  std::uint64_t handle = 0;
  std::string name;                // mangled; empty: the former kernel is gone, and the present content has no name
  std::string library;             // path
  std::shared_ptr<const Fd> file;  // the library's file, open for reading, with its first kernel
};
// Sent before the first stack with it. One place in code: an address in a module, or a line of a Python function.
struct FrameSeen {
  enum class Kind : std::uint8_t { Native, Python, Gap };  // Gap: frames are missing here; `function` is the reason
  FrameId frame = 0;
  ProcessId process = 0;
  Kind kind = Kind::Native;
  bool by_libunwind = false;   // Native: libunwind found it, because the called frame has no call frame information
  ModuleId module = 0;         // 0: in none
  std::uint64_t address = 0;   // of the instruction; of the call if it is a return address; of the code object (Python)
  std::uint64_t offset = 0;    // of `address`, from the module's load address
  std::string function, file;  // Python: qualified name; the storing side names native frames
  int line = 0;
};
// Sent before the first call with this stack. Stacks are a tree: a stack is one frame on top of another stack.
struct StackSeen {
  StackId stack = 0;
  StackId parent = 0;  // the rest of the stack, outwards; 0: this frame is the outermost
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
// A rule of --inject or --replace.
struct InjectionRule {
  RuleId rule = 0;
  std::string spec;      // as the user wrote it
  std::string function;  // name, pattern or group
  std::string action;    // error=hipErrorOutOfMemory
  std::string origin;    // "--inject" or FILE:LINE:COLUMN
  std::uint64_t seed = 0;
};
struct InjectionHit {
  RuleId rule = 0;
  CallId call = 0;
  ThreadId thread = 0;
  FunctionId function = 0;
  CallSiteId caller = 0;
  std::int64_t at = 0;
  std::string action;       // error, delay, last error ..., or the argument that was replaced
  std::string was, became;  // values as text; `was` is empty where there was none
};
// A look at the host's side of a copy (--watch-numbers). A copy to the device is looked at when it is entered. A copy
// to the host is looked at when it returns, or when a call that has waited for it returns. A field is a
// column of number_, or a part of the sums.
struct NumbersSeen {
  CallId call = 0;  // the copy
  CallId wait = 0;  // the call that waited for it; 0: the copy itself
  FunctionId function = 0;
  ThreadId thread = 0;
  CallSiteId caller = 0;
  StackId stack = 0;  // of the copy; 0: none was taken
  std::int64_t at = 0;
  bool down = false;  // from the device to the host
  std::uint64_t host = 0, device = 0;
  std::uint64_t bytes = 0, scanned = 0;
  std::string type;  // of the elements: f32; empty: not told, and not like floats
  bool guessed = false;
  std::uint64_t elements = 0, nan = 0, inf = 0, outside = 0;
  std::optional<std::uint64_t> first;  // place of the first such element
  std::string first_value;
  std::optional<double> least, greatest;
  std::optional<std::uint64_t> checksum;
};
// Copies of which the host's side was not looked at. The storing side adds these up.
struct NumbersLeft {
  ProcessId process = 0;
  bool down = false;
  std::string reason;
  std::uint64_t copies = 0, bytes = 0;
};
// A product of matrices that was computed again (--check blas). One row of check_: a field is a column.
struct ProductChecked {
  CallId call = 0;
  FunctionId function = 0;
  ThreadId thread = 0;
  CallSiteId caller = 0;
  StackId stack = 0;                                          // 0: none was taken
  std::int64_t at = 0;                                        // its matrices were fetched then
  std::int64_t held_ns = 0;                                   // for that long the thread fetched them
  std::string type, ops;                                      // of the result: f32; NT
  std::uint64_t m = 0, n = 0, k = 0, batch = 0, checked = 0;  // matrices of the batch, and of these checked
  std::uint64_t bytes = 0;                                    // that were fetched
  std::string problem;                                        // why it was not compared; empty: it was
  std::uint64_t elements = 0, differing = 0;
  std::optional<std::uint64_t> row, column, matrix;  // of the first element that differs
  double got = 0, wanted = 0;                        // its real part
  double worst = 0, limit = 0;                       // the greatest difference, and what was allowed there
  std::string shown;                                 // the first elements, in words
  std::string folder;                                // of the dump; empty: none was written
  std::string blas;                                  // that computed
};
// Products that were not checked. The storing side adds these up.
struct ProductsLeft {
  ProcessId process = 0;
  FunctionId function = 0;
  std::string reason;
  std::uint64_t calls = 0;
};
// A rule of --actions, and each time that it did something. `rule` counts from 1 in each session.
struct ActionRule {
  std::uint32_t rule = 0;
  std::string spec;    // as the user wrote it
  std::string origin;  // FILE:LINE
};
struct ActionDone {
  std::uint32_t rule = 0;
  CallId call = 0;
  ThreadId thread = 0;
  CallSiteId caller = 0;
  StackId stack = 0;  // taken for the action; 0: none
  std::int64_t at = 0;
  std::string action;  // snapshot, stack, dump, mark, signal, stop, exec, or limit: it does nothing from now on
  std::string detail;  // the file that was written, the command and its process, or why nothing was done
  bool has_failed = false;
};
// A search of a process's memory for copies of device properties (--find-cached, --set-cached, --set at fade-attach).
struct CachedSearch {
  ProcessId process = 0;
  std::int64_t at = 0, ns = 0;
  std::uint64_t bytes = 0, left = 0;  // searched; not searched, because of a limit or because they were swapped out
  std::uint32_t copies = 0;
  std::int64_t held_ns = 0;  // for which all threads stood still, to look at the copies again
  std::string limit;         // that ended the search; empty: none did
};
// A copy that the search found. A row for each process: a forked child has copies of its parent's.
struct CachedCopy {
  CachedId copy = 0;
  CachedId parent = 0;  // of a forked child: the copy that it was made from; 0: it was found
  ProcessId process = 0;
  std::int64_t at = 0;
  std::uint64_t address = 0;
  std::string layout;  // hipDeviceProp_tR0600
  int device = -1;     // HIP's ordinal; -1: not known
  std::string name, arch, pci;
  std::string library;   // that keeps it; empty: not known
  std::string mapping;   // the memory that it lies in: a file, [heap], [stack]; empty: anonymous
  std::string known_by;  // call: equal to an answer; fields: by its form
  std::string problem;   // why fade leaves it as it is; empty: no reason
};
// A field of a copy that is not what a rule says.
struct CachedField {
  CachedId copy = 0;
  RuleId rule = 0;
  std::uint32_t offset = 0;
  std::string field, was, became;
  std::vector<std::byte> old_bytes, new_bytes;
};
struct CachedChange {
  enum class What : std::uint8_t { Changed, PutBack, Left };  // Left: not changed, or not put back
  CachedId copy = 0;
  std::int64_t at = 0;
  What what = What::Changed;
  std::string problem;  // for Left
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
// The place of a thread outside all watched calls, seen from outside while it ran (--sample).
struct Sampled {
  ThreadId thread = 0;
  std::int64_t at = 0;
  StackId stack = 0;  // of Python frames alone
  FrameId frame = 0;  // the innermost Python frame of the user's own code, else the innermost
};
// The storing side adds these up.
struct StopCost {
  FunctionId function = 0;  // 0: stops that belong to no function
  std::uint64_t stops = 0;
  std::int64_t held_ns = 0;  // from the stop's report to the thread's resumption
};

// Calls that were only counted (--budget): nothing else is known of them. The storing side adds these up.
struct CallsCounted {
  ThreadId thread = 0;
  FunctionId function = 0;
  std::int64_t at = 0;
  std::uint64_t n = 0;
};

// The cost of one thread, for all functions. The storing side adds these up.
struct ThreadCost {
  ThreadId thread = 0;
  std::uint64_t stops = 0;
  std::int64_t held_ns = 0;
  std::uint64_t crossed = 0;  // of the stops, while the thread was on another CPU than the tracer; an estimate
  std::uint64_t sampled = 0;  // of the stops, those whose switches were measured (ptrace/stop_samples.hpp)
  std::int64_t sampled_ns = 0;
};

// The cost of a stop on this machine, once for each form of entry (ptrace/stop_cost.hpp), and once
// for each other condition.
// Sent before the first call.
struct CostMeasured {
  std::string form;                              // jump, int3 or apart (ptrace/stop_cost.hpp)
  std::uint32_t calls = 0;                       // number of measured calls, 0: none
  std::int64_t call_ns = 0, call_spread_ns = 0;  // within each duration
  std::int64_t stop_ns = 0, stop_spread_ns = 0;  // of each stop, beyond the time for which fade held the thread
  std::int64_t run_ns = 0;                       // of stop_ns, what the thread itself runs; 0: not known
  std::string problem;                           // why the measurement failed
};

// CPU time of all threads of a process, user and system, since it began.
struct CpuUsed {
  ProcessId process = 0;
  std::int64_t at = 0;
  std::int64_t cpu_ns = 0;
};
// For modules that use or belong to the GPU stack, or have several copies: the loader's rule for the file (ld.so(8)).
struct ModuleOrigin {
  ModuleId module = 0;
  std::uint32_t space = 0;             // 0: base namespace; others are of dlmopen and of auditors
  std::string family;                  // equal for copies of one library; empty: a user of the GPU stack only
  std::string kind;                    // of the family: rocm, cuda, openmp, c++
  std::string version;                 // in the file's real name
  std::string rocm;                    // release of ROCm if known, e.g. "6.4"
  std::string rule;                    // LD_PRELOAD, RPATH, LD_LIBRARY_PATH, RUNPATH, system, dlopen ...
  ModuleId asker = 0;                  // the module that needs it, or that has the RPATH or RUNPATH
  std::string rpath, runpath;          // of the module itself
  std::vector<std::string> not_taken;  // other files of that library that the program's variables name
};
// The bindings of a module's imports from the GPU stack, as its memory has them now. Replaces an earlier report.
struct ImportsBound {
  enum class State : std::uint8_t { Bound, NotYet, Absent };  // NotYet: lazy, not called; Absent: weak, undefined
  struct Group {
    std::string api;
    State state = State::Bound;
    ModuleId target = 0;  // if Bound; 0: memory without a module
    std::vector<std::string> names;
  };
  ModuleId module = 0;
  std::int64_t at = 0;
  std::vector<Group> groups;
};

// A moment in the life of a process that is worth a report: its death, a hang, or a requested snapshot. A ThreadSeen
// for each of its threads follows. A second report with the same number replaces the first. One row of postmortem_: a
// field is a column.
struct Postmortem {
  enum class Kind : std::uint8_t { Signal, Exit, Hang, Snapshot };  // Exit: ended by itself while calls were running
  PostmortemId postmortem = 0;
  ProcessId process = 0;
  ThreadId thread = 0;  // the thread that got the signal or ended the process; 0: none or unknown
  std::int64_t at = 0;
  Kind kind = Kind::Signal;
  int signal = 0;                        // for Signal
  int code = 0;                          // siginfo_t::si_code
  bool has_code = false;                 // false: the signal killed before fade saw it
  std::optional<std::uint64_t> address;  // address of a fault
  pid_t sender = 0;                      // in the PID namespace of the process; 0: the kernel, or unknown
  uid_t sender_uid = 0;
  std::string sender_name;
  int exit_code = -1;         // for Exit
  std::int64_t quiet_ns = 0;  // for Hang: time since a call began or ended
  std::string cause;          // if more is known: stack (overflow), self (sent by the process), oom, oom? (perhaps)
  std::string evidence;       // the evidence for the cause, in words
};
// The activity of a thread at that moment.
struct ThreadSeen {
  struct Call {
    CallRecord record;  // as far as it was known; payload_at, payload_size: unused
    std::vector<std::byte> payload;
  };
  PostmortemId postmortem = 0;
  ThreadId thread = 0;
  std::int64_t at = 0;
  std::string doing;                 // "running", the system call it was in, or the reason if unknown
  ModuleId module = 0;               // module of the instruction; 0: none
  std::uint64_t address = 0;         // of the instruction; 0: unknown
  std::uint64_t offset = 0;          // from the module's load address
  std::string symbol;                // enclosing function if known, mangled, with +offset
  StackId stack = 0;                 // 0: none was taken
  std::vector<Call> calls;           // running, outermost first
  std::vector<std::string> earlier;  // names of calls that were running before fade attached, outermost first
};

using Notice = std::variant<ProcessStarted, ProcessExec, ProcessEnded, ThreadStarted, ThreadEnded, DeviceSet,
                            ModuleLoaded, ModuleUnloaded, FunctionDefined, CallSiteSeen, KernelNamed, OverrideRule,
                            OverrideHit, InjectionRule, InjectionHit, NumbersSeen, NumbersLeft, ProductChecked,
                            ProductsLeft, ActionRule, ActionDone, CachedSearch, CachedCopy, CachedField, CachedChange,
                            Lifecycle, Drop, StopCost, CallsCounted, ThreadCost, CostMeasured, CpuUsed, ModuleOrigin,
                            ImportsBound, FrameSeen, StackSeen, Postmortem, ThreadSeen, Sampled, GpuSample>;

struct CallBatch;  // call_batch.hpp

// Receives the events of a session. Called from the tracing thread only.
class EventSink {
 public:
  virtual ~EventSink() = default;
  // `payload` holds this call's pieces; the sink sets payload_at and payload_size of the record.
  virtual void call(CallRecord record, std::span<const std::byte> payload) = 0;
  // The same for many calls. Without an override, call() gets each of them in turn.
  virtual void calls(const CallBatch& batch);
  // The reader gets a notice before any call that is put in after the notice.
  virtual void notice(Notice notice) = 0;
  // The tracing thread stays on this CPU, -1: on none. If there is another CPU, the reader avoids this one.
  virtual void keeps_to(int /*cpu*/) {}
  // False: no call will have a row for a while, so its stack is not needed.
  virtual bool wants_detail() const { return true; }
};

}  // namespace fade
