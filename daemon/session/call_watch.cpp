#include "session/call_watch.hpp"

#include "base/glob.hpp"
#include "ptrace/tracee.hpp"
#include "session/return_rest.hpp"
#include "session/site_use.hpp"

namespace fade {
namespace {

bool asks_for_steps(const std::vector<actions::Rule>& rules) {
  bool out = false;
  for (const actions::Rule& rule : rules)
    rule.condition.each_name([&](const std::string& name) { out |= name == "step"; });
  return out;
}

bool marks_step(const StepRule& step, const probes::Probe& probe) {
  using probes::Kind;
  if (step.by == StepRule::By::Call) return glob_match(step.pattern, probe.symbol);
  return step.by == StepRule::By::Range && (probe.kind == Kind::RangePush || probe.kind == Kind::RangeStart);
}

FunctionTable::MoreNeeds more_needs(const SessionOptions& options) {
  const bool has_steps = asks_for_steps(options.actions);
  if (!options.numbers.is_on() && !options.check.is_on && options.actions.empty() && options.injections.empty() &&
      options.detail.by_name.empty())
    return {};
  return [&injections = options.injections, has_numbers = options.numbers.is_on(), checks = options.check.is_on,
          rules = options.actions, step = options.step, has_steps,
          levels = options.detail](const probes::Probe& probe, Needs& needs) {
    needs.sums_only = levels.of(probe.api, probe.group) == Detail::Stats;
    needs.inject = injections.touches(probe);
    needs.result |= needs.inject;
    needs.numbers = has_numbers && needs_for_numbers(probe);
    needs.gemm = checks && is_gemm(probe);
    needs.gemm_parts = checks && describes_gemm(probe);
    needs.errand = checks && is_called_by_errands(probe);
    needs.result |= needs.gemm || needs.gemm_parts;
    needs.step = has_steps && marks_step(step, probe);
    for (std::size_t i = 0; i < rules.size(); ++i)
      if (rules[i].names(probe)) needs.actions.push_back(static_cast<std::uint16_t>(i));
  };
}

}  // namespace

CallWatch::CallWatch(EventSink& sink, const SessionClock& clock, const Roster& roster,
                     const probes::Overrides& overrides, const SessionOptions& options)
    : sink_(sink),
      clock_(clock),
      roster_(roster),
      return_rest_ns_(options.return_rest_ns),
      functions_(sink, overrides, options.callers, more_needs(options)),
      engines_(functions_),
      modules_(sink, clock, functions_, engines_, options.wishes),
      stacks_(sink, clock, options.stacks),
      books_(sink, clock, options.most_call_sites),
      effects_(sink, clock, modules_),
      breakpoints_({sink, clock, roster, functions_, overrides, options.cached.find, options.injections,
                    options.replaces_dry, stacks_, books_, effects_, options.numbers, options.check,
                    options.check_program, options.actions, options.step}),
      taps_({{sink, clock, roster, functions_, stacks_, books_, effects_, breakpoints_, options.summed_calls},
             options.engine}),
      promotion_({sink, clock, roster, functions_, taps_, options.tap_quiet_ns, options.tap_window_ns,
                  options.engine == CaptureEngine::Auto}),
      governing_(
          {sink, clock, roster, functions_, taps_, options.budget, options.budget_quiet_ns, options.step_begins}),
      prices_(options.budget_prices),
      tally_(sink),
      delays_(clock, roster, [this](Thread& thread, std::int64_t now) {
        breakpoints_.delay_ended(thread, now);
        books_.book.flush();
      }) {
  engines_.add(taps_);
  engines_.add(breakpoints_);
}

std::optional<std::int64_t> CallWatch::on_trap(Thread& thread, std::int64_t now) {
  if (const auto sample = samples_.stopped(thread.tid, now)) tally_.sampled(thread, *sample);
  const Tracee tracee(thread.tid);
  const auto registers = tracee.registers();
  if (!registers) return now;  // killed meanwhile: its end will be reported
  const auto charged = engines_.on_trap(thread, *registers, now);
  if (!charged) return std::nullopt;
  answer(thread, functions_[*charged], *registers);
  modules_.imports().look_at_caller(*thread.inferior);
  TrapGuard::mend_action(thread);
  promotion_.stopped(thread, *charged, now);
  const std::int64_t end = account(*charged, now);  // the request to resume is the kernel's share (CostMeasured)
  tally_.hit(thread, end - now);
  governing_.stopped(thread, *charged, end - now);
  go_on(thread, end);
  taps_.rings().rest();
  // The follower takes its time behind a return: at an entry, that would be a part of the call's duration. Rings are
  // read on a CPU beside the thread's, if there is one.
  const bool returned = books_.book.flush(end - now);
  if (!taps_.rings().has_met_full_ring() && follower_.saw(thread.tid, now, returned)) sink_.keeps_to(follower_.cpu());
  taps_.rings().let_run_beside(follower_.cpu() < 0);
  if (const std::uint32_t crossed = follower_.take_crossed()) tally_.crossed(thread, crossed);
  return end;
}

// While fade leaves the program, no delay begins.
void CallWatch::go_on(Thread& thread, std::int64_t now) {
  if (thread.held_until > now && is_on()) return delays_.hold(thread);
  if (thread.held_until != 0) breakpoints_.delay_ended(thread, now);
  thread.held_until = 0;
  samples_.resumes(thread.tid, now);
  Tracee(thread.tid).resume();
}

// The thread is at a function of the loader that fade follows, or of libc that fade answers in its place.
void CallWatch::answer(Thread& thread, const Entry& entry, const Registers& registers) {
  switch (entry.what) {
    case Entry::What::Loader: return at_loader(thread, registers);
    case Entry::What::Sigaction: return guard_.on_sigaction(thread, registers);
    case Entry::What::Sigmask: return guard_.on_sigmask(thread, registers);
    case Entry::What::Function:
    case Entry::What::Resolver: return;
  }
}

// The thread meets the breakpoint once more.
void CallWatch::at_loader(const Thread& thread, const Registers& registers) {
  if (!modules_.loader_stopped(*thread.inferior, thread)) Tracee(thread.tid).set_ip(registers.ip() - 1);
}

std::int64_t CallWatch::account(std::uint32_t entry, std::int64_t since) {
  const std::int64_t now = clock_.now();
  tally_.stopped(functions_[entry], now - since);
  return now;
}

void CallWatch::show_own_address(Thread& thread) {
  taps_.signals().show_own_address(thread);
  AddressSpace& space = thread.space();
  const auto registers = space.has_net() ? Tracee(thread.tid).registers() : std::nullopt;
  if (!registers || !space.our_code().contains(registers->ip())) return;
  const auto own = space.our_code().own_registers(*registers);
  thread.inferior->slots_may_be_in_use |= !own;
  const auto again = space.our_code().hit_again(*registers);
  if (!own || !Tracee(thread.tid).change_registers(*registers, *own) || !again) return;
  const Site* const site = space.find(again->site);
  if (site && SiteUse::of(*site).entry != 0) thread.shown.add(again->site, again->sp);  // a return counts once anyway
}

void CallWatch::set_recording(bool on) {
  engines_.set_recording(on);
  sink_.notice(Lifecycle{.at = clock_.now(), .kind = on ? "recording started" : "recording stopped"});
}

void CallWatch::copied(Inferior& inferior, Tid stopped) {
  engines_.copied(inferior, stopped);
  governing_.copied(inferior);
}

void CallWatch::stop() {
  look_at_imports(true);
  engines_.stop();
  delays_.release(nullptr);
  follower_.rest();
  sink_.keeps_to(-1);
}

void CallWatch::report(bool at_end) {
  functions_.report_costs();
  functions_.report_left_out(clock_.now());
  for (const auto& [tid, thread] : roster_.threads()) tally_.report(*thread);
  stacks_.report(at_end);
  breakpoints_.returns().report_unseen(at_end);
  breakpoints_.numbers().report();
  breakpoints_.checks().report(at_end);
  look_at_imports(false);
}

void CallWatch::know_prices(const BudgetPrices& prices, std::int64_t run_ns) {
  prices_ = prices;
  run_ns_ = run_ns;
}

// The price of stops is that of the program's own, if enough of them were measured.
void CallWatch::follow_detail() {
  const bool rests = !sink_.wants_detail();
  stacks_.policy().rest(rests);
  taps_.sum_all(rests);
}

void CallWatch::hold_budget() {
  constexpr std::uint64_t kEnough = 20;
  if (!is_on()) return;
  BudgetPrices prices = prices_;
  const StopTotals& seen = tally_.totals();
  if (run_ns_ != 0 && seen.sampled_stops >= kEnough)
    prices.stop_ns = seen.sampled_ns / static_cast<std::int64_t>(seen.sampled_stops) + run_ns_;
  governing_.look(prices);
}

void CallWatch::look_at_imports(bool all) {
  if (!is_on()) return;
  for (const auto& [pid, inferior] : roster_.processes())
    if (inferior->watched) modules_.imports().look(*inferior, all);
}

void CallWatch::rest_returns() {
  if (is_on()) give_back_returns(roster_, return_rest_ns_);
}

}  // namespace fade
