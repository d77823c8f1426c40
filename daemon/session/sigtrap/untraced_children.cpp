#include "session/sigtrap/untraced_children.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>

#include "base/log.hpp"
#include "proc/living_thread.hpp"
#include "proc/processes.hpp"
#include "ptrace/tracee.hpp"
#include "ptrace/tracer.hpp"
#include "session/process_facts.hpp"

namespace fade {
namespace {

constexpr std::size_t kMostAsked = 64;  // threads of a process; in a larger one only threads that end are asked

// Children of this very thread that are not yet waited for. Empty if the kernel was built without the list
// (CONFIG_PROC_CHILDREN).
std::vector<Pid> children_of(Pid pid, Tid tid) {
  std::ifstream in(fmt::format("/proc/{}/task/{}/children", pid, tid));
  std::vector<Pid> out;
  for (pid_t child = 0; in >> child;) out.push_back(Pid::of(child));
  return out;
}

// Each thread is a link of the folder task.
std::size_t count_threads(Pid pid) {
  struct stat folder {};
  const bool is_there = ::stat(fmt::format("/proc/{}/task", pid).c_str(), &folder) == 0;
  return is_there && folder.st_nlink > 2 ? folder.st_nlink - 2 : 0;
}

constexpr const char* kEndedUnseen =
    "made with CLONE_UNTRACED, and ended before it was seen: none of its calls is recorded";

// Children of ended parents are given to this process.
bool is_init(Pid pid) { return read_own_pid(pid) == 1; }

}  // namespace

UntracedChild UntracedChild::of(const Inferior& parent, Pid child, bool is_guest) {
  UntracedChild out{.pid = child, .parent_pid = parent.pid, .parent = parent.id};
  out.inherited.watched = is_guest && parent.watched;
  out.inherited.slots_may_be_in_use = parent.slots_may_be_in_use;
  out.inherited.is_guest = is_guest;
  if (is_guest) out.host = parent.program;
  return out;
}

void UntracedChildren::know_children(const Inferior& inferior) {
  for (const auto& [tid, thread] : inferior.threads)
    for (const Pid child : children_of(inferior.pid, tid)) know(child);
}

void UntracedChildren::report(ProcessId parent, TaskId task, std::string what) {
  ++reported_;
  log::debug("process {}, child of a process that is watched: {}", task.value(), what);
  sink_.notice(Lifecycle{
      .at = clock_.now(), .process = parent, .kind = "untraced", .value = task.value(), .detail = std::move(what)});
}

void UntracedChildren::look() {
  std::vector<Inferior*> all;
  for (const auto& [pid, inferior] : roster_.processes()) all.push_back(inferior.get());
  for (Inferior* const inferior : all) {  // no stop is handled meanwhile, so none of them goes
    if (count_threads(inferior->pid) > inferior->threads.size()) look_at_threads(*inferior);
    if (inferior->threads.size() > kMostAsked) continue;
    for (const auto& [tid, thread] : inferior->threads) look_at_thread(*inferior, tid);
  }
  forget_the_gone();
}

// A program may start other programs for weeks, and the kernel gives a free pid again.
void UntracedChildren::forget_the_gone() {
  if (known_.size() < most_known_) return;
  std::erase_if(known_, [](Pid pid) { return ::kill(pid.value(), 0) != 0 && errno == ESRCH; });
  most_known_ = std::max(most_known_, 2 * known_.size());
}

// EINTR: the process executes a program just now. The next look finds the thread, if it is still there.
void UntracedChildren::look_at_threads(Inferior& inferior) {
  for (const Tid tid : read_thread_ids(inferior.pid)) {
    if (roster_.thread(tid) || unclaimed_.contains(tid) || has_ended(tid) || read_tracer(tid) != 0) continue;
    const auto seized = Tracer::seize(tid, false);
    if (!seized && seized.error().code == EINTR) continue;
    if (!seized) inferior.slots_may_be_in_use = true;
    report(inferior.id, tid,
           seized ? "a thread that was made with CLONE_UNTRACED: recorded from here on"
                  : "a thread that was made with CLONE_UNTRACED: " + seized.error().text());
    if (seized) roster_.add_thread(inferior, tid, kUnknownDevice).trap.is_doubtful = true;
  }
}

void UntracedChildren::look_at_thread(Inferior& parent, Tid tid) {
  if (!follows_) return;
  for (const Pid child : children_of(parent.pid, tid))
    if (!known_.contains(child) && !unclaimed_.contains(leader_of(child)) && !is_init(parent.pid))
      meet(parent, tid, child);
}

// The child becomes a tracee later: a stop waits to be handled now, and other stops may have to be handled before it.
void UntracedChildren::meet(Inferior& parent, Tid maker, Pid child) {
  know(child);
  const Tid leader = leader_of(child);
  if (has_ended(leader)) return report(parent.id, child, kEndedUnseen);
  if (const Tid tracer = read_tracer(leader); tracer != 0) {
    if (tracer != leader_of(own_pid()))
      report(parent.id, child, fmt::format("made with CLONE_UNTRACED, and traced by process {}: not recorded", tracer));
    return;
  }
  const Whose memory = memory_of(child, maker);
  if (memory == Whose::Unknown) parent.slots_may_be_in_use = true;  // it may go through our code there
  if (memory == Whose::Unknown)
    return report(parent.id, child,
                  "made with CLONE_UNTRACED: not recorded, because it cannot be told whose memory it has");
  found_.push_back(UntracedChild::of(parent, child, memory == Whose::Shared));
}

std::vector<UntracedChild> UntracedChildren::guests_of(Pid host) const {
  std::vector<UntracedChild> out;
  const Inferior* const inferior = roster_.process(host);
  if (!inferior) return out;
  for (const auto& [tid, thread] : inferior->threads)
    for (const Pid child : children_of(host, tid))
      if (!roster_.process(child) && !has_ended(leader_of(child)) && read_tracer(leader_of(child)) == 0 &&
          shares_memory(child, tid))
        out.push_back(UntracedChild::of(*inferior, child, true));
  return out;
}

void UntracedChildren::child_ended(const Thread& parent) {
  const auto info = Tracee(parent.tid).siginfo();
  if (!info || (info->si_code != CLD_EXITED && info->si_code != CLD_KILLED && info->si_code != CLD_DUMPED)) return;
  const Pid pid = parent.inferior->pid, child = Pid::of(info->si_pid);  // in the parent's PID namespace
  if (known_.contains(child) || read_own_pid(pid) != pid.value() || is_init(pid)) return;
  known_.insert(child);
  if (follows_) report(parent.inferior->id, child, kEndedUnseen);
}

}  // namespace fade
