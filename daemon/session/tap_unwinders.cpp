#include "session/tap_unwinders.hpp"

#include <algorithm>

#include "base/page_cache.hpp"
#include "elf/dynamic_image.hpp"
#include "elf/maps.hpp"
#include "ptrace/signal_frame.hpp"
#include "ptrace/tracee.hpp"

namespace fade {
namespace {

constexpr std::int64_t kPatience = 1'000'000'000;  // ns

void look_for_unwinders(const Program& program, TapArea::Unwinders& unwinders) {
  const PageCache text(program.space->memory());
  for (const Module& module : program.modules) {
    if (module.id.value() <= unwinders.last_module) continue;
    unwinders.last_module = module.id.value();
    const auto image = elf::DynamicImage::open(text, module.span.begin);
    if (const auto symbol = image ? image->lookup("__register_frame") : std::nullopt)
      unwinders.untold.push_back({image->address(*symbol), image->relro()});
  }
}

// The loader relocates a library after it has told of it. Before that none of its functions can be called.
bool is_relocated(const Inferior& inferior, const TapArea::Unwinder& unwinder) {
  if (unwinder.relro.size() == 0) return true;
  const auto maps = elf::read_maps(inferior.pid, inferior.proc());
  const elf::Mapping* const there = maps ? maps->find(unwinder.relro.begin) : nullptr;
  return there && !there->writable;
}

bool tell(const Thread& thread, TapArea& area, Registers registers, RemoteAddr sp) {
  TapArea::Unwinders& unwinders = area.unwinders();
  unwinders.being_told = unwinders.untold.back().function;
  unwinders.is_told = true;
  registers.rip = area.registration().value;
  registers.r11 = unwinders.being_told.value;
  if (!Tracee(thread.tid).set_registers(registers)) return false;
  unwinders.teller = thread.tid;
  unwinders.teller_sp = sp;
  return true;
}

}  // namespace

void TapUnwinders::loaded(Inferior& inferior, Tid stopped) const {
  TapArea* const area = inferior.space().taps();
  if (!area) return;
  area->unwinders().unloading = 0;
  if (!area->is_enabled()) return;
  look_for_unwinders(*inferior.program, area->unwinders());
  if (!area->unwinders().untold.empty()) area->forget_sites(inferior.memory(), stopped);
}

// Until the loader is done no unwinder is told. A thread that is telling one is not waited for, if it does not run.
bool TapUnwinders::may_unload(Inferior& inferior) const {
  TapArea* const area = inferior.space().taps();
  if (!area) return true;
  TapArea::Unwinders& unwinders = area->unwinders();
  const std::int64_t now = clock_.now();
  if (unwinders.unloading == 0) unwinders.unloading = now;
  return !is_being_told(unwinders) || now - unwinders.unloading > kPatience;
}

// Breakpoints record the calls of other threads while one tells an unwinder.
Result<TapUnwinders::Answer> TapUnwinders::ask(const Thread& thread, TapArea& area, const Registers& registers,
                                               RemoteAddr sp) const {
  TapArea::Unwinders& unwinders = area.unwinders();
  look_for_unwinders(*thread.inferior->program, unwinders);
  if (unwinders.teller == thread.tid && unwinders.teller_sp == sp) {
    unwinders.teller = 0;
    std::erase_if(unwinders.untold, [&](const auto& one) { return one.function == unwinders.being_told; });
  }
  if (unwinders.untold.empty()) return Answer::Known;
  // The unwinder may ask the kernel for memory.
  if (const auto allowed = thread.space().may_call(thread.tid); !allowed) return tl::unexpected(allowed.error());
  return may_tell(thread, unwinders, sp) && tell(thread, area, registers, sp) ? Answer::Telling : Answer::NotNow;
}

// Not in a signal handler, which may have interrupted the allocator.
bool TapUnwinders::may_tell(const Thread& thread, const TapArea::Unwinders& unwinders, RemoteAddr sp) const {
  return !is_being_told(unwinders) && unwinders.unloading == 0 && signal_frames(thread.memory(), sp).empty() &&
         is_relocated(*thread.inferior, unwinders.untold.back());
}

}  // namespace fade
