// Which functions a tap can record (tap/stub.hpp), and how. Pure.
#pragma once
#include "probes/probe.hpp"
#include "session/needs.hpp"
#include "tap/stub.hpp"

namespace fade {

// A tap records registers, the known words on the stack, and one out-parameter of at most 16 bytes. It calls the
// function with a copy of those words, so their number must be known.
// Null: the function is tappable. Otherwise the reason, which goes on from the function's name.
const char* why_not_tappable(const Needs& needs, const probes::Probe& probe);
inline bool tappable(const Needs& needs, const probes::Probe& probe) { return !why_not_tappable(needs, probe); }

// What the tap of a tappable function does. Its number is left open.
// True if no book of the recording rests on its calls, as those of memory, streams, launches and ranges do. Then a call
// that is only counted is missing in sums of time alone.
bool may_be_left_out(const probes::Probe& probe);
tap::Tapped tapped(const Needs& needs, const probes::Probe& probe);
// The bytes of an out-parameter that a tap records.
std::size_t out_size(const probes::Parameter& parameter);

}  // namespace fade
