// What fade cost a program, in a sentence.
#pragma once
#include <cstdint>
#include <string>

namespace fade::table {

// All times in ns, and summed over threads unless they say otherwise.
struct Slowdown {
  std::int64_t calls = 0;       // recorded
  std::int64_t tapped = 0;      // of these, without a stop
  std::int64_t taps_ns = 0;     // what these cost; 0: not known
  std::int64_t threads = 0;     // that were stopped
  std::int64_t callers = 0;     // threads that made these calls; 0: as many as were stopped
  std::int64_t calls_ns = 0;    // what the calls' stops cost
  std::int64_t other_ns = 0;    // what other stops cost: the start of programs, loading of libraries
  std::int64_t busiest_ns = 0;  // what the stops of one thread cost, of the thread with most
  std::int64_t life_ns = 0;     // of the program
  bool is_measured = true;      // the kernel's share of a stop is in these times
};

// "about 4x: 20,001 calls x 15.0 us = 300 ms of 400 ms". Of several threads a range: as if only the busiest one's stops
// had held the program up, and as if every stop had. Of calls without a stop:
// "2,000 calls x 15.0 us + 90,000 without a stop x 50 ns = 34.5 ms of 400 ms".
std::string slowdown_text(const Slowdown& cost, bool utf8);

}  // namespace fade::table
