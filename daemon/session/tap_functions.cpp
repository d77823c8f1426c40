// TapCapture: which functions are tapped.
#include <x86intrin.h>

#include "session/site_use.hpp"
#include "session/tap_capture.hpp"
#include "session/tappable.hpp"

namespace fade {
namespace {

// The library has run, so its functions have an int3 first.
bool may_be_tapped_later(const WatchedFunction& function) {
  return function.code.has_run && place_of_jump(function.code, SiteTable()).has_value();
}

}  // namespace

// A stack that is wanted of every call needs a stop of each.
std::string TapCapture::why_not(const Entry& entry) const {
  if (!records_.has_clock()) return no_clock_;
  if (entry.what != Entry::What::Function) return "it is no function of a recording";
  if (const char* const why = why_not_tappable(entry.needs, *entry.probe)) return why;
  return stacks_.policy().takes_every(*entry.probe) ? "--stacks takes stacks of its calls" : "";
}

// A function that cannot be tapped keeps its breakpoint.
std::vector<Result<bool>> TapCapture::watch(Inferior& inferior, std::span<const WatchedFunction> functions,
                                            Tid stopped) {
  auto out = breakpoints_.watch(inferior, functions, stopped);
  Untapped& untapped = inferior.program->untapped;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (!out[i].value_or(false)) continue;
    const bool is_tapped = is_for_all_functions() && tap(inferior, functions[i], stopped);
    if (is_tapped || !may_be_tapped_later(functions[i])) continue;
    (is_for_all_functions() ? untapped.functions : untapped.seldom_called).push_back(functions[i]);
  }
  return out;
}

// Several copies of one library may be loaded.
Result<bool> TapCapture::tap_all(Thread& stopped, std::uint32_t entry) {
  std::vector<RemoteAddr> places;
  for (const auto& [address, site] : stopped.space().sites().all())
    if (SiteUse::of(site).entry == entry) places.push_back(address);
  Result<void> out = fail("it is not watched in this process");
  for (const RemoteAddr place : places)
    if (Result<void> done = tap(*stopped.inferior, stopped.space().find(place), entry, stopped.tid); done || !out)
      out = std::move(done);
  if (out) return true;
  if (stopped.inferior->program->untapped.is_called_often(entry)) return false;
  return tl::unexpected(std::move(out.error()));
}

Result<void> TapCapture::tap(Inferior& inferior, const WatchedFunction& function, Tid stopped) {
  Site* const site = inferior.space().of_function(function.code.function);
  return site ? tap(inferior, site, function.entry, stopped) : fail("it has no breakpoint");
}

Result<void> TapCapture::tap(Inferior& inferior, Site* site, std::uint32_t index, Tid stopped) {
  AddressSpace& space = inferior.space();
  if (site->is_lifted) return fail("the program has written over its breakpoint");
  if (!site->is_entry_jump()) return fail("its entry has no room for a jump");
  if (auto placed = place(inferior, site->address, stopped); !placed) return placed;
  const Entry& entry = functions_[index];
  TapArea& area = *space.taps();
  auto done = area.cells().tap(space.memory(), *site, index, tapped(entry.needs, *entry.probe), stopped);
  if (done && !area.is_enabled()) area.enable(space.memory(), true, stopped);
  return done;
}

Result<void> TapCapture::place(Inferior& inferior, RemoteAddr function, Tid stopped) {
  Program& program = *inferior.program;
  if (program.taps && !program.taps->why_not().empty()) return fail(program.taps->why_not());
  if (program.taps) return {};
  if (stopped == kNobody) return fail("no thread of the process stands still");
  const Module* const module = program.module_at(function);
  const RemoteAddr page = page_of(function);
  auto placed = program.space->place_taps(module ? module->span : RemoteRange{page, page + kPageSize}, stopped);
  program.taps = std::make_shared<TapThreads>(placed ? std::string() : placed.error().sentence());
  records_.add(program.taps);
  if (!placed) refusals_.say_breakpoints(inferior, program.taps->why_not());
  return placed;
}

std::vector<std::uint32_t> TapCapture::untap_quiet(Program& program, std::int64_t ns) {
  AddressSpace& space = *program.space;
  std::vector<std::uint32_t> out;
  if (!space.taps() || !records_.has_clock()) return out;
  const std::int64_t now = records_.time_of(__rdtsc());
  for (const TapCell& cell : space.taps()->cells().all()) {
    Site* const site = cell.entry != 0 ? space.find(cell.site) : nullptr;
    if (!site || !site->is_tapped || now - records_.time_of(cell.last_call) < ns) continue;
    if (TapCells::untap(space.memory(), *site, kNobody)) out.push_back(cell.entry);
  }
  return out;
}

Result<void> TapCapture::let_through(Inferior& inferior, TapCell& cell, bool sums_only, std::uint32_t mask) {
  const Site* const site = inferior.space().find(cell.site);
  if (!site || !site->is_tapped) return fail("it is not tapped");
  cell.sums_only = sums_only;
  if (mask != 0 && !cell.is_gated()) withdraw_shown(inferior, cell, *site);
  return inferior.space().taps()->cells().set_mask(inferior.memory(), cell, *site, mask, kNobody);
}

// A signal handler of a thread may be at work that will return to the entry. The thread comes by the gate then, which
// may only count its call.
void TapCapture::withdraw_shown(const Inferior& inferior, const TapCell& cell, const Site& site) {
  for (const auto& [tid, thread] : roster_.threads()) {
    if (thread->inferior->program != inferior.program) continue;
    for (const RemoteAddr sp : thread->shown.take(cell.site)) records_.withdraw(*thread, cell, sp + site.lead.depth);
  }
}

void TapCapture::forget(Inferior& inferior, RemoteRange range, Tid stopped) {
  drain_.all();
  count();
  if (TapArea* const area = inferior.space().taps()) area->forget(inferior.memory(), range, stopped);
  inferior.program->untapped.forget(range);
}

}  // namespace fade
