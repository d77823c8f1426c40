#include "session/engines.hpp"

#include <algorithm>

namespace fade {

Capture& Engines::of(const Entry& entry) const {
  const auto it = std::ranges::find_if(all_, [&](const Capture* engine) { return engine->can(entry); });
  return it == all_.end() ? *all_.back() : **it;
}

bool Engines::want_jumps() const {
  return std::ranges::any_of(all_, [](const Capture* engine) { return engine->wants_jumps(); });
}

std::vector<Result<bool>> Engines::watch(Inferior& inferior, std::span<const WatchedFunction> functions,
                                         Tid stopped) const {
  std::vector<Result<bool>> out(functions.size(), false);
  for (Capture* const engine : all_) {
    std::vector<WatchedFunction> own;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < functions.size(); ++i) {
      if (&of(functions_[functions[i].entry]) != engine) continue;
      own.push_back(functions[i]);
      places.push_back(i);
    }
    if (own.empty()) continue;
    auto done = engine->watch(inferior, own, stopped);
    for (std::size_t i = 0; i < places.size(); ++i) out[places[i]] = std::move(done[i]);
  }
  return out;
}

std::optional<std::uint32_t> Engines::on_trap(Thread& thread, const Registers& registers, std::int64_t now) const {
  for (Capture* const engine : all_)
    if (const auto charged = engine->on_trap(thread, registers, now)) return charged;
  return std::nullopt;
}

void Engines::drain() const {
  for (Capture* const engine : all_) engine->drain();
}

void Engines::loaded(Inferior& inferior, Tid stopped) const {
  for (Capture* const engine : all_) engine->loaded(inferior, stopped);
}

bool Engines::may_unload(Inferior& inferior) const {
  return std::ranges::all_of(all_, [&](Capture* engine) { return engine->may_unload(inferior); });
}

void Engines::forget(Inferior& inferior, RemoteRange range, Tid stopped) const {
  for (Capture* const engine : all_) engine->forget(inferior, range, stopped);
}

void Engines::leave(Inferior& inferior, Tid stopped) const {
  for (Capture* const engine : all_) engine->leave(inferior, stopped);
}

void Engines::copied(Inferior& inferior, Tid stopped) const {
  for (Capture* const engine : all_) engine->copied(inferior, stopped);
}

void Engines::thread_exits(Thread& thread) const {
  for (Capture* const engine : all_) engine->thread_exits(thread);
}

void Engines::set_recording(bool on) const {
  for (Capture* const engine : all_) engine->set_recording(on);
}

void Engines::thread_ended(Thread& thread, bool process_ended) const {
  for (Capture* const engine : all_) {
    engine->thread_ended(thread, process_ended);
    engine->drain();
  }
}

}  // namespace fade
