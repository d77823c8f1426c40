#include "session/children.hpp"

#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>

#include "proc/processes.hpp"
#include "ptrace/tracee.hpp"
#include "session/foothold.hpp"

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

void Children::learn(const Stop& stop) {
  const Thread* const parent = p_.roster.thread(stop.tid);
  const Tid child = stop.child();
  const auto registers = Tracee(stop.tid).registers();
  if (!parent || child <= 0 || !registers || p_.roster.thread(child)) return;
  if (p_.population.unclaimed().was_given_up(child)) return;
  Inferior& inferior = *parent->inferior;
  const std::uint64_t flags = clone_flags(*registers, inferior.memory());
  const bool is_thread =
      registers->is_64_bit() ? (flags & CLONE_THREAD) != 0 : leader_of(read_thread_group(child)) != child;
  if (is_thread) p_.population.add_thread(inferior, child).trap = parent->trap.for_child(inferior.watched);
  else add_process(*parent, process_of_leader(child), flags);
  if (p_.population.unclaimed().claim(child)) start(child);
}

void Children::add_process(const Thread& parent, Pid child, std::uint64_t flags) {
  const Inferior& inferior = *parent.inferior;
  const bool shares = (flags & CLONE_VM) != 0;
  p_.roster.note(parent, shares ? "vfork" : "fork", child.value());
  Inferior& made =
      p_.population.add(child, inferior.id, shares ? inferior.program : inferior.program->fork_copy(child));
  made.inherited() = inferior.for_child(flags, TrapGuard::action(inferior));
  made.is_fresh_copy = !shares;
  made.is_early = !shares && !inferior.watched && (inferior.is_root || inferior.is_early) && p_.follows;
  p_.roster.add_thread(made, leader_of(child), parent.device).trap = parent.trap.for_child(inferior.watched);
}

void Children::wait_for_maker(Tid tid) {
  p_.population.unclaimed().stopped(tid);
  p_.tracer.reap_stop(tid);  // or it would be reported again and again
}

void Children::claim(Inferior& inferior, Tid tid) {
  if (!p_.roster.thread(tid)) p_.roster.add_thread(inferior, tid, kUnknownDevice).trap.is_doubtful = true;
  if (p_.population.unclaimed().claim(tid)) start(tid);
}

void Children::start(Tid tid) {
  Inferior& inferior = *p_.roster.thread(tid)->inferior;
  const bool shares = inferior.program.use_count() > 1;  // its text is its parent's: wait for its exec
  if (!p_.follows && !inferior.is_root && !shares) return leave_alone(inferior, tid);
  if (std::exchange(inferior.is_fresh_copy, false)) mend_copy(inferior, *p_.roster.thread(tid));
  Tracee(tid).resume();
}

// The child's copies of fade's breakpoints and values go before it runs on.
void Children::leave_alone(Inferior& inferior, Tid tid) {
  Thread& thread = *p_.roster.thread(tid);
  p_.roster.note(thread, "unwatched", 0, "children are not followed");
  p_.calls.engines().leave(inferior, tid);
  p_.cached.put_back(inferior, tid);
  p_.calls.guard().let_go(thread);
  Tracee(tid).detach();
  p_.population.let_run(inferior);
}

// The memory of a forked child may be from before there was anything of fade in its parent's, and its signal actions
// are from before its memory.
void Children::mend_copy(Inferior& inferior, Thread& thread) {
  AddressSpace& copy = inferior.space();
  copy.forget_missing_net();
  if (const auto of_maker = std::exchange(inferior.guest_action, {}))
    copy.trap_signal().set_program_action(*of_maker, thread.tid);
  const bool may_be_old =
      copy.has_net() && (copy.trap_signal().has_program_action() || !catches_signal(inferior.pid, SIGTRAP));
  if (p_.calls.is_on() && !inferior.breakpoints_removed && may_be_old) TrapGuard::retake(thread);
  copy.mend_copy(thread.tid);
  if (p_.calls.is_on()) p_.calls.copied(inferior, thread.tid);
  if (!copy.has_net() && inferior.watched && p_.calls.is_on()) prepare_anew(inferior, thread);
}

// The copy is from before the net: the child is watched as a program of its own.
void Children::prepare_anew(Inferior& inferior, Thread& thread) {
  inferior.program = std::make_shared<Program>(p_.tracer, inferior.pid);
  inferior.watched = false;
  ModuleWatch& modules = p_.calls.modules();
  const auto foothold = foothold_of(inferior.pid, inferior.memory());
  auto entered =
      foothold ? modules.lay_net(inferior, thread, *foothold) : Result<void>(tl::unexpected(foothold.error()));
  if (entered) entered = modules.enter(inferior, thread, *foothold);
  if (!entered) return p_.roster.note(thread, "unwatched", 0, entered.error().text());
  inferior.watched = true;
  p_.calls.guard().unblock(thread);
  thread.trap.is_doubtful = true;
  modules.arm_loaded(inferior, thread.tid);
}

}  // namespace fade
