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

void Session::tell_stranger(ProcessId parent, pid_t child, std::string what) {
  ++strangers_told_;
  log::debug("process {}, child of a process that is watched: {}", child, what);
  sink_.notice(Lifecycle{.at = clock_.now(), .process = parent, .kind = "untraced", .value = child, .detail = std::move(what)});
}

void Session::look_for_strangers() {
  if (!watching_) return;
  std::vector<Inferior*> all;
  for (const auto& [pid, inferior] : roster_.processes()) all.push_back(inferior.get());
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

// EINTR: the thread's process executes a program just now. The thread is looked for again.
void Session::meet_threads(Inferior& inferior) {
  for (const pid_t tid : read_thread_ids(inferior.pid)) {
    if (roster_.thread(tid) || unclaimed_.contains(tid) || has_ended(tid) || read_tracer(tid) != 0) continue;
    const auto seized = Tracer::seize(tid, false);
    if (!seized && seized.error().code == EINTR) continue;
    if (!seized) inferior.is_dirty = true;
    tell_stranger(inferior.id, tid, seized ? "a thread that was made with CLONE_UNTRACED: recorded from here on"
                                        : "a thread that was made with CLONE_UNTRACED: " + seized.error().text());
    if (seized) roster_.add_thread(inferior, tid, kUnknownDevice).is_doubtful = true;
  }
}

void Session::meet_children(Inferior& parent, pid_t tid) {
  if (!options_.follow) return;
  for (const pid_t child : children_of(parent.pid, tid))
    if (!known_.contains(child) && !unclaimed_.contains(child) && !is_init(parent.pid)) meet(parent, tid, child);
}

// The child becomes a tracee later: a stop waits to be handled now, and that of another thread may have to be handled before.
void Session::meet(Inferior& parent, pid_t maker, pid_t child) {
  known_.insert(child);
  if (has_ended(child)) return tell_stranger(parent.id, child, kEndedUnseen);
  if (const pid_t tracer = read_tracer(child); tracer != 0) {
    if (tracer != ::getpid()) tell_stranger(parent.id, child, fmt::format("made with CLONE_UNTRACED, and traced by process {}: not recorded", tracer));
    return;
  }
  const Whose memory = memory_of(child, maker);
  if (memory == Whose::Unknown) parent.is_dirty = true;  // it may go through our code there
  if (memory == Whose::Unknown) return tell_stranger(parent.id, child, "made with CLONE_UNTRACED: not recorded, because it cannot be told whose memory it has");
  strangers_.push_back(stranger(parent, child, memory == Whose::Shared));
}

Session::Stranger Session::stranger(const Inferior& parent, pid_t child, bool is_guest) {
  return {child, parent.pid, parent.id, is_guest ? parent.program : nullptr, is_guest && parent.watched, parent.is_dirty};
}

Result<void> Session::adopt(const Stranger& stranger) {
  if (roster_.process(stranger.pid)) return {};
  auto program = stranger.host ? stranger.host : std::make_shared<Program>(tracer_, stranger.pid);
  Inferior& made = add_process(stranger.pid, stranger.parent, std::move(program));
  made.watched = stranger.is_watched;
  made.is_guest = stranger.host != nullptr;
  made.is_dirty = stranger.is_dirty;
  made.is_untraced = true;
  auto seized = seize_threads(stranger.pid);
  if (Inferior* const parent = roster_.process(stranger.parent_pid); parent && !seized && stranger.host) parent->is_dirty = true;
  return seized;
}

// Children that were in the memory of a process before it has breakpoints would meet these without a tracer. Behind await_forks(): a child
// that is made from here on is told of by its maker, and is a tracee by itself.
void Session::meet_guests(pid_t host) {
  std::vector<Stranger> guests;
  if (const Inferior* const inferior = roster_.process(host))
    for (const auto& [tid, thread] : inferior->threads)
      for (const pid_t child : children_of(host, tid))
        if (!roster_.process(child) && !has_ended(child) && read_tracer(child) == 0 && shares_memory(child, tid))
          guests.push_back(stranger(*inferior, child, true));
  for (const Stranger& guest : guests) {
    if (const auto adopted = adopt(guest); !adopted) log::debug("process {}: {}", guest.pid, adopted.error().text());
    meet_guests(guest.pid);
  }
}

// The process of this session in whose memory `pid` runs; null: none.
Inferior* Session::host_of(pid_t pid) {
  Inferior* const parent = roster_.process(read_parent(pid));
  return parent && shares_memory(pid, living_thread(parent->pid)) ? parent : nullptr;
}

void Session::watch_strangers() {
  for (const Stranger& stranger : std::exchange(strangers_, {})) watch_stranger(stranger);
}

void Session::watch_stranger(const Stranger& stranger) {
  auto done = adopt(stranger);
  tell_stranger(stranger.parent, stranger.pid,
                done ? "made with CLONE_UNTRACED: recorded from here on" : "made with CLONE_UNTRACED: " + done.error().text());
  if (stranger.host || !watching_ || !roster_.process(stranger.pid)) return;
  done = watch(stranger.pid);
  const Inferior* const made = roster_.process(stranger.pid);
  if (!done && made && !made->threads.empty()) note(*made->threads.begin()->second, "unwatched", 0, done.error().text());
}

// Its parent hears of the end of a child that nobody has told us of.
void Session::child_ended(const Thread& parent) {
  const auto info = Tracee(parent.tid).siginfo();
  if (!info || (info->si_code != CLD_EXITED && info->si_code != CLD_KILLED && info->si_code != CLD_DUMPED)) return;
  const pid_t pid = parent.inferior->pid;
  if (known_.contains(info->si_pid) || read_own_pid(pid) != pid || is_init(pid)) return;
  known_.insert(info->si_pid);
  if (options_.follow) tell_stranger(parent.inferior->id, info->si_pid, kEndedUnseen);
}

}  // namespace fade
