// Which pieces of code belong together, as the unwind information of a mapped object says: one piece for each function, and further
// ones where the compiler put rarely used parts of a function elsewhere. Works for stripped objects. Trusts nothing it reads.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "base/remote.hpp"
#include "elf/dynamic_image.hpp"

namespace fade::elf {

class FunctionExtents {
 public:
  // Empty where the object has no sorted table (.eh_frame_hdr) in the usual encoding.
  static FunctionExtents read(const DynamicImage& image, const Memory& memory);

  // The piece that `address` lies in. It ends where the next one begins at the latest.
  std::optional<RemoteRange> at(RemoteAddr address) const;
  bool empty() const { return starts_.empty(); }

 private:
  std::vector<std::uint64_t> starts_;  // sorted
  std::uint64_t end_ = 0;              // of the object
};

}  // namespace fade::elf
