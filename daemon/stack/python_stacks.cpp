#include "stack/python_stacks.hpp"

#include <algorithm>

#include "base/clock.hpp"
#include "stack/python_code.hpp"
#include "stack/python_evaluation.hpp"
#include "stack/python_frames.hpp"
#include "stack/python_layout.hpp"
#include "stack/python_threads.hpp"

namespace fade {
namespace {

constexpr std::size_t kMaxRemembered = 16384;
constexpr std::size_t kMaxFramesRead = 6;  // frames read singly, of this stack and the stacks before
constexpr std::uint64_t kMarginPage = 4096;

// A few frames may be new since then; the same page can be read.
RemoteRange with_margin(RemoteRange window) {
  return {window.begin, {(window.end.value + kMarginPage - 1) / kMarginPage * kMarginPage}};
}

}  // namespace

struct PythonStacks::State {
  State(PythonInterpreter found, RemoteRange span, std::vector<RemoteRange> evaluation)
      : interpreter(std::move(found)),
        parts(std::move(evaluation)),
        threads(interpreter),
        walk(interpreter.layout),
        code(interpreter.layout, span) {}

  std::uint64_t epoch(const PythonThread& thread, const Memory& memory);
  void rest_on(const PythonThread& thread, std::uint64_t fs_base, StackEvidence& evidence) const;
  void remember(std::uint64_t fs_base);

  struct Read {  // for the last stacks of a thread
    RemoteRange window;
    std::vector<RemoteRange> frames, codes;
  };
  PythonInterpreter interpreter;
  std::vector<RemoteRange> parts;
  PythonThreads threads;
  PythonFrames walk;
  PythonCode code;
  std::unordered_map<std::uint64_t, Read> read;  // by fs_base
  Read* last = nullptr;                          // of the last frames()
  std::uint64_t generation = 0;                  // of the interpreter, as of the last epoch()
};

// Each interpreter of a process has its own count.
std::uint64_t PythonStacks::State::epoch(const PythonThread& thread, const Memory& memory) {
  const std::uint32_t offset = interpreter.layout.generation;
  if (offset == PythonLayout::kNone) return clock_ms();
  generation = memory.value<std::uint64_t>(thread.interpreter + offset).value_or(0);
  return generation + thread.interpreter.value * 0x9e3779b97f4a7c15u;
}

void PythonStacks::State::rest_on(const PythonThread& thread, std::uint64_t fs_base, StackEvidence& evidence) const {
  const PythonLayout& layout = interpreter.layout;
  evidence.word(thread.state + layout.thread_id, fs_base);
  if (const auto* known = threads.last(fs_base); known && known->link) evidence.word(known->link, thread.state.value);
  if (layout.generation != PythonLayout::kNone) evidence.word(thread.interpreter + layout.generation, generation);
}

void PythonStacks::State::remember(std::uint64_t fs_base) {
  if (read.size() >= kMaxRemembered) read.clear();
  last = &read[fs_base];
  const RemoteRange window = walk.window();
  last->window = {window.begin,
                  last->window.begin == window.begin ? std::max(window.end, last->window.end) : window.end};
  last->codes = code.unsure();
  std::vector<RemoteRange> frames = walk.others();
  // If a thread alternates between stacks, each stack needs its own ranges.
  for (const RemoteRange& old : last->frames)
    if (frames.size() < kMaxFramesRead &&
        std::ranges::none_of(frames, [&](const RemoteRange& f) { return f.begin == old.begin; }))
      frames.push_back(old);
  last->frames = std::move(frames);
}

Result<std::optional<PythonStacks>> PythonStacks::in(const elf::DynamicImage& image, const Memory& memory) {
  auto interpreter = find_python(image, memory);
  if (!interpreter) return tl::unexpected(interpreter.error());
  if (!*interpreter) return std::nullopt;
  auto parts = evaluation_parts(image, memory);
  return PythonStacks(std::make_unique<State>(std::move(**interpreter), image.span(), std::move(parts)));
}

PythonStacks::PythonStacks(std::unique_ptr<State> state) : state_(std::move(state)) {}
PythonStacks::PythonStacks(PythonStacks&&) noexcept = default;
PythonStacks& PythonStacks::operator=(PythonStacks&&) noexcept = default;
PythonStacks::~PythonStacks() = default;

const std::string& PythonStacks::version() const { return state_->interpreter.version; }

bool PythonStacks::is_evaluation(RemoteAddr pc) const {
  return std::any_of(state_->parts.begin(), state_->parts.end(), [&](const RemoteRange& p) { return p.contains(pc); });
}

std::uint64_t PythonStacks::clock_ms() {
  return static_cast<std::uint64_t>(clock_ns(CLOCK_MONOTONIC_COARSE) / 1'000'000);
}

std::vector<RemoteRange> PythonStacks::wanted(std::uint64_t fs_base) const {
  const auto& layout = state_->interpreter.layout;
  const auto* thread = state_->threads.last(fs_base);
  if (!thread) return {};
  std::vector<RemoteRange> out;
  out.reserve(kMostWanted);
  out.push_back({thread->state, thread->state + layout.thread_size()});
  if (thread->link) out.push_back({thread->link, thread->link + 8});
  if (layout.generation != PythonLayout::kNone)
    out.push_back({thread->interpreter + layout.generation, thread->interpreter + layout.generation + 8});
  const auto read = state_->read.find(fs_base);
  if (read == state_->read.end()) return out;
  if (read->second.window.size() != 0) out.push_back(with_margin(read->second.window));
  for (const auto* ranges : {&read->second.frames, &read->second.codes})
    for (const RemoteRange& range : *ranges)
      if (out.size() < kMostWanted) out.push_back(range);
  return out;
}

void PythonStacks::forget_wanted(std::uint64_t fs_base) {
  state_->last = nullptr;
  state_->read.erase(fs_base);
}

std::vector<PythonFrame> PythonStacks::frames(std::uint64_t fs_base, const Memory& memory, std::size_t limit,
                                              StackEvidence* evidence) {
  State& state = *state_;
  state.last = nullptr;
  auto thread = state.threads.find(fs_base, memory);
  if (evidence && !thread) evidence->give_up();  // the thread may enter Python at any time
  if (!thread) return {};
  state.code.begin(state.epoch(*thread, memory));
  if (evidence) state.rest_on(*thread, fs_base, *evidence);
  const auto is_internal = [&](std::uint64_t code) { return state.code.is_internal(code, memory, evidence); };
  auto out = state.walk.of(*thread, memory, limit, is_internal, evidence);
  if (evidence && out.empty()) evidence->give_up();
  if (out.empty() && (thread = state.threads.find_anew(fs_base, memory)))
    out = state.walk.of(*thread, memory, limit, is_internal);
  state.remember(fs_base);
  return out;
}

const PythonStacks::Place& PythonStacks::place(const PythonFrame& frame, const Memory& memory,
                                               StackEvidence* evidence) {
  State& state = *state_;
  const auto& unsure = state.code.unsure();
  const std::size_t had = unsure.size();
  const Place& place = state.code.place(frame.code, frame.instruction, memory, evidence);
  if (state.last && unsure.size() > had) state.last->codes.push_back(unsure.back());
  return place;
}

}  // namespace fade
