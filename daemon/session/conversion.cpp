#include "session/conversion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "session/site_use.hpp"

namespace fade {
namespace {

constexpr std::int64_t kFirstPause = 100'000'000, kLongestPause = 10'000'000'000;  // ns, until the next attempt

// Calls that return to the entry of a function need the int3 there.
bool is_return_place(AddressSpace& space, RemoteAddr function) {
  const Site* const site = space.find(function);
  return site && SiteUse::of(*site).call_site != 0;
}

}  // namespace

// Functions whose breakpoints lead to the slot of a jump, and the bytes that each jump will cover.
struct Conversion::Begun {
  std::vector<WatchedFunction> functions;
  std::vector<RemoteRange> covered;
};

Conversion::Begun Conversion::begin(Inferior& inferior, std::span<const WatchedFunction> functions) const {
  Program& program = *inferior.program;
  Begun out;
  for (const WatchedFunction& function : functions) {
    if (is_return_place(*program.space, function.code.function)) continue;
    const auto covered = program.space->conversion().begin(function.code, kNobody);
    if (!covered) {
      tell(inferior, function.entry, "not tapped", ": " + covered.error().text());
      continue;
    }
    out.functions.push_back(function);
    out.covered.push_back(*covered);
  }
  return out;
}

// A thread maps their memory, once for each program. True: it is there, or must be tried again.
bool Conversion::place_taps(Inferior& inferior, const FunctionEntry& first, HoldClock& holds) {
  const ProgramMark mark = inferior.mark();
  if (inferior.program->taps) return inferior.program->taps->why_not().empty();
  const auto placed = p_.rendezvous.with_guide(
      inferior,
      [&](Thread& guide) {
        if (p_.roster.still_runs(mark))
          p_.taps.place(*guide.inferior, first.function, guide.tid).or_else([](const Error&) {});  // it is remembered
        return Result<void>();
      },
      holds);
  return !placed || (p_.roster.still_runs(mark) && p_.roster.process(mark.pid)->program->taps &&
                     p_.roster.process(mark.pid)->program->taps->why_not().empty());
}

std::vector<WatchedFunction> Conversion::convert(Inferior& inferior, std::span<const WatchedFunction> functions,
                                                 HoldClock& holds) {
  const ProgramMark mark = inferior.mark();
  const std::shared_ptr<Program> program = inferior.program;  // `inferior` may be gone behind a stop
  if (functions.empty() || !program->space->memory().writes_without_stop() ||
      !place_taps(inferior, functions.front().code, holds) || !p_.roster.still_runs(mark))
    return {};
  if (!program->taps) return {functions.begin(), functions.end()};
  const Begun begun = begin(inferior, functions);
  Outside outside({p_.roster, p_.rendezvous, p_.untraced}, program, begun.covered);
  const bool all_seen = outside.look(holds);
  if (!p_.roster.still_runs(mark)) return {};
  std::vector<WatchedFunction> later;
  std::int64_t tapped = 0;
  for (std::size_t i = 0; i < begun.functions.size(); ++i) {
    if (all_seen && outside.is_free(i)) tapped += finish(*p_.roster.process(mark.pid), begun.functions[i]);
    else later.push_back(begun.functions[i]);
  }
  if (tapped > 0)
    p_.sink.notice(Lifecycle{p_.clock.now(), mark.process, 0, "tapped", 0,
                             fmt::format("{} function{}", tapped, tapped == 1 ? "" : "s")});
  return later;
}

// Sends a row about a function that is called often. False: its rate is not known, and nothing was sent.
bool Conversion::tell(const Inferior& inferior, std::uint32_t entry, const char* kind, const std::string& more) const {
  const std::uint64_t rate = inferior.program->hot.rate(entry);
  if (rate == 0) return false;
  p_.sink.notice(Lifecycle{p_.clock.now(), inferior.id, 0, kind, static_cast<std::int64_t>(rate),
                           p_.functions[entry].probe->symbol + more});
  return true;
}

// Its library may have gone while stops were handled. True: it is tapped now, and nothing was told.
bool Conversion::finish(Inferior& inferior, const WatchedFunction& function) {
  const auto jump = inferior.space().conversion().finish(function.code.function, kNobody);
  if (!jump) {
    tell(inferior, function.entry, "not tapped", ": " + jump.error().text());
    return false;
  }
  entries_have_moved(*inferior.program, function.code.function, **jump);
  if (const auto tapped = p_.taps.tap(inferior, function, kNobody); !tapped) {
    tell(inferior, function.entry, "not tapped", ": " + tapped.error().text());
    return false;
  }
  return !tell(inferior, function.entry, "tapped", {});
}

// A thread that is to meet the int3 of the entry once more meets the jump instead.
void Conversion::entries_have_moved(const Program& program, RemoteAddr function, const Site& jump) const {
  for (const auto& [tid, thread] : p_.roster.threads())
    if (thread->inferior->program.get() == &program) thread->shown.moves(function, jump.address, jump.lead.depth);
}

void Conversion::convert_waiting(Inferior& inferior, HoldClock& holds) {
  const std::shared_ptr<Program> program = inferior.program;
  const auto functions = std::exchange(program->untapped.functions, {});
  auto later = convert(inferior, functions, holds);
  Untapped& waiting = program->untapped;
  waiting.pause = std::clamp(waiting.pause * 2, kFirstPause, kLongestPause);
  waiting.due = p_.clock.now() + waiting.pause;
  std::ranges::move(later, std::back_inserter(waiting.functions));
}

void Conversion::look(HoldClock& holds) {
  for (const Pid pid : p_.roster.pids()) {
    Inferior* const inferior = p_.roster.process(pid);
    if (!inferior || !inferior->watched || inferior->is_fresh_copy || inferior->is_guest) continue;
    const Untapped& waiting = inferior->program->untapped;
    if (!waiting.functions.empty() && p_.clock.now() >= waiting.due) convert_waiting(*inferior, holds);
  }
}

}  // namespace fade
