// Where each function that tells facts about a device puts them: which parameter, at which offset, in which form. The
// order of the parameters is that of the exported symbol and the same in ROCm 5.0-7.2. Pure data and functions.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "probes/overrides_attributes.hpp"
#include "probes/overrides_facts.hpp"

namespace fade::probes {

// Values of the arguments at entry, by the index of the parameter. Upper halves of 32-bit ones need not be clean.
using Arguments = std::span<const std::uint64_t>;
std::int32_t int_argument(Arguments arguments, int index, std::int32_t otherwise);

struct DevicePath {
  enum class Answer : std::uint8_t {
    StructR0000, StructR0600,  // the whole hipDeviceProp_t
    Attribute,                 // one int, chosen by a number of HIP
    CudaAttribute,             // the same, by a number of CUDA
    Name,                      // text within the caller's length
    PciAddress,                // text made of four facts
    MemoryInfo,                // free and total
    Values,                    // each fact as it is, through a pointer of its own
  };
  std::string_view symbol;
  Answer answer = Answer::Values;
  int device = -1;     // parameter that says the ordinal; -1: the thread's current device is meant
  int length = -1;     // parameter that says how many bytes fit
  int attribute = -1;  // parameter that says the attribute's number
};
const DevicePath* device_path(std::string_view symbol);  // nullptr: tells nothing that a rule could set

// What one rule sets: elements of a fact, or the answer to one attribute alone.
struct Target {
  const Fact* fact = nullptr;
  std::uint32_t first = 0, count = 1;  // elements
  int attribute = -1;

  bool covers(const Fact* of, std::uint32_t element) const {
    return fact == of && fact != nullptr && element >= first && element - first < count;
  }
  bool overlaps(const Target& other) const;
};
// The attribute that the call asks for, as far as it is known.
const DeviceAttribute* asked_attribute(const DevicePath& path, Arguments arguments);
// Whether this call (its number of an attribute, its layout) tells something of the target.
bool tells(const DevicePath& path, Arguments arguments, const Target& target);
// Whether any call of that function does.
bool may_tell(const DevicePath& path, const Target& target);

// The bytes that hold an element after a call that tells it. Not for PciAddress, whose text holds four facts.
struct AnswerPlace {
  std::uint8_t parameter = 0;
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;  // 0: those of the fact
};
std::optional<AnswerPlace> place_of(const DevicePath& path, const Fact& fact, std::uint32_t element);

// Parameters that the function writes, and how many bytes of each may hold an answer; 0 bytes: unused entry.
struct Written {
  std::uint8_t parameter = 0;
  std::uint32_t bytes = 0;
};
std::array<Written, 2> written_by(const DevicePath& path, Arguments arguments);

// For people: every function that tells the target, "hipDeviceGetAttribute(MultiprocessorCount = 63)".
std::string tellers_of(const Target& target);

}  // namespace fade::probes
