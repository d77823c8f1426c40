// The places of facts in the answers of functions: the parameter, the offset, the form. The order of the parameters is
// the order of the exported symbol and the same in ROCm 5.0-7.2. Pure data and functions.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "probes/overrides/attributes.hpp"
#include "probes/overrides/facts.hpp"

namespace fade::probes {

// Values of the arguments at entry, by the index of the parameter. Upper halves of 32-bit values may hold garbage.
using Arguments = std::span<const std::uint64_t>;
std::int32_t int_argument(Arguments arguments, int index, std::int32_t otherwise);

struct DevicePath {
  enum class Answer : std::uint8_t {
    StructR0000,
    StructR0600,    // the whole hipDeviceProp_t
    StructCuda,     // the whole CUdevprop
    Attribute,      // one int, selected by a number of HIP
    CudaAttribute,  // one int, selected by a number of CUDA
    Name,           // text within the caller's length
    PciAddress,     // text made of four facts
    MemoryInfo,     // free and total
    Values,         // each fact unchanged, through a pointer of its own
  };
  std::string_view symbol;
  Answer answer = Answer::Values;
  int device = -1;     // parameter with the ordinal; -1: the thread's current device
  int length = -1;     // parameter with the number of bytes that fit
  int attribute = -1;  // parameter with the attribute's number
};
const DevicePath* device_path(std::string_view symbol);  // nullptr: gives no fact that a rule could set

// The target of one rule: elements of a fact, or the answer to one attribute alone.
struct Target {
  const Fact* fact = nullptr;
  std::uint32_t first = 0, count = 1;  // elements
  int attribute = -1;

  bool covers(const Fact* of, std::uint32_t element) const {
    return fact == of && fact != nullptr && element >= first && element - first < count;
  }
  bool overlaps(const Target& other) const;
};
// The attribute that the call asks for, if it is known.
const DeviceAttribute* asked_attribute(const DevicePath& path, Arguments arguments);
// True if this call, with its attribute number and layout, answers a part of the target.
bool tells(const DevicePath& path, Arguments arguments, const Target& target);
// True if any call of that function does.
bool may_tell(const DevicePath& path, const Target& target);

// The bytes that hold an element after a call that answers it. Not for PciAddress, whose text holds four facts.
struct AnswerPlace {
  std::uint8_t parameter = 0;
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;  // 0: the fact's size
};
std::optional<AnswerPlace> place_of(const DevicePath& path, const Fact& fact, std::uint32_t element);

// Parameters that the function writes, and the number of bytes of each that may hold an answer. 0 bytes: unused entry.
struct Written {
  std::uint8_t parameter = 0;
  std::uint32_t bytes = 0;
};
std::array<Written, 2> written_by(const DevicePath& path, Arguments arguments);

// The size of CUdevprop, which cuDeviceGetProperties writes.
inline constexpr std::uint32_t kCudaPropertiesSize = 56;

// For messages: every function that answers the target, "hipDeviceGetAttribute(MultiprocessorCount = 63)".
std::string tellers_of(const Target& target);

}  // namespace fade::probes
