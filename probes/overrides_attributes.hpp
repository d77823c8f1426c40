// The values of hipDeviceAttribute_t (the same numbers in ROCm 5.0-7.2) and of CUdevice_attribute, and which member of hipDeviceProp_t says the
// same: setting the member changes what hipDeviceGetAttribute answers as well. Data; knows nothing of rules.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

namespace fade::probes {

struct DeviceAttribute {
  enum class Form : std::uint8_t {
    Int,      // *pi is an int; a size_t that is greater stands there as INT_MAX, as the runtime does it
    Pointer,  // the runtime writes 8 bytes through the int pointer
    NoInt,    // has no int at all: the runtime refuses it, set the member instead
  };
  int number = 0;
  std::string_view name;          // without hipDeviceAttribute
  std::string_view field = {};    // member of hipDeviceProp_t with the same fact, empty where none has it
  std::uint32_t element = 0;      // of an array
  Form form = Form::Int;
};

std::span<const DeviceAttribute> device_attributes();  // ascending numbers
const DeviceAttribute* attribute_numbered(int number);
// With or without the prefix hipDeviceAttribute.
const DeviceAttribute* attribute_named(std::string_view name);

// Those of CUdevice_attribute that tell such a fact, without CU_DEVICE_ATTRIBUTE_.
std::span<const DeviceAttribute> cuda_attributes();  // ascending numbers
const DeviceAttribute* cuda_attribute_numbered(int number);

}  // namespace fade::probes
