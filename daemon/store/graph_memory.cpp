#include "store/graph_memory.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>
#include <unordered_map>

namespace fade::store {
namespace {

using probes::Role;

// hipMemAllocNodeParams: the ordinal of poolProps.location, bytesize, dptr.
constexpr std::size_t kLocation = 12, kBytes = 104, kAddress = 112, kAllocSize = 120;
// hipGraphNodeParams: its union, which holds the same, and of a free the address.
constexpr std::size_t kUnion = 16;
// hipGraphNodeType of HIP 6.0 and later, which alone have hipGraphAddNode.
constexpr std::uint64_t kAllocNode = 10, kFreeNode = 11;

template <class T>
T at(std::span<const std::byte> bytes, std::size_t offset) {
  T value{};
  if (offset + sizeof value <= bytes.size()) std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::optional<MemoryNode> allocation(std::span<const std::byte> params) {
  if (params.size() < kAllocSize) return std::nullopt;
  return MemoryNode{at<std::uint64_t>(params, kAddress), at<std::uint64_t>(params, kBytes),
                    at<std::int32_t>(params, kLocation), false};
}

// The bytes of the structure of that type after the call.
std::span<const std::byte> left_in(const CallView& view, std::string_view type) {
  for (const probes::Parameter& parameter : view.probe.parameters) {
    if (parameter.pointee.name != type || !parameter.read_at_return()) continue;
    const auto piece = view.piece(PieceKind::Out, probes::index_of(view.probe, parameter));
    return piece ? piece->bytes : std::span<const std::byte>{};
  }
  return {};
}

std::optional<MemoryNode> any_node(const CallView& view) {
  const auto params = left_in(view, "hipGraphNodeParams");
  const std::uint64_t type = view.value(Role::Value).value_or(0);
  if (params.size() < kUnion || (type != kAllocNode && type != kFreeNode)) return std::nullopt;
  if (type == kAllocNode) return allocation(params.subspan(kUnion));
  return MemoryNode{.address = at<std::uint64_t>(params, kUnion), .frees = true};
}

}  // namespace

std::optional<MemoryNode> memory_node(const CallView& view) {
  std::optional<MemoryNode> node;
  if (view.probe.symbol == "hipGraphAddNode") node = any_node(view);
  else if (view.probe.symbol == "hipGraphAddMemAllocNode") node = allocation(left_in(view, "hipMemAllocNodeParams"));
  else if (const auto address = view.value(Role::Address)) node = MemoryNode{.address = *address, .frees = true};
  return node && node->address != 0 ? node : std::nullopt;
}

std::uint64_t most_at_once(const GraphMemories& memories) {
  std::unordered_map<std::uint64_t, std::uint64_t> live;
  std::uint64_t now = 0, most = 0;
  for (const GraphMemory& memory : memories) {
    std::uint64_t& bytes = live[memory.allocation.address];
    now -= bytes;
    bytes = memory.frees ? 0 : memory.allocation.bytes;
    if (__builtin_add_overflow(now, bytes, &now)) return ~std::uint64_t{0};
    most = std::max(most, now);
  }
  return most;
}

}  // namespace fade::store
