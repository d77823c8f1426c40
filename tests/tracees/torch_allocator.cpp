// See torch_allocator.hpp. Compiled twice, each with its part.
#include "torch_allocator.hpp"

#ifdef STANDIN_C10
namespace c10 {
void reportMemoryUsageToProfiler(void*, std::int64_t, std::int64_t, std::int64_t, Device) { asm volatile(""); }
}  // namespace c10
#else
#include <hip/hip_runtime.h>

#include <algorithm>
#include <map>

namespace c10::hip {
namespace {

constexpr std::size_t kPiece = 2 << 20;
constexpr Device kFirstGpu{1, 0};

std::map<char*, std::size_t> pieces, blocks, gaps;
std::size_t allocated, peak;

std::size_t total(const std::map<char*, std::size_t>& of) {
  std::size_t out = 0;
  for (const auto& [at, size] : of) out += size;
  return out;
}

void take_piece(std::size_t bytes) {
  void* piece = nullptr;
  if (hipMalloc(&piece, std::max(bytes, kPiece)) != hipSuccess) return;
  pieces[static_cast<char*>(piece)] = gaps[static_cast<char*>(piece)] = std::max(bytes, kPiece);
}

void tell(void* block, std::int64_t size) {
  reportMemoryUsageToProfiler(block, size, static_cast<std::int64_t>(allocated),
                              static_cast<std::int64_t>(total(pieces)), kFirstGpu);
}

}  // namespace

void* allocate(std::size_t bytes) {
  const auto fits = [&](const auto& gap) { return gap.second >= bytes; };
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
  return {total(pieces), allocated, peak, largest, blocks.size()};
}

}  // namespace c10::hip
#endif
