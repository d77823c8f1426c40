// A copy of device properties in a program's memory, and what fade has done to it. Passive; copied by fork, because the
// child's memory has the copy, too.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/event.hpp"
#include "base/remote.hpp"
#include "probes/overrides/copies.hpp"

namespace fade {

struct KeptCopy {
  struct Part {  // bytes that a rule sets
    std::uint32_t offset = 0;
    std::uint32_t size = 0;
  };
  CachedId id = 0;
  ProcessId process = 0;  // of the row
  RemoteAddr at;
  const probes::CopyForm* form = nullptr;
  std::vector<std::byte> before, after;  // the whole structure
  std::vector<Part> parts;
  bool differs = false;     // from what the rules say
  bool is_changed = false;  // by fade, and not put back
};

// The user's wish.
struct CachedWish {
  bool find = false, change = false;
  bool has_one_gpu = false;  // the machine has one: it is device 0
  std::int64_t most_ns = 10'000'000'000;
};

}  // namespace fade
