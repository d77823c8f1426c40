#include "session/stack_capture.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/recording.hpp"
#include "base/user_code.hpp"

namespace fade {
namespace {

constexpr std::size_t kMostNative = 512;           // Python's evaluation takes several frames for each of Python's
constexpr std::uint64_t kMostAtOnce = 128 * 1024;  // bytes of a stack
constexpr std::uint64_t kBeyond = 256;             // above the outermost frame, where a walk rarely looks

std::uint64_t mix(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * 0x9FB2'1C65'1E98'DF25U;
  return hash ^ hash >> 29;
}

enum KindOfFrame : std::uint64_t {
  kOfPython = 1ULL << 32,
  kOfGap = 2ULL << 32,
  kOfRunningPython = 3ULL << 32,
  kByLibunwind = 4ULL << 32,   // and a module's
};                             // others are a module's
constexpr int kKindBits = 35;  // with the number of a module

}  // namespace

ProgramStacks& StackCapture::of(Program& program) {
  if (!program.stacks) program.stacks = std::make_shared<ProgramStacks>(files_, program, ++last_program_);
  return *program.stacks;
}

const Memory& StackCapture::look(const Thread& thread, const Registers& registers) {
  const std::int64_t began = clock_.now();
  read_stack(thread, python_of(thread, of(*thread.inferior->program)), registers.sp(), registers.fs_base);
  has_looked_ = true;
  look_ns_ = clock_.now() - began;
  return snapshot_;
}

StackId StackCapture::at_entry(Thread& thread, const Registers& registers, RemoteAddr return_address) {
  FrameRegisters frame(registers);
  frame.return_to(return_address.value, registers.rsp + 8);
  return take(thread, frame, registers.fs_base, true);
}

StackId StackCapture::at_return(Thread& thread, const Registers& registers, RemoteAddr return_address) {
  FrameRegisters frame(registers);
  frame.return_to(return_address.value, registers.rsp);
  has_looked_ = false;
  return take(thread, frame, registers.fs_base, true);
}

StackId StackCapture::now(Thread& thread, const Registers& registers) {
  has_looked_ = false;
  return take(thread, FrameRegisters(registers), registers.fs_base, false);
}

StackId StackCapture::take(Thread& thread, const FrameRegisters& frame, std::uint64_t fs_base, bool is_caller) {
  const std::int64_t began = clock_.now();
  const StackId stack = take_now(thread, frame, fs_base, is_caller);
  const std::int64_t ns = clock_.now() - began + std::exchange(look_ns_, 0);
  has_looked_ = false;
  ++cost_.taken;
  cost_.ns += ns;
  cost_.longest_ns = std::max(cost_.longest_ns, ns);
  return stack;
}

// As much of the stack as the thread's last one had.
void StackCapture::read_stack(const Thread& thread, PythonStacks* python, RemoteAddr sp, std::uint64_t fs_base) {
  const std::uint64_t above = thread.stack_ends + kBeyond - sp;
  const std::size_t window = sp < thread.stack_ends && above <= kMostAtOnce ? above : StackSnapshot::kWindow;
  snapshot_.take(thread.memory(), sp, python ? python->wanted(fs_base) : std::vector<RemoteRange>(), window);
  if (!snapshot_.is_complete()) python->forget_wanted(fs_base);
}

StackId StackCapture::take_now(Thread& thread, const FrameRegisters& frame, std::uint64_t fs_base, bool is_caller) {
  ProgramStacks& stacks = of(*thread.inferior->program);
  PythonStacks* python = python_of(thread, stacks);
  if (!has_looked_) read_stack(thread, python, frame.sp(), fs_base);
  const RememberedStacks::Place place{.program = stacks.number(),
                                      .generation = stacks.code().generation(),
                                      .fs_base = fs_base,
                                      .pc = frame.pc().value,
                                      .sp = frame.sp().value,
                                      .is_caller = is_caller,
                                      .with_python = python != nullptr};
  if (const auto* same = remembered_.find(place, frame, snapshot_, PythonStacks::clock_ms())) {
    ++cost_.recognised;
    cost_.cut_short += same->is_cut_short;
    return same->id;
  }
  const std::uint64_t cut_short = cost_.cut_short;
  const StackId stack = work_out(thread, stacks, python, frame, fs_base, is_caller);
  if (stack != 0 && evidence_.is_whole()) remembered_.put(place, evidence_, {stack, cost_.cut_short != cut_short});
  return stack;
}

StackId StackCapture::work_out(Thread& thread, ProgramStacks& stacks, PythonStacks* python, const FrameRegisters& frame,
                               std::uint64_t fs_base, bool is_caller) {
  evidence_.clear();
  python_.clear();
  if (python) python_ = python->frames(fs_base, snapshot_, policy_.choice().depth, &evidence_);
  walk(thread, stacks, frame, is_caller);
  const std::uint64_t known_by = hash(stacks, python);
  if (const StackId known = table_.remembered(known_by)) return known;
  const StackId stack = build(thread, stacks, python);
  if (stack != 0) table_.remember(known_by, stack);
  return stack;
}

PythonStacks* StackCapture::python_of(const Thread& thread, ProgramStacks& stacks) {
  if (!policy_.choice().python) return nullptr;
  std::string problem;
  PythonStacks* python = stacks.python(*thread.inferior->program, problem);
  if (!problem.empty()) sink_.notice(Lifecycle{clock_.now(), thread.inferior->id, 0, "note", 0, problem});
  return python;
}

void StackCapture::walk(Thread& thread, ProgramStacks& stacks, const FrameRegisters& frame, bool is_caller) {
  native_.clear();
  why_ended_.clear();
  if (!policy_.choice().native) return;
  const std::size_t limit = std::max<std::size_t>(kMostNative, policy_.choice().depth);
  NativeWalk native(stacks.code(), thread.tid, frame, snapshot_, is_caller, &evidence_, &libunwind_);
  for (std::size_t seen = 0; seen < 2 * limit && native_.size() < limit; ++seen) {
    const auto next = native.next();
    if (!next) break;
    if (!stacks.code().is_own_frame(next->pc)) native_.push_back(*next);
  }
  why_ended_ =
      native.end() == NativeWalk::End::NotYet ? fmt::format("deeper than {} native frames", limit) : native.why_ended();
  cost_.evaluated += native.evaluated() > 0;
  cost_.cut_short += native.end() != NativeWalk::End::Bottom;
  thread.stack_ends = native.end() == NativeWalk::End::Bottom ? native.sp() : RemoteAddr{};
}

// New mappings may be at the place of old ones, so the hash contains the generation. For Python it contains the number
// of the current code object, not its address.
std::uint64_t StackCapture::hash(const ProgramStacks& stacks, PythonStacks* python) {
  std::uint64_t hash = stacks.number();
  hash = mix(hash, stacks.code().generation());
  for (const NativeFrame& frame : native_) hash = mix(mix(hash, frame.pc.value), frame.by_libunwind);
  for (const PythonFrame& frame : python_)
    hash = mix(hash, std::uint64_t{python->place(frame, snapshot_, &evidence_).id} << 1 | (frame.entry ? 1U : 0U));
  return hash;
}

// From the outermost frame that is kept inwards.
StackId StackCapture::build(const Thread& thread, ProgramStacks& stacks, PythonStacks* python) {
  merged_.clear();
  // Groups of Python frames are counted from the outermost only where all of them are there.
  const bool is_whole = policy_.choice().native && why_ended_.empty() && python_.size() < policy_.choice().depth;
  merge(
      native_, is_whole, python_, [&](RemoteAddr pc) { return python && python->is_evaluation(pc); }, merged_);
  const std::size_t depth = policy_.choice().depth;
  const bool is_cut = merged_.size() > depth;
  if (merged_.empty() && why_ended_.empty()) return 0;
  StackId stack = 0;
  const auto put = [&](FrameId frame) { return (stack = table_.on_top(stack, frame)) != 0; };
  if (is_cut) merged_.resize(depth);
  const std::string outermost = is_cut ? fmt::format("deeper than {} frames", depth) : why_ended_;
  bool is_kept = outermost.empty() || put(gap(thread, stacks, outermost));
  for (std::size_t i = merged_.size(); i-- > 0 && is_kept;) is_kept = put(frame_of(thread, stacks, python, merged_[i]));
  cost_.not_kept += !is_kept;
  return is_kept ? stack : 0;
}

FrameId StackCapture::frame_of(const Thread& thread, ProgramStacks& stacks, PythonStacks* python,
                               const MergedFrame& frame) {
  switch (frame.kind) {
    case MergedFrame::Kind::Native: return native_frame(thread, stacks, frame.native);
    case MergedFrame::Kind::Python: return python_frame(thread, stacks, *python, frame.python, kOfPython);
    case MergedFrame::Kind::Lost: break;
  }
  return gap(thread, stacks, "Python frames whose place between the native ones is not known");
}

FrameId StackCapture::native_frame(const Thread& thread, ProgramStacks& stacks, const NativeFrame& frame) {
  const RemoteAddr pc = frame.pc;
  const Module* module = thread.inferior->program->module_at(pc);
  const ModuleId id = module ? module->id : ModuleId{};
  const std::uint64_t mark = frame.by_libunwind ? std::uint64_t{kByLibunwind} : 0;
  return table_.frame({std::uint64_t{stacks.number()} << kKindBits | mark | id.value(), pc.value}, [&] {
    const bool is_signal = stacks.code().at(pc, thread.tid).rule.is_signal;
    return FrameSeen{.process = thread.inferior->id,
                     .by_libunwind = frame.by_libunwind,
                     .module = id,
                     .address = pc.value,
                     .offset = module ? pc.value - module->entry.l_addr : 0,
                     .function = is_signal ? "<signal handler called>" : ""};
  });
}

FrameId StackCapture::python_frame(const Thread& thread, ProgramStacks& stacks, PythonStacks& python,
                                   const PythonFrame& frame, std::uint64_t kind) {
  const PythonStacks::Place& place = python.place(frame, snapshot_);
  return table_.frame({std::uint64_t{stacks.number()} << kKindBits | kind, place.id}, [&] {
    return FrameSeen{.process = thread.inferior->id,
                     .kind = FrameSeen::Kind::Python,
                     .address = frame.code,
                     .function = place.function,
                     .file = place.file,
                     .line = place.line};
  });
}

FrameId StackCapture::gap(const Thread& thread, ProgramStacks& stacks, const std::string& reason) {
  return table_.frame({std::uint64_t{stacks.number()} << kKindBits | kOfGap, std::hash<std::string>{}(reason)}, [&] {
    return FrameSeen{.process = thread.inferior->id, .kind = FrameSeen::Kind::Gap, .function = reason};
  });
}

// The thread runs, so a frame may be half written, or another one already. Frames that show the same functions twice
// were there.
std::vector<PythonFrame> StackCapture::running_frames(const Thread& thread, PythonStacks& python) {
  constexpr int kMostLooks = 4;
  const ProcessMemory& memory = thread.memory();
  std::vector<PythonFrame> before;
  for (int look = 0; look < kMostLooks; ++look) {
    snapshot_.take(memory, {}, python.wanted(thread.thread_pointer), 0);
    if (!snapshot_.is_complete()) python.forget_wanted(thread.thread_pointer);
    auto frames = python.frames(thread.thread_pointer, snapshot_, policy_.choice().depth);
    const bool is_same = std::ranges::equal(frames, before, {}, &PythonFrame::code, &PythonFrame::code);
    if (look > 0 && is_same) return frames;
    before = std::move(frames);
  }
  ++cost_.unsteady;
  return {};
}

StackCapture::Outside StackCapture::from_outside(const Thread& thread) {
  ProgramStacks& stacks = of(*thread.inferior->program);
  has_looked_ = false;
  if (!python_of(thread, stacks)) return {};
  PythonStacks* python = stacks.running_python(*thread.inferior->program);
  if (!python) return {};
  const std::int64_t began = clock_.now();
  const auto frames = running_frames(thread, *python);
  Outside out;
  bool is_kept = true, has_user = false;
  for (std::size_t i = frames.size(); i-- > 0 && is_kept;) {
    if (frames[i].code == 0) continue;
    const FrameId frame = python_frame(thread, stacks, *python, frames[i], kOfRunningPython);
    const bool is_user = is_user_code(python->place(frames[i], snapshot_).file);
    if (is_user || !has_user) out.frame = frame;
    has_user |= is_user;
    is_kept = (out.stack = table_.on_top(out.stack, frame)) != 0;
  }
  ++cost_.sampled;
  cost_.sampled_ns += clock_.now() - began;
  return is_kept ? out : Outside{};
}

// Sends the numbers when they have doubled, so that most is there if program and fade are killed together.
void StackCapture::report(bool at_end) {
  if (at_end && cost_.sampled > 0)
    sink_.notice(Lifecycle{
        .at = clock_.now(),
        .kind = "samples taken",
        .value = static_cast<std::int64_t>(cost_.sampled),
        .detail = fmt::format(
            "{:.1f} us each, no thread was stopped; {} were left out because their frames changed meanwhile",
            static_cast<double>(cost_.sampled_ns) / 1000.0 / static_cast<double>(cost_.sampled), cost_.unsteady)});
  if (cost_.taken == reported_taken_ || (!at_end && cost_.taken < 2 * reported_taken_)) return;
  reported_taken_ = cost_.taken;
  const auto tell = [&](const char* kind, std::int64_t value, std::string detail) {
    sink_.notice(Lifecycle{.at = clock_.now(), .kind = kind, .value = value, .detail = std::move(detail)});
  };
  tell("stacks taken", static_cast<std::int64_t>(cost_.taken),
       fmt::format("{} distinct parts, {} with frames of the kernel or of stubs, {} without their outermost frames",
                   table_.stacks(), cost_.evaluated, cost_.cut_short));
  tell("stacks time", cost_.ns,
       fmt::format("{:.1f} us each, the longest {:.1f} us",
                   static_cast<double>(cost_.ns) / 1000.0 / static_cast<double>(cost_.taken),
                   static_cast<double>(cost_.longest_ns) / 1000.0));
  const std::uint64_t not_kept = cost_.not_kept - std::exchange(reported_not_kept_, cost_.not_kept);
  if (not_kept > 0) sink_.notice(Drop{.at = clock_.now(), .n = not_kept, .reason = std::string(kStacksNotKept)});
}

}  // namespace fade
