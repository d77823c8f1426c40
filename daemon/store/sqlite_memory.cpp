#include "store/sqlite_memory.hpp"

#include <malloc.h>
#include <sanitizer/asan_interface.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>

namespace fade::sqlite {
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
constexpr std::uint64_t kMostBytes = ~std::uint64_t{0} >> 1;
struct Free {
  Free* next;
};
struct Piece {
  Piece* other;  // without it, a checker of leaks misses pieces with free blocks alone
};

// The small blocks of one thread. A block may be freed by another thread than the one that took it: it belongs to that
// thread's lists from then on.
struct SmallBlocks {
  std::array<Free*, kSmall / kStep + 1> free{};
  char* next = nullptr;
  std::size_t left = 0, pieces = 0;
  Piece* piece = nullptr;        // the newest one
  SmallBlocks* other = nullptr;  // in the list of those without a thread
};

// A thread that ends leaves its blocks to the next one that begins.
class Shelf {
 public:
  SmallBlocks* take() {
    const std::lock_guard hold(lock_);
    SmallBlocks* const found = first_;
    if (!found) return new SmallBlocks;
    first_ = found->other;
    return found;
  }
  void leave(SmallBlocks* left) {
    const std::lock_guard hold(lock_);
    left->other = first_;
    first_ = left;
  }

 private:
  std::mutex lock_;
  SmallBlocks* first_ = nullptr;
};
constinit Shelf shelf;
constinit thread_local SmallBlocks* held = nullptr;

struct Holder {
  Holder() { held = shelf.take(); }
  ~Holder() { shelf.leave(std::exchange(held, nullptr)); }
};

// Destructors that run after the holder's take blocks, too.
SmallBlocks& blocks() {
  if (!held) {
    thread_local const Holder holder;
    if (!held) held = shelf.take();
  }
  return *held;
}

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
  *static_cast<Header*>(at) = {size & kMostBytes, is_cut};
  return static_cast<char*>(at) + kHeader;
}

Header* header_of(void* block) { return reinterpret_cast<Header*>(static_cast<char*>(block) - kHeader); }

void* take_free(SmallBlocks& own, Free* found, std::size_t step) {
  ASAN_UNPOISON_MEMORY_REGION(header_of(found), kHeader + step * kStep);
  own.free[step] = found->next;
  return found;
}

// AddressSanitizer reports a use of a free block, as if it were malloc()'s.
void keep_free(void* block, std::size_t step) {
  Free*& list = blocks().free[step];
  static_cast<Free*>(block)->next = list;
  list = static_cast<Free*>(block);
  ASAN_POISON_MEMORY_REGION(header_of(block), kHeader + step * kStep);
}

void* take_large(std::size_t bytes) { return with_header(from_malloc(kHeader + bytes), bytes, false); }

bool take_piece(SmallBlocks& own) {
  char* const taken = static_cast<char*>(from_malloc(kPiece));
  if (!taken) return false;
  own.piece = new (taken) Piece{own.piece};
  own.next = taken + sizeof(Piece);
  own.left = kPiece - sizeof(Piece);
  ++own.pieces;
  return true;
}

void* take_small(std::size_t step) {
  SmallBlocks& own = blocks();
  if (Free* const found = own.free[step]) return take_free(own, found, step);
  const std::size_t whole = kHeader + step * kStep;
  if (own.left < whole) {
    if (own.pieces == kMostPieces) return take_large(step * kStep);
    if (!take_piece(own)) return nullptr;
  }
  void* const cut = own.next;
  own.next += whole;
  own.left -= whole;
  return with_header(cut, step * kStep, true);
}

int rounded_up(int bytes) { return (bytes + 7) & ~7; }

}  // namespace

void* take_block(int bytes) {
  const std::size_t wanted = static_cast<std::size_t>(std::max(bytes, 1));
  if (wanted <= kSmall) return take_small((wanted + kStep - 1) / kStep);
  return take_large(wanted);
}

int size_of_block(void* block) { return block ? static_cast<int>(header_of(block)->size) : 0; }

void free_block(void* block) {
  if (!block) return;
  const std::size_t size = header_of(block)->size;
  if (header_of(block)->is_cut) return keep_free(block, size / kStep);
  bytes_held.fetch_sub(static_cast<std::int64_t>(kHeader + size), std::memory_order_relaxed);
  std::free(header_of(block));
}

void* resize_block(void* block, int bytes) {
  const int size = size_of_block(block);
  if (block && bytes <= size && (bytes > size / 2 || header_of(block)->is_cut)) return block;
  void* const larger = take_block(bytes);
  if (!larger) return nullptr;
  if (block) std::memcpy(larger, block, static_cast<std::size_t>(std::min(size, bytes)));
  free_block(block);
  return larger;
}

std::int64_t memory_held() { return bytes_held.load(std::memory_order_relaxed); }

void limit_memory(std::int64_t bytes) { bytes_allowed.store(bytes, std::memory_order_relaxed); }

void keep_freed_memory() {
  constexpr int kKept = 16 << 20;
  ::mallopt(M_TRIM_THRESHOLD, kKept);
  ::mallopt(M_MMAP_THRESHOLD, kKept);
  ::mallopt(M_TOP_PAD, 1 << 20);
}

void use_own_memory() {
  static sqlite3_mem_methods methods{take_block,    free_block, resize_block,
                                     size_of_block, rounded_up, [](void*) { return SQLITE_OK; },
                                     [](void*) {},  nullptr};
  ::sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  ::sqlite3_config(SQLITE_CONFIG_MALLOC, &methods);
}

}  // namespace fade::sqlite
