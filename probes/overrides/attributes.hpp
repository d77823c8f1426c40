// The values of hipDeviceAttribute_t (the same numbers in ROCm 5.0-7.2) and of CUdevice_attribute. Each value names the
// member of hipDeviceProp_t with the same fact: a rule for the member changes the answer of hipDeviceGetAttribute too.
// Data; knows no rules.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

namespace fade::probes {

struct DeviceAttribute {
  enum class Form : std::uint8_t {
    Int,      // *pi is an int; a size_t above INT_MAX gives INT_MAX, as in the runtime
    Pointer,  // the runtime writes 8 bytes through the int pointer
    NoInt,    // the runtime refuses this attribute, so set the member instead
  };
  int number = 0;
  std::string_view name;        // without hipDeviceAttribute
  std::string_view field = {};  // member of hipDeviceProp_t with the same fact; empty if there is none
  std::uint32_t element = 0;    // index in an array
  Form form = Form::Int;
};

std::span<const DeviceAttribute> device_attributes();  // ascending numbers
const DeviceAttribute* attribute_numbered(int number);
// With or without the prefix hipDeviceAttribute.
const DeviceAttribute* attribute_named(std::string_view name);

// The attributes of CUdevice_attribute with such a fact, without CU_DEVICE_ATTRIBUTE_.
std::span<const DeviceAttribute> cuda_attributes();  // ascending numbers
const DeviceAttribute* cuda_attribute_numbered(int number);

}  // namespace fade::probes
