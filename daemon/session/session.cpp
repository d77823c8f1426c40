#include "session/session.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "base/fd.hpp"
#include "base/log.hpp"
#include "proc/processes.hpp"
#include "session/return_rest.hpp"

namespace fade {
namespace {

// Signals worth a row in the life of a process.
constexpr int kReported[] = {SIGHUP, SIGINT,  SIGQUIT, SIGILL,  SIGABRT, SIGBUS,
                             SIGFPE, SIGSEGV, SIGPIPE, SIGTERM, SIGSYS};

constexpr std::int64_t kCpuPeriod = 1'000'000'000, kCpuRowsPerLife = 64;

bool is_one_of(int signal, std::span<const int> set) { return std::ranges::find(set, signal) != set.end(); }

// A breakpoint accounts for itself.
bool has_account(Stop::Kind kind) {
  using Kind = Stop::Kind;
  return kind == Kind::Exec || kind == Kind::Exit || kind == Kind::Fork || kind == Kind::Vfork || kind == Kind::Clone;
}

}  // namespace

Session::Session(const Tracer& tracer, EventSink& sink, SessionClock clock, const probes::Overrides& overrides,
                 SessionOptions options)
    : tracer_(tracer),
      sink_(sink),
      clock_(clock),
      options_(std::move(options)),
      watches_devices_(std::ranges::any_of(options_.wishes.probes,
                                           [](const auto& probe) { return probe->kind == probes::Kind::SetDevice; })),
      turns_(tracer),
      roster_(sink, clock, turns_),
      tally_(sink),
      functions_(sink, overrides),
      engines_(functions_),
      modules_(sink, clock_, functions_, engines_, options_.wishes),
      stacks_(sink, clock_, options_.stacks),
      books_(sink, clock_, options_.most_call_sites),
      effects_(sink, clock_, modules_),
      breakpoints_({sink, clock_, functions_, overrides, stacks_, books_, effects_}),
      sites_(sink, clock_, functions_),
      black_box_(sink, clock_, functions_),
      rendezvous_(tracer, turns_, roster_, clock_, [this](const Stop& stop) { handle(stop); }),
      hangs_(options_.hang_ns),
      unclaimed_(sink, clock_, roster_),
      untraced_(sink, clock_, roster_, unclaimed_, options_.follow),
      arrival_(
          {sink, clock_, roster_, rendezvous_, modules_, functions_, stacks_, [this](pid_t pid) { meet_guests(pid); }}),
      departure_({tracer, clock_, turns_, roster_, rendezvous_, unclaimed_, guard_,
                  [this](const Stop& stop) { handle(stop); }, [this](const Stop& stop) { learn_of_child(stop); }}),
      traps_(tracer, sink, clock_, roster_, rendezvous_, guard_, engines_) {
  engines_.add(breakpoints_);
  if (options_.stacks.is_on())
    black_box_.take_stacks_with(
        [this](Thread& thread, const Registers& registers) { return stacks_.now(thread, registers); });
}

// ---------------------------------------------------------------- processes and threads

Inferior& Session::add_process(pid_t pid, ProcessId parent, std::shared_ptr<Program> program) {
  untraced_.know(pid);
  return roster_.add(pid, parent, std::move(program));
}

// HIP's device of a thread that has not called hipSetDevice is the first. Without a breakpoint there fade cannot know
// when that ends.
int Session::first_device() const { return watches_devices_ ? 0 : kUnknownDevice; }

void Session::adopt(pid_t pid) {
  if (main_ == 0) main_ = pid;
  Inferior& inferior = add_process(pid, 0, std::make_shared<Program>(tracer_, pid));
  inferior.is_root = true;
  roster_.add_thread(inferior, pid, first_device());
  black_box_.began(inferior);
}

void Session::end_thread(Thread& thread, bool process_ended) {
  engines_.thread_ended(thread, process_ended);
  tally_.report(thread);
  roster_.remove(thread);
}

void Session::end_process(Inferior& inferior, const Stop& stop) {
  const bool killed = stop.kind == Stop::Kind::Killed;
  black_box_.ended(inferior, stop);
  while (!inferior.threads.empty()) end_thread(*inferior.threads.begin()->second, true);
  const std::int64_t now = clock_.now();  // one time for the recording and for the totals
  sink_.notice(ProcessEnded{inferior.id, now, killed ? -1 : stop.status, killed ? stop.status : 0});
  totals_.life_ns = now - roster_.first_began();
  if (inferior.pid == main_) {
    totals_.main_life_ns = now - inferior.began;
    main_ended_ = true;
    (killed ? main_signal_ : main_status_) = stop.status;
  }
  roster_.remove(inferior);
}

void Session::note(const Thread& thread, std::string kind, std::int64_t value, std::string detail) {
  sink_.notice(Lifecycle{clock_.now(), thread.inferior->id, thread.id, std::move(kind), value, std::move(detail)});
}

// ---------------------------------------------------------------- stops

Stop Session::next() {
  if (untraced_.has_found()) watch_untraced();
  return empty() ? Stop{.kind = Stop::Kind::Gone} : turns_.next();
}

std::int64_t Session::handle(const Stop& stop) {
  using Kind = Stop::Kind;
  last_time_ = clock_.now();
  const std::int64_t began = last_time_;
  switch (stop.kind) {
    case Kind::None:
    case Kind::Gone: return began;
    case Kind::Signal: on_signal(stop); break;
    case Kind::Group: on_group(stop); break;
    case Kind::Trap: on_trap_stop(stop); break;
    case Kind::Fork:
    case Kind::Vfork:
    case Kind::Clone: on_child(stop); break;
    case Kind::Exec: on_exec(stop); break;
    case Kind::VforkDone:
    case Kind::Syscall: on_syscall(stop); break;
    case Kind::Exit: on_exit(stop); break;
    case Kind::Exited:
    case Kind::Killed: on_end(stop); return last_time_;
  }
  if (has_account(stop.kind)) account(0, began);
  return last_time_;
}

void Session::on_signal(const Stop& stop) {
  const std::int64_t now = last_time_;  // before others are handled meanwhile
  Thread* thread = roster_.thread(stop.tid);
  if (!thread || stop.signal != SIGTRAP) return deliver(stop);
  if (on_breakpoint(*thread, now)) return;
  if (!traps_.holds_back(*thread)) deliver(stop);
}

void Session::deliver(const Stop& stop) {
  if (Thread* thread = roster_.thread(stop.tid)) {
    if (is_one_of(stop.signal, kReported)) note(*thread, "signal", stop.signal, ::strsignal(stop.signal));
    show_own_address(*thread);
    black_box_.signalled(*thread, stop.signal);
    if (stop.signal == SIGCHLD) untraced_.child_ended(*thread);
  }
  Tracee(stop.tid).resume(stop.signal);
}

// A signal that meets an instruction that was moved is shown to the program at the address it knows: a handler may look
// at it, and may return there when we are gone. If the instruction is tried again, that is not another call.
void Session::show_own_address(Thread& thread) {
  AddressSpace& space = thread.space();
  const auto registers = space.has_net() ? Tracee(thread.tid).registers() : std::nullopt;
  if (!registers || !space.our_code().contains(registers->ip())) return;
  const auto own = space.our_code().own_registers(*registers);
  thread.inferior->slots_may_be_in_use |= !own;
  const RemoteAddr address = space.our_code().hit_again(registers->ip());
  if (!own || !Tracee(thread.tid).change_registers(*registers, *own) || !address) return;
  const Site* const site = space.find(address);
  if (site && site->entry != 0) thread.shown.add(address, registers->sp());  // a return counts once anyway
}

bool Session::on_breakpoint(Thread& thread, std::int64_t now) {
  const Tracee tracee(thread.tid);
  const auto registers = tracee.registers();
  if (!registers) return true;  // killed meanwhile: its end will be reported
  const auto charged = engines_.on_trap(thread, *registers, now);
  if (!charged) return false;
  keep_promises(thread, functions_[*charged], *registers);
  modules_.imports().look_at_caller(*thread.inferior);
  TrapGuard::mend_action(thread);
  account(*charged, now);  // the request to resume belongs to the kernel's share of a stop (CostMeasured)
  tally_.hit(thread, last_time_ - now);
  tracee.resume();
  books_.book.flush(last_time_ - now);
  if (follower_.saw(thread.tid, now)) sink_.keeps_to(follower_.cpu());
  return true;
}

// The thread is at a function of the loader or of libc that fade answers, or follows, for the program.
void Session::keep_promises(Thread& thread, const Entry& entry, const Registers& registers) {
  switch (entry.what) {
    case Entry::What::Loader: return modules_.loader_stopped(*thread.inferior, thread);
    case Entry::What::Sigaction: return guard_.on_sigaction(thread, registers);
    case Entry::What::Sigmask: return guard_.on_sigmask(thread, registers);
    case Entry::What::Function:
    case Entry::What::Resolver: return;
  }
}

// A row a second at first; of long runs never more than some hundred.
void Session::sample_cpu() {
  const std::int64_t now = clock_.now();
  for (const auto& [pid, inferior] : roster_.processes()) {
    if (now < inferior->next_cpu) continue;
    inferior->next_cpu = now + std::max(kCpuPeriod, (now - inferior->began) / kCpuRowsPerLife);
    if (const auto cpu_ns = read_cpu_ns(pid)) sink_.notice(CpuUsed{inferior->id, now, *cpu_ns});
  }
}

// A stop of `entry` that began at `since` has been handled.
void Session::account(std::uint32_t entry, std::int64_t since) {
  last_time_ = clock_.now();
  tally_.stopped(functions_[entry], last_time_ - since);
}

void Session::on_group(const Stop& stop) {
  Thread* thread = roster_.thread(stop.tid);
  if (thread && !std::exchange(thread->interrupted, false)) note(*thread, "group-stop", stop.signal);
  if (thread) thread->is_in_group_stop = true;
  Tracee(stop.tid).listen();
}

void Session::on_trap_stop(const Stop& stop) {
  if (Thread* thread = roster_.thread(stop.tid)) {
    thread->is_in_group_stop = false;
    return std::exchange(thread->interrupted, false) ? Rendezvous::go_on(*thread) : start_child(stop.tid);
  }
  unclaimed_.stopped(stop.tid);
  tracer_.reap_stop(stop.tid);  // or it would be reported again and again
}

void Session::on_syscall(const Stop& stop) { Tracee(stop.tid).resume(); }

void Session::on_end(const Stop& stop) {
  unclaimed_.claim(stop.tid);
  if (Inferior* const inferior = roster_.process(stop.tid)) return end_process(*inferior, stop);
  if (Thread* thread = roster_.thread(stop.tid))
    end_thread(*thread, thread->ends_with_others || stop.kind == Stop::Kind::Killed);
}

void Session::on_exit(const Stop& stop) {
  if (Thread* thread = roster_.thread(stop.tid)) {
    black_box_.dying(*thread, static_cast<int>(stop.message));
    if (engines_.is_on()) untraced_.look_at_thread(*thread->inferior, stop.tid);
  }
  Tracee(stop.tid).resume();
}

std::vector<Session::Duty> Session::duties() {
  constexpr std::int64_t kOften = 100'000'000, kSeldom = 1'000'000'000;
  return {
      {kOften, [](Session& s) { s.engines_.drain(); }},
      {kOften, [](Session& s) { s.give_up_children(); }},
      {kOften,
       [](Session& s) {
         if (s.engines_.is_on()) s.sites_.look_after(s.roster_, s.rendezvous_, s.arrival_.hold_clock());
       }},
      {kOften, [](Session& s) { s.traps_.look(); }},
      {kOften, [](Session& s) { s.look_for_hangs(); }},
      {kSeldom, [](Session& s) { s.report_costs(); }},
      {kSeldom, [](Session& s) { s.sample_cpu(); }},
      {kSeldom, [](Session& s) { s.look_for_untraced(); }},
      {kSeldom, [](Session& s) { s.rest_returns(); }},
  };
}

void Session::tick(std::int64_t now) {
  for (Duty& duty : duties_)
    if (now - duty.last > duty.period) {
      duty.last = now;
      duty.look(*this);
    }
}

void Session::give_up_children() {
  for (const pid_t child : unclaimed_.give_up()) untraced_.know(child);
}

void Session::rest_returns() {
  if (engines_.is_on()) give_back_returns(roster_, options_.return_rest_ns);
}

void Session::report_costs(bool at_end) {
  black_box_.look_around();
  functions_.report_costs();
  for (const auto& [tid, thread] : roster_.threads()) tally_.report(*thread);
  stacks_.report(at_end);
  breakpoints_.returns().report_unseen(at_end);
  look_at_imports(false);
}

// No thread is stopped for this.
void Session::look_at_imports(bool all) {
  if (!engines_.is_on()) return;
  for (const auto& [pid, inferior] : roster_.processes())
    if (inferior->watched) modules_.imports().look(*inferior, all);
}

bool Session::main_stopped() const {
  const Inferior* const inferior = roster_.process(main_);
  return inferior && is_stopped_by_signal(*inferior);
}

void Session::set_recording(bool on) {
  engines_.set_recording(on);
  sink_.notice(Lifecycle{.at = clock_.now(), .kind = on ? "recording started" : "recording stopped"});
}

Session::Totals Session::totals() const {
  Totals out = totals_;
  static_cast<StopTotals&>(out) = tally_.totals();
  if (!roster_.processes().empty()) out.life_ns = clock_.now() - roster_.first_began();
  out.processes = roster_.processes_seen();
  out.threads = roster_.threads_seen();
  out.functions_armed = modules_.armed();
  out.vanished = sites_.vanished();
  out.libraries = modules_.libraries();
  out.postmortems = black_box_.sentences();
  for (auto& note : modules_.notes()) out.notes.push_back(std::move(note));
  for (auto& note : sites_.notes()) out.notes.push_back(std::move(note));
  const auto& left_alone = breakpoints_.corrector().left_alone();
  out.notes.insert(out.notes.end(), left_alone.begin(), left_alone.end());
  out.notes.insert(out.notes.end(), traps_.notes().begin(), traps_.notes().end());
  out.excluded.assign(breakpoints_.corrector().excluded().begin(), breakpoints_.corrector().excluded().end());
  if (untraced_.reported() > 0)
    out.notes.push_back(
        fmt::format("{} of the program's processes and threads came unseen (CLONE_UNTRACED): their calls are recorded "
                    "from when they were found, or not at all (fade-query lifecycle)",
                    untraced_.reported()));
  if (breakpoints_.returns().unseen() > 0)
    out.notes.push_back(fmt::format("the results of {} calls could not be seen (fade-query drops says why)",
                                    breakpoints_.returns().unseen()));
  return out;
}

}  // namespace fade
