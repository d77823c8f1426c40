// Which variable of a library keeps a copy of device properties: the copy itself lies in the library's data, or a
// std::vector there holds it (PyTorch's device_properties in libtorch_hip), or a pointer there leads to it.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/remote.hpp"

namespace fade {

// Writable data of a library.
struct LibraryData {
  RemoteRange range;
  std::string library;  // path
};

struct CopyOwner {
  std::string library;       // path; empty: not known
  std::optional<int> index;  // of the copy in a std::vector
};

struct CopyPlace {
  RemoteAddr at;
  std::uint32_t size = 0;
};

// One for each place, in their order. A vector is a better owner than a pointer.
std::vector<CopyOwner> owners_of(const Memory& memory, std::span<const LibraryData> data,
                                 std::span<const CopyPlace> places);

}  // namespace fade
