// How a session follows the children and threads that its tracees make.
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>

#include "base/log.hpp"
#include "proc/processes.hpp"
#include "session/session.hpp"

namespace fade {
namespace {

// The flags of the clone, clone3, fork or vfork that `registers` stand in (at its ptrace event).
std::uint64_t clone_flags(const Registers& registers, const Memory& memory) {
  switch (registers.orig_rax) {
    case SYS_clone: return registers.rdi;
    case SYS_clone3: return memory.value<std::uint64_t>({registers.rdi}).value_or(0);
    case SYS_vfork: return CLONE_VM | CLONE_VFORK;
    default: return 0;
  }
}

}  // namespace

void Session::on_child(const Stop& stop) {
  learn_of_child(stop);
  Tracee(stop.tid).resume();
}

void Session::learn_of_child(const Stop& stop) {
  Thread* parent = roster_.thread(stop.tid);
  const auto child = static_cast<pid_t>(stop.message);
  const auto registers = Tracee(stop.tid).registers();
  if (parent && child > 0 && registers && !roster_.thread(child) && !unclaimed_.was_given_up(child)) {
    Inferior& inferior = *parent->inferior;
    const std::uint64_t flags = clone_flags(*registers, inferior.memory());
    const bool is_thread = registers->is_64_bit() ? (flags & CLONE_THREAD) != 0 : read_thread_group(child) != child;
    if (is_thread) {
      roster_.add_thread(inferior, child, first_device()).trap = parent->trap.for_child(inferior.watched);
    } else {
      const bool shares = (flags & CLONE_VM) != 0;
      note(*parent, shares ? "vfork" : "fork", child);
      auto program = shares ? inferior.program : inferior.program->fork_copy(child);
      Inferior& made = add_process(child, inferior.id, std::move(program));
      made.inherited() = inferior.for_child(flags, TrapGuard::action(inferior));
      made.is_fresh_copy = !shares;
      made.is_early = !shares && !inferior.watched && (inferior.is_root || inferior.is_early) && options_.follow;
      roster_.add_thread(made, child, parent->device).trap = parent->trap.for_child(inferior.watched);
    }
    if (unclaimed_.claim(child)) start_child(child);
  }
}

// A tracee in its first stop, or one that ends a group-stop.
void Session::start_child(pid_t tid) {
  Inferior& inferior = *roster_.thread(tid)->inferior;
  const bool shares = inferior.program.use_count() > 1;  // its text is its parent's: wait for its exec
  if (!options_.follow && !inferior.is_root && !shares) return leave_alone(inferior, tid);
  if (std::exchange(inferior.is_fresh_copy, false)) mend_copy(inferior, *roster_.thread(tid));
  Tracee(tid).resume();
}

// --no-follow: the child's copy of our breakpoints goes before it runs on.
void Session::leave_alone(Inferior& inferior, pid_t tid) {
  note(*roster_.thread(tid), "unwatched", 0, "children are not followed");
  engines_.leave(inferior, tid);
  guard_.let_go(*roster_.thread(tid));
  Tracee(tid).detach();
  while (!inferior.threads.empty()) end_thread(*inferior.threads.begin()->second, false);
  roster_.remove(inferior);
}

// The memory of a forked child may be from before there was anything of ours in its parent's, and its signal actions
// are from before its memory.
void Session::mend_copy(Inferior& inferior, Thread& thread) {
  AddressSpace& copy = inferior.space();
  copy.forget_missing_net();
  if (const auto of_maker = std::exchange(inferior.guest_action, {}))
    copy.set_program_trap_action(*of_maker, thread.tid);
  const bool may_be_old = copy.has_net() && (copy.has_program_trap_action() || !catches_signal(inferior.pid, SIGTRAP));
  if (engines_.is_on() && !inferior.breakpoints_removed && may_be_old) TrapGuard::retake(thread);
  copy.mend_copy(thread.tid);
  if (copy.has_net() || !inferior.watched || !engines_.is_on()) return;
  inferior.program = std::make_shared<Program>(tracer_, inferior.pid);
  inferior.watched = false;
  const auto foothold = foothold_of(inferior.pid, inferior.memory());
  auto entered =
      foothold ? modules_.lay_net(inferior, thread, *foothold) : Result<void>(tl::unexpected(foothold.error()));
  if (entered) entered = modules_.enter(inferior, thread, *foothold);
  if (!entered) return note(thread, "unwatched", 0, entered.error().text());
  inferior.watched = true;
  TrapGuard::unblock(thread);
  thread.trap.is_doubtful = true;
  modules_.arm_loaded(inferior, thread.tid);
}

// Children that were forked while we were coming to their parent.
void Session::watch_early_children() {
  std::vector<pid_t> early;
  for (const auto& [pid, inferior] : roster_.processes())
    if (std::exchange(inferior->is_early, false) && !inferior->watched) early.push_back(pid);
  for (const pid_t pid : early)
    if (const auto watched = watch(pid); !watched) log::debug("{}", watched.error().text());
}

}  // namespace fade
