#include "session/tap_refusals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "session/program.hpp"

namespace fade {
namespace {

constexpr std::size_t kMostRefusals = 4;

}  // namespace

void TapRefusals::give_up(Inferior& inferior, const std::string& why) {
  AddressSpace& space = inferior.space();
  TapArea* const area = space.taps();
  if (!area || !area->is_enabled()) return;
  area->enable(space.memory(), false, kNobody);
  space.untap_all();
  inferior.program->taps->give_up(why);
  say_breakpoints(inferior, why);
}

void TapRefusals::say_breakpoints(const Inferior& inferior, const std::string& why) {
  note(inferior, "calls are recorded with breakpoints, not with taps: " + why);
}

void TapRefusals::say_no_ring(Inferior& inferior, std::size_t threads) {
  if (std::exchange(inferior.program->taps->has_said_so, true)) return;
  note(inferior,
       fmt::format("calls of some threads are recorded with breakpoints, not with taps: {} threads have a ring",
                   threads));
}

// The end of the recording tells it once, if many processes are alike.
void TapRefusals::note(const Inferior& inferior, const std::string& text) {
  sink_.notice(Lifecycle{clock_.now(), inferior.id, 0, "note", 0, text});
  const bool is_known = std::ranges::find(sentences_, text) != sentences_.end();
  if (asked_for_taps_ && !is_known && sentences_.size() < kMostRefusals) sentences_.push_back(text);
}

}  // namespace fade
