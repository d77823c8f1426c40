#include "probes/call_facts.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "probes/hsa_calls.hpp"

namespace fade::probes {
namespace {

class Facts {
 public:
  Facts(const Probe& probe, const CallRecord& record, Payload payload)
      : probe_(probe), record_(record), payload_(payload) {}

  std::optional<std::uint64_t> value(Role role) const { return value_with_role(probe_, role, record_, payload_); }
  std::size_t bytes(Role role, std::span<std::byte, 16> into) const {
    return bytes_with_role(probe_, role, record_, payload_, into);
  }
  std::optional<Dim3> dim3(Role whole, Role x, Role y, Role z) const {
    if (const auto found = dim3_with_role(probe_, whole, record_, payload_)) return found;
    const auto found_x = value(x);
    if (!found_x) return std::nullopt;
    const auto part = [](std::optional<std::uint64_t> v) { return static_cast<std::uint32_t>(v.value_or(1)); };
    return Dim3{part(found_x), part(value(y)), part(value(z))};
  }

 private:
  const Probe& probe_;
  const CallRecord& record_;
  Payload payload_;
};

std::uint32_t blocks(std::uint32_t items, std::uint32_t block) {
  return block == 0 ? items : static_cast<std::uint32_t>((std::uint64_t{items} + block - 1) / block);
}

// The direction of copy functions that have no parameter for it.
struct NamedKind {
  std::string_view part;
  int kind;
};
// They unload GPU code, or lead a capture into another stream.
constexpr std::string_view kWithBook[] = {"hipModuleUnload", "hipLibraryUnload", "hipStreamWaitEvent",
                                          "hipStreamWaitEvent_spt"};
constexpr NamedKind kNamedKinds[] = {
    {"HtoD", 1}, {"HtoA", 1}, {"DtoH", 2}, {"AtoH", 2}, {"DtoD", 3}, {"DtoA", 3}, {"AtoD", 3}, {"AtoA", 3}, {"Peer", 3},
};

// Bytes of one channel by the number of hipArray_Format. CUDA uses the same numbers.
struct FormatSize {
  std::uint64_t format;
  std::uint64_t bytes;
};
constexpr FormatSize kFormatSizes[] = {{0x01, 1}, {0x02, 2}, {0x03, 4}, {0x08, 1},
                                       {0x09, 2}, {0x0a, 4}, {0x10, 2}, {0x20, 4}};
constexpr std::uint64_t kMostLevels = 32;

// A list of structures that each name a kernel; nullptr if the function has none.
const Parameter* kernel_list(const Probe& probe) {
  if (probe.with_role(Role::Kernel)) return nullptr;
  const auto it = std::ranges::find_if(probe.parameters, [](const Parameter& p) {
    return p.pointee.cls == TypeClass::Struct && p.pointee.size > 0 && p.length_param >= 0;
  });
  return it == probe.parameters.end() ? nullptr : &*it;
}

std::optional<KernelUse> kernel_used(const Probe& probe, const CallRecord& record, Payload payload) {
  const Facts facts(probe, record, payload);
  const auto kernel = facts.value(Role::Kernel);
  if (!kernel) return std::nullopt;
  return KernelUse{*kernel, launch_shape(probe, record, payload), facts.value(Role::Stream)};
}

// True for a node that is not a kernel, in the hipGraphNodeType of hipGraphAddNode (6.0 and later).
bool is_other_node(const Probe& probe, const CallRecord& record, Payload payload) {
  return probe.kind == Kind::Graph && value_with_role(probe, Role::Value, record, payload).value_or(0) != 0;
}

bool multiply(std::uint64_t& product, std::optional<std::uint64_t> factor) {
  return !factor || !__builtin_mul_overflow(product, *factor, &product);
}

// Bytes of one element of an array, from its channels: widths in bits, or a format and a number.
std::optional<std::uint64_t> element_bytes(const Facts& facts) {
  std::array<std::byte, 16> channels;
  if (facts.bytes(Role::ChannelBits, channels) == channels.size()) {
    std::array<std::uint32_t, 4> bits;
    std::memcpy(bits.data(), channels.data(), sizeof bits);
    std::uint64_t sum = 0;
    for (const std::uint32_t b : bits) sum += std::min<std::uint32_t>(b, 64);
    return (sum + 7) / 8;
  }
  const auto format = facts.value(Role::Format);
  if (!format) return std::nullopt;
  for (const FormatSize& size : kFormatSizes)
    if (size.format == *format) return size.bytes * std::min<std::uint64_t>(facts.value(Role::Channels).value_or(1), 4);
  return std::nullopt;
}

// A height or depth of 0 means that the array lacks this dimension. Each mipmap level halves the dimensions.
std::optional<std::uint64_t> array_bytes(const Facts& facts, std::uint64_t element) {
  const auto extent = [&](Role role) { return std::max<std::uint64_t>(facts.value(role).value_or(1), 1); };
  const std::uint64_t width = extent(Role::Width), height = extent(Role::Height), depth = extent(Role::Depth);
  std::uint64_t sum = 0;
  for (std::uint64_t level = 0; level < std::min(extent(Role::Levels), kMostLevels); ++level) {
    const auto part = [&](std::uint64_t whole) { return std::max<std::uint64_t>(whole >> level, 1); };
    std::uint64_t bytes = element;
    if (!multiply(bytes, part(width)) || !multiply(bytes, part(height)) || !multiply(bytes, part(depth)))
      return std::nullopt;
    if (__builtin_add_overflow(sum, bytes, &sum)) return std::nullopt;
  }
  return sum;
}

// A call that succeeds has the result 0 and tells nothing but what its arguments say.
bool can_be_summed(const Probe& probe) {
  const bool has_book = probe.memory_action() != MemoryAction() || hsa_call(probe) != HsaCall::None ||
                        std::ranges::find(kWithBook, probe.symbol) != std::end(kWithBook);
  return !has_book && probe.group != "marker" && probe.api != "user" && !probe.entry_only && probe.result.size == 4 &&
         !probe.failed(0);
}

}  // namespace

std::optional<LaunchShape> launch_shape(const Probe& probe, const CallRecord& record, Payload payload) {
  const Facts facts(probe, record, payload);
  const auto grid = facts.dim3(Role::Grid, Role::GridX, Role::GridY, Role::GridZ);
  const auto block = facts.dim3(Role::Block, Role::BlockX, Role::BlockY, Role::BlockZ);
  if (!grid || !block) return std::nullopt;
  LaunchShape out{*grid, *block, facts.value(Role::SharedBytes).value_or(0)};
  if (probe.grid_in_work_items)
    out.grid = {blocks(grid->x, block->x), blocks(grid->y, block->y), blocks(grid->z, block->z)};
  return out;
}

std::vector<KernelUse> kernels_used(const Probe& probe, const CallRecord& record, Payload payload) {
  std::vector<KernelUse> out;
  if (is_other_node(probe, record, payload)) return out;
  const Parameter* list = kernel_list(probe);
  if (!list) {
    if (const auto one = kernel_used(probe, record, payload)) out.push_back(*one);
    return out;
  }
  const auto index = static_cast<std::uint8_t>(index_of(probe, *list));
  const auto piece = find_piece(payload, PieceKind::In, index);
  const std::size_t size = list->pointee.size;
  for (std::size_t at = 0; piece && at + size <= piece->bytes.size(); at += size) {
    std::vector<std::byte> element;  // each element as if it were the only one
    append_piece(element, {.kind = PieceKind::In, .param = index}, piece->bytes.subspan(at, size));
    if (const auto one = kernel_used(probe, record, element)) out.push_back(*one);
  }
  return out;
}

std::optional<std::uint64_t> byte_count(const Probe& probe, const CallRecord& record, Payload payload) {
  const Facts facts(probe, record, payload);
  if (probe.kind == Kind::Alloc)
    if (const auto element = element_bytes(facts)) return array_bytes(facts, *element);
  auto bytes = facts.value(Role::Bytes);
  if (!bytes) {
    bytes = facts.value(Role::Count);
    const Parameter* value = probe.with_role(Role::Value);
    if (bytes && !(value && multiply(*bytes, value->type.size))) return std::nullopt;
  }
  if (!bytes && probe.kind == Kind::Alloc) bytes = out_value(probe, Role::Pitch, record, payload);
  if (!bytes) bytes = facts.value(Role::Width);
  if (!bytes || !multiply(*bytes, facts.value(Role::Height)) || !multiply(*bytes, facts.value(Role::Depth)))
    return std::nullopt;
  return bytes;
}

std::optional<int> copy_kind(const Probe& probe, const CallRecord& record, Payload payload) {
  if (const auto kind = value_with_role(probe, Role::CopyKind, record, payload)) return static_cast<int>(*kind);
  for (const NamedKind& named : kNamedKinds)
    if (probe.symbol.find(named.part) != std::string::npos) return named.kind;
  return std::nullopt;
}

bool is_only_summed(const Probe& probe) {
  return (probe.kind == Kind::Other || probe.kind == Kind::Error) && can_be_summed(probe);
}

bool may_be_summed(const Probe& probe) {
  constexpr Kind kKinds[] = {Kind::Copy, Kind::Set, Kind::Event, Kind::GetDevice, Kind::DeviceQuery};
  const bool launches_one = probe.kind == Kind::Launch && probe.with_role(Role::Kernel) != nullptr;
  return (launches_one || std::ranges::find(kKinds, probe.kind) != std::end(kKinds)) && probe.api != "nvml" &&
         can_be_summed(probe);
}

}  // namespace fade::probes
