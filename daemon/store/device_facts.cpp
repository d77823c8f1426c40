#include "store/device_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "probes/overrides/paths.hpp"

namespace fade::store {
namespace {

using probes::DevicePath;
using probes::Fact;
using Bytes = std::span<const std::byte>;

constexpr std::size_t kMostArguments = 16;
using ArgumentWords = std::array<std::uint64_t, kMostArguments>;

ArgumentWords argument_words(const CallView& call) {
  ArgumentWords out{};
  const auto& parameters = call.probe.parameters;
  for (std::size_t i = 0; i < std::min(parameters.size(), out.size()); ++i)
    out[i] = probes::argument(call.probe, parameters[i], call.record, call.payload);
  return out;
}

std::vector<DeviceFact> from_struct(const DevicePath& path, Bytes bytes) {
  const bool old = path.answer == DevicePath::Answer::StructR0000;
  std::vector<DeviceFact> out;
  for (auto& property : probes::decode(old ? probes::layout_r0000() : probes::layout_r0600(), bytes))
    out.push_back({std::move(property.name), std::move(property.value)});
  return out;
}

std::vector<DeviceFact> from_attribute(const DevicePath& path, probes::Arguments arguments, Bytes bytes) {
  const int number = probes::int_argument(arguments, path.attribute, -1);
  const probes::DeviceAttribute* known = probes::asked_attribute(path, arguments);
  const bool pointer = known && known->form == probes::DeviceAttribute::Form::Pointer;
  const auto type = pointer ? probes::FieldType::Pointer : probes::FieldType::Int;
  const std::size_t size = pointer ? 8 : 4;
  if (bytes.size() < size) return {};
  const std::string name = known ? std::string(known->name) : fmt::format("{}", number);
  const bool cuda = path.answer == DevicePath::Answer::CudaAttribute;
  return {{(cuda ? "CU_DEVICE_ATTRIBUTE_" : "hipDeviceAttribute") + name, probes::text_of(type, 1, bytes.first(size))}};
}

// Free memory is another number every time; it is no property.
bool is_property(const Fact& fact) { return fact.name.find("free") == fact.name.npos; }

std::vector<DeviceFact> from_values(const DevicePath& path, const CallView& call, PieceKind told) {
  std::vector<DeviceFact> out;
  for (const Fact& fact : probes::facts()) {
    const auto place = probes::place_of(path, fact, 0);
    if (!place || !is_property(fact)) continue;
    const auto piece = call.piece(told, place->parameter);
    if (!piece || place->offset >= piece->bytes.size()) continue;
    const std::size_t size =
        std::min<std::size_t>(std::size_t{fact.element_size} * fact.count, piece->bytes.size() - place->offset);
    const auto type = place->bytes == sizeof(std::uint32_t) ? probes::FieldType::Unsigned : fact.type;
    out.push_back(
        {std::string(fact.name), probes::text_of(type, fact.count, piece->bytes.subspan(place->offset, size))});
  }
  return out;
}

std::vector<DeviceFact> text_fact(std::string_view name, Bytes bytes) {
  return {{std::string(name), probes::text_of(probes::FieldType::Text, 1, bytes)}};
}

}  // namespace

bool tells_device_facts(const probes::Probe& probe) { return probes::device_path(probe.symbol) != nullptr; }

std::optional<int> device_asked(const CallView& call) {
  const DevicePath* path = probes::device_path(call.probe.symbol);
  if (!path || path->device < 0) return std::nullopt;
  return probes::int_argument(argument_words(call), path->device, 0);
}

std::vector<DeviceFact> device_facts(const CallView& call, PieceKind told) {
  const DevicePath* path = probes::device_path(call.probe.symbol);
  if (!path) return {};
  const ArgumentWords words = argument_words(call);
  const auto written = probes::written_by(*path, words);
  const auto piece = call.piece(told, written[0].parameter);
  if (!piece) return {};
  const Bytes bytes = piece->bytes;
  switch (path->answer) {
    case DevicePath::Answer::StructR0000:
    case DevicePath::Answer::StructR0600: return from_struct(*path, bytes);
    case DevicePath::Answer::Attribute:
    case DevicePath::Answer::CudaAttribute: return from_attribute(*path, words, bytes);
    case DevicePath::Answer::Name: return text_fact("name", bytes);
    case DevicePath::Answer::PciAddress: return text_fact("pciBusId", bytes);
    case DevicePath::Answer::MemoryInfo:
    case DevicePath::Answer::Values: return from_values(*path, call, told);
    case DevicePath::Answer::StructCuda: break;  // ints of threads and clocks, which HIP has answered before
  }
  return {};
}

}  // namespace fade::store
