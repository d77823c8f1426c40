#include "supervisor/heard_signals.hpp"

#include <algorithm>

namespace fade {
namespace {

bool merges(int signal) { return signal < SIGRTMIN; }

}  // namespace

HeardSignals::Heard* HeardSignals::find(const SignalKey& key) {
  const auto end = heard_.begin() + static_cast<std::ptrdiff_t>(used_);
  const auto it = std::find_if(heard_.begin(), end, [&](const Heard& heard) { return heard.key == key; });
  return it == end ? nullptr : &*it;
}

void HeardSignals::hear(const SignalKey& key, std::int64_t now) {
  Heard* heard = find(key);
  if (!heard && used_ < heard_.size()) heard = &heard_[used_++];
  if (!heard) heard = &*std::ranges::min_element(heard_, {}, &Heard::when);
  if (heard->key != key) *heard = {key};
  heard->when = now;
  heard->unanswered = merges(key.signal) ? 1 : heard->unanswered + 1;
}

bool HeardSignals::answers_for(const SignalNote& note) {
  Heard* heard = find(note.key);
  if (!heard) return false;
  if (heard->unanswered == 0) return merges(note.key.signal) && note.when <= heard->when + kMerge;
  --heard->unanswered;
  return true;
}

}  // namespace fade
