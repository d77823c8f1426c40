// Children and threads that the kernel did not give to the program's tracer: made with CLONE_UNTRACED (clone(2)). Nothing tells
// of them when they are made, so /proc is asked now and then, when a thread ends, and when a child's end is told to its parent.
// They have the copy of our breakpoints that they were made with, and of the net, which keeps them alive without us.
// And children that run in a program's memory and were there before us: they have neither yet.
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>

#include "base/living_thread.hpp"
#include "base/log.hpp"
#include "session/session.hpp"

namespace fade {
namespace {

constexpr std::size_t kMostAsked = 64;  // threads of a process; those of a larger one tell at their end

bool is_over(char state) { return state == 'Z' || state == 'X' || state == '\0'; }

// Made by this very thread, and still there or not yet waited for. Empty where the kernel was built without the list.
std::vector<pid_t> children_of(pid_t pid, pid_t tid) {
  std::ifstream in(fmt::format("/proc/{}/task/{}/children", pid, tid));
  std::vector<pid_t> out;
  for (pid_t child = 0; in >> child;) out.push_back(child);
  return out;
}

// Each thread is a link of the folder.
std::size_t count_threads(pid_t pid) {
  struct stat folder {};
  const bool is_there = ::stat(fmt::format("/proc/{}/task", pid).c_str(), &folder) == 0;
  return is_there && folder.st_nlink > 2 ? folder.st_nlink - 2 : 0;
}

constexpr const char* kEndedUnseen = "made with CLONE_UNTRACED, and ended before it was seen: none of its calls is recorded";

// It is given the children of others, when their parents end.
bool is_init(pid_t pid) { return read_own_pid(pid) == 1; }

}  // namespace

// Whoever was there before us was not asked for.
void Session::know_children(const Inferior& inferior) {
  for (const auto& [tid, thread] : inferior.threads)
    for (const pid_t child : children_of(inferior.pid, tid)) known_.insert(child);
}

void Session::tell_stranger(const Inferior& parent, pid_t child, std::string what) {
  ++strangers_told_;
  log::debug("process {}, child of {}: {}", child, parent.pid, what);
  sink_.notice(Lifecycle{.at = clock_.now(), .process = parent.id, .kind = "untraced", .value = child, .detail = std::move(what)});
}

void Session::look_for_strangers() {
  if (!watching_) return;
  std::vector<Inferior*> all;
  for (const auto& [pid, inferior] : inferiors_) all.push_back(inferior.get());
  for (Inferior* const inferior : all) {  // none of them goes meanwhile: nothing waits
    if (count_threads(inferior->pid) > inferior->threads.size()) meet_threads(*inferior);
    if (inferior->threads.size() > kMostAsked) continue;
    for (const auto& [tid, thread] : inferior->threads) meet_children(*inferior, tid);
  }
  watch_strangers();
  forget_the_gone();
}

// A program may start others for weeks, and a number that is free is given again.
void Session::forget_the_gone() {
  if (known_.size() < most_known_) return;
  std::erase_if(known_, [](pid_t pid) { return ::kill(pid, 0) != 0 && errno == ESRCH; });
  most_known_ = std::max(most_known_, 2 * known_.size());
}

void Session::meet_threads(Inferior& inferior) {
  for (const pid_t tid : read_thread_ids(inferior.pid)) {
    if (thread_of(tid) || unclaimed_.contains(tid) || is_over(read_state(tid)) || read_tracer(tid) != 0) continue;
    const auto seized = Tracer::seize(tid, false);
    if (!seized) inferior.is_dirty = true;
    tell_stranger(inferior, tid, seized ? "a thread that was made with CLONE_UNTRACED: recorded from here on"
                                        : "a thread that was made with CLONE_UNTRACED: " + seized.error().text());
    if (seized) add_thread(inferior, tid).is_doubtful = true;
  }
}

void Session::meet_children(Inferior& parent, pid_t tid) {
  if (!options_.follow) return;
  for (const pid_t child : children_of(parent.pid, tid))
    if (!known_.contains(child) && !unclaimed_.contains(child) && !is_init(parent.pid)) meet(parent, tid, child);
}

// It is ours from here on, but is not stopped and not yet watched: another's stop may wait to be handled.
void Session::meet(Inferior& parent, pid_t maker, pid_t child) {
  known_.insert(child);
  if (is_over(read_state(child))) return tell_stranger(parent, child, kEndedUnseen);
  if (const pid_t tracer = read_tracer(child); tracer != 0) {
    if (tracer != ::getpid()) tell_stranger(parent, child, fmt::format("made with CLONE_UNTRACED, and traced by process {}: not recorded", tracer));
    return;
  }
  const Whose memory = memory_of(child, maker);
  if (memory == Whose::Unknown) parent.is_dirty = true;  // it may go through our code there
  if (memory == Whose::Unknown) return tell_stranger(parent, child, "made with CLONE_UNTRACED: not recorded, because it cannot be told whose memory it has");
  const bool shares = memory == Whose::Shared;
  const auto seized = adopt(parent, child, shares);
  tell_stranger(parent, child, seized ? "made with CLONE_UNTRACED: recorded from here on" : "made with CLONE_UNTRACED: " + seized.error().text());
  if (!shares && inferiors_.contains(child)) unwatched_strangers_.push_back(child);
}

Result<void> Session::adopt(Inferior& parent, pid_t child, bool is_guest) {
  Inferior& made = add_process(child, &parent, is_guest ? parent.program : std::make_shared<Program>(tracer_, child));
  made.watched = is_guest && parent.watched;
  made.is_guest = is_guest;
  made.is_dirty = parent.is_dirty;
  made.is_untraced = true;
  auto seized = seize_threads(made);
  if (!seized && is_guest) parent.is_dirty = true;
  if (made.threads.empty()) {
    sink_.notice(ProcessEnded{made.id, clock_.now(), -1, 0});
    inferiors_.erase(child);
  }
  return seized;
}

// Who was there before us in the memory of a process that is about to have breakpoints would meet them without a tracer. Behind await_forks():
// who is made from here on is given to us by the kernel, and told of by its maker.
void Session::meet_guests(Inferior& host) {
  for (const auto& [tid, thread] : host.threads)
    for (const pid_t child : children_of(host.pid, tid)) {
      if (inferiors_.contains(child) || is_over(read_state(child)) || read_tracer(child) != 0 || !shares_memory(child, tid)) continue;
      if (const auto adopted = adopt(host, child, true); !adopted) log::debug("process {}: {}", child, adopted.error().text());
      if (const auto it = inferiors_.find(child); it != inferiors_.end()) meet_guests(*it->second);
    }
}

// Of ours, in whose memory it runs.
Inferior* Session::host_of(pid_t pid) {
  const auto parent = inferiors_.find(read_parent(pid));
  return parent != inferiors_.end() && shares_memory(pid, living_thread(parent->first)) ? parent->second.get() : nullptr;
}

void Session::watch_strangers() {
  for (const pid_t child : std::exchange(unwatched_strangers_, {})) {
    const auto watched = watching_ && inferiors_.contains(child) ? watch(child) : Result<void>{};
    const auto it = inferiors_.find(child);
    if (!watched && it != inferiors_.end() && !it->second->threads.empty())
      note(*it->second->threads.begin()->second, "unwatched", 0, watched.error().text());
  }
}

// Its parent hears of the end of a child that nobody has told us of.
void Session::child_ended(const Thread& parent) {
  const auto info = Tracee(parent.tid).siginfo();
  if (!info || (info->si_code != CLD_EXITED && info->si_code != CLD_KILLED && info->si_code != CLD_DUMPED)) return;
  const pid_t pid = parent.inferior->pid;
  if (known_.contains(info->si_pid) || read_own_pid(pid) != pid || is_init(pid)) return;
  known_.insert(info->si_pid);
  if (options_.follow) tell_stranger(*parent.inferior, info->si_pid, kEndedUnseen);
}

}  // namespace fade
