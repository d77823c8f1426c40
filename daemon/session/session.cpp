#include "session/session.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <string.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "ptrace/tracee.hpp"

namespace fade {
namespace {

// Signals worth a row in the life of a process.
constexpr int kReported[] = {SIGHUP, SIGINT,  SIGQUIT, SIGILL,  SIGABRT, SIGBUS,
                             SIGFPE, SIGSEGV, SIGPIPE, SIGTERM, SIGSYS};

bool is_reported(int signal) { return std::ranges::find(kReported, signal) != std::end(kReported); }

// A breakpoint accounts for itself.
bool has_account(Stop::Kind kind) {
  using Kind = Stop::Kind;
  return kind == Kind::Exec || kind == Kind::Exit || kind == Kind::Fork || kind == Kind::Vfork || kind == Kind::Clone;
}

// HIP's device of a thread that has not called hipSetDevice is the first. Without a breakpoint there fade cannot know
// when that ends.
int first_device(const SessionOptions& options) {
  const bool is_followed = std::ranges::any_of(
      options.wishes.probes, [](const auto& probe) { return probe->kind == probes::Kind::SetDevice; });
  return is_followed ? 0 : kUnknownDevice;
}

void append(std::vector<std::string>& to, const auto& sentences) {
  to.insert(to.end(), sentences.begin(), sentences.end());
}

}  // namespace

Session::Session(const Tracer& tracer, EventSink& sink, SessionClock clock, const probes::Overrides& overrides,
                 SessionOptions options)
    : clock_(clock),
      options_(std::move(options)),
      turns_(tracer),
      roster_(sink, clock, turns_),
      rendezvous_(tracer, turns_, roster_, clock, [this](const Stop& stop) { handle(stop); }),
      cached_({sink, clock_, roster_, rendezvous_, overrides}, options_.cached),
      calls_(sink, clock_, roster_, overrides, options_),
      traps_(tracer, sink, clock, roster_, rendezvous_, calls_.guard(), calls_.engines()),
      lookouts_(sink, clock_, roster_, rendezvous_, calls_, options_),
      population_({sink, clock_, roster_, calls_.engines(), calls_.tally(), lookouts_.black_box(), options_.follow,
                   first_device(options_)}),
      children_({tracer, roster_, population_, calls_, cached_, options_.follow}),
      programs_({tracer, sink, clock_, options_, roster_, population_, calls_, lookouts_.black_box(), children_,
                 [this](const Stop& stop) { handle(stop); }}),
      seizing_({tracer, sink, clock_, roster_, rendezvous_, population_, calls_, children_, programs_}),
      departure_({tracer, clock, turns_, roster_, rendezvous_, population_.unclaimed(), calls_.guard(),
                  [this](const Stop& stop) { handle(stop); }, [this](const Stop& stop) { children_.learn(stop); }}) {}

// ---------------------------------------------------------------- stops

Stop Session::next() {
  if (population_.untraced().has_found()) seizing_.untraced().take_found();
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
    case Kind::Syscall: Tracee(stop.tid).resume(); break;
    case Kind::Exit: on_exit(stop); break;
    case Kind::Exited:
    case Kind::Killed: on_end(stop); return last_time_;
  }
  if (has_account(stop.kind)) last_time_ = calls_.account(0, began);
  return last_time_;
}

void Session::on_signal(const Stop& stop) {
  const std::int64_t now = last_time_;  // before others are handled meanwhile
  Thread* const thread = roster_.thread(stop.tid);
  if (!thread || stop.signal != SIGTRAP) return deliver(stop);
  if (const auto end = calls_.on_trap(*thread, now)) last_time_ = *end;
  else if (!traps_.holds_back(*thread)) deliver(stop);
}

void Session::deliver(const Stop& stop) {
  if (Thread* const thread = roster_.thread(stop.tid)) {
    const bool is_told = is_reported(stop.signal) || stop.signal == options_.trigger_signal;
    if (is_told) roster_.note(*thread, "signal", stop.signal, ::strsignal(stop.signal));
    calls_.show_own_address(*thread);
    if (is_told) calls_.engines().drain();
    lookouts_.black_box().signalled(*thread, stop.signal);
    if (stop.signal == SIGCHLD) population_.untraced().child_ended(*thread);
  }
  Tracee(stop.tid).resume(stop.signal);
}

void Session::on_group(const Stop& stop) {
  Thread* const thread = roster_.thread(stop.tid);
  if (thread && !std::exchange(thread->interrupted, false)) roster_.note(*thread, "group-stop", stop.signal);
  if (thread) thread->is_in_group_stop = true;
  if (thread) calls_.end_delays(*thread->inferior);
  Tracee(stop.tid).listen();
}

void Session::on_trap_stop(const Stop& stop) {
  if (Thread* const thread = roster_.thread(stop.tid)) {
    thread->is_in_group_stop = false;
    return std::exchange(thread->interrupted, false) ? Rendezvous::go_on(*thread) : children_.start(stop.tid);
  }
  children_.wait_for_maker(stop.tid);
}

void Session::on_child(const Stop& stop) {
  children_.learn(stop);
  Tracee(stop.tid).resume();
}

void Session::on_exec(const Stop& stop) {
  if (Inferior* const inferior = roster_.led_by(stop.tid)) return programs_.executed(*inferior, stop);
  Tracee(stop.tid).resume();
}

void Session::on_end(const Stop& stop) {
  population_.unclaimed().claim(stop.tid);
  if (Inferior* const inferior = roster_.led_by(stop.tid)) return population_.end(*inferior, stop);
  if (Thread* const thread = roster_.thread(stop.tid))
    population_.end_thread(*thread, thread->ends_with_others || stop.kind == Stop::Kind::Killed);
}

void Session::on_exit(const Stop& stop) {
  if (Thread* const thread = roster_.thread(stop.tid)) {
    calls_.engines().drain();
    lookouts_.black_box().dying(*thread, static_cast<int>(stop.message));
    calls_.engines().thread_exits(*thread);
    if (calls_.is_on()) population_.untraced().look_at_thread(*thread->inferior, stop.tid);
  }
  Tracee(stop.tid).resume();
}

// ---------------------------------------------------------------- housekeeping

std::vector<Session::Duty> Session::duties(std::int64_t budget_window) {
  constexpr std::int64_t kAlways = 0, kOften = 100'000'000, kSeldom = 1'000'000'000;
  return {
      {kAlways, [](Session& s) { s.calls_.leave_cpu_if_quiet(s.clock_.now()); }},
      {kAlways, [](Session& s) { s.calls_.follow_detail(); }},
      {kAlways, [](Session& s) { s.calls_.look_after_delays(); }},
      {kOften, [](Session& s) { s.calls_.taps().count(); }},
      {kOften, [](Session& s) { s.give_up_children(); }},
      {kOften, [](Session& s) { s.lookouts_.look_after_sites(s.seizing_.arrival().hold_clock()); }},
      {kOften, [](Session& s) { s.seizing_.convert_more(); }},
      {kOften, [](Session& s) { s.traps_.look(); }},
      {kOften, [](Session& s) { s.lookouts_.look_for_hangs(); }},
      {kSeldom, [](Session& s) { s.report_costs(); }},
      {kSeldom, [](Session& s) { s.lookouts_.sample_cpu(); }},
      {kSeldom, [](Session& s) { s.seizing_.untraced().look(); }},
      {kSeldom, [](Session& s) { s.rest_returns(); }},
      {kSeldom, [](Session& s) { s.calls_.look_for_quiet_taps(); }},
      {kSeldom, [](Session& s) { s.find_cached(s.cached_.to_be_searched_again()); }},
      {budget_window, [](Session& s) { s.calls_.hold_budget(); }},
  };
}

// The next ticks come when the rings of taps are to be read again.
void Session::drain_if_due(std::int64_t now) {
  constexpr std::int64_t kIdle = 40'000'000;
  if (now - drained_ < drain_period_) return;
  drained_ = now;
  calls_.engines().drain();
  const auto period = pace_.next(calls_.taps().take_most_read(), TapRings::kLayout.size);
  quick_tick_.every(period);
  // A tick that comes a little early counts.
  drain_period_ = period == period.zero() ? kIdle : std::chrono::nanoseconds(period).count() * 3 / 4;
}

void Session::tick(std::int64_t now) {
  drain_if_due(now);
  if (calls_.actions().take_snapshot_wish()) take_snapshot();
  for (Duty& duty : duties_)
    if (now - duty.last > duty.period) {
      duty.last = now;
      duty.look(*this);
    }
}

void Session::report_costs(bool at_end) {
  lookouts_.black_box().look_around();
  calls_.report(at_end);
}

// A tick during a search begins no other one.
void Session::find_cached(const std::vector<Pid>& pids) {
  if (pids.empty() || std::exchange(is_searching_, true)) return;
  const auto goes_on = [this] {
    rendezvous_.serve_stops();
    tick(clock_.now());
    return !rendezvous_.gives_up();
  };
  for (const Pid pid : pids) cached_.look(pid, goes_on);
  is_searching_ = false;
}

void Session::find_cached() {
  if (options_.cached.find) find_cached(roster_.pids());
}

// ---------------------------------------------------------------- the end

void Session::stop_watching() {
  calls_.stop();
  for (const Pid pid : roster_.pids()) {
    const Inferior* const inferior = roster_.process(pid);
    if (!inferior) continue;
    const bool needs_stop = !inferior->memory().writes_without_stop() || TrapGuard::is_action_lost(*inferior);
    Thread* const stopped = needs_stop ? rendezvous_.stop_any(*inferior) : nullptr;
    if (!roster_.process(pid)) continue;
    calls_.engines().leave(*roster_.process(pid), stopped ? stopped->tid : kNobody);
    // there is no check from now on
    if (stopped && TrapGuard::is_action_lost(*stopped->inferior)) TrapGuard::retake(*stopped);
    if (stopped) rendezvous_.settle(*stopped);
  }
}

void Session::let_go() {
  cached_.put_back_all();
  seizing_.untraced().look();  // a child that runs fade's code unseen must not lose that code
  stop_watching();
  for (const auto& [pid, inferior] : roster_.processes()) {
    for (const auto& [tid, thread] : inferior->threads) calls_.engines().thread_ended(*thread, true);
    roster_.note(*inferior, "detach");
  }
  departure_.leave_all();
  population_.unclaimed().clear();
  roster_.clear();
}

bool Session::main_stopped() const {
  const Inferior* const inferior = roster_.process(population_.main().pid);
  return inferior && is_stopped_by_signal(*inferior);
}

Session::Totals Session::totals() const {
  Totals out;
  static_cast<StopTotals&>(out) = calls_.tally().totals();
  out.life_ns = population_.life_ns();
  out.main_life_ns = population_.main().life_ns;
  out.processes = roster_.processes_seen();
  out.threads = roster_.threads_seen();
  out.functions_armed = calls_.modules().armed();
  out.vanished = lookouts_.sites().vanished();
  out.libraries = calls_.modules().libraries();
  out.postmortems = lookouts_.black_box().sentences();
  out.notes = notes();
  out.rules_seen = calls_.breakpoints().injector().seen();
  append(out.excluded, calls_.breakpoints().corrector().excluded());
  return out;
}

// Sentences for the user at the end of the recording.
std::vector<std::string> Session::notes() const {
  std::vector<std::string> out = programs_.notes();
  append(out, calls_.modules().notes());
  append(out, lookouts_.sites().notes());
  append(out, calls_.breakpoints().corrector().left_alone());
  append(out, calls_.taps().notes());
  append(out, cached_.notes());
  if (const std::size_t n = calls_.governing().less_detailed(); n > 0)
    out.push_back(
        fmt::format("{} recorded with less detail to keep the budget; all calls were counted (fade-query lifecycle)",
                    n == 1 ? std::string("1 function was") : fmt::format("{} functions were", n)));
  if (const auto done = calls_.breakpoints().actions().done(); done > 0)
    out.push_back(fmt::format("rules of --actions did something {} (fade-query actions)",
                              done == 1 ? std::string("once") : fmt::format("{} times", done)));
  if (const auto failed = calls_.breakpoints().actions().failed(); failed > 0)
    out.push_back(fmt::format("rules of --actions failed {} (fade-query actions has the reasons)",
                              failed == 1 ? std::string("once") : fmt::format("{} times", failed)));
  append(out, traps_.notes());
  if (const auto untraced = population_.untraced().reported(); untraced > 0)
    out.push_back(
        fmt::format("{} of the program's processes and threads came unseen (CLONE_UNTRACED): their calls are recorded "
                    "from when they were found, or not at all (fade-query lifecycle)",
                    untraced));
  if (const auto unseen = calls_.breakpoints().returns().unseen(); unseen > 0)
    out.push_back(fmt::format("the results of {} calls could not be seen (fade-query drops says why)", unseen));
  return out;
}

}  // namespace fade
