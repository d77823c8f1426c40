#include "probes/overrides/paths.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fade::probes {
namespace {

using Answer = DevicePath::Answer;

constexpr DevicePath kPaths[] = {
    {"hipGetDevicePropertiesR0600", Answer::StructR0600, 1},
    {"hipGetDevicePropertiesR0000", Answer::StructR0000, 1},
    {"hipGetDeviceProperties", Answer::StructR0000, 1},
    {"hipDeviceGetAttribute", Answer::Attribute, 2, -1, 1},
    {"hipDeviceGetName", Answer::Name, 2, 1},
    {"hipDeviceTotalMem", Answer::Values, 1},
    {"hipMemGetInfo", Answer::MemoryInfo},
    {"hipDeviceComputeCapability", Answer::Values, 2},
    {"hipDeviceGetPCIBusId", Answer::PciAddress, 2, 1},
    {"hipDeviceGetUuid", Answer::Values, 1},
    {"cuDeviceGetAttribute", Answer::CudaAttribute, 2, -1, 1},
    {"cuDeviceGetName", Answer::Name, 2, 1},
    {"cuDeviceTotalMem", Answer::Values, 1},
    {"cuDeviceTotalMem_v2", Answer::Values, 1},
    {"cuMemGetInfo_v2", Answer::MemoryInfo},
    {"cuDeviceComputeCapability", Answer::Values, 2},
    {"cuDeviceGetPCIBusId", Answer::PciAddress, 2, 1},
    {"cuDeviceGetUuid", Answer::Values, 1},
    {"cuDeviceGetUuid_v2", Answer::Values, 1},
    {"cuDeviceGetProperties", Answer::StructCuda, 1},
};

// Facts outside of structs and attributes.
struct Spot {
  std::string_view symbol, fact;
  std::uint8_t parameter = 0;
  std::uint32_t bytes = 0;  // size in the answer, if not the fact's
  std::uint32_t offset = 0;
};
constexpr Spot kSpots[] = {
    {"hipDeviceGetName", "name"},
    {"hipDeviceTotalMem", "totalGlobalMem"},
    {"hipMemGetInfo", "memory.free", 0},
    {"hipMemGetInfo", "totalGlobalMem", 1},
    {"hipDeviceComputeCapability", "major", 0},
    {"hipDeviceComputeCapability", "minor", 1},
    {"hipDeviceGetPCIBusId", "pciDomainID"},
    {"hipDeviceGetPCIBusId", "pciBusID"},
    {"hipDeviceGetPCIBusId", "pciDeviceID"},
    {"hipDeviceGetPCIBusId", "pciFunction"},
    {"hipDeviceGetUuid", "uuid"},
    {"cuDeviceGetName", "name"},
    {"cuDeviceTotalMem", "totalGlobalMem", 0, 4},
    {"cuDeviceTotalMem_v2", "totalGlobalMem"},
    {"cuMemGetInfo_v2", "memory.free", 0},
    {"cuMemGetInfo_v2", "totalGlobalMem", 1},
    {"cuDeviceComputeCapability", "cuda.major", 0},
    {"cuDeviceComputeCapability", "cuda.minor", 1},
    {"cuDeviceGetPCIBusId", "pciDomainID"},
    {"cuDeviceGetPCIBusId", "pciBusID"},
    {"cuDeviceGetPCIBusId", "pciDeviceID"},
    {"cuDeviceGetPCIBusId", "pciFunction"},
    {"cuDeviceGetUuid", "uuid"},
    {"cuDeviceGetUuid_v2", "uuid"},
    {"cuDeviceGetProperties", "maxThreadsPerBlock", 0, 0, 0},
    {"cuDeviceGetProperties", "maxThreadsDim", 0, 0, 4},
    {"cuDeviceGetProperties", "maxGridSize", 0, 0, 16},
    {"cuDeviceGetProperties", "sharedMemPerBlock", 0, 4, 28},
    {"cuDeviceGetProperties", "totalConstMem", 0, 4, 32},
    {"cuDeviceGetProperties", "warpSize", 0, 0, 36},
    {"cuDeviceGetProperties", "memPitch", 0, 4, 40},
    {"cuDeviceGetProperties", "regsPerBlock", 0, 0, 44},
    {"cuDeviceGetProperties", "clockRate", 0, 0, 48},
    {"cuDeviceGetProperties", "textureAlignment", 0, 4, 52},
};
// The longest texts: a name of 255 bytes, an address of 4 numbers. A larger buffer of the caller is not read beyond.
constexpr std::int32_t kLongestText = 256;

const Spot* spot_of(const DevicePath& path, const Fact& fact) {
  const auto* found = std::find_if(std::begin(kSpots), std::end(kSpots),
                                   [&](const Spot& s) { return s.symbol == path.symbol && s.fact == fact.name; });
  return found == std::end(kSpots) ? nullptr : found;
}

int struct_offset(const DevicePath& path, const Fact& fact) {
  if (path.answer == Answer::StructR0000) return fact.offset_r0000;
  return path.answer == Answer::StructR0600 ? fact.offset_r0600 : -1;
}

bool mirrors(const DeviceAttribute& attribute, const Target& target) {
  return attribute.form != DeviceAttribute::Form::NoInt && target.fact != nullptr &&
         attribute.field == target.fact->name && target.covers(target.fact, attribute.element);
}

bool is_attribute(const DevicePath& path) {
  return path.answer == Answer::Attribute || path.answer == Answer::CudaAttribute;
}

std::string cuda_tellers(const Target& target) {
  std::string out;
  for (const DeviceAttribute& attribute : cuda_attributes())
    if (mirrors(attribute, target))
      out += fmt::format("{}cuDeviceGetAttribute({} = {})", out.empty() ? "" : ", ", attribute.name, attribute.number);
  return out;
}

std::string attribute_tellers(const Target& target) {
  std::string out;
  for (const DeviceAttribute& attribute : device_attributes()) {
    const bool second_spelling = attribute.name == "PciDomainId";
    if (second_spelling || !(mirrors(attribute, target) || attribute.number == target.attribute)) continue;
    out += fmt::format("{}hipDeviceGetAttribute({} = {})", out.empty() ? "" : ", ", attribute.name, attribute.number);
  }
  if (out.empty() && target.attribute >= 0) out = fmt::format("hipDeviceGetAttribute({})", target.attribute);
  return out;
}

}  // namespace

std::int32_t int_argument(Arguments arguments, int index, std::int32_t otherwise) {
  if (index < 0 || static_cast<std::size_t>(index) >= arguments.size()) return otherwise;
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(arguments[static_cast<std::size_t>(index)]));
}

const DevicePath* device_path(std::string_view symbol) {
  const auto* found =
      std::find_if(std::begin(kPaths), std::end(kPaths), [&](const DevicePath& p) { return p.symbol == symbol; });
  return found == std::end(kPaths) ? nullptr : found;
}

bool Target::overlaps(const Target& other) const {
  if (attribute >= 0 && other.attribute >= 0) return attribute == other.attribute;
  if (attribute >= 0 || other.attribute >= 0) {
    const DeviceAttribute* alone = attribute_numbered(std::max(attribute, other.attribute));
    return alone != nullptr && mirrors(*alone, attribute >= 0 ? other : *this);
  }
  return fact == other.fact && first < other.first + other.count && other.first < first + count;
}

const DeviceAttribute* asked_attribute(const DevicePath& path, Arguments arguments) {
  const std::int32_t number = int_argument(arguments, path.attribute, -1);
  return path.answer == Answer::CudaAttribute ? cuda_attribute_numbered(number) : attribute_numbered(number);
}

bool tells(const DevicePath& path, Arguments arguments, const Target& target) {
  if (!is_attribute(path)) return may_tell(path, target);
  const std::int32_t number = int_argument(arguments, path.attribute, -1);
  if (number < 0) return false;
  if (path.answer == Answer::Attribute && target.attribute == number) return true;
  const DeviceAttribute* attribute = asked_attribute(path, arguments);
  return attribute != nullptr && mirrors(*attribute, target);
}

bool may_tell(const DevicePath& path, const Target& target) {
  if (is_attribute(path)) {
    if (target.attribute >= 0) return path.answer == Answer::Attribute;
    const auto all = path.answer == Answer::Attribute ? device_attributes() : cuda_attributes();
    return std::any_of(all.begin(), all.end(), [&](const DeviceAttribute& a) { return mirrors(a, target); });
  }
  if (target.fact == nullptr) return false;
  return struct_offset(path, *target.fact) >= 0 || spot_of(path, *target.fact) != nullptr;
}

std::optional<AnswerPlace> place_of(const DevicePath& path, const Fact& fact, std::uint32_t element) {
  if (const int offset = struct_offset(path, fact); offset >= 0) {
    const std::uint32_t skipped = fact.type == FieldType::Bits ? 0 : element * fact.element_size;
    return AnswerPlace{0, static_cast<std::uint32_t>(offset) + skipped};
  }
  if (path.answer == Answer::PciAddress) return std::nullopt;
  const Spot* spot = spot_of(path, fact);
  if (spot == nullptr) return std::nullopt;
  const std::uint32_t skipped = path.answer == Answer::StructCuda ? element * fact.element_size : 0;
  return AnswerPlace{spot->parameter, spot->offset + skipped, spot->bytes};
}

std::array<Written, 2> written_by(const DevicePath& path, Arguments arguments) {
  switch (path.answer) {
    case Answer::StructR0000: return {{{0, layout_r0000().size}}};
    case Answer::StructR0600: return {{{0, layout_r0600().size}}};
    case Answer::StructCuda: return {{{0, kCudaPropertiesSize}}};
    case Answer::Name:
    case Answer::PciAddress: {
      const std::int32_t room = std::clamp(int_argument(arguments, path.length, 0), 0, kLongestText);
      return {{{0, static_cast<std::uint32_t>(room)}}};
    }
    case Answer::MemoryInfo: return {{{0, 8}, {1, 8}}};
    case Answer::Attribute:
    case Answer::CudaAttribute: {
      const DeviceAttribute* known = asked_attribute(path, arguments);
      return {{{0, known != nullptr && known->form == DeviceAttribute::Form::Pointer ? 8u : 4u}}};
    }
    case Answer::Values: break;
  }
  std::array<Written, 2> out{};
  for (const Spot& spot : kSpots) {
    if (spot.symbol == path.symbol)
      out[spot.parameter] = {spot.parameter, spot.bytes > 0 ? spot.bytes : find_fact(spot.fact)->element_size};
  }
  return out;
}

std::string tellers_of(const Target& target) {
  std::string out;
  const auto add = [&](const std::string& teller) { out += (out.empty() ? "" : ", ") + teller; };
  for (const DevicePath& path : kPaths) {
    if (!may_tell(path, target)) continue;
    const bool in_struct = target.fact != nullptr && struct_offset(path, *target.fact) >= 0;
    if (is_attribute(path)) {
      add(path.answer == Answer::Attribute ? attribute_tellers(target) : cuda_tellers(target));
    } else if (in_struct) {
      add(fmt::format("{} (byte {})", path.symbol, place_of(path, *target.fact, target.first)->offset));
    } else {
      add(std::string(path.symbol));
    }
  }
  return out;
}

}  // namespace fade::probes
