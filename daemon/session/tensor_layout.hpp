// The places of sizes, type and device in PyTorch's TensorImpl. They differ between releases and nothing in the library
// tells them, so they are found in a tensor whose sizes and type are known. Pure.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "probes/tensors.hpp"

namespace fade {

// Offsets in a TensorImpl.
struct TensorLayout {
  static constexpr std::size_t kInline = 5;      // sizes that lie in the object; more lie elsewhere
  static constexpr std::size_t kMostRead = 320;  // bytes of an object: it has 200 to 240

  enum class Flag : std::uint8_t { Unknown, First, Last };  // of std::optional, the flag is behind the device

  std::size_t sizes = 0;  // the number of sizes, then the sizes or their address, then the strides
  std::size_t type = 0;   // 16 bits
  Flag device_flag = Flag::Unknown;

  std::size_t device() const { return type + 2; }
  std::size_t end() const { return device() + 3; }
  bool operator==(const TensorLayout&) const = default;
};

struct KnownTensor {
  std::vector<std::int64_t> sizes;
  std::uint8_t type = 0;
};

// The layout of a tensor that is contiguous and has just been made. nullopt: no place fits, or several do, or the
// tensor tells too little: one to five sizes and at least two elements are needed.
std::optional<TensorLayout> find_tensor_layout(std::span<const std::byte> object, const KnownTensor& known);

// The tensor in an object's bytes, without sizes that lie elsewhere. `outside`: the number of these.
probes::Tensor read_tensor(std::span<const std::byte> object, const TensorLayout& layout, std::uint64_t& outside);

}  // namespace fade
