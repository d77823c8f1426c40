// See torch_allocator.hpp. Compiled twice, each with its part.
#include "torch_allocator.hpp"

#ifdef STANDIN_C10
namespace c10 {
void reportMemoryUsageToProfiler(void*, std::int64_t, std::int64_t, std::int64_t, Device) { asm volatile(""); }
}  // namespace c10
#else
#include <hip/hip_runtime.h>

#include <algorithm>
#include <iterator>
#include <map>

namespace c10::hip {
namespace {

constexpr std::size_t kMiB = 1 << 20;
constexpr Device kFirstGpu{1, 0};

std::map<char*, std::size_t> pieces, blocks, gaps;
std::size_t allocated, peak;
Way way = Way::Caching;

// As PyTorch's allocator rounds.
std::size_t piece_for(std::size_t bytes) {
  if (bytes <= kMiB) return 2 * kMiB;
  if (bytes < 10 * kMiB) return 20 * kMiB;
  return (bytes + 2 * kMiB - 1) / (2 * kMiB) * (2 * kMiB);
}

bool is_small(std::size_t bytes) { return bytes <= kMiB; }

std::size_t total(const std::map<char*, std::size_t>& of) {
  std::size_t out = 0;
  for (const auto& [at, size] : of) out += size;
  return out;
}

// As the allocator of expandable segments: a piece of memory that is mapped into a reserved range.
char* mapped(std::size_t bytes) {
  void* at = nullptr;
  hipMemGenericAllocationHandle_t memory{};
  const hipMemAllocationProp pinned_of_first_device{};
  if (hipMemAddressReserve(&at, bytes, 0, nullptr, 0) != hipSuccess) return nullptr;
  if (hipMemCreate(&memory, bytes, &pinned_of_first_device, 0) != hipSuccess) return nullptr;
  return hipMemMap(at, bytes, 0, memory, 0) == hipSuccess ? static_cast<char*>(at) : nullptr;
}

char* taken(std::size_t bytes) {
  if (way == Way::Expandable) return mapped(bytes);
  void* piece = nullptr;
  const hipError_t error = way == Way::Async ? hipMallocAsync(&piece, bytes, nullptr) : hipMalloc(&piece, bytes);
  return error == hipSuccess ? static_cast<char*>(piece) : nullptr;
}

void take_piece(std::size_t bytes) {
  const std::size_t size = way == Way::Caching || way == Way::Expandable ? piece_for(bytes) : bytes;
  if (char* piece = taken(size)) pieces[piece] = gaps[piece] = size;
}

// The size of the piece in which this place is. A piece has blocks of one pool: small ones or others.
std::size_t piece_around(const char* at) { return std::prev(pieces.upper_bound(const_cast<char*>(at)))->second; }

void tell(void* block, std::int64_t size) {
  reportMemoryUsageToProfiler(block, size, static_cast<std::int64_t>(allocated),
                              static_cast<std::int64_t>(total(pieces)), kFirstGpu);
}

}  // namespace

void take_by(Way wanted) { way = wanted; }

void* allocate(std::size_t bytes) {
  const auto fits = [&](const auto& gap) {
    return gap.second >= bytes && is_small(bytes) == is_small(piece_around(gap.first) / 2);
  };
  auto found = std::find_if(gaps.begin(), gaps.end(), fits);
  if (found == gaps.end()) {
    take_piece(bytes);
    found = std::find_if(gaps.begin(), gaps.end(), fits);
  }
  const auto [at, size] = *found;
  gaps.erase(found);
  if (size > bytes) gaps[at + bytes] = size - bytes;
  blocks[at] = bytes;
  allocated += bytes;
  peak = std::max(peak, allocated);
  tell(at, static_cast<std::int64_t>(bytes));
  return at;
}

void release(void* block) {
  const auto found = blocks.find(static_cast<char*>(block));
  auto [at, size] = *found;
  blocks.erase(found);
  allocated -= size;
  tell(at, -static_cast<std::int64_t>(size));
  const auto is_of_piece = [&](char* place) { return pieces.count(place) == 0; };
  if (const auto next = gaps.find(at + size); next != gaps.end() && is_of_piece(next->first)) {
    size += next->second;
    gaps.erase(next);
  }
  for (auto& [before, bytes] : gaps)
    if (before + bytes == at && is_of_piece(at)) {
      bytes += size;
      return;
    }
  gaps[at] = size;
}

Sums sums() {
  std::size_t largest = 0;
  for (const auto& [at, size] : gaps) largest = std::max(largest, size);
  std::size_t small = 0;
  for (const auto& [at, size] : pieces) small += size == 2 * kMiB ? size : 0;
  return {total(pieces), allocated, peak, largest, blocks.size(), pieces.size(), small};
}

}  // namespace c10::hip
#endif
