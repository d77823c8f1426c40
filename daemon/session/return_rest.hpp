// Return places give their breakpoints back, in a program that calls from thousands of places.
//
// A place without an open call is lifted: the original byte is in the text again, and the site stays known to fade and
// to the net. A later call from there arms it again. A place that has rested for long is forgotten as soon as no thread
// can have a pending trap of it.
#pragma once
#include <cstdint>

#include "session/roster.hpp"

namespace fade {

// About once a second. Stops no thread. `rest_ns`: for which a place rests before it is forgotten.
void give_back_returns(const Roster& roster, std::int64_t rest_ns);

}  // namespace fade
