#include "probes/overrides/assignments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/suggest.hpp"
#include "probes/overrides/value.hpp"

namespace fade::probes {
namespace {

constexpr std::string_view kAttributePrefix = "attribute.";

// Facts that are above 0 on every device.
constexpr std::string_view kPositive[] = {
    "multiProcessorCount", "warpSize",       "totalGlobalMem", "maxThreadsPerMultiProcessor",
    "maxThreadsPerBlock",  "maxThreadsDim",  "maxGridSize",    "clockRate",
    "memoryClockRate",     "memoryBusWidth", "regsPerBlock",   "regsPerMultiprocessor",
    "sharedMemPerBlock"};

bool is_too_small(const Target& target, const ValueShape& shape, std::span<const std::byte> bytes) {
  if (std::ranges::find(kPositive, fact_name(target)) == std::end(kPositive)) return false;
  for (std::size_t at = 0; at + shape.element_size <= bytes.size(); at += shape.element_size)
    if (element(bytes.subspan(at), shape.element_size) <= 0) return true;
  return false;
}

Result<Assignment> assign(const Target& target, ValueShape shape, const Spec& spec) {
  auto bytes = parse_value(shape, spec.value, spec.quoted);
  if (!bytes) return tl::unexpected(bytes.error());
  if (is_too_small(target, shape, *bytes))
    return fail("", fmt::format("no device has {} {}", escaped(spec.value), shape.name), "use a number greater than 0");
  return Assignment{0, target, std::move(*bytes)};
}

Result<Assignments> one(Result<Assignment> assignment) {
  if (!assignment) return tl::unexpected(assignment.error());
  Assignments out;
  out.push_back(std::move(*assignment));
  return out;
}

// ---- attribute.NAME and attribute.NUMBER
std::optional<int> attribute_number(std::string_view name) {
  if (const DeviceAttribute* known = attribute_named(name)) return known->number;
  const auto number = parse_value({"", FieldType::Int}, name, false);
  std::int32_t value = -1;
  if (number) std::memcpy(&value, number->data(), sizeof value);
  return value >= 0 ? std::optional<int>(value) : std::nullopt;
}

tl::unexpected<Error> unknown_attribute(std::string_view name) {
  std::vector<std::string> names;
  for (const DeviceAttribute& attribute : device_attributes()) names.emplace_back(attribute.name);
  const std::string near = nearest(name, names);
  return fail("", fmt::format("no attribute of a HIP device is named '{}'", escaped(name)),
              near.empty() ? "use a name of hipDeviceAttribute_t or its number"
                           : fmt::format("did you mean attribute.{}?", near));
}

Result<Assignments> attribute_assignments(const Spec& spec) {
  const std::string_view name = std::string_view(spec.field).substr(kAttributePrefix.size());
  const auto number = attribute_number(name);
  if (!number) return unknown_attribute(name);
  if (spec.index) return fail("", "an attribute is one number, not an array", "leave the index away");
  const DeviceAttribute* known = attribute_numbered(*number);
  if (known != nullptr && known->form == DeviceAttribute::Form::NoInt) {
    return fail("", fmt::format("hipDeviceGetAttribute has no number to tell for {}", known->name),
                fmt::format("set the property {} instead", known->field));
  }
  ValueShape shape{spec.field};
  if (known != nullptr && known->form == DeviceAttribute::Form::Pointer) {
    shape.type = FieldType::Pointer;
    shape.element_size = 8;
  }
  const Fact* mirrored = known != nullptr ? find_fact(known->field) : nullptr;
  shape.in_bytes = mirrored != nullptr && mirrored->in_bytes;
  return one(assign({nullptr, 0, 1, *number}, shape, spec));
}

// ---- pciBusId: four facts in one text
Result<Assignments> pci_assignments(const Spec& spec) {
  const auto address = parse_pci_address(spec.value);
  if (!address) return tl::unexpected(address.error());
  const std::pair<const char*, std::int32_t> parts[] = {{"pciDomainID", address->domain},
                                                        {"pciBusID", address->bus},
                                                        {"pciDeviceID", address->device},
                                                        {"pciFunction", address->function}};
  Assignments out;
  for (const auto& [fact, value] : parts) {
    const auto bytes = std::as_bytes(std::span(&value, 1));
    out.push_back({0, {find_fact(fact)}, {bytes.begin(), bytes.end()}});
  }
  return out;
}

// ---- members of the struct and their like
tl::unexpected<Error> unknown_field(const std::string& name) {
  auto names = fact_names();
  names.emplace_back("pciBusId");
  const std::string near = nearest(name, names);
  const std::string fix = near.empty() ? "use a member of hipDeviceProp_t, memory.free, pciBusId or attribute.NAME"
                                       : fmt::format("did you mean {}?", near);
  return fail("", fmt::format("no property of a HIP device is named '{}'", escaped(name)), fix);
}

Result<Assignments> bit_assignments(const Fact& arch, std::string_view bit, const Spec& spec) {
  const auto bits = arch_bit_names();
  const auto found = std::find(bits.begin(), bits.end(), bit);
  if (found == bits.end()) {
    const std::string near = nearest(bit, std::vector<std::string>(bits.begin(), bits.end()));
    const std::string fix =
        near.empty() ? "use one of its names, e.g. arch.hasDoubles" : fmt::format("did you mean arch.{}?", near);
    return fail("", fmt::format("hipDeviceArch_t has no member '{}'", escaped(bit)), fix);
  }
  const auto index = static_cast<std::uint32_t>(found - bits.begin());
  return one(assign({&arch, index, 1}, {spec.field, FieldType::Bits, 1, 1}, spec));
}

Result<Assignments> element_assignments(const Fact& fact, std::uint32_t index, const Spec& spec) {
  if (fact.count == 1 || fact.type == FieldType::Bits) {
    return fail("", fmt::format("{} is one value, not an array", fact.name), "leave the index away");
  }
  if (index >= fact.count) {
    return fail("", fmt::format("{} has {} elements", fact.name, fact.count),
                fmt::format("use [0] to [{}]", fact.count - 1));
  }
  ValueShape shape{element_name(fact, index), fact.type, 1, fact.element_size, fact.in_bytes};
  return one(assign({&fact, index, 1}, std::move(shape), spec));
}

}  // namespace

std::string_view fact_name(const Target& target) {
  if (target.fact != nullptr) return target.fact->name;
  const DeviceAttribute* known = attribute_numbered(target.attribute);
  return known == nullptr ? std::string_view() : known->field;
}

// The element as a signed number, in its width.
std::int64_t element(std::span<const std::byte> bytes, std::size_t width) {
  std::int32_t narrow = 0;
  std::uint64_t wide = 0;
  if (width == sizeof narrow) {
    std::memcpy(&narrow, bytes.data(), width);
    return narrow;
  }
  std::memcpy(&wide, bytes.data(), std::min(width, sizeof wide));
  return wide > 0 ? 1 : 0;  // a size_t
}

Result<Assignments> assignments_of(const Spec& spec) {
  constexpr std::string_view kArch = "arch.";
  if (spec.field.starts_with(kAttributePrefix)) return attribute_assignments(spec);
  if (spec.field == "pciBusId" && !spec.index) return pci_assignments(spec);
  if (spec.field.starts_with(kArch)) {
    return bit_assignments(*find_fact("arch"), std::string_view(spec.field).substr(kArch.size()), spec);
  }
  const Fact* fact = find_fact(spec.field);
  if (fact == nullptr) return unknown_field(spec.field);
  if (spec.index) return element_assignments(*fact, *spec.index, spec);
  ValueShape shape{std::string(fact->name), fact->type, fact->count, fact->element_size, fact->in_bytes};
  return one(assign({fact, 0, fact->count}, std::move(shape), spec));
}

}  // namespace fade::probes
