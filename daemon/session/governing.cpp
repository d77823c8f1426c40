#include "session/governing.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <limits>

#include "base/glob.hpp"
#include "proc/proc_files.hpp"
#include "proc/sched_times.hpp"
#include "session/tappable.hpp"

namespace fade {
namespace {

BudgetStep step_of(AddressSpace& space, const TapCell& cell) {
  const Site* const site = space.find(cell.site);
  if (!site || !site->is_tapped) return BudgetStep::Stops;
  if (!cell.is_gated()) return cell.sums_only ? BudgetStep::Sums : BudgetStep::Taps;
  for (const auto step : {BudgetStep::Every8th, BudgetStep::Every64th, BudgetStep::Every512th})
    if (cell.gate->mask == tap::mask_of(every_of(step))) return step;
  return BudgetStep::CountsOnly;
}

std::uint32_t mask_of(BudgetStep step) {
  return step == BudgetStep::CountsOnly ? tap::kCountsOnly : tap::mask_of(every_of(step));
}

const char* words_of(BudgetStep step) {
  switch (step) {
    case BudgetStep::Stops: return "it is to be tapped";
    case BudgetStep::Taps: return "each call has a row again";
    case BudgetStep::Sums: return "only sums are recorded";
    case BudgetStep::Every8th: return "only every 8th call is recorded, all are counted";
    case BudgetStep::Every64th: return "only every 64th call is recorded, all are counted";
    case BudgetStep::Every512th: return "only every 512th call is recorded, all are counted";
    case BudgetStep::CountsOnly: return "its calls are only counted";
  }
  return "";
}

// The value of the row, for SQL (schema/views/coverage.sql): 0: all is recorded, 1: sums, N: every Nth call, -1: none.
std::int64_t value_of(BudgetStep step) {
  if (step == BudgetStep::CountsOnly) return -1;
  return step <= BudgetStep::Taps ? 0 : every_of(step);
}

std::int64_t own_cpu_ns() {
  rusage use{};
  ::getrusage(RUSAGE_SELF, &use);
  const auto ns = [](const timeval& time) { return (std::int64_t{time.tv_sec} * 1'000'000 + time.tv_usec) * 1000; };
  return ns(use.ru_utime) + ns(use.ru_stime);
}

BudgetCalls since(const BudgetCalls& now, const BudgetCalls& before) {
  return {now.stops - before.stops, now.recorded - before.recorded, now.counted - before.counted,
          now.held_ns - before.held_ns};
}

}  // namespace

GovernedProgram& Governing::of(Program& program) const {
  if (!program.governed) program.governed = std::make_shared<GovernedProgram>(p_.share, p_.quiet_ns);
  return *program.governed;
}

void Governing::stopped(const Thread& thread, std::uint32_t entry, std::int64_t held_ns) {
  if (!is_on() || entry == 0 || p_.functions[entry].what != Entry::What::Function) return;
  BudgetCalls& calls = of(*thread.inferior->program).stops[entry];
  ++calls.stops;
  calls.held_ns += held_ns;
}

void Governing::look(const BudgetPrices& prices) {
  if (!is_on()) return;
  p_.taps.drain();
  p_.taps.count();
  const std::int64_t now = p_.clock.now(), cpu = own_cpu_ns(), fade_ns = cpu - std::exchange(own_cpu_ns_, cpu);
  std::set<const Program*> done;
  for (const auto& [pid, inferior] : p_.roster.processes()) {
    if (!inferior->watched || !done.insert(inferior->program.get()).second) continue;
    GovernedProgram& governed = of(*inferior->program);
    BudgetWindow seen = window(*inferior, governed, now);
    seen.prices = prices;
    add_waiting(governed, seen, add_busiest(*inferior, governed, seen), fade_ns);
    if (seen.elapsed_ns == now) continue;  // the program's first window is none
    for (const Governor::Change& change : governed.governor.look(seen)) carry_out(*inferior, governed, change);
    if (governed.governor.is_at_end()) tell_costly(*inferior, governed, seen);
  }
}

// ---------------------------------------------------------------- costs

BudgetWindow Governing::window(const Inferior& inferior, GovernedProgram& governed, std::int64_t now) const {
  BudgetWindow out{.at = now, .elapsed_ns = now - std::exchange(governed.since, now), .busiest = {}, .functions = {}};
  add_functions(*inferior.program, governed, out);
  governed.stops.clear();
  return out;
}

void Governing::add_functions(const Program& program, GovernedProgram& governed, BudgetWindow& window) const {
  std::map<std::uint32_t, BudgetWindow::Function> all;
  for (const auto& [entry, calls] : governed.stops) all[entry].calls = calls;
  std::unordered_map<std::uint32_t, BudgetCalls> tapped;
  if (const TapArea* const area = program.space->taps())
    for (const TapCell& cell : area->cells().all()) {
      if (cell.entry == 0) continue;
      tapped[cell.entry].recorded += cell.recorded;
      tapped[cell.entry].counted += cell.counted;
      all[cell.entry].step = std::max(all[cell.entry].step, step_of(*program.space, cell));
    }
  for (auto& [entry, function] : all) {
    const BudgetCalls more = since(tapped[entry], governed.tapped[entry]);
    function.entry = entry;
    function.least = least_of(program, governed, function);
    function.calls.recorded = more.recorded;
    function.calls.counted = more.counted;
    window.functions.push_back(function);
  }
  governed.tapped = std::move(tapped);
}

// Threads of all processes that share the memory. Returns the thread that the calls cost most.
Tid Governing::add_busiest(const Inferior& inferior, GovernedProgram& governed, BudgetWindow& window) const {
  std::map<ThreadId, BudgetCalls> threads;
  Tid busiest = 0;
  for (const auto& [tid, thread] : p_.roster.threads()) {
    if (thread->inferior->program != inferior.program) continue;
    const auto& taps = inferior.program->taps;
    const TapThread* const ring = taps ? taps->of(thread->id) : nullptr;
    const BudgetCalls now{thread->held.stops, ring ? ring->recorded : 0, ring ? ring->counted : 0,
                          thread->held.held_ns};
    const BudgetCalls calls = since(now, governed.threads[thread->id]);
    if (busiest == 0 || calls.cost(window.prices) > window.busiest.cost(window.prices)) {
      busiest = thread->tid;
      window.busiest = calls;
    }
    threads[thread->id] = now;
  }
  governed.threads = std::move(threads);
  return busiest;
}

// A thread that waits for a CPU while fade has one may wait because of fade. It waits for others, too: at most the CPU
// time of fade counts.
void Governing::add_waiting(GovernedProgram& governed, BudgetWindow& window, Tid busiest, std::int64_t fade_ns) {
  const Fd file(::open(ProcFiles().path(busiest, "schedstat").c_str(), O_RDONLY | O_CLOEXEC));
  const std::int64_t waited = file ? SchedTimes::read(file).value_or(SchedTimes()).waited_ns : 0;
  if (governed.busiest == busiest) window.beside_ns = std::clamp<std::int64_t>(waited - governed.waited_ns, 0, fade_ns);
  governed.busiest = busiest;
  governed.waited_ns = waited;
}

BudgetStep Governing::least_of(const Program& program, const GovernedProgram& governed,
                               const BudgetWindow::Function& function) const {
  const std::uint32_t entry = function.entry;
  const bool was_tried = function.step == BudgetStep::Stops && program.hot.rate(entry) != 0;
  if (was_tried || governed.refused.contains(entry)) return BudgetStep::Stops;
  const Entry& known = p_.functions[entry];
  if (!p_.taps.why_not(known).empty()) return BudgetStep::Stops;
  return may_be_left_out(*known.probe) && !begins_step(*known.probe) ? BudgetStep::CountsOnly : BudgetStep::Sums;
}

bool Governing::begins_step(const probes::Probe& probe) const {
  return !p_.step_begins.empty() && glob_match(p_.step_begins, probe.symbol);
}

// ---------------------------------------------------------------- changes

void Governing::carry_out(Inferior& inferior, GovernedProgram& governed, const Governor::Change& change) {
  const std::string figures =
      fmt::format("{} calls a second cost {:.3g} % of the time, all together {:.3g} %, of {:g} %", change.rate,
                  100 * change.own, 100 * change.all, 100 * p_.share);
  if (change.to == BudgetStep::Taps && change.from == BudgetStep::Stops) {
    inferior.program->hot.want(change.entry, change.rate);  // at its next stop
    return;
  }
  Result<void> done = fail("it is not tapped");
  for (TapCell& cell : inferior.space().taps()->cells().all())
    if (cell.entry == change.entry)
      if (auto one = p_.taps.let_through(inferior, cell, change.to >= BudgetStep::Sums, mask_of(change.to));
          one || !done)
        done = std::move(one);
  if (done) return tell(inferior, change.entry, change.to, figures);
  governed.refused.insert(change.entry);
}

// Once for each function.
void Governing::tell_costly(const Inferior& inferior, GovernedProgram& governed, const BudgetWindow& window) {
  const auto dearest = std::ranges::max_element(
      window.functions, {}, [&](const auto& function) { return function.calls.cost(window.prices); });
  if (dearest == window.functions.end() || !governed.told_costly.insert(dearest->entry).second) return;
  const Entry& function = p_.functions[dearest->entry];
  const std::string why = p_.taps.why_not(function);
  const double share = window.busiest.cost(window.prices) / static_cast<double>(window.elapsed_ns);
  p_.sink.notice(Lifecycle{
      .at = p_.clock.now(),
      .process = inferior.id,
      .kind = "over budget",
      .value = static_cast<std::int64_t>(100 * share),
      .detail = fmt::format("{}: calls cost {:.3g} % of the time, of {:g} %, and nothing more can be saved{}",
                            function.probe->symbol, 100 * share, 100 * p_.share, why.empty() ? "" : ": " + why)});
}

void Governing::copied(const Inferior& inferior) {
  if (!is_on() || !inferior.space().taps()) return;
  for (const TapCell& cell : inferior.space().taps()->cells().all()) {
    const BudgetStep step = cell.entry == 0 ? BudgetStep::Stops : step_of(inferior.space(), cell);
    if (step > BudgetStep::Taps) tell(inferior, cell.entry, step, "as in the process that it was forked from");
  }
}

void Governing::tell(const Inferior& inferior, std::uint32_t entry, BudgetStep step, const std::string& why) {
  if (step > BudgetStep::Taps) less_detailed_.insert(entry);
  p_.sink.notice(
      Lifecycle{.at = p_.clock.now(),
                .process = inferior.id,
                .kind = "budget",
                .value = value_of(step),
                .detail = fmt::format("{}: {}: {}", p_.functions[entry].probe->symbol, words_of(step), why)});
}

}  // namespace fade
