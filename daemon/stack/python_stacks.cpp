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
constexpr std::uint64_t kPage = 4096;

// A few frames may have come since; what lies on the same page can be read.
RemoteRange with_margin(RemoteRange window) { return {window.begin, {(window.end.value + kPage - 1) / kPage * kPage}}; }

}  // namespace

struct PythonStacks::State {
  State(PythonInterpreter found, RemoteRange span, std::vector<RemoteRange> evaluation)
      : interpreter(std::move(found)), parts(std::move(evaluation)), threads(interpreter), walk(interpreter.layout),
        code(interpreter.layout, span) {}

  std::uint64_t epoch(const PythonThread& thread, const Memory& memory) const;
  void remember(std::uint64_t fs_base);

  PythonInterpreter interpreter;
  std::vector<RemoteRange> parts;
  PythonThreads threads;
  PythonFrames walk;
  PythonCode code;
  std::unordered_map<std::uint64_t, RemoteRange> windows;  // of the last stack, by fs_base
};

// Each interpreter of a process counts by itself.
std::uint64_t PythonStacks::State::epoch(const PythonThread& thread, const Memory& memory) const {
  const std::uint32_t offset = interpreter.layout.generation;
  if (offset == PythonLayout::kNone) return static_cast<std::uint64_t>(clock_ns(CLOCK_MONOTONIC_COARSE) / 1'000'000);
  return memory.value<std::uint64_t>(thread.interpreter + offset).value_or(0) + thread.interpreter.value * 0x9e3779b97f4a7c15u;
}

void PythonStacks::State::remember(std::uint64_t fs_base) {
  if (windows.size() >= kMaxRemembered) windows.clear();
  windows[fs_base] = walk.window();
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

std::vector<RemoteRange> PythonStacks::wanted(std::uint64_t fs_base) const {
  const auto& layout = state_->interpreter.layout;
  const auto* thread = state_->threads.last(fs_base);
  if (!thread) return {};
  std::vector<RemoteRange> out{{thread->state, thread->state + layout.thread_size()}};
  if (thread->link) out.push_back({thread->link, thread->link + 8});
  if (layout.generation != PythonLayout::kNone)
    out.push_back({thread->interpreter + layout.generation, thread->interpreter + layout.generation + 8});
  if (const auto window = state_->windows.find(fs_base); window != state_->windows.end() && window->second.size() != 0)
    out.push_back(with_margin(window->second));
  return out;
}

std::vector<PythonFrame> PythonStacks::frames(std::uint64_t fs_base, const Memory& memory, std::size_t limit) {
  State& state = *state_;
  const auto is_internal = [&](std::uint64_t code) { return state.code.is_internal(code, memory); };
  auto thread = state.threads.find(fs_base, memory);
  if (!thread) return {};
  state.code.set_epoch(state.epoch(*thread, memory));
  auto out = state.walk.of(*thread, memory, limit, is_internal);
  if (out.empty() && (thread = state.threads.find_anew(fs_base, memory))) out = state.walk.of(*thread, memory, limit, is_internal);
  state.remember(fs_base);
  return out;
}

const PythonStacks::Place& PythonStacks::place(const PythonFrame& frame, const Memory& memory) {
  return state_->code.place(frame.code, frame.instruction, memory);
}

}  // namespace fade
