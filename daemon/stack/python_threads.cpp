#include "stack/python_threads.hpp"

#include <algorithm>
#include <cstring>

#include "stack/python_bytes.hpp"

namespace fade {
namespace {

constexpr std::size_t kMaxInterpreters = 64, kMaxThreads = 16384, kMaxThreadsRemembered = 16384;
// A new thread state may be at the address of the newest state, freed before. Then only time shows it.
constexpr std::chrono::seconds kStrangeFor{1};

}  // namespace

std::uint64_t PythonThread::word(std::uint32_t offset) const {
  std::uint64_t out = 0;
  if (offset + sizeof out <= bytes.size()) std::memcpy(&out, bytes.data() + offset, sizeof out);
  return out;
}

std::optional<PythonThread> PythonThreads::load(const Known& known, std::uint64_t fs_base, const Memory& memory) const {
  PythonThread out{.interpreter = known.interpreter, .state = known.state, .bytes = {}};
  const std::size_t size = std::min<std::size_t>(layout_.thread_size(), out.bytes.size());
  if (!memory.read_exactly(known.state, std::span(out.bytes).first(size))) return std::nullopt;
  if (out.word(layout_.thread_id) != fs_base) return std::nullopt;
  return out;
}

// The head of each interpreter's list of threads; new states are put in front.
std::vector<PythonThreads::Known> PythonThreads::newest_states(const Memory& memory) const {
  std::vector<Known> out;
  std::uint64_t interpreter = memory.value<std::uint64_t>(runtime_ + layout_.interpreters).value_or(0);
  for (std::size_t n = 0; n < kMaxInterpreters && plausible(interpreter); ++n) {
    const auto head = memory.value<std::uint64_t>(RemoteAddr{interpreter} + layout_.threads).value_or(0);
    if (plausible(head)) out.push_back({{interpreter}, {head}, {}});
    interpreter = memory.value<std::uint64_t>(RemoteAddr{interpreter} + layout_.interpreter_next).value_or(0);
  }
  return out;
}

bool PythonThreads::is_strange(std::uint64_t fs_base, const std::vector<Known>& newest) const {
  const auto found = strange_.find(fs_base);
  return found != strange_.end() && std::chrono::steady_clock::now() - found->second.since < kStrangeFor &&
         std::equal(newest.begin(), newest.end(), found->second.newest.begin(), found->second.newest.end(),
                    [](const Known& k, std::uint64_t state) { return k.state.value == state; });
}

RemoteAddr PythonThreads::link_to(const PythonThread& thread) const {
  if (layout_.thread_previous == PythonLayout::kNone) return {};
  const std::uint64_t previous = thread.word(layout_.thread_previous);
  return plausible(previous) ? RemoteAddr{previous} + layout_.thread_next : thread.interpreter + layout_.threads;
}

// A freed state keeps its content until its memory is reused, and the next thread may have the same pointer. But no
// list leads to the freed state.
bool PythonThreads::is_listed(Known& known, const PythonThread& thread, const Memory& memory) const {
  known.link = link_to(thread);
  return !known.link || memory.value<std::uint64_t>(known.link) == known.state.value;
}

std::optional<PythonThread> PythonThreads::find(std::uint64_t fs_base, const Memory& memory) {
  if (const auto known = known_.find(fs_base); known != known_.end())
    if (auto thread = load(known->second, fs_base, memory); thread && is_listed(known->second, *thread, memory))
      return thread;
  return find_anew(fs_base, memory);
}

std::optional<PythonThread> PythonThreads::find_anew(std::uint64_t fs_base, const Memory& memory) {
  known_.erase(fs_base);
  if (fs_base == 0) return std::nullopt;
  const auto newest = newest_states(memory);
  if (is_strange(fs_base, newest)) return std::nullopt;
  std::size_t looked_at = 0;
  for (Known at : newest) {
    for (; plausible(at.state.value) && ++looked_at < kMaxThreads;
         at.state.value = memory.value<std::uint64_t>(at.state + layout_.thread_next).value_or(0)) {
      auto thread = load(at, fs_base, memory);
      if (!thread) continue;
      if (known_.size() >= kMaxThreadsRemembered) known_.clear();
      known_.emplace(fs_base, Known{at.interpreter, at.state, link_to(*thread)});
      strange_.erase(fs_base);
      return thread;
    }
  }
  if (strange_.size() >= kMaxThreadsRemembered) strange_.clear();
  auto& strange = strange_[fs_base] = {.newest = {}, .since = std::chrono::steady_clock::now()};
  for (const Known& k : newest) strange.newest.push_back(k.state.value);
  return std::nullopt;
}

const PythonThreads::Known* PythonThreads::last(std::uint64_t fs_base) const {
  const auto known = known_.find(fs_base);
  return known == known_.end() ? nullptr : &known->second;
}

}  // namespace fade
