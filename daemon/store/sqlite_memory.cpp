#include "cli/query/sqlite_memory.hpp"

#include <malloc.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>

namespace fade::query {
namespace {

constexpr std::size_t kHeader = 8, kStep = 16, kSmall = 1024, kPiece = std::size_t{256} << 10;
constexpr std::size_t kMostPieces = 128;  // of a thread: 32 MiB, as a sort of many rows would keep all memory for good

std::atomic<std::int64_t> bytes_held{0}, bytes_allowed{0};

// The header of a block, which stands in front of its bytes. A free small block is an item of a list instead.
struct Header {
  std::uint64_t size : 63;
  std::uint64_t is_cut : 1;  // from a piece; otherwise it is a block of malloc()
};
static_assert(sizeof(Header) == kHeader);
struct Free {
  Free* next;
};

// The small blocks of one thread. A block may be freed by another thread than the one that took it: it belongs to that
// thread's lists from then on. The memory of a thread that ends is kept until the process ends.
struct SmallBlocks {
  std::array<Free*, kSmall / kStep + 1> free;
  char* next;
  std::size_t left, pieces;
};
thread_local SmallBlocks blocks{};

void* from_malloc(std::size_t bytes) {
  const auto size = static_cast<std::int64_t>(bytes);
  const std::int64_t limit = bytes_allowed.load(std::memory_order_relaxed);
  if (limit > 0 && bytes_held.load(std::memory_order_relaxed) + size > limit) return nullptr;
  void* const taken = std::malloc(bytes);
  if (taken) bytes_held.fetch_add(size, std::memory_order_relaxed);
  return taken;
}

void* with_header(void* at, std::size_t size, bool is_cut) {
  if (!at) return nullptr;
  *static_cast<Header*>(at) = {size, is_cut};
  return static_cast<char*>(at) + kHeader;
}

Header* header_of(void* block) { return reinterpret_cast<Header*>(static_cast<char*>(block) - kHeader); }

void* take_large(std::size_t bytes) { return with_header(from_malloc(kHeader + bytes), bytes, false); }

void* take_small(std::size_t step) {
  if (Free* const found = blocks.free[step]) {
    blocks.free[step] = found->next;
    return found;
  }
  const std::size_t whole = kHeader + step * kStep;
  if (blocks.left < whole) {
    if (blocks.pieces == kMostPieces) return take_large(step * kStep);
    char* const piece = static_cast<char*>(from_malloc(kPiece));
    if (!piece) return nullptr;
    ++blocks.pieces;
    blocks.next = piece;
    blocks.left = kPiece;
  }
  void* const cut = blocks.next;
  blocks.next += whole;
  blocks.left -= whole;
  return with_header(cut, step * kStep, true);
}

int rounded_up(int bytes) { return (bytes + 7) & ~7; }

}  // namespace

void* take_sqlite_block(int bytes) {
  const std::size_t wanted = static_cast<std::size_t>(std::max(bytes, 1));
  if (wanted <= kSmall) return take_small((wanted + kStep - 1) / kStep);
  return take_large(wanted);
}

int size_of_sqlite_block(void* block) { return block ? static_cast<int>(header_of(block)->size) : 0; }

void free_sqlite_block(void* block) {
  if (!block) return;
  const std::size_t size = header_of(block)->size;
  if (header_of(block)->is_cut) {
    Free*& list = blocks.free[size / kStep];
    static_cast<Free*>(block)->next = list;
    list = static_cast<Free*>(block);
    return;
  }
  bytes_held.fetch_sub(static_cast<std::int64_t>(kHeader + size), std::memory_order_relaxed);
  std::free(header_of(block));
}

void* resize_sqlite_block(void* block, int bytes) {
  const int size = size_of_sqlite_block(block);
  if (block && bytes <= size && (bytes > size / 2 || header_of(block)->is_cut)) return block;
  void* const larger = take_sqlite_block(bytes);
  if (!larger) return nullptr;
  if (block) std::memcpy(larger, block, static_cast<std::size_t>(std::min(size, bytes)));
  free_sqlite_block(block);
  return larger;
}

std::int64_t sqlite_memory_held() { return bytes_held.load(std::memory_order_relaxed); }

void limit_sqlite_memory(std::int64_t bytes) { bytes_allowed.store(bytes, std::memory_order_relaxed); }

// The kernel clears each page that malloc() takes anew, so freed memory stays with the process, up to some MB.
void use_sqlite_memory() {
  constexpr int kKept = 16 << 20;
  ::mallopt(M_TRIM_THRESHOLD, kKept);
  ::mallopt(M_MMAP_THRESHOLD, kKept);
  ::mallopt(M_TOP_PAD, 1 << 20);
  static sqlite3_mem_methods methods{take_sqlite_block,   free_sqlite_block,
                                     resize_sqlite_block, size_of_sqlite_block,
                                     rounded_up,          [](void*) { return SQLITE_OK; },
                                     [](void*) {},        nullptr};
  ::sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  ::sqlite3_config(SQLITE_CONFIG_MALLOC, &methods);
}

}  // namespace fade::query
