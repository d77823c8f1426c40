// How the threads of running processes become tracees. PTRACE_SEIZE waits for a lock that an exec holds until all other
// threads of its process have ended (cred_guard_mutex; de_thread() in fs/exec.c). Those that are tracees end only when
// their last stop is handled. So stops are handled between two attempts.
//
// A thread that is no tracee yet may execute a program, too. The tracees of its process are then gone without a word,
// the new program has none, and the memory that was opened is of the old one.
#include <fmt/format.h>
#include <unistd.h>

#include <thread>

#include "proc/living_thread.hpp"
#include "proc/processes.hpp"
#include "session/session.hpp"

namespace fade {
namespace {

constexpr int kAtItsEnd = 100;  // attempts at a thread that may be about to end
constexpr std::chrono::milliseconds kBetweenAttempts{1};

bool is_ours(pid_t tid) { return read_tracer(tid) == ::getpid(); }

}  // namespace

// A thread at the beginning of its end is refused as if it were forbidden, and looks alive for a moment. The same holds
// for a thread that its tracer is just detaching.
Result<void> Session::seize_thread(pid_t tid) {
  for (int refusals = 0;;) {
    auto seized = Tracer::seize(tid, false);
    if (seized) return seized;
    const int code = seized.error().code;
    if (rendezvous_.gives_up()) return tl::unexpected(Rendezvous::asked_to_leave());
    if (code == EINTR) {
      rendezvous_.serve_stops();
      continue;
    }
    if (code != EPERM || ++refusals > kAtItsEnd || read_tracer(tid) != 0) return seized;
    if (has_ended(tid)) return tl::unexpected(process_gone(tid));
    std::this_thread::sleep_for(kBetweenAttempts);
  }
}

Result<void> Session::seize(pid_t pid) {
  if (rendezvous_.gives_up()) return tl::unexpected(Rendezvous::asked_to_leave());
  if (auto seized = seize_thread(pid); !seized && !has_ended(pid)) return tl::unexpected(std::move(seized.error()));
  Inferior* const host = host_of(pid);
  Inferior& inferior =
      add_process(pid, host ? host->id : 0, host ? host->program : std::make_shared<Program>(tracer_, pid));
  inferior.watched = host && host->watched;
  inferior.is_guest = host != nullptr;
  inferior.is_root = true;
  black_box_.began(inferior);
  if (main_ == 0) main_ = pid;
  started_ = true;
  auto seized = seize_threads(pid);
  if (const Inferior* const there = roster_.process(pid)) untraced_.know_children(*there);
  return seized;
}

// Until a look finds nothing but tracees: threads that a tracee makes are tracees by themselves.
Result<void> Session::seize_threads(pid_t pid) {
  Result<bool> found_more = true;
  while (found_more && *found_more) found_more = seize_some(pid);
  Inferior* const inferior = roster_.process(pid);
  if (inferior && inferior->threads.empty()) {  // it ended before it was ours: its end is not reported
    sink_.notice(ProcessEnded{inferior->id, clock_.now(), -1, 0});
    roster_.remove(*inferior);
  }
  if (!found_more) return tl::unexpected(std::move(found_more.error()));
  return roster_.process(pid) ? Result<void>() : tl::unexpected(process_gone(pid));
}

// True: there were threads that were no tracees yet.
Result<bool> Session::seize_some(pid_t pid) {
  bool found = false;
  for (const pid_t tid : read_thread_ids(pid)) {
    if (has_ended(tid)) continue;  // a leader that exited before its threads, for example
    const bool is_new = !is_ours(tid);
    if (is_new) {
      found = true;
      const auto seized = seize_thread(tid);
      if (!seized && seized.error().code == ESRCH) continue;
      if (!seized && !is_ours(tid)) return tl::unexpected(seized.error());
    }
    Inferior* const inferior = roster_.process(pid);  // stops were handled: it may have ended
    if (!inferior) return tl::unexpected(process_gone(pid));
    if (is_new && tid == pid && inferior->memory().is_gone()) begin_anew(*inferior, 0);
    claim(*inferior, tid);
  }
  return found;
}

// A thread that its maker has not told of yet may stand in its first stop already.
void Session::claim(Inferior& inferior, pid_t tid) {
  if (!roster_.thread(tid)) roster_.add_thread(inferior, tid, kUnknownDevice).trap.is_doubtful = true;
  if (unclaimed_.claim(tid)) start_child(tid);
}

Result<void> Session::watch(pid_t pid) {
  const auto cannot = [&](Error why) {
    if (rendezvous_.has_given_up()) return tl::unexpected(Rendezvous::asked_to_leave());
    if (why.code == ESRCH) return tl::unexpected(std::move(why));
    return tl::unexpected(with_context(fmt::format("process {} cannot be watched", pid), std::move(why)));
  };
  Inferior* const inferior = roster_.process(pid);
  if (!inferior || inferior->threads.empty()) return tl::unexpected(process_gone(pid));
  if (inferior->watched) return {};  // it has executed a program since it was seized
  if (Inferior* const host = inferior->is_guest ? nullptr : host_of(pid)) {  // which was seized after it
    inferior->program = host->program;
    inferior->is_guest = true;
  }
  if (inferior->is_guest) return {};  // it runs its parent's program until it executes one
  if (const pid_t parent = read_parent(pid); shares_memory(pid, living_thread(parent)))
    return cannot(Error{
        fmt::format("it runs in the memory of its parent, process {}, until it executes a program (vfork)", parent),
        {},
        "attach to its parent, or try again later",
        EAGAIN});
  if (auto watched = arrival_.watch(*inferior); !watched) return cannot(std::move(watched.error()));
  watch_early_children();
  return {};
}

}  // namespace fade
