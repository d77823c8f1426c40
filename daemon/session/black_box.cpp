#include "session/black_box.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "proc/processes.hpp"
#include "session/system_calls.hpp"

namespace fade {
namespace {

constexpr std::size_t kMostCalls = 32;      // of one thread, innermost
constexpr std::size_t kMostThreads = 4096;  // of one death, besides those with a call running
constexpr std::size_t kMostSentences = 3;
constexpr std::uint64_t kBelowStack = 64 << 10, kAboveStack = 8 << 10;  // a fault there is one of the stack itself
// Others are how programs are told to end.
constexpr int kCrashes[] = {SIGILL, SIGTRAP, SIGABRT, SIGBUS,  SIGFPE, SIGSEGV,
                            SIGSYS, SIGKILL, SIGQUIT, SIGXCPU, SIGXFSZ};
constexpr int kFaults[] = {SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV};  // siginfo has an address

bool is_among(int signal, std::span<const int> set) { return std::ranges::find(set, signal) != set.end(); }

std::string name_of_signal(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name ? fmt::format("SIG{}", name) : fmt::format("signal {}", signal);
}

// Numbers of another namespace say nothing here.
bool shares_pid_namespace(Tid tid, const ProcFiles& proc) {
  const std::string its = proc.link(tid, "ns/pid");
  return !its.empty() && its == proc.link("self/ns/pid");
}

bool has_sender(int code) { return code == SI_USER || code == SI_TKILL || code == SI_QUEUE; }

bool is_fault(const SignalSeen& seen) { return seen.code > 0 && is_among(seen.number, kFaults); }

// Some handlers raise their signal once more, so that the program dies of it (such as Python's faulthandler). The first
// delivery counts.
void again(SignalSeen& seen, const SignalSeen& before) {
  const std::int64_t now = seen.at;
  seen = before;
  seen.at = now;
}

bool uses_gpu_stack(const Inferior& inferior) {
  return std::ranges::any_of(inferior.program->modules, [](const Module& module) { return module.watched; });
}

// True for all deaths of processes that the user asked for, and for helpers (shells, compilers) that use the GPU.
bool is_of_interest(const Inferior& inferior) { return inferior.is_root || uses_gpu_stack(inferior); }

std::string program_name(const Inferior& inferior) {
  const std::string name = read_thread_name(leader_of(inferior.pid), inferior.proc());
  return name.empty() ? fmt::format("process {}", inferior.pid) : fmt::format("{} (pid {})", name, inferior.pid);
}

}  // namespace

bool has_open_call(const Thread& thread) { return thread.calls.innermost() != 0; }

std::vector<const OpenCall*> running_calls(const Thread& thread, const Registers* registers) {
  const Memory& memory = thread.memory();
  std::vector<const OpenCall*> out;
  for (const OpenCall& call : thread.calls.all()) {
    const bool is_below = registers && registers->sp() >= call.sp && thread.stack.contains(registers->sp()) &&
                          thread.stack.contains(call.sp);
    const auto word = memory.value<std::uint64_t>(call.sp);  // none where the memory is gone
    if (call.record.id != 0 && !is_below && (!word || *word == call.return_address.value)) out.push_back(&call);
  }
  return out;
}

// ---------------------------------------------------------------- threads

ThreadSeen BlackBox::look(Thread& thread, const Registers* registers) const {
  ThreadSeen out{.thread = thread.id, .at = clock_.now(), .earlier = thread.earlier_calls};
  const ProcFiles& proc = thread.inferior->proc();
  out.doing = registers ? what_it_does(thread.tid, *registers, proc) : what_it_does_unstopped(thread.tid, proc);
  if (registers) {
    const AddressSpace& space = thread.space();
    const RemoteAddr ip = registers->ip();
    out.address = space.has_net() && space.our_code().contains(ip) ? space.our_code().own_address(ip).value_or(ip).value
                                                                   : ip.value;
    Registers shown = *registers;
    shown.rip = out.address;
    if (take_stack_ && shown.is_64_bit()) out.stack = take_stack_(thread, shown);
  }
  const auto calls = running_calls(thread, registers);
  for (const OpenCall* call : std::span(calls).last(std::min(calls.size(), kMostCalls)))
    out.calls.push_back({call->record, call->payload});
  return out;
}

void BlackBox::tell(PostmortemId postmortem, ThreadSeen seen, const Program& program, TaskId task) {
  seen.postmortem = postmortem;
  const RemoteAddr at{seen.address};
  if (const Module* module = at ? program.module_at(at) : nullptr) {
    seen.module = module->id;
    seen.offset = at.value - module->entry.l_addr;
    if (const auto* file = symbols_.of(program, task, at))
      if (const auto symbol = file->symbols().at(seen.offset))
        seen.symbol = fmt::format("{}+{:#x}", symbol->name, symbol->offset);
  }
  sink_.notice(std::move(seen));
}

PostmortemId BlackBox::begin(const Inferior& inferior, Postmortem::Kind kind, std::int64_t quiet_ns) {
  send(inferior, {.postmortem = ++last_, .kind = kind, .quiet_ns = quiet_ns});
  if (kind == Postmortem::Kind::Hang && sentences_.size() < kMostSentences)
    sentences_.push_back(fmt::format("{} appears to hang{}", program_name(inferior), running_call(inferior, 0)));
  return last_;
}

void BlackBox::send(const Inferior& inferior, Postmortem postmortem) {
  postmortem.process = inferior.id;
  postmortem.at = clock_.now();
  sink_.notice(std::move(postmortem));
}

// " in hipMemcpy" of that thread; of any other where it is in none.
std::string BlackBox::running_call(const Inferior& inferior, ThreadId thread) const {
  std::string out;
  for (const auto& [tid, other] : inferior.threads) {
    const auto& calls = other->calls.all();
    const auto call = std::find_if(calls.rbegin(), calls.rend(), [](const OpenCall& c) { return c.record.id != 0; });
    if (call == calls.rend() || (!out.empty() && other->id != thread)) continue;
    out = fmt::format(" {} {}", thread == 0 || other->id == thread ? "in" : "while another thread was in",
                      functions_[call->entry].probe->symbol);
  }
  return out;
}

// ---------------------------------------------------------------- how processes end

// A recursion without end, or an array that does not fit.
bool BlackBox::is_of_the_stack(const siginfo_t& info, Tid tid) const {
  if (info.si_signo != SIGSEGV || (info.si_code != SEGV_MAPERR && info.si_code != SEGV_ACCERR)) return false;
  const auto registers = threads_.registers(tid);
  const auto address = reinterpret_cast<std::uint64_t>(info.si_addr);
  return registers && address + kBelowStack >= registers->rsp && address < registers->rsp + kAboveStack;
}

void BlackBox::signalled(Thread& thread, int signal) const {
  const SignalSeen before = std::exchange(thread.signal, {.number = signal, .at = clock_.now()});
  const auto info = threads_.siginfo(thread.tid);
  if (!info) return;
  SignalSeen& seen = thread.signal;
  seen.code = info->si_code;
  seen.has_code = true;
  if (is_fault(seen) && seen.code != SI_KERNEL) seen.address = reinterpret_cast<std::uint64_t>(info->si_addr);
  seen.is_of_the_stack = is_of_the_stack(*info, thread.tid);
  if (!has_sender(seen.code)) return;
  seen.sender = info->si_pid;
  seen.sender_uid = info->si_uid;
  const ProcFiles& proc = thread.inferior->proc();
  if (before.number == signal && is_fault(before) && seen.sender == read_own_pid(thread.inferior->pid, proc))
    return again(seen, before);
  if (seen.sender > 0 && seen.sender != thread.inferior->pid.value() && shares_pid_namespace(thread.tid, proc))
    seen.sender_name = read_thread_name(Tid::of(seen.sender), proc);
}

Postmortem BlackBox::by_signal(const Inferior& inferior, int signal) const {
  Postmortem out{.kind = Postmortem::Kind::Signal, .signal = signal};
  const SignalSeen* last = nullptr;
  for (const auto& [tid, thread] : inferior.threads) {
    if (thread->signal.number != signal || (last && last->at > thread->signal.at)) continue;
    last = &thread->signal;
    out.thread = thread->id;
  }
  if (last) {
    out.code = last->code;
    out.has_code = last->has_code;
    out.address = last->address;
    out.sender = last->sender;
    out.sender_uid = last->sender_uid;
    out.sender_name = last->sender_name;
    if (last->is_of_the_stack) out.cause = "stack", out.evidence = "the address is at the end of the thread's stack";
    if (last->sender != 0 && last->sender == read_own_pid(inferior.pid, inferior.proc())) out.cause = "self";
  } else if (signal == SIGKILL) {
    if (const auto oom = oom_.killed(inferior.pid))
      out.cause = oom->is_certain ? "oom" : "oom?", out.evidence = oom->evidence;
  }
  return out;
}

void BlackBox::tell_death(const Inferior& inferior, Death& death, int signal) {
  Postmortem what = by_signal(inferior, signal);
  what.postmortem = death.reported = ++last_;
  if (is_among(signal, kCrashes) && sentences_.size() < kMostSentences)
    sentences_.push_back(fmt::format("{} died of {}{}", program_name(inferior), name_of_signal(signal),
                                     running_call(inferior, what.thread)));
  send(inferior, std::move(what));
}

void BlackBox::dying(Thread& thread, int status) {
  Inferior& inferior = *thread.inferior;
  const auto registers = threads_.registers(thread.tid);
  const bool alone = registers && static_cast<long>(registers->orig_rax) == SYS_exit && WIFEXITED(status);
  if (alone || !registers) return;
  thread.ends_with_others = true;
  if (!is_of_interest(inferior)) return;
  Death& death = deaths_[inferior.id];
  if (WIFSIGNALED(status)) {
    if (death.reported == 0) tell_death(inferior, death, WTERMSIG(status));
    if (WTERMSIG(status) == SIGKILL && kills_itself(inferior.pid, *registers))
      send(inferior, {.postmortem = death.reported,
                      .thread = thread.id,
                      .signal = SIGKILL,
                      .cause = "self",
                      .evidence = "a thread of it stood in kill(2)"});
    if (death.seen.size() >= kMostThreads && !has_open_call(thread)) return;
    if (death.seen.insert(thread.id).second)
      tell(death.reported, look(thread, &*registers), *inferior.program, thread.tid);
  } else if (has_open_call(thread) || static_cast<long>(registers->orig_rax) == SYS_exit_group) {
    if (death.seen.insert(thread.id).second) death.waiting.push_back(look(thread, &*registers));
    if (death.name.empty()) death.name = program_name(inferior);
  }
}

// A launcher that starts programs in a control group of their own moves the process first.
void BlackBox::executed(const Inferior& inferior) {
  deaths_.erase(inferior.id);
  oom_.knows(inferior.pid);
}

// It ended by itself, with calls still running.
void BlackBox::tell_exit(const Inferior& inferior, const Death& death, int status) {
  ThreadId last = 0;
  for (const ThreadSeen& seen : death.waiting)
    if (seen.doing == "exit_group") last = seen.thread;
  if (sentences_.size() < kMostSentences)
    sentences_.push_back(fmt::format("{} exited with status {} while calls were running",
                                     death.name.empty() ? program_name(inferior) : death.name, status));
  send(inferior, {.postmortem = ++last_, .thread = last, .kind = Postmortem::Kind::Exit, .exit_code = status});
}

void BlackBox::ended(Inferior& inferior, const Stop& stop) {
  auto node = deaths_.extract(inferior.id);
  Death death = node ? std::move(node.mapped()) : Death{};
  const bool killed = stop.kind == Stop::Kind::Killed;
  std::vector<Thread*> unseen;  // ended without a stop, or never stopped
  for (const auto& [tid, thread] : inferior.threads)
    if (!death.seen.contains(thread->id) && (killed || has_open_call(*thread))) unseen.push_back(thread.get());
  const bool had_calls =
      !unseen.empty() || std::ranges::any_of(death.waiting, [](const ThreadSeen& seen) { return !seen.calls.empty(); });
  if (killed ? !is_of_interest(inferior) : !had_calls) return;
  if (killed && death.reported == 0) tell_death(inferior, death, stop.status);
  if (!killed) tell_exit(inferior, death, stop.status);
  const PostmortemId number = killed ? death.reported : last_;
  for (ThreadSeen& seen : death.waiting) tell(number, std::move(seen), *inferior.program, inferior.pid);
  for (Thread* thread : unseen) tell(number, look(*thread, nullptr), *inferior.program, thread->tid);
}

}  // namespace fade
