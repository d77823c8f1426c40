// Groups pieces of code by function, from the unwind information of a mapped object. A function has one piece, and
// further pieces if the compiler moved rarely used parts. Works for stripped objects. Nothing that is read is trusted.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "base/remote.hpp"
#include "elf/dynamic_image.hpp"

namespace fade::elf {

class FunctionExtents {
 public:
  // Empty if the object has no sorted table (.eh_frame_hdr) in the usual encoding.
  static FunctionExtents read(const DynamicImage& image, const Memory& memory);

  // The piece that contains `address`. It ends at the beginning of the next piece at the latest.
  std::optional<RemoteRange> at(RemoteAddr address) const;
  bool empty() const { return starts_.empty(); }

 private:
  std::vector<std::uint64_t> starts_;  // sorted
  std::uint64_t end_ = 0;              // of the object
};

}  // namespace fade::elf
